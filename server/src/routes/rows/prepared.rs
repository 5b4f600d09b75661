//! Prepares the rows of a request before the transaction when the table is cached.
//!
//! SQLite has one writing thread, so work before the transaction saves its time.

use std::borrow::Cow;
use std::sync::Arc;

use uuid::Uuid;

use crate::context::Context;
use crate::refusal::Refusal;
use crate::rows::{
    Faults, PreparedRow, RowPreparer, SourceCell, Submission, Table, Tables, Validate,
};

/// New rows, and what came of letting them into the table as it was last seen.
#[derive(Debug)]
pub(super) struct PreparedSubmission {
    submission: Submission,
    validate: Validate,
    seen: Option<CheckedRows>,
}

/// What came of it with a table that may have changed since.
#[derive(Debug)]
struct CheckedRows {
    table: Arc<Table>,
    entered: Result<Vec<PreparedRow>, Refusal>,
}

impl PreparedSubmission {
    pub(super) fn new(
        submission: Submission,
        validate: Validate,
        tables: &Tables,
        context: &Context,
        feature: Uuid,
    ) -> PreparedSubmission {
        let seen = tables.peek(feature).map(|table| {
            let entered = enter(&submission, &table, validate, context);
            CheckedRows { table, entered }
        });
        PreparedSubmission {
            submission,
            validate,
            seen,
        }
    }

    /// Whether the rows came as a batch.
    pub(super) fn is_batch(&self) -> bool {
        self.submission.is_batch()
    }

    /// The rows as they enter the table as it is.
    pub(super) fn rows(
        &self,
        table: &Arc<Table>,
        context: &Context,
    ) -> Result<Cow<'_, [PreparedRow]>, Refusal> {
        match &self.seen {
            Some(seen) if Arc::ptr_eq(&seen.table, table) => match &seen.entered {
                Ok(rows) => Ok(Cow::Borrowed(rows)),
                Err(refusal) => Err(refusal.clone()),
            },
            _ => enter(&self.submission, table, self.validate, context).map(Cow::Owned),
        }
    }
}

fn enter(
    submission: &Submission,
    table: &Table,
    validate: Validate,
    context: &Context,
) -> Result<Vec<PreparedRow>, Refusal> {
    let entering = RowPreparer {
        table,
        validate,
        context,
    };
    let mut faults: Faults = submission.faults();
    let mut rows = Vec::with_capacity(submission.len());
    for at in 0..submission.len() {
        // A row of another shape has its fault already.
        if let Some(cells) = submission.cells(at) {
            let cells = cells.map(|(key, raw)| SourceCell::sent(key, raw));
            rows.push(entering.row(context.id(), cells, at, &mut faults));
        }
    }
    faults.finish()?;
    Ok(rows)
}
