//! Rows that are merged: what the package and the base say of them, what stands at the destination, and what
//! becomes of their cells.

use std::collections::HashSet;

use crate::apply::run::columns::Columns;
use crate::apply::run::table_base::TableBase;
use crate::apply::{TableWork, UpgradeWork};
use crate::json::Value;
use crate::package::payload::RawRow;
use crate::rows::{Cell, EntryFault};
use crate::workspace::ledger::RowDigest;
use crate::workspace::{Id, StoredRow};

/// A row that may change.
#[derive(Clone, Copy)]
pub(super) struct Candidate<'a> {
    pub(super) position: usize,
    pub(super) id: Id,
    /// What it held when the ledger last knew that as its base.
    pub(super) digest: RowDigest,
    pub(super) theirs: RawRow<'a>,
}

/// Rows that are merged together.
#[derive(Clone, Copy)]
pub(super) struct MergeBatch<'r, 'a> {
    pub(super) rows: &'r [Candidate<'a>],
    /// The rows of the next batch.
    pub(super) then: &'r [Id],
    /// Of how many bytes of stored rows what they come to is written together.
    pub(super) most: usize,
}

impl<'r, 'a> MergeBatch<'r, 'a> {
    /// Rows after which no others are fetched.
    pub(super) fn alone(rows: &'r [Candidate<'a>], most: usize) -> MergeBatch<'r, 'a> {
        let then = &[];
        MergeBatch { rows, then, most }
    }
}

/// What a table is merged with.
pub(super) struct MergedTable<'a> {
    pub(super) work: &'a TableWork,
    pub(super) feature: Id,
    pub(super) columns: Columns<'a>,
    pub(super) base: TableBase<'a>,
    pub(super) upgrade: Option<&'a UpgradeWork>,
    /// Whether all cells are compared; else those of new columns alone.
    pub(super) whole: bool,
    /// Columns that this job creates, or has created before it was stopped.
    pub(super) fresh: HashSet<Id>,
    /// Where these stand among the columns.
    pub(super) fresh_slots: Vec<usize>,
    /// The columns that are merged now, before the others; nothing for all.
    pub(super) only: Option<Vec<usize>>,
}

impl MergedTable<'_> {
    /// Whether cells of a column are merged now.
    pub(super) fn merges(&self, at: usize) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(&at))
    }

    pub(super) fn is_fresh(&self, column: Id) -> bool {
        self.fresh.contains(&column)
    }

    /// Whether the package has cells of a row for columns that this job creates.
    pub(super) fn brings_fresh(&self, row: &Candidate<'_>) -> bool {
        let fresh = self.fresh_slots.iter();
        let mut cells = fresh.filter_map(|at| self.columns.cell(row.theirs.data, *at));
        cells.any(|cell| !Cell::new(cell).is_empty())
    }
}

/// What the package says of a row.
#[derive(Default)]
pub(super) struct DestinationCells {
    /// By column, as the destination holds it; what it cannot hold as the package has it.
    pub(super) all: Vec<String>,
    /// The cells that it cannot hold.
    pub(super) unfit: Vec<UnfitCell>,
}

/// A cell of the package that the column of the destination cannot hold.
pub(super) struct UnfitCell {
    /// The position of its column.
    pub(super) at: usize,
    /// Why.
    pub(super) fault: EntryFault,
}

impl DestinationCells {
    /// Why the destination cannot hold the cell of a column.
    pub(super) fn unfit(&self, at: usize) -> Option<&EntryFault> {
        let mut unfit = self.unfit.iter();
        unfit.find(|cell| cell.at == at).map(|cell| &cell.fault)
    }
}

/// A row as it is at the destination.
#[derive(Clone, Copy)]
pub(super) struct DestinationRow<'s> {
    pub(super) stored: &'s StoredRow,
    /// Whether people have changed it.
    pub(super) edited: bool,
    /// Whether it is hidden from the user of the job.
    pub(super) hidden: bool,
}

/// A row with what becomes of it.
pub(super) struct MergedRow<'a> {
    /// What the package says of it.
    pub(super) candidate: Candidate<'a>,
    /// What it holds at the destination.
    pub(super) stored: StoredRow,
    /// What becomes of its cells.
    pub(super) outcome: MergeOutcome,
}

/// A cell that is written.
#[derive(Debug)]
pub(super) struct CellChange {
    /// Name of the column.
    pub(super) column: String,
    /// What it holds.
    pub(super) before: String,
    /// What it gets.
    pub(super) after: String,
}

/// A cell whose base is not what the package says.
#[derive(Debug)]
pub(super) struct KeptBase {
    /// Name of the column.
    pub(super) column: String,
    /// The base.
    pub(super) base: String,
}

/// A cell in conflict, which needs a decision.
#[derive(Debug)]
pub(super) struct ConflictingCell {
    /// Its path.
    pub(super) path: String,
    /// The base, what the package says, and what it holds.
    pub(super) values: [Value; 3],
}

/// What becomes of the cells of a row.
#[derive(Debug, Default)]
pub(super) struct MergeOutcome {
    /// Whether the row is hidden from the user of the job.
    pub(super) hidden: bool,
    /// Cells that are written.
    pub(super) written: Vec<CellChange>,
    /// Cells whose base is not what the package says.
    pub(super) stays: Vec<KeptBase>,
    /// Of these, columns whose cells are not compared: those of rows of transactional data.
    pub(super) not_compared: Vec<String>,
    /// Whether cells become something else than their base.
    pub(super) differs: bool,
    /// Whether the base of cells becomes another one.
    pub(super) moves: bool,
    /// Columns that keep what they hold although the package brings something else: a file is never written over, and
    /// a link to a row that is not at the destination is not written.
    pub(super) left_out: Vec<usize>,
    /// Columns that become null, or stay empty, because the package names a file there.
    pub(super) emptied: Vec<usize>,
    pub(super) kept: u64,
    pub(super) decided: u64,
    /// Cells in conflict, which need a decision.
    pub(super) conflicts: Vec<ConflictingCell>,
}

impl MergeOutcome {
    /// Notes that the base of a cell is not what the package says.
    pub(super) fn keep(&mut self, column: &str, base: String) {
        let column = column.to_owned();
        self.stays.push(KeptBase { column, base });
    }

    /// Cells whose base is not what the package says: name, base.
    pub(super) fn stays(&self) -> impl Iterator<Item = (&str, &str)> {
        let stays = self.stays.iter();
        stays.map(|kept| (kept.column.as_str(), kept.base.as_str()))
    }
}
