//! Row queries on the store: pages, counts, sums.
//!
//! In: a request parsed by [`tplkit::rows::query`], and the table. Out: one SQL statement, and what it
//! found. The library defines the meaning of a query, and both stores have to match it; this
//! module only makes them fast. Client text is always a parameter: the text of a statement depends
//! on the shape of the query alone.
//!
//! - `composer` reads a cell from its slot or from the data; what comes out is in `composed`.
//! - `condition` translates filters into SQL.
//! - `pattern` has the patterns and regular expressions of PostgreSQL.
//! - `order` sorts a page without an index, `keyset` follows the index of a slot; `cell_order` says how cells compare.
//! - `cost` says whether indexes can serve a query.
//! - `page` fills a page of bounded size.
//! - `index_choice` chooses between two indexes; `chosen_index` is the choice.
//! - `search` finds rows by the index of searched cells.
//! - `lookup` looks up rows by the values of a cell.
//! - `cursor` describes the last row of a page.
//! - `execute` verifies the version of the table.
//!
//! It does not decide visibility: each statement has the scope marks for that.

mod aggregate;
mod cell_order;
mod chosen_index;
mod composed;
mod composer;
mod condition;
mod cost;
mod cursor;
mod execute;
mod fields;
mod index_choice;
mod keyset;
mod list;
mod list_request;
mod lookup;
mod order;
mod page;
mod pattern;
mod row_filter;
mod search;
mod selected_columns;
#[cfg(test)]
mod tests;

pub(crate) use aggregate::AggregateView;
pub use aggregate::{AggregateQuery, FoundAggregate, MOST_COUNTED, aggregate};
pub use cost::Cost;
pub use cursor::CursorPosition;
pub use list::{RowPage, RowSlice, list, rows};
pub use list_request::RowListRequest;
pub(crate) use lookup::holding;
pub use row_filter::RowFilter;
