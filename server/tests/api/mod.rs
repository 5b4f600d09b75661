//! The API over real HTTP: one body per test, run on SQLite and on PostgreSQL.

mod api_keys;
mod authorization;
pub(crate) mod client;
mod columns;
pub(crate) mod document;
mod documentation;
mod features;
mod health;
mod idempotency;
mod members;
pub(crate) mod model;
mod model_races;
mod modules;
mod organizations;
mod rails;
mod refusals;
mod rows;
pub(crate) mod runs;
mod schema;
mod sessions;
mod statuses;
mod templates;
mod tenancy;
mod views;
pub(crate) mod workflows;
mod workspaces;
pub(crate) mod world;
