//! Questions about the rows of a table, put to the store: pages, counts, sums.
//!
//! Goes in: what [`tplkit::rows::query`] understood of a request, and the table. Comes out: one
//! statement in the words of the store, and its response. What a question means says the library, and
//! both stores have to answer as it does; here stands only how they are asked so that they need not
//! look at every row. What a client wrote is a parameter, always: the text of a statement depends on
//! the shape of the question alone.
//!
//! - `composer` knows where a cell is to be had: from its slot, or out of the data.
//! - `condition` makes conditions of filters.
//! - `order` finds the page in the order that is asked for, `keyset` along the index of a slot.
//! - `cost` says whether indexes answer a question.
//! - `page` fills a page whose bytes are bounded.
//! - `index_choice` says which of two indexes SQLite is to use.
//! - `lookup` looks up rows by the values of a cell.
//! - `cursor` is what a cursor remembers of the last row of a page.
//! - `execute` sees to it that the table was what the statement took it for.
//!
//! Nothing here decides who may see what: each statement carries the marks for that.

mod aggregate;
mod composer;
mod condition;
mod cost;
mod cursor;
mod execute;
mod fields;
mod index_choice;
mod keyset;
mod list;
mod lookup;
mod order;
mod page;
mod row_filter;
#[cfg(test)]
mod tests;

pub use aggregate::{AggregateQuery, aggregate};
pub use cost::Cost;
pub use cursor::CursorPosition;
pub use list::{Listing, list, rows};
pub(crate) use lookup::holding;
pub use row_filter::RowFilter;
