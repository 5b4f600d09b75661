//! One batch: chooses the rows to write, and the unit that writes them.

use super::Run;
use super::compose::{BatchRows, UnfitRow};
use super::links::points_home;
use super::pending_links::PendingLinks;
use super::row_outcome::{PartRefusal, RowOutcome, WrittenContent};
use super::split_batch::{BatchParts, PartFailures, SplitDecision, number};
use super::table::TableInsertion;
use crate::apply::{ApplyError, Mode};
use crate::package::payload::RawRow;
use crate::problem::Code;
use crate::workspace::{CommitError, Id, StoredRow, Target, fetch_each};

/// How often a batch is written again after another writer moved a sequence.
const MAX_ATTEMPTS: usize = 100;

impl<'a, T: Target> Run<'_, 'a, T> {
    /// The rows from position `first` on.
    pub(super) async fn enter(
        &mut self,
        entering: &mut TableInsertion<'a>,
        rows: &[RawRow<'a>],
        first: usize,
    ) -> Result<(), ApplyError<T::Error>> {
        self.done += rows.len() as u64;
        let mut parts = BatchParts::of(rows.len());
        while let Some(part) = parts.next() {
            let from = first + part.start;
            let refused = self.enter_part(entering, &rows[part.clone()], from).await?;
            if let Some(row) = refused {
                parts.split(part, row);
            }
        }
        Ok(())
    }

    /// Enters a part of a batch, all rows of it or none, but for those that are known to be refused
    /// themselves. Gives where to divide it when the store refused it and which rows are at fault
    /// is still to be found out; then nothing is counted yet.
    async fn enter_part(
        &mut self,
        entering: &mut TableInsertion<'a>,
        rows: &[RawRow<'a>],
        first: usize,
    ) -> Result<Option<Option<usize>>, ApplyError<T::Error>> {
        let mut outcomes = self.row_outcomes(entering, rows, first).await?;
        let reported = entering
            .pointed_at
            .map(|table| self.targets.reported_rows(table));
        let mut failed = PartFailures::new(rows, first);
        loop {
            let entrants = number(&mut outcomes);
            if entrants.is_empty() {
                break;
            }
            if self.full.is_some() {
                for at in &entrants {
                    outcomes[*at] = RowOutcome::Failed;
                }
                failed.no_room.extend(entrants);
                break;
            }
            let batch_rows = BatchRows {
                entrants: &entrants,
                outcomes: &outcomes,
                reported,
            };
            let Err(why) = self.write(entering, rows, first, batch_rows).await? else {
                break;
            };
            match self.refused(entering, &entrants, why, &mut failed).await? {
                SplitDecision::Failed(at) => {
                    for at in at {
                        outcomes[at] = RowOutcome::Failed;
                    }
                }
                SplitDecision::Divide(at) => return Ok(Some(at)),
            }
        }
        self.count_part(entering, &outcomes, failed);
        if let Some((table, from)) = entering.pointed_at.zip(reported) {
            // Their links may have been written speculatively.
            self.targets.take_back(table, from);
            self.report_rows(table, entering, rows, &outcomes);
        }
        await_links(entering, rows, first, &outcomes);
        Ok(None)
    }

    /// Counts what became of the rows of a part.
    fn count_part(
        &mut self,
        entering: &TableInsertion<'a>,
        outcomes: &[RowOutcome],
        failed: PartFailures<'_, 'a>,
    ) {
        let table = self.tally.table(entering.reference);
        for outcome in outcomes {
            match outcome {
                RowOutcome::Written(..) => table.skipped += 1,
                RowOutcome::Existing(_) | RowOutcome::Same(_) => table.existing += 1,
                RowOutcome::Enters(_) | RowOutcome::Failed | RowOutcome::Out => {}
            }
        }
        let PartFailures {
            mut rows,
            no_room,
            first,
            ..
        } = failed;
        rows.sort_by_key(|row| row.position);
        for row in rows {
            self.tally.failed(entering.reference, row);
        }
        let message = self.full.as_deref().unwrap_or_default();
        for at in no_room {
            let position = first + at;
            let TableInsertion {
                reference,
                uid,
                last,
                ..
            } = *entering;
            self.tally.no_room(reference, uid, position, last, message);
        }
    }

    /// Reports the targets of links what became of rows.
    pub(super) fn report_rows(
        &mut self,
        table: usize,
        entering: &TableInsertion<'a>,
        rows: &[RawRow<'a>],
        outcomes: &[RowOutcome],
    ) {
        self.targets.reserve(rows.len());
        for (at, row) in rows.iter().enumerate() {
            self.report_row(table, entering, row, outcomes, at);
        }
    }

    /// Reports the targets of links what became of a row.
    fn report_row(
        &mut self,
        position: usize,
        entering: &TableInsertion<'a>,
        row: &RawRow<'a>,
        outcomes: &[RowOutcome],
        at: usize,
    ) {
        let mut outcome = &outcomes[at];
        if let RowOutcome::Same(other) = outcome {
            outcome = &outcomes[*other];
        }
        let stored = |stored: &StoredRow| stored.data.clone();
        let (id, data) = match outcome {
            RowOutcome::Enters(new) => (entering.batch.rows[*new].id, None),
            RowOutcome::Existing(row) | RowOutcome::Written(_, WrittenContent::Found(row)) => {
                (row.id, Some(stored(row)))
            }
            RowOutcome::Written(known, WrittenContent::Unread) => {
                self.targets
                    .enter_unread(position, row.uid, row.start, known.id);
                return;
            }
            _ => (Id::nil(), None),
        };
        let of = entering.wanted.len();
        self.targets
            .enter(position, row.uid, row.start, id, |wanted| {
                match (outcome, &data) {
                    (RowOutcome::Enters(new), _) => entering.batch.value(*new, wanted, of),
                    (_, Some(data)) => data.cell(entering.wanted[wanted].name),
                    _ => None,
                }
            });
    }

    async fn row_outcomes(
        &mut self,
        entering: &TableInsertion<'a>,
        rows: &[RawRow<'a>],
        first: usize,
    ) -> Result<Vec<RowOutcome>, ApplyError<T::Error>> {
        let feature = entering.feature;
        let mut outcomes: Vec<RowOutcome> = {
            let known = self.ledger_state.rows(entering.uid, feature);
            let positions = first..first + rows.len();
            let outcome = |at| match known(at) {
                Some(known) => RowOutcome::Written(known, WrittenContent::Unread),
                None => RowOutcome::Out,
            };
            positions.map(outcome).collect()
        };
        // Rows that enter along with them may point at them: then all are read at once.
        let enters = |outcome: &RowOutcome| matches!(outcome, RowOutcome::Out);
        if entering.pointed_at.is_some() && outcomes.iter().any(enters) {
            let ids: Vec<Id> = outcomes.iter().filter_map(written).collect();
            if !ids.is_empty() {
                let link_columns = entering.link_columns();
                let found =
                    fetch_each(&*self.target, feature, &ids, |row| link_columns.of(row)).await;
                let found = found.map_err(ApplyError::store("reading rows"))?;
                let written = outcomes.iter_mut().filter_map(|outcome| match outcome {
                    RowOutcome::Written(_, content) => Some(content),
                    _ => None,
                });
                written.zip(found).for_each(|(slot, row)| {
                    *slot = row.map_or(WrittenContent::Gone, WrittenContent::Found);
                });
            }
        }
        match entering.mode {
            Mode::None => {}
            Mode::All => {
                let unknown = outcomes
                    .iter_mut()
                    .filter(|outcome| matches!(outcome, RowOutcome::Out));
                for (new, outcome) in unknown.enumerate() {
                    *outcome = RowOutcome::Enters(new);
                }
            }
            Mode::MissingByKey { column } => {
                self.by_key(entering, rows, column, &mut outcomes).await?;
            }
        }
        Ok(outcomes)
    }

    /// Writes the rows that enter, all or none.
    async fn write(
        &mut self,
        entering: &mut TableInsertion<'a>,
        rows: &[RawRow<'a>],
        first: usize,
        batch_rows: BatchRows<'_>,
    ) -> Result<Result<(), PartRefusal>, ApplyError<T::Error>> {
        let entrants = batch_rows.entrants;
        let refs = entrants.iter().filter_map(|at| rows[*at].refs);
        let unread = self.targets.unread_by(refs);
        self.read_rows(&unread).await?;
        let entrant = |at: &usize| (rows[*at].data, rows[*at].refs);
        let found = self
            .match_keys(&entering.columns, entrants.iter().map(entrant))
            .await?;
        for _ in 0..MAX_ATTEMPTS {
            self.sequences(entering).await?;
            let composed = self.compose(entering, rows, first, batch_rows, &found.here);
            if entering.batch.asks_columns {
                let columns = self.file_columns(entering.feature).await?;
                entering.file_columns = Some(columns);
                continue;
            }
            let (unit, brought) = match composed {
                Ok(composed) => composed,
                Err(UnfitRow(from)) => {
                    let unfit = self.unfit(entering, rows, first, entrants, from, &found);
                    return Ok(Err(PartRefusal::Unfit(unfit)));
                }
            };
            self.note_unlinked(entering).await?;
            match self.try_commit(unit).await {
                Ok(()) => {
                    entering.number_on();
                    entering.has_early_links |= brought.has_early_links;
                    self.report_batch(entering, &brought);
                    return Ok(Ok(()));
                }
                Err(CommitError::Refused(refused)) => {
                    // Perhaps another job took numbers of the sequence meanwhile.
                    entering.sequence_is_read = refused.code != Code::Conflict;
                    if !self.sequences(entering).await? {
                        return Ok(Err(PartRefusal::Refused(refused)));
                    }
                }
                Err(error) => {
                    let doing = format!("writing rows of {:?}", entering.reference);
                    return Err(ApplyError::commit(doing, error));
                }
            }
        }
        Ok(Err(PartRefusal::Contended))
    }
}

/// Notes which rows have cells that wait for the table to be complete.
pub(super) fn await_links(
    entering: &mut TableInsertion<'_>,
    rows: &[RawRow<'_>],
    first: usize,
    outcomes: &[RowOutcome],
) {
    for (at, row) in rows.iter().enumerate() {
        let pending = match &outcomes[at] {
            RowOutcome::Enters(new) => {
                let new = &entering.batch.rows[*new];
                new.deferred.then_some((new.id, new.digest, false))
            }
            RowOutcome::Written(known, _) => (known.open && points_home(row, entering.reference))
                .then_some((known.id, known.digest, known.early_links.is_some())),
            _ => None,
        };
        let pending = pending.map(|(id, digest, again)| PendingLinks {
            position: first + at,
            start: row.start,
            id,
            digest,
            again,
        });
        entering.pending.extend(pending);
    }
}

fn written(outcome: &RowOutcome) -> Option<Id> {
    match outcome {
        RowOutcome::Written(known, _) => Some(known.id),
        _ => None,
    }
}
