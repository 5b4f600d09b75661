//! `/v1/features/{feature_id}/rows`: rows over real HTTP, on both stores.

mod access;
mod batch;
mod create;
mod delete;
mod get;
mod identity;
mod patch;
mod query;
mod quota;
mod races;
mod repeats;
mod seed;
mod slots;
mod unique;
mod values;

pub(crate) use seed::ask;
