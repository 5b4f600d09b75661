//! The package format: its shapes, refs and uids.

pub mod canonical;
pub(crate) mod configs;
pub(crate) mod format;
pub mod model;
pub mod name;
pub mod payload;
pub(crate) mod reference;
pub mod schema;
pub mod semver;
pub mod size;
mod source;
pub(crate) mod summary;
mod tool;
pub mod uid;
mod words;

pub use source::{Source, text_of};
pub use tool::{Phase, Tool};
