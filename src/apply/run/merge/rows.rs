//! Merges rows: reads a part at a time, compares and writes it; rows with a concurrent change are merged again.

use crate::apply::ApplyError;
use crate::apply::run::Run;
use crate::apply::run::tally::FailedRow;
use crate::apply::run::targets::{Targets, UnreadRow};
use crate::problem::Code;
use crate::rows::EntryFault;
use crate::upgrade::TrackedDecisions;
use crate::workspace::ledger::RowDigest;
use crate::workspace::{Id, Refused, StoredRow, Target, UnfilteredRow, hidden_each};

use super::blocked_rows::{BlockedRow, RefusedRows};
use super::row::{Candidate, DestinationRow, MergeBatch, MergedRow, MergedTable};

/// How often rows are read again after a concurrent change.
const MAX_ATTEMPTS: usize = 20;

impl<'a, T: Target> Run<'_, 'a, T> {
    /// Merges rows. Gives those that wait for values of others.
    pub(super) async fn merge_rows(
        &mut self,
        table: &MergedTable<'a>,
        batch: MergeBatch<'_, 'a>,
        tracked: &TrackedDecisions<'_>,
    ) -> Result<Vec<BlockedRow<'a>>, ApplyError<T::Error>> {
        let mut open: Vec<Candidate<'a>> = batch.rows.to_vec();
        let mut then = batch.then;
        let mut refused = RefusedRows::default();
        for attempt in 1..=MAX_ATTEMPTS {
            let mut again = Vec::new();
            let mut left = open.as_slice();
            let (mut merged, mut bytes) = (Vec::new(), 0);
            while !left.is_empty() {
                let ids: Vec<Id> = left.iter().map(|row| row.id).collect();
                let stored = self.target.fetch(table.feature, &ids).await;
                let stored = stored.map_err(ApplyError::store("reading rows"))?;
                if !then.is_empty() {
                    let begun = self.target.fetch_ahead(table.feature, then).await;
                    begun.map_err(ApplyError::store("reading rows"))?;
                    then = &[];
                }
                // Of large rows not all are there at once.
                let (part, rest) = left.split_at(stored.len().clamp(1, left.len()));
                let stored = self.with_hidden(table.feature, &ids, stored).await?;
                let sizes = stored.iter().flatten();
                bytes += sizes.map(|one| one.row.data.as_str().len()).sum::<usize>();
                let more = self.merged(table, tracked, part, stored, &mut refused.failed);
                merged.extend(more.await?);
                left = rest;
                if left.is_empty() || bytes > batch.most {
                    bytes = 0;
                    let merged = std::mem::take(&mut merged);
                    again.extend(self.write_merged(table, merged, &mut refused).await?);
                }
            }
            if again.is_empty() {
                break;
            }
            open = again;
            // Rows of which unique values alone were to go are merged as a whole later.
            if attempt == MAX_ATTEMPTS && table.only.is_none() {
                let changed = std::mem::take(&mut open);
                self.note_refused(table, changed, &always_changed(), &mut refused);
            }
        }
        self.keep_bases(table, &refused.failed).await?;
        Ok(refused.blocked)
    }

    /// Rows that are there, and whether whoever the job is for does not see them: they are compared all the
    /// same.
    pub(super) async fn with_hidden(
        &mut self,
        feature: Id,
        ids: &[Id],
        stored: Vec<Option<StoredRow>>,
    ) -> Result<Vec<Option<UnfilteredRow>>, ApplyError<T::Error>> {
        let missing = ids.iter().zip(&stored).filter(|(_, row)| row.is_none());
        let missing: Vec<Id> = missing.map(|(id, _)| *id).collect();
        let hidden = hidden_each(&*self.target, feature, &missing).await;
        let mut hidden = hidden
            .map_err(ApplyError::store("reading rows"))?
            .into_iter();
        let rows = stored.into_iter().map(|row| {
            if let Some(row) = row {
                return Some(UnfilteredRow { row, hidden: false });
            }
            let row = hidden.next().flatten()?;
            Some(UnfilteredRow { row, hidden: true })
        });
        Ok(rows.collect())
    }

    /// What becomes of rows that are there. Notes those that do not fit.
    async fn merged(
        &mut self,
        table: &MergedTable<'a>,
        tracked: &TrackedDecisions<'_>,
        rows: &[Candidate<'a>],
        stored: Vec<Option<UnfilteredRow>>,
        failed: &mut Vec<Candidate<'a>>,
    ) -> Result<Vec<MergedRow<'a>>, ApplyError<T::Error>> {
        let mut differing = Vec::new();
        for (row, stored) in rows.iter().zip(stored) {
            // A row that people deleted stays deleted.
            let Some(UnfilteredRow {
                row: stored,
                hidden,
            }) = stored
            else {
                continue;
            };
            let edited = RowDigest::of(&stored.data) != row.digest;
            if (edited && table.whole) || self.differs(table, row) || table.brings_fresh(row) {
                differing.push((*row, stored, edited, hidden));
            }
        }
        let candidates: Vec<Candidate<'a>> = differing.iter().map(|(row, ..)| *row).collect();
        let unread = unread(&self.targets, table, &candidates);
        self.read_rows(&unread).await?;
        let mut merged = Vec::new();
        for (row, stored, edited, hidden) in differing {
            let here = DestinationRow {
                stored: &stored,
                edited,
                hidden,
            };
            let outcome = self.merge_outcome(table, tracked, row, here);
            match outcome.await? {
                Ok(outcome) => merged.push(MergedRow {
                    candidate: row,
                    stored,
                    outcome,
                }),
                // It is reported when the row is merged as a whole.
                Err(_) if table.only.is_some() => {}
                Err(fault) => {
                    self.merge_unfit(table, row, &fault);
                    failed.push(row);
                }
            }
        }
        Ok(merged)
    }

    fn merge_unfit(&mut self, table: &MergedTable<'a>, row: Candidate<'a>, fault: &EntryFault) {
        let failed = FailedRow {
            position: row.position,
            uid: Some(row.theirs.uid.decoded().into_owned()),
            code: Code::ValidationFailed,
            column: Some(fault.column.clone()),
            message: format!("rows[{}].{fault}", row.position),
        };
        self.tally.failed(&table.work.feature_ref, failed);
    }
}

/// Why a row is not changed that others have changed each time it was read.
pub(super) fn always_changed() -> Refused {
    Refused {
        code: Code::Conflict,
        row: None,
        column: None,
        message: "others change the row all the time; upgrade again".to_owned(),
    }
}

/// The rows that links of candidates point at, as the package has them and as the base does, and that are still
/// to be read.
pub(super) fn unread(
    targets: &Targets<'_>,
    table: &MergedTable<'_>,
    rows: &[Candidate<'_>],
) -> Vec<UnreadRow> {
    let sides = rows.iter().flat_map(|row| {
        let base = table.base.row(row.id).map(|base| base.row);
        [Some(row.theirs), base]
    });
    targets.unread_by(sides.flatten().filter_map(|row| row.refs))
}
