//! Pipelines the batches of tables: while one is in flight to the store, the next is prepared
//! speculatively, across tables too.
//!
//! When a batch fails, the state returns to where it began; that batch and the rest of the table
//! are then written one at a time, without speculation. Only batches that write every row and need
//! no lookup are prepared speculatively.

use super::compose::{BatchRows, BatchSummary};
use super::rows::{RowOutcome, await_links};
use super::table::Entering;
use super::{BATCH, BATCH_BYTES, Run};
use crate::apply::{ApplyError, LinkWork, Mode};
use crate::package::payload::{RawEntry, RawRow};
use crate::problem::Code;
use crate::workspace::{CommitError, Progress, Sent, Target, Unit};

/// A batch whose unit was made in the belief that it will be written.
struct Speculative {
    /// The position of its first row.
    first: usize,
    before: PipelineState,
    brought: BatchSummary,
    progress: Progress,
}

/// What was so before a batch was made ready.
struct PipelineState {
    done: u64,
    /// Rows that are known as targets of links.
    reported: Option<usize>,
    /// Rows that waited for the table to be complete.
    pending: usize,
    /// Where the sequences stood.
    stands: Vec<u64>,
    settled: bool,
}

/// A table of which rows may be on their way still.
pub(super) struct OpenTable<'a, E> {
    entering: Entering<'a>,
    rows: Vec<RawRow<'a>>,
    /// Where its rows stand, if links inside the table may wait for it to be complete.
    entry: Option<&'a RawEntry<'a>>,
    /// The batch that is on its way.
    in_flight: Option<(Speculative, Sent<E>)>,
    /// Whether batches are believed to be written: not after one that was not.
    holds: bool,
}

/// What became of a batch.
type Outcome<E> = (Speculative, Result<(), CommitError<E>>);

/// A batch that is ready to be sent, if it can be.
type Ahead<T> = Option<(<T as Target>::Ready, Speculative)>;

impl<'a, E> OpenTable<'a, E> {
    pub(super) fn new(
        entering: Entering<'a>,
        rows: Vec<RawRow<'a>>,
        entry: Option<&'a RawEntry<'a>>,
    ) -> OpenTable<'a, E> {
        OpenTable {
            entering,
            rows,
            entry,
            in_flight: None,
            holds: true,
        }
    }

    /// The rows of a batch: at least one, and no more than may be written together.
    fn batch(&self, first: usize) -> std::ops::Range<usize> {
        let mut bytes = 0;
        let rows = self.rows.iter().skip(first).take(BATCH);
        let fitting = rows.take_while(|row| {
            bytes += row.data.len();
            bytes <= BATCH_BYTES
        });
        let end = first + fitting.count().max(1);
        first..end.min(self.rows.len())
    }
}

