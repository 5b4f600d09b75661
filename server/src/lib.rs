//! The `/v1` API over the package library.
//!
//! The server holds no rules of its own about packages: what a config may contain, what a package
//! is and when it is fit come from [`tplkit`], so that a verdict given offline and one given over
//! HTTP are the same verdict.
//!
//! [`http`] has the table of operations and the way of every request, [`routes`] what each does,
//! [`rows`] how rows enter tables, [`auth`] who asks, [`store`] where everything is kept, on SQLite or PostgreSQL alike.

pub mod auth;
pub mod context;
pub mod definitions;
mod health;
pub mod http;
pub mod routes;
pub mod rows;
pub mod store;

pub use health::{Health, health};
