//! The API over real HTTP: one body per test, run on SQLite and on PostgreSQL.

mod api_keys;
mod authorization;
mod bounded_pages;
mod channels;
mod columns;
mod connections;
#[cfg(unix)]
mod default_isolation;
mod documentation;
mod features;
mod files;
mod health;
mod idempotency;
mod labels;
mod lanes;
mod large_deletions;
mod members;
mod model_races;
mod modules;
mod organizations;
mod passwords;
mod rails;
mod refusals;
mod response_headers;
pub(crate) mod rows;
pub(crate) mod runs;
mod schema;
mod sessions;
mod slow_bodies;
mod statuses;
mod templates;
mod tenancy;
mod views;
pub(crate) mod workflows;
mod workspaces;

pub(crate) use tplkit_server_testkit::{client, document, model, world};
