//! Rows: how they are read from requests, enter a table, are kept and are answered.
//!
//! Goes in: a table as the store has it ([`Table`]) and cells as JSON text. Comes out: lines of the
//! store whose `data` is canonical text, and answers into which that text is spliced. What a cell may
//! hold says the library; here stands what only a store can decide: uniqueness, sequences, counts.
//!
//! Nothing here knows a route: whoever writes rows (requests, jobs, automations) comes this way.

mod answer;
mod counts;
mod entering;
mod faults;
mod fill;
mod hot;
pub mod query;
mod sequence;
mod sizes;
mod slots;
mod submission;
mod table;
mod tables;
mod together;
pub mod unique;
mod values;
mod write;

pub use answer::{Stored, write_row};
pub use entering::{Entered, Entering, Source, Validate};
pub use faults::Faults;
pub use fill::fill_slots;
pub use hot::{Hot, give_slots};
pub use submission::{MOST_ROWS, Submission};
pub use table::{Column, Slot, Table};
pub use tables::{Opened, Tables};
pub use together::together;
pub(crate) use unique::known_as;
pub use write::{
    Refused, Removed, insert, insert_complete, remove, remove_all, replace, replace_all,
};
