//! A workspace for the exporter and the executor.
//!
//! Both use three traits: [`Source`] reads, [`Lookup`] also finds rows by value, [`Target`] also
//! commits. The [`memory`] workspace implements them for simulations and tests; a server implements
//! them on its stores. Nothing here needs a runtime: futures of the in-memory workspace are ready
//! at once ([`ready`]).
//!
//! Changes are a [`Unit`]: all of it is written, with its entry of the job's [ledger](mod@ledger),
//! or nothing.

mod any_record;
mod kept_row;
pub mod ledger;
mod lookup;
pub mod memory;
mod model;
mod new_record;
mod row_data;
mod source;
mod target;

pub use any_record::AnyRecord;
pub use kept_row::KeptRow;
pub use lookup::{Lookup, UnfilteredRow, fetch_each, hidden_each, match_each};
pub use model::{
    Automation, Channel, Column, Connection, Feature, Module, Named, Organization, Rail,
    RecordKind, Structure, View, Workspace,
};
pub use new_record::New;
pub use row_data::RowData;
pub use source::{LARGE_BATCH, Source, StoredRow, is_last_batch, ready};
pub use target::{Change, CommitError, Progress, Refused, Removal, RowWrite, Target, Unit};

/// Identity of a record.
pub type Id = uuid::Uuid;
