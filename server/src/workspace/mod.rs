//! Workspaces of the store for the library's exporter and executor.
//!
//! In: a transaction, with its scope, and a workspace. Out: its structure, its rows by pages, and
//! changes written as one unit. A [`Snapshot`] reads a workspace within one transaction; [`write`]
//! writes a unit with the code of the routes. It knows no jobs or leases.

mod automations;
mod error;
mod file_holds;
mod file_uses;
mod lookup;
mod records;
mod removal;
mod row_changes;
mod rows;
mod sequences;
mod snapshot;
mod structure;
mod unit;
mod unit_transaction;

pub use error::ReadError;
pub(crate) use error::UnitError;
pub(crate) use file_holds::give_back;
pub(crate) use file_uses::FileUses;
pub use snapshot::Snapshot;
pub(crate) use unit::{PreparedUnit, write};
pub(crate) use unit_transaction::UnitContext;

pub(crate) use lookup::{RowsAhead, fetch, keeps_some, matching, row_capacity, taken, which};
pub(crate) use rows::{batch, whole_batch};
pub(crate) use sequences::stands;
pub(crate) use structure::{structure, workspaces};
