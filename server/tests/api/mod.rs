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
mod schema;
mod sessions;
mod templates;
mod tenancy;
mod views;
mod workspaces;
pub(crate) mod world;
