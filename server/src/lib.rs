//! The `/v1` API over the package library.
//!
//! The server holds no rules of its own about packages: what a config may contain, what a package
//! is and when it is fit come from [`tplkit`], so that a verdict given offline and one given over
//! HTTP are the same verdict.
//!
//! [`edge`] has the sockets, [`http`] the table of operations and the way of every request, [`routes`]
//! what each does, [`model`] and [`rows`] what records and rows are made of,
//! [`auth`] who asks, [`store`] where everything is kept, on SQLite or PostgreSQL alike.

pub mod auth;
pub mod automation;
pub mod background;
pub mod context;
pub mod definitions;
pub mod demo;
pub mod edge;
mod health;
pub mod http;
pub mod jobs;
pub mod lanes;
pub mod memory;
pub mod metrics;
pub mod model;
pub mod routes;
pub mod rows;
pub mod secret_key;
pub mod store;
pub(crate) mod templates;
pub mod workspace;

pub use health::{Health, health};
