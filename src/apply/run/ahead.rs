//! The batches of a table, one after another: while one is on its way to the store, the next is made
//! ready in the belief that it will be written.
//!
//! Where that belief was wrong, everything goes back to where the batch began; it is then entered with
//! care, which finds out why, and so is the rest of the table: what fails once may fail again, and would cost
//! twice. Only batches of which every row enters and about which the destination has to be asked nothing are
//! made ready like this.

use super::compose::Brought;
use super::rows::{Fate, await_links};
use super::table::Entering;
use super::{BATCH, Run};
use crate::apply::{ApplyError, LinkWork, Mode};
use crate::package::payload::RawRow;
use crate::problem::Code;
use crate::workspace::{CommitError, Progress, Sent, Target, Unit};

/// A batch whose unit was made in the belief that it will be written.
struct Believed {
    /// The position of its first row.
    first: usize,
    before: Before,
    brought: Brought,
    progress: Progress,
}

/// What was so before a batch was made ready.
struct Before {
    done: u64,
    /// Rows that targets were told of.
    told: Option<usize>,
    /// Rows that waited for the table to be complete.
    pending: usize,
    /// Where the sequences stood.
    stands: Vec<u64>,
    settled: bool,
}

/// What is believed while the rows of a table enter.
struct Belief<E> {
    /// The batch that is on its way.
    under_way: Option<(Believed, Sent<E>)>,
    /// Whether batches are believed to be written: not after one that was not.
    holds: bool,
}

impl<'a, T: Target> Run<'_, 'a, T> {
    /// All rows of a table.
    pub(super) async fn enter_all(
        &mut self,
        entering: &mut Entering<'a>,
        rows: &[RawRow<'a>],
    ) -> Result<(), ApplyError<T::Error>> {
        let mut belief = Belief {
            under_way: None,
            holds: true,
        };
        for (at, batch) in rows.chunks(BATCH).enumerate() {
            let first = at * BATCH;
            loop {
                let ready = if belief.holds && self.asks_nothing(entering, batch, first) {
                    if belief.under_way.is_none() {
                        self.sequences(entering).await?;
                    }
                    self.believe(entering, batch, first)
                } else {
                    None
                };
                let ready = ready.map(|(unit, believed)| (self.target.ready(unit), believed));
                if !self.settled(entering, rows, &mut belief).await? {
                    continue;
                }
                match ready {
                    Some((unit, believed)) => {
                        let sent = self.target.send(unit).await;
                        belief.under_way = Some((believed, sent));
                    }
                    None => self.enter(entering, batch, first).await?,
                }
                break;
            }
        }
        self.settled(entering, rows, &mut belief).await?;
        Ok(())
    }

    /// Whether every row of a batch enters and nothing has to be asked for that.
    fn asks_nothing(&self, entering: &Entering<'a>, rows: &[RawRow<'a>], first: usize) -> bool {
        let mut columns = entering.columns.all.iter();
        if !matches!(entering.mode, Mode::All)
            || columns.any(|slot| matches!(slot.work.link, LinkWork::Identity { .. }))
        {
            return false;
        }
        let known = self.known.rows(entering.uid, entering.feature);
        (first..first + rows.len()).all(|at| known(at).is_none())
    }

    /// Makes a batch ready, and goes on as if it were written; nothing where a row cannot enter.
    fn believe(
        &mut self,
        entering: &mut Entering<'a>,
        rows: &[RawRow<'a>],
        first: usize,
    ) -> Option<(Unit, Believed)> {
        let told = entering.pointed_at.map(|table| self.targets.told(table));
        let sequences = entering.batch.sequences.iter();
        let before = Before {
            done: self.done,
            told,
            pending: entering.pending.len(),
            stands: sequences.map(|counter| counter.stands).collect(),
            settled: entering.settled,
        };
        self.done += rows.len() as u64;
        let entrants: Vec<usize> = (0..rows.len()).collect();
        let fates: Vec<Fate> = entrants.iter().copied().map(Fate::Enters).collect();
        let which = (&*entrants, &*fates, told);
        let Ok((unit, brought)) = self.compose(entering, (rows, first), which, &[]) else {
            self.go_back(entering, before);
            return None;
        };
        if let Some((table, from)) = entering.pointed_at.zip(told) {
            self.targets.take_back(table, from);
            self.tell_all(table, entering, rows, &fates);
        }
        await_links(entering, rows, first, &fates);
        entering.number_on();
        entering.settled |= brought.settles;
        let progress = unit.progress;
        let believed = Believed {
            first,
            before,
            brought,
            progress,
        };
        Some((unit, believed))
    }

    /// Waits for the batch that is on its way, if there is one; where it was refused, it is entered with
    /// care. Gives whether what was made ready behind it still holds.
    async fn settled(
        &mut self,
        entering: &mut Entering<'a>,
        rows: &[RawRow<'a>],
        belief: &mut Belief<T::Error>,
    ) -> Result<bool, ApplyError<T::Error>> {
        let Some((believed, sent)) = belief.under_way.take() else {
            return Ok(true);
        };
        let outcome = match sent {
            Sent::Settled(outcome) => outcome,
            Sent::OnItsWay => self.target.settle().await,
        };
        match outcome {
            Ok(()) => {
                self.written(believed.progress);
                self.told(entering, &believed.brought);
                Ok(true)
            }
            Err(CommitError::Refused(refused)) => {
                // Numbers that somebody took meanwhile say nothing of the next batches.
                belief.holds = refused.code == Code::Conflict;
                self.go_back(entering, believed.before);
                let first = believed.first;
                let batch = &rows[first..rows.len().min(first + BATCH)];
                self.enter(entering, batch, first).await?;
                Ok(false)
            }
            Err(error) => {
                let doing = format!("writing rows of {:?}", entering.reference);
                Err(ApplyError::commit(doing, error))
            }
        }
    }

    /// Goes back to where a batch began, with everything behind it.
    fn go_back(&mut self, entering: &mut Entering<'a>, before: Before) {
        self.done = before.done;
        if let Some((table, told)) = entering.pointed_at.zip(before.told) {
            self.targets.take_back(table, told);
        }
        entering.pending.truncate(before.pending);
        entering.settled = before.settled;
        let counters = entering.batch.sequences.iter_mut();
        counters
            .zip(before.stands)
            .for_each(|(counter, stands)| counter.stands = stands);
    }
}
