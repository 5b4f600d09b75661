//! The API over real HTTP: one body per test, run on SQLite and on PostgreSQL.

mod api_keys;
mod authorization;
pub(crate) mod client;
mod documentation;
mod health;
mod idempotency;
mod members;
mod organizations;
mod refusals;
mod rows;
mod sessions;
pub(crate) mod world;