impl<'a, T: Target> Run<'_, 'a, T> {
    /// All rows of a table; the last of them may be on their way then, as those of the table before may be
    /// now. Its first batch is made ready meanwhile.
    pub(super) async fn enter_all(
        &mut self,
        open: &mut OpenTable<'a, T::Error>,
        mut before: Option<OpenTable<'a, T::Error>>,
    ) -> Result<(), ApplyError<T::Error>> {
        self.target.expect(open.entering.feature).await;
        let mut next = 0;
        while next < open.rows.len() {
            let first = next;
            next = open.batch(first).end;
            loop {
                let mut ahead = self.speculative_batch(open, first).await?;
                let holds = match before.take() {
                    Some(before) => self.leave_for(before, open, &mut ahead).await?,
                    None => self.finish_settled(open).await?,
                };
                if !holds {
                    // It rested on rows that did not enter.
                    continue;
                }
                if let Some((unit, believed)) = ahead {
                    let sent = self.target.send(unit).await;
                    open.in_flight = Some((believed, sent));
                } else {
                    let batch = open.batch(first);
                    let OpenTable { entering, rows, .. } = open;
                    self.enter(entering, &rows[batch], first).await?;
                }
                break;
            }
        }
        match before {
            Some(before) => self.leave(before).await,
            None => Ok(()),
        }
    }

    /// Waits for the rows of a table that are on their way, and completes it.
    pub(super) async fn leave(
        &mut self,
        mut open: OpenTable<'a, T::Error>,
    ) -> Result<(), ApplyError<T::Error>> {
        self.finish_settled(&mut open).await?;
        self.complete_table(open).await
    }

    /// The same where the first batch of the next table may have been made ready already. Gives whether it
    /// still holds; where it does not, it is taken back.
    async fn leave_for(
        &mut self,
        mut open: OpenTable<'a, T::Error>,
        next: &mut OpenTable<'a, T::Error>,
        ahead: &mut Ahead<T>,
    ) -> Result<bool, ApplyError<T::Error>> {
        let outcome = self.outcome(&mut open).await;
        let refused = matches!(outcome, Some((_, Err(CommitError::Refused(_)))));
        if refused && let Some((_, believed)) = ahead.take() {
            // First what came last.
            self.go_back(&mut next.entering, believed.before);
        }
        let done = self.done;
        if let Some((_, believed)) = ahead {
            // Until it is sent, it is not done, and nothing of the table before points at it.
            self.done = believed.before.done;
            let pointed_at = next.entering.pointed_at;
            self.targets.hide(pointed_at.zip(believed.before.reported));
        }
        self.finish_outcome(&mut open, outcome).await?;
        self.complete_table(open).await?;
        if ahead.is_some() {
            self.done = done;
            self.targets.hide(None);
        }
        Ok(!refused)
    }

    async fn complete_table(
        &mut self,
        mut open: OpenTable<'a, T::Error>,
    ) -> Result<(), ApplyError<T::Error>> {
        if let Some(entry) = open.entry {
            self.close(&mut open.entering, entry).await?;
        }
        // Rows that are there are merged when all tables are complete.
        if self.base.is_empty() && self.approved.upgrade.is_none() {
            self.ledger_state.leave(open.entering.uid);
        }
        Ok(())
    }

    /// Makes a batch ready, if it can be believed to be written.
    async fn speculative_batch(
        &mut self,
        open: &mut OpenTable<'a, T::Error>,
        first: usize,
    ) -> Result<Ahead<T>, ApplyError<T::Error>> {
        let batch = open.batch(first);
        let OpenTable {
            entering,
            rows,
            in_flight: under_way,
            holds,
            ..
        } = open;
        let batch = &rows[batch];
        if !*holds || !self.asks_nothing(entering, batch, first) {
            return Ok(None);
        }
        if under_way.is_none() {
            self.sequences(entering).await?;
        }
        let ahead = self.speculate(entering, batch, first);
        Ok(ahead.map(|(unit, believed)| (self.target.ready(unit), believed)))
    }

    /// Whether every row of a batch enters and nothing has to be asked for that.
    fn asks_nothing(&self, entering: &Entering<'a>, rows: &[RawRow<'a>], first: usize) -> bool {
        let mut columns = entering.columns.all.iter();
        if !matches!(entering.mode, Mode::All)
            || columns.any(|slot| matches!(slot.work.link, LinkWork::Identity { .. }))
        {
            return false;
        }
        let known = self.ledger_state.rows(entering.uid, entering.feature);
        (first..first + rows.len()).all(|at| known(at).is_none())
    }

    /// Makes a batch ready, and goes on as if it were written; nothing where a row cannot enter.
    fn speculate(
        &mut self,
        entering: &mut Entering<'a>,
        rows: &[RawRow<'a>],
        first: usize,
    ) -> Option<(Unit, Speculative)> {
        let report = entering
            .pointed_at
            .map(|table| self.targets.reported_rows(table));
        let sequences = entering.batch.sequences.iter();
        let before = PipelineState {
            done: self.done,
            reported: report,
            pending: entering.pending.len(),
            stands: sequences.map(|counter| counter.stands).collect(),
            settled: entering.settled,
        };
        self.done += rows.len() as u64;
        let entrants: Vec<usize> = (0..rows.len()).collect();
        let fates: Vec<RowOutcome> = entrants.iter().copied().map(RowOutcome::Enters).collect();
        let batch_rows = BatchRows {
            entrants: &entrants,
            outcomes: &fates,
            reported: report,
        };
        let Ok((unit, brought)) = self.compose(entering, rows, first, batch_rows, &[]) else {
            self.go_back(entering, before);
            return None;
        };
        if let Some((table, from)) = entering.pointed_at.zip(report) {
            self.targets.take_back(table, from);
            self.report_rows(table, entering, rows, &fates);
        }
        await_links(entering, rows, first, &fates);
        entering.number_on();
        entering.settled |= brought.settles;
        let progress = unit.progress;
        let believed = Speculative {
            first,
            before,
            brought,
            progress,
        };
        Some((unit, believed))
    }

    /// Waits for the batch that is on its way, if there is one. Gives whether what was made ready behind it
    /// still holds.
    async fn finish_settled(
        &mut self,
        open: &mut OpenTable<'a, T::Error>,
    ) -> Result<bool, ApplyError<T::Error>> {
        let outcome = self.outcome(open).await;
        self.finish_outcome(open, outcome).await
    }

    async fn outcome(&mut self, open: &mut OpenTable<'a, T::Error>) -> Option<Outcome<T::Error>> {
        let (believed, sent) = open.in_flight.take()?;
        let outcome = match sent {
            Sent::Settled(outcome) => outcome,
            Sent::InFlight => self.target.flush().await,
        };
        Some((believed, outcome))
    }

    /// Goes on by what became of a batch; where it was refused, it is entered with care.
    async fn finish_outcome(
        &mut self,
        open: &mut OpenTable<'a, T::Error>,
        outcome: Option<Outcome<T::Error>>,
    ) -> Result<bool, ApplyError<T::Error>> {
        match outcome {
            None => Ok(true),
            Some((believed, Ok(()))) => {
                self.written(believed.progress);
                self.report_batch(&open.entering, &believed.brought);
                Ok(true)
            }
            Some((believed, Err(CommitError::Refused(refused)))) => {
                // Numbers that somebody took meanwhile say nothing of the next batches.
                open.holds = refused.code == Code::Conflict;
                let (first, batch) = (believed.first, open.batch(believed.first));
                let OpenTable { entering, rows, .. } = open;
                self.go_back(entering, believed.before);
                self.enter(entering, &rows[batch], first).await?;
                Ok(false)
            }
            Some((_, Err(error))) => {
                let doing = format!("writing rows of {:?}", open.entering.reference);
                Err(ApplyError::commit(doing, error))
            }
        }
    }

    /// Goes back to where a batch began, with everything behind it.
    fn go_back(&mut self, entering: &mut Entering<'a>, before: PipelineState) {
        self.done = before.done;
        if let Some((table, report)) = entering.pointed_at.zip(before.reported) {
            self.targets.take_back(table, report);
        }
        entering.pending.truncate(before.pending);
        entering.settled = before.settled;
        let counters = entering.batch.sequences.iter_mut();
        counters
            .zip(before.stands)
            .for_each(|(counter, stands)| counter.stands = stands);
    }
}
