//! `/v1/features/{feature_id}/rows`

mod aggregate;
mod get;
mod list;
mod question;

pub use aggregate::aggregate;
pub use get::get;
pub use list::list;
