//! Rows from the source, page by page.

use crate::export::{ExportError, ExportResult};
use crate::workspace::{Id, Source, StoredRow, is_last_batch};

/// Rows per query.
const ROWS_PER_READ: usize = 500;

/// One reading of a table.
pub(in crate::export) struct Reading {
    feature: Id,
    after: Option<Id>,
    ended: bool,
}

impl Reading {
    /// Begins at the first row.
    pub(in crate::export) fn new(feature: Id) -> Reading {
        Reading {
            feature,
            after: None,
            ended: false,
        }
    }

    /// The next rows; nothing at the end.
    pub(in crate::export) async fn next<S: Source + Sync>(
        &mut self,
        source: &S,
    ) -> ExportResult<Option<Vec<StoredRow>>, S> {
        if self.ended {
            return Ok(None);
        }
        let page = source.rows(self.feature, self.after, ROWS_PER_READ).await;
        let page = page.map_err(ExportError::Source)?;
        self.ended = is_last_batch(&page, ROWS_PER_READ);
        self.after = page.last().map(|row| row.id);
        Ok((!page.is_empty()).then_some(page))
    }
}
