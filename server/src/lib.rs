//! The `/v1` API over the package library.
//!
//! The server holds no rules of its own about packages: what a config may contain, what a package
//! is and when it is fit come from [`tplkit`], so that a verdict given offline and one given over
//! HTTP are the same verdict.
//!
//! What is here so far are the two documents that need neither a store nor a caller: [`health`]
//! and [`definitions::document`]. Routing, stores and workers come with later releases.

pub mod definitions;
mod health;
pub mod store;

pub use health::{Health, health};
