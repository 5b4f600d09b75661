//! Cell values: what a column can store, when two values are equal, how numbers round.
//!
//! Goes in: a value as it is written in JSON, and what its column says. Comes out: a judgement.
//! Values stay text: a number keeps its digits, and nothing is copied. The linter, the exporter
//! and the server's write validation all ask here. How cells are changed on their way into a table
//! says [`Rules`], for the executor and for every other writer of rows.

mod calendar;
mod cell;
mod decimal;
mod entry;
mod equality;
mod masked;
mod storable;

pub use calendar::{is_date, is_instant};
pub(crate) use cell::value;
pub use cell::{Cell, Text, elements, members};
pub use decimal::Decimal;
pub use entry::{EntryFault, EntryReason, Identity, Rule, Rules, canonical_to};
pub use equality::{equal, hash};
pub use masked::Mask;
pub use storable::{Fault, FaultKind, Storable};
