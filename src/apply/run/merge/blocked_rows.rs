//! Rows whose unique values stand in other rows: these may give them up later in the same upgrade
//! (`upgrade` 6: what comes out is what a fresh apply of the package gives).

use crate::apply::ApplyError;
use crate::apply::run::tally::FailedRow;
use crate::apply::run::{BATCH, BATCH_BYTES, Run};
use crate::problem::Code;
use crate::rows::equal;
use crate::upgrade::TrackedDecisions;
use crate::workspace::{Refused, Target};

use super::row::{Candidate, MergeBatch, MergedRow, MergedTable};

/// In bytes as they are stored, behind which rows that wait for each other are written: few rows do, so that these may
/// be larger together than others.
const BLOCKED_BYTES: usize = 8 * BATCH_BYTES;

/// Rows that were not changed.
#[derive(Default)]
pub(super) struct RefusedRows<'a> {
    /// Those that are counted as failed.
    pub(super) failed: Vec<Candidate<'a>>,
    /// Those that are tried again when the other rows of the table are changed.
    pub(super) blocked: Vec<BlockedRow<'a>>,
}

/// A row whose value stands in another one.
pub(super) struct BlockedRow<'a> {
    row: Candidate<'a>,
    failed: FailedRow,
}

impl<'a, T: Target> Run<'_, 'a, T> {
    /// Notes rows that the store has refused, some or all for the same reason.
    pub(super) fn note_refused(
        &mut self,
        table: &MergedTable<'a>,
        rows: Vec<Candidate<'a>>,
        refused: &Refused,
        noted: &mut RefusedRows<'a>,
    ) {
        for row in rows {
            let failed = FailedRow {
                position: row.position,
                uid: Some(row.theirs.uid.decoded().into_owned()),
                code: refused.code,
                column: refused.column.clone(),
                message: format!("rows[{}]: {refused}", row.position),
            };
            if refused.code == Code::UniqueViolation || table.only.is_some() {
                noted.blocked.push(BlockedRow { row, failed });
            } else {
                self.tally.failed(&table.work.feature_ref, failed);
                noted.failed.push(row);
            }
        }
    }

    /// Changes rows that wait for each other; those of which the values stay taken are counted as failed.
    pub(super) async fn merge_blocked(
        &mut self,
        table: &MergedTable<'a>,
        blocked: Vec<BlockedRow<'a>>,
        tracked: &TrackedDecisions<'_>,
    ) -> Result<(), ApplyError<T::Error>> {
        let mut blocked = self.merge_while_some_can(table, blocked, tracked).await?;
        blocked.sort_by_key(|one| one.row.position);
        let rows: Vec<Candidate<'a>> = blocked.iter().map(|one| one.row).collect();
        for one in blocked {
            self.tally.failed(&table.work.feature_ref, one.failed);
        }
        self.keep_bases(table, &rows).await
    }

    /// Changes rows that wait for each other, as long as some of them can be changed. Gives the others.
    pub(super) async fn merge_while_some_can(
        &mut self,
        table: &MergedTable<'a>,
        mut blocked: Vec<BlockedRow<'a>>,
        tracked: &TrackedDecisions<'_>,
    ) -> Result<Vec<BlockedRow<'a>>, ApplyError<T::Error>> {
        loop {
            // Where values move on, the last row goes first.
            blocked.reverse();
            let rows: Vec<Candidate<'a>> = blocked.iter().map(|one| one.row).collect();
            let (mut left, mut still) = (rows.as_slice(), Vec::new());
            while !left.is_empty() {
                let (batch, rest) = left.split_at(batch_size(left));
                let more = self.merge_rows(table, MergeBatch::alone(batch, BLOCKED_BYTES), tracked);
                still.extend(more.await?);
                left = rest;
            }
            let before = std::mem::replace(&mut blocked, still).len();
            if blocked.len() == before {
                return Ok(blocked);
            }
        }
    }
}

/// How many rows the next batch has.
fn batch_size(rows: &[Candidate<'_>]) -> usize {
    let mut bytes = 0;
    let fitting = rows.iter().take(BATCH).take_while(|row| {
        bytes += row.theirs.data.len();
        bytes <= BATCH_BYTES
    });
    fitting.count().max(1)
}

/// The places of a row that is refused, and of those that take what it keeps then, ascending.
pub(super) fn refused_together(
    merged: &[MergedRow<'_>],
    at: usize,
    refused: &Refused,
) -> Vec<usize> {
    let mut places = vec![at];
    let Some(column) = refused.column.as_deref() else {
        return places;
    };
    let written = |at: usize| {
        let mut written = merged[at].outcome.written.iter();
        written.find(|cell| cell.column == column)
    };
    let mut next = 0;
    while let Some(at) = places.get(next).copied() {
        next += 1;
        let Some(keeping) = written(at).filter(|cell| cell.before != "null") else {
            continue;
        };
        let takes = |other: &usize| {
            let takes = written(*other).is_some_and(|cell| equal(&cell.after, &keeping.before));
            takes && !places.contains(other)
        };
        let more: Vec<usize> = (0..merged.len()).filter(takes).collect();
        places.extend(more);
    }
    places.sort_unstable();
    places
}
