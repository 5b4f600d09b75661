//! The rows of the tables that travel: read once to know what of them the package tells, and a
//! second time to write them.
//!
//! | Module | What it does |
//! |---|---|
//! | `table` | what is known of a table before any row is read, and what is reported of it after |
//! | `reading` | rows from the source, page by page |
//! | `split` | the cells of a row by column |
//! | `scan` | the first reading: counts, carried columns, keys, values that others link to |
//! | `values` | rows by the value that links hold |
//! | `key` | which column rows can be matched by |
//! | `writer` | the second reading: rows as lines of the package |
//!
//! Rows are never held: between the readings stay a uid per row, and the values that links hold.

mod key;
mod reading;
mod scan;
mod split;
mod table;
mod values;
mod writer;

pub(super) use reading::Reading;
pub(super) use scan::scan;
pub(super) use table::{Table, tables};
pub(super) use writer::RowWriter;
