//! A row as it came from the database, without the driver.

use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use postgres_protocol::message::backend::DataRowBody;
use tokio_postgres::fallible_iterator::FallibleIterator as _;
use tokio_postgres::types::{FromSql, Type};

use super::StoreError;

/// The row. Columns are taken by position.
pub struct WireRow {
    columns: Arc<[Type]>,
    body: DataRowBody,
}

impl fmt::Debug for WireRow {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut row = formatter.debug_struct("WireRow");
        row.field("columns", &self.columns).finish_non_exhaustive()
    }
}

impl WireRow {
    /// A row with these columns.
    pub(super) fn new(columns: Arc<[Type]>, body: DataRowBody) -> io::Result<WireRow> {
        if body.ranges().count()? != columns.len() {
            return Err(io::Error::other(
                "a row has other columns than its statement",
            ));
        }
        Ok(WireRow { columns, body })
    }

    /// How many bytes it has.
    pub(super) fn bytes(&self) -> usize {
        self.body.buffer().len()
    }

    /// The column at that position.
    pub(super) fn get<'a, T: FromSql<'a>>(&'a self, index: usize) -> Result<T, StoreError> {
        let wrong = || StoreError::Internal(format!("column {index} has another type"));
        let of = self.columns.get(index).ok_or_else(wrong)?;
        if !T::accepts(of) {
            return Err(wrong());
        }
        let range = self.body.ranges().nth(index);
        let range: Option<Range<usize>> = range.map_err(|_| wrong())?.ok_or_else(wrong)?;
        let value = range.map(|range| &self.body.buffer()[range]);
        T::from_sql_nullable(of, value).map_err(|_| wrong())
    }
}
