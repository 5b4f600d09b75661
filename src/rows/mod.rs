//! Cell values: which values a column can store, equality, rounding; and row queries ([`query`]).
//!
//! In: a value as JSON text, and its column. Out: a verdict. Values stay text: a number keeps its
//! digits, and nothing is copied. The linter, the exporter and the server all use it. [`Rules`]
//! prepare cells for a table, for every writer of rows. It also defines what all stores have to
//! agree on: the text of a cell ([`text_form`]), texts without case ([`fold()`]), the order of a
//! number column ([`order_key()`]), and sums ([`Sum`]).

mod calendar;
mod cell;
mod decimal;
mod entry;
mod equality;
mod file_id;
mod fold;
mod key;
mod masked;
mod order_key;
pub mod query;
mod sorted;
mod storable;
mod sum;
mod text_form;

pub use calendar::{instant, is_date, is_instant};
pub(crate) use cell::value;
pub use cell::{Cell, Text, elements, member, members};
pub use decimal::Decimal;
pub use entry::{Declaration, EntryFault, EntryReason, Identity, Rule, Rules, canonical_to};
pub use equality::{equal, hash};
pub use file_id::{file_id, file_id_of, same_file_cell};
pub use fold::{fold, fold_char, fold_pairs};
pub use key::Key;
pub use masked::Mask;
pub use order_key::{AFTER_NUMBERS, number_key, order_key};
pub use sorted::sorted_to;
pub use storable::{CELL_DEPTH, Fault, FaultKind, Storable};
pub use sum::Sum;
pub use text_form::text_form;
