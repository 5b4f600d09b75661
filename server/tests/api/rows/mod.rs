//! `/v1/features/{feature_id}/rows`: rows over real HTTP, on both stores.

mod access;
mod batch;
mod create;
mod delete;
mod files;
mod get;
mod identity;
mod patch;
pub(crate) mod query;
pub(super) mod quota;
pub(super) mod races;
mod repeats;
pub(crate) mod search;
mod seed;
mod slots;
mod unique;
mod values;

pub(crate) use files::{of_file, person, seed_file};
pub(crate) use seed::ask;
