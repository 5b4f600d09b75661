//! Composes the unit that writes the rows of a batch.

use super::Run;
use super::batch::BatchContext;
use super::emptied_counts::{EmptiedCounts, OtherFiles};
use super::keys::MatchedKeys;
use super::row_outcome::RowOutcome;
use super::table::TableInsertion;
use crate::apply::ledger_rows;
use crate::package::payload::RawRow;
use crate::rows::EntryFault;
use crate::workspace::ledger::{Entry, MovedSequence, RowNames, Rows};
use crate::workspace::{Change, Target, Unit};

/// A row of a batch cannot be stored as it is: its position among those that enter.
pub(super) struct UnfitRow(pub(super) usize);

/// Which rows of a batch are written.
#[derive(Clone, Copy)]
pub(super) struct BatchRows<'e> {
    /// The positions in the batch of the rows that are written.
    pub(super) entrants: &'e [usize],
    /// The outcome of every row of the batch.
    pub(super) outcomes: &'e [RowOutcome],
    /// How many rows of the table were reported before, when links point at the table.
    pub(super) reported: Option<usize>,
}

/// What a unit writes, for the report.
#[derive(Debug)]
pub(super) struct BatchSummary {
    rows: u64,
    /// Cells with links inside the table.
    linked: u64,
    /// Whether there are rows with such cells.
    pub(super) has_early_links: bool,
    /// By column: cells that are left empty.
    emptied: Vec<EmptiedCounts>,
    /// Cells that become null in columns that only the destination has.
    other_files: OtherFiles,
}

impl<'a, T: Target> Run<'_, 'a, T> {
    /// The unit that writes the rows that enter, and what it brings.
    pub(super) fn compose(
        &mut self,
        entering: &mut TableInsertion<'a>,
        rows: &[RawRow<'a>],
        first: usize,
        batch_rows: BatchRows<'_>,
        found: &[bool],
    ) -> Result<(Unit, BatchSummary), UnfitRow> {
        self.text(entering, rows, first, batch_rows.entrants, found)?;
        self.finish_rows(entering, rows, batch_rows, found);
        let (changes, sequences) = changes(entering);
        let early_links = entering.batch.early_links();
        let brought = BatchSummary {
            rows: batch_rows.entrants.len() as u64,
            linked: early_links.iter().map(|row| u64::from(row.cells)).sum(),
            has_early_links: !early_links.is_empty(),
            emptied: entering.batch.emptied.clone(),
            other_files: entering.batch.other_files.clone(),
        };
        let entry = Entry::Rows(Rows {
            uid: entering.uid.to_owned(),
            feature: entering.feature,
            rows: entering.batch.recorded(),
            emptied: entering.batch.emptied(&entering.columns),
            sequences,
            early_links,
            names: entering.entry.map_or_else(RowNames::default, |entry| {
                ledger_rows::names(entry, batch_rows.entrants.iter().map(|at| rows[*at]))
            }),
        });
        Ok((self.unit("rows", changes, entry), brought))
    }

    /// Counts what was written.
    pub(super) fn report_batch(&mut self, entering: &TableInsertion<'a>, brought: &BatchSummary) {
        self.tally.inserted(entering.reference, brought.rows);
        let table = self.tally.table(entering.reference);
        super::tally::add(&mut table.linked, brought.linked);
        self.tally
            .emptied(entering.uid, &entering.columns, &brought.emptied);
        self.tally
            .emptied_others(entering.uid, entering.reference, &brought.other_files);
    }

    /// Links of the rows to rows of the same table, as far as those are there or enter along with them:
    /// either all of this is written or nothing.
    fn finish_rows(
        &mut self,
        entering: &mut TableInsertion<'a>,
        rows: &[RawRow<'a>],
        BatchRows {
            entrants,
            outcomes,
            reported,
        }: BatchRows<'_>,
        found: &[bool],
    ) {
        let Some((table, from)) = entering.pointed_at.zip(reported) else {
            return;
        };
        if !entering.batch.rows.iter().any(|new| new.deferred) {
            return;
        }
        self.targets.take_back(table, from);
        self.report_rows(table, entering, rows, outcomes);
        let TableInsertion {
            batch,
            columns,
            wanted,
            reference,
            file_columns,
            ..
        } = entering;
        let with = BatchContext {
            columns,
            own: reference,
            wanted,
            targets: &self.targets,
            found,
            minter: &self.approved.minter,
            file_columns: file_columns.as_ref(),
        };
        for (at, row) in entrants.iter().enumerate() {
            batch.finish_row(at, &rows[*row], with);
        }
    }

    fn text(
        &self,
        entering: &mut TableInsertion<'a>,
        rows: &[RawRow<'a>],
        first: usize,
        entrants: &[usize],
        found: &[bool],
    ) -> Result<(), UnfitRow> {
        let TableInsertion {
            batch,
            columns,
            wanted,
            reference,
            first_ordinal,
            file_columns,
            ..
        } = entering;
        batch.begin(columns.all.len());
        let with = BatchContext {
            columns,
            own: reference,
            wanted,
            targets: &self.targets,
            found,
            minter: &self.approved.minter,
            file_columns: file_columns.as_ref(),
        };
        for (which, at) in entrants.iter().enumerate() {
            let (position, ordinal) = step_position(*first_ordinal, first + at);
            let pushed = batch.push(&rows[*at], position, ordinal, with);
            pushed.map_err(|_| UnfitRow(which))?;
        }
        Ok(())
    }

    /// Every row that no column could store as it is, looked for from one of them on: its position
    /// among those that enter, and why.
    pub(super) fn unfit(
        &self,
        entering: &mut TableInsertion<'a>,
        rows: &[RawRow<'a>],
        first: usize,
        entrants: &[usize],
        from: usize,
        found: &MatchedKeys,
    ) -> Vec<(usize, EntryFault)> {
        let TableInsertion {
            batch,
            columns,
            wanted,
            reference,
            first_ordinal,
            file_columns,
            ..
        } = entering;
        let mut unfit = Vec::new();
        for (which, at) in entrants.iter().enumerate().skip(from) {
            let with = BatchContext {
                columns,
                own: reference,
                wanted,
                targets: &self.targets,
                found: found.from(which),
                minter: &self.approved.minter,
                file_columns: file_columns.as_ref(),
            };
            batch.begin(columns.all.len());
            let (position, ordinal) = step_position(*first_ordinal, first + at);
            if let Err(fault) = batch.push(&rows[*at], position, ordinal, with) {
                unfit.push((which, fault));
            }
        }
        unfit
    }
}

/// The position of a row, and the ordinal of its id.
fn step_position(first_ordinal: u32, position: usize) -> (usize, u32) {
    let ordinal = u32::try_from(position).unwrap_or(u32::MAX);
    (position, first_ordinal.saturating_add(ordinal))
}

/// The rows of a batch and the sequences that they moved on.
fn changes(entering: &TableInsertion<'_>) -> (Vec<Change>, Vec<MovedSequence>) {
    let feature = entering.feature;
    let mut changes = vec![Change::InsertRows {
        feature,
        rows: entering.batch.stored(),
    }];
    let mut sequences = Vec::new();
    for counter in &entering.batch.sequences {
        if counter.next > counter.stands {
            let moved = MovedSequence {
                column: entering.columns.all[counter.slot].work.column.id,
                from: counter.stands,
                to: counter.next,
            };
            changes.push(Change::MoveSequence {
                feature,
                column: moved.column,
                from: moved.from,
                to: moved.to,
            });
            sequences.push(moved);
        }
    }
    (changes, sequences)
}
