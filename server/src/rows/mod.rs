//! Rows: parsing, preparing, storing, responding.
//!
//! In: a table ([`Table`]) and cells as JSON text. Out: stored rows whose `data` is canonical text,
//! and responses that contain this text as it is. The library validates cells; this module adds
//! what only a store can decide: uniqueness, sequences, counts, uses of files. It knows no routes; all writers
//! (requests, jobs, automations) use it.

mod column_usage;
mod counts;
pub(crate) mod document;
mod faults;
pub(crate) mod file_uses;
mod fill;
pub mod find;
mod merge;
mod prepare;
pub mod query;
mod row_document;
mod row_refusal;
pub mod row_values;
mod search_fill;
mod search_index;
mod search_terms;
mod sequence;
mod sequence_floor;
mod sizes;
pub(crate) mod slot_allocation;
mod slot_assignment;
mod slots;
mod submission;
mod subscription;
mod table;
mod tables;
mod unique_reservations;
mod write;

pub use column_usage::ColumnUsage;
pub use faults::Faults;
pub use fill::fill_slots;
pub use merge::merge;
pub use prepare::{PreparedRow, RowPreparer, SourceCell, Validate};
pub use row_document::{RowHead, StoredRow, write_row};
pub(crate) use row_refusal::NO_FILE;
pub use row_refusal::RowRefusal;
pub(crate) use row_values::known_as;
pub use search_fill::{empty_search, fill_search};
pub use sizes::RowSizes;
pub use slot_assignment::give_slots;
pub use submission::{MOST_ROWS, Submission};
pub use subscription::Subscription;
pub use table::{Column, SearchIndex, Slot, Table};
pub use tables::{OpenTable, Tables};
pub use unique_reservations::ValueMoves;
pub use write::{
    RemovedRow, ReplacedRows, finish_moves, insert, insert_complete, remove, remove_all, replace,
    replace_part,
};
