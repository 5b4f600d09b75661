//! A request for a page of rows.

use tplkit::rows::query::Sort;

use super::cursor::CursorPosition;
use super::row_filter::RowFilter;
use crate::paging::PageRequest;

/// Which page of which rows.
#[derive(Debug, Clone)]
pub struct RowListRequest {
    /// Which rows.
    pub filter: RowFilter,
    /// In which order.
    pub sort: Sort,
    /// The keys of the data that responses have, when not all are wanted.
    pub fields: Option<Vec<String>>,
    /// Which of the pages.
    pub page: PageRequest,
    /// Where it begins, if it is not the first.
    pub after: Option<CursorPosition>,
}
