//! A workspace of the store as the library's exporter and executor know it.
//!
//! Goes in: a transaction (whose scope says who looks) and a workspace. Comes out: its structure, its
//! rows page by page, and changes written as one unit. [`Snapshot`] is a workspace that is read within
//! one transaction; [`write`] does the changes of a unit by the same code as the routes. What a job is,
//! and who may write for it, is not known here.

mod automations;
mod error;
mod lookup;
mod records;
mod removal;
mod row_changes;
mod rows;
mod sequences;
mod snapshot;
mod structure;
mod unit;

pub use error::ReadError;
pub(crate) use error::Stopped;
pub use snapshot::Snapshot;
pub(crate) use unit::{Here, PreparedUnit, write};

pub(crate) use lookup::{fetch, matching, row_capacity, taken};
pub(crate) use rows::page;
pub(crate) use sequences::stands;
pub(crate) use structure::structure;
