//! The `/v1` API over the package library.
//!
//! The server has no rules of its own about packages and configs: [`tplkit`] decides, so offline
//! and over HTTP the verdict is the same.
//!
//! From top to bottom: [`api`] has the table of operations and the checks of every request, [`routes`] the
//! handlers, `templates`, [`jobs`], [`background`], [`workspace`], [`automation`], [`model`], [`rows`],
//! [`files`] and [`identity`] the domain, [`auth`] the callers, and [`store`] the data, on SQLite and PostgreSQL
//! alike. [`edge`] handles sockets, [`http`] the parts of requests and responses. A module names only modules
//! below it.

pub mod api;
pub mod app;
pub mod auth;
pub mod automation;
pub mod background;
pub mod call;
pub mod context;
pub mod cpu_threads;
pub mod definitions;
pub mod demo;
pub mod edge;
pub mod files;
mod health;
mod histogram;
pub mod http;
pub mod identity;
pub mod ids;
pub mod jobs;
pub mod json_body;
pub mod json_schemas;
mod kept_responses;
pub mod lanes;
mod local_client;
pub mod metrics;
pub mod model;
pub mod package_tests;
pub mod paging;
pub mod playground;
pub mod refusal;
pub mod release_memory;
pub mod retention;
pub mod routes;
pub mod rows;
pub mod secret_key;
pub mod spool;
pub mod static_file;
pub mod store;
pub(crate) mod templates;
pub mod wake;
pub mod workspace;

pub use health::{Health, health};
