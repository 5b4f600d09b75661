//! The package format: canonical writing, schemas, model and JSON reading, on whole files.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot go on says so by panicking"
)]
#![allow(
    clippy::print_stdout,
    reason = "the last name printed is the case that failed"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "UPDATE=1 rewrites published files"
)]

mod arbitrary;
mod canonical;
mod cases;
mod diff;
mod folder;
mod json;
mod layout;
mod migrate;
mod model;
mod promises;
mod schema;
