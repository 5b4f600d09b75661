//! `/v1/features/{feature_id}/rows`

mod get;

pub use get::get;
