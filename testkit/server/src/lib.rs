//! Test tools of the server, for its integration tests and benches.
//!
//! | To | Use |
//! |---|---|
//! | get an empty store of either kind, and run a test on both | [`stores`] |
//! | get a throw-away PostgreSQL, and a pooler before it | [`cluster`], [`pooler`] |
//! | get a database that is distributed over a cluster which is at hand | [`citus`] |
//! | have the tables of every database in parts | [`partitions`] |
//! | get a running server with people in it | [`world`] |
//! | ask it, and hold every response to the OpenAPI document | [`client`] |
//! | ask it everything that the document has | [`document`] |
//! | put one of everything into it | [`model`], [`workflows`], [`jobs`] |
//! | take what its automations send | [`sinks`] |
//! | make once what all tests of a build need | [`once_per_build`] |
//!
//! They start no program of the server: its path is known to its own tests alone.

#![expect(
    clippy::missing_panics_doc,
    clippy::return_self_not_must_use,
    reason = "what is not as a test expects it fails the test"
)]

#[cfg(unix)]
pub mod citus;
pub mod client;
#[cfg(unix)]
pub mod cluster;
mod described;
pub mod document;
pub mod jobs;
pub mod model;
pub mod once_per_build;
#[cfg(unix)]
pub mod partitions;
#[cfg(unix)]
pub mod pooler;
pub mod sinks;
pub mod stores;
pub mod workflows;
pub mod world;

pub use world::World;
