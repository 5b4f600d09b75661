//! The package format: its shapes, refs and uids.

pub mod canonical;
pub mod format;
pub mod reference;
mod tool;
pub mod uid;

pub use tool::{Phase, Tool};
