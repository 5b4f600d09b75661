//! The package format: canonical writing, schemas, model and JSON reading, on whole files.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot go on says so by panicking"
)]

mod arbitrary;
mod canonical;
mod cases;
mod json;
