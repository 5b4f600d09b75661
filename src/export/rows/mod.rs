//! The rows of the exported tables: read once to gather what the manifest says about them, and a
//! second time to write them.
//!
//! | Module | What it does |
//! |---|---|
//! | `table` | facts of a table before its rows are read, and its report afterwards |
//! | `reading` | rows from the source, page by page |
//! | `split` | the cells of a row by column |
//! | `scan` | the first reading: counts, carried columns, keys, values that others link to |
//! | `values` | rows by the value that links hold |
//! | `key` | which column rows can be matched by |
//! | `uids` | the uid of every row |
//! | `writer` | the second reading: rows as lines of the package |
//!
//! Rows are never kept in memory; between the readings only a uid per row and the values of links
//! are.

mod key;
mod reading;
mod scan;
mod split;
mod table;
mod uids;
mod values;
mod writer;

pub(super) use reading::Reading;
pub(super) use scan::scan;
pub(super) use table::{ExportedTable, tables};
pub(super) use writer::RowWriter;
