//! `/v1/features/{feature_id}/rows`: rows over real HTTP, on both stores.

mod get;
mod query;
mod seed;
