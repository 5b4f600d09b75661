//! One cell of a row that is merged: base, package and destination next to each other, and the cases in which it is
//! not compared like a value. Each case says whether it applies; what it comes to is in the outcome of the row.

use crate::apply::run::columns::Slot;
use crate::rows::{Cell, EntryFault, equal};
use crate::upgrade::{Take, TrackedDecisions};

use super::is_null;
use super::packaged_cell::{brings_file, lacks_target, same_cell, same_link};
use super::row::{Candidate, CellChange, MergeOutcome, MergedTable};

/// A cell as everybody has it.
#[derive(Clone, Copy)]
pub(super) struct CellSides<'c, 'a> {
    pub(super) table: &'c MergedTable<'a>,
    pub(super) row: Candidate<'a>,
    /// The position of its column.
    pub(super) at: usize,
    /// What it holds at the destination.
    pub(super) ours: &'c str,
    /// What the package says, as the destination would hold it; as the package has it where that cannot hold it.
    pub(super) theirs: &'c str,
    /// Why it cannot.
    pub(super) unfit: Option<&'c EntryFault>,
    /// What was written last, if the base has the cell.
    pub(super) base: Option<&'c str>,
    /// The base that the ledger keeps for it, where that is not what the package said then.
    pub(super) kept: Option<&'c str>,
    /// Whether its column is new to the row.
    pub(super) fresh: bool,
    /// Whether people have changed the row.
    pub(super) edited: bool,
    /// Whether the row is hidden from the user of the job.
    pub(super) hidden: bool,
}

/// A cell that is compared, with the base that counts for it.
#[derive(Clone, Copy)]
pub(super) struct ComparedCell<'c, 'a> {
    pub(super) sides: CellSides<'c, 'a>,
    pub(super) base: &'c str,
    pub(super) theirs: &'c str,
}

impl<'c, 'a> CellSides<'c, 'a> {
    pub(super) fn slot(&self) -> &'c Slot<'a> {
        &self.table.columns.all[self.at]
    }

    fn column(&self) -> &'c str {
        &self.slot().work.column.name
    }

    /// Whether the cell is empty, and stays so because the package names a file there.
    pub(super) fn stays_empty(&self) -> bool {
        self.table.only.is_none()
            && brings_file(self.table, self.row, self.at)
            && Cell::new(self.ours).is_empty()
    }

    /// Whether the package says what the base says, whatever that comes to here. What such a link shows, if anything,
    /// does not concern the package, nor does a cell that the column took once and cannot hold any more.
    fn is_same(&self) -> bool {
        let CellSides { table, row, at, .. } = *self;
        self.kept.is_none()
            && (same_link(table, row, at) || self.unfit.is_some() && same_cell(table, row, at))
    }

    /// What is wrong with a cell of a new column that would be filled.
    pub(super) fn unfit_fresh(&self) -> Option<&'c EntryFault> {
        self.unfit.filter(|_| self.fresh && is_null(self.ours))
    }

    /// A link to a row that is not at the destination is left out, unless a value was decided for it.
    pub(super) fn keep_without_target(
        &self,
        tracked: &TrackedDecisions<'_>,
        outcome: &mut MergeOutcome,
    ) -> bool {
        let CellSides { table, row, at, .. } = *self;
        let is_left_out = (self.fresh || table.whole)
            && lacks_target(table, row, at, self.theirs)
            && (self.kept.is_some() || !same_cell(table, row, at))
            && (self.hidden
                || !matches!(
                    takes(table, tracked, row, &self.slot().work.package_name),
                    Some(Take::Value(_))
                ));
        if is_left_out {
            let based = match (self.kept, self.base) {
                (Some(kept), _) => kept,
                _ if self.fresh => "null",
                _ if !self.edited => self.ours,
                (None, base) => base.unwrap_or("null"),
            };
            outcome.differs |= !equal(based, self.ours);
            outcome.keep(self.column(), based.to_owned());
            outcome.left_out.push(at);
        }
        is_left_out
    }

    /// A new column gets what the package brings where it is empty.
    pub(super) fn fill_fresh(&self, outcome: &mut MergeOutcome) -> bool {
        if !self.fresh {
            return false;
        }
        if self.stays_empty() {
            outcome.emptied.push(self.at);
        }
        if is_null(self.ours) && !is_null(self.theirs) {
            outcome.written.push(CellChange {
                column: self.column().to_owned(),
                before: self.ours.to_owned(),
                after: self.theirs.to_owned(),
            });
        } else if self.table.whole && !equal(self.ours, self.theirs) {
            // The value that a column of that name has left behind is people's.
            (outcome.differs, outcome.moves) = (true, true);
        }
        true
    }

    /// Cells of transactional data are not compared: their base is noted where the package says otherwise.
    pub(super) fn note_not_compared(&self, outcome: &mut MergeOutcome) -> bool {
        if self.table.whole {
            return false;
        }
        // Once these rows are compared, the package of then meets what was written.
        if let Some(based) = self.kept.or(self.base)
            && !self.is_same()
            && !equal(based, self.theirs)
        {
            outcome.keep(self.column(), based.to_owned());
            outcome.not_compared.push(self.column().to_owned());
        }
        true
    }

    /// The cell with the base that it is compared with.
    pub(super) fn compared(self) -> ComparedCell<'c, 'a> {
        let base = match (self.kept, self.base) {
            (Some(kept), _) => kept,
            // What people did not touch is what was written.
            _ if !self.edited => self.slot().rule.without_file(self.ours),
            (None, Some(base)) => base,
            (None, None) => "null",
        };
        ComparedCell {
            sides: self,
            base,
            theirs: if self.is_same() { base } else { self.theirs },
        }
    }
}

impl ComparedCell<'_, '_> {
    /// A file at the destination counts as empty, and is never written over.
    pub(super) fn keep_file(&self, outcome: &mut MergeOutcome) -> bool {
        let CellSides {
            table, at, ours, ..
        } = self.sides;
        if self.sides.slot().rule.file_id(ours).is_none() {
            return false;
        }
        if table.only.is_some() || Cell::new(self.theirs).is_empty() {
            return true;
        }
        outcome.differs = true;
        if equal(self.base, self.theirs) {
            outcome.kept += 1;
        } else {
            outcome.keep(self.sides.column(), self.base.to_owned());
            outcome.left_out.push(at);
        }
        true
    }
}

/// What somebody decided about a cell.
pub(super) fn takes<'d>(
    table: &MergedTable<'_>,
    tracked: &TrackedDecisions<'d>,
    row: Candidate<'_>,
    column: &str,
) -> Option<&'d Take> {
    tracked.takes(&table.work.feature_ref, &cell_path(row, column))
}

/// The path of a cell.
pub(super) fn cell_path(row: Candidate<'_>, column: &str) -> String {
    let uid = row.theirs.uid.decoded();
    let mut path = String::new();
    for segment in ["rows", &*uid, column] {
        crate::json::path::push_dotted(&mut path, segment);
    }
    path
}
