//! Cells of a column that a job leaves empty although the package fills them, counted by their cause.

use std::collections::BTreeMap;

use super::columns::Columns;
use crate::workspace::ledger::EmptiedColumn;

/// By column that only the destination has: cells that become null because the package names a file there.
pub(super) type OtherFiles = BTreeMap<String, u64>;

/// Why a cell becomes empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EmptyCause {
    /// The row that it points at is not at the destination.
    RowMissing,
    /// The dependency that it points at was skipped.
    Skipped,
    /// It names a file, and files do not travel.
    File,
}

/// Cells of one column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct EmptiedCounts([u64; 3]);

impl EmptyCause {
    /// All of them, in the order in which they are reported.
    pub(super) const ALL: [EmptyCause; 3] = [
        EmptyCause::RowMissing,
        EmptyCause::Skipped,
        EmptyCause::File,
    ];

    fn of(emptied: &EmptiedColumn) -> EmptyCause {
        match (emptied.skipped, emptied.file) {
            (true, _) => EmptyCause::Skipped,
            (false, true) => EmptyCause::File,
            (false, false) => EmptyCause::RowMissing,
        }
    }
}

impl EmptiedCounts {
    /// How many for that cause.
    pub(super) fn of(self, cause: EmptyCause) -> u64 {
        self.0[cause as usize]
    }

    /// Counts more.
    pub(super) fn add(&mut self, cause: EmptyCause, cells: u64) {
        self.0[cause as usize] += cells;
    }

    /// Counts others, too.
    pub(super) fn extend(&mut self, others: EmptiedCounts) {
        for (count, more) in self.0.iter_mut().zip(others.0) {
            *count += more;
        }
    }

    /// Counts what the ledger says.
    pub(super) fn note(&mut self, emptied: &EmptiedColumn) {
        self.add(EmptyCause::of(emptied), emptied.count);
    }
}

/// Cells of columns that only the destination has, as the ledger keeps them.
pub(super) fn recorded_others(files: &OtherFiles) -> impl Iterator<Item = EmptiedColumn> + '_ {
    files.iter().map(|(column, count)| EmptiedColumn {
        column: column.clone(),
        count: *count,
        skipped: false,
        file: true,
    })
}

/// Counts by column as the ledger keeps them.
pub(super) fn recorded(counts: &[EmptiedCounts], columns: &Columns<'_>) -> Vec<EmptiedColumn> {
    let columns = columns.all.iter().zip(counts);
    let cells = columns.flat_map(|(slot, counts)| {
        EmptyCause::ALL.map(|cause| EmptiedColumn {
            column: slot.work.package_name.clone(),
            count: counts.of(cause),
            skipped: cause == EmptyCause::Skipped,
            file: cause == EmptyCause::File,
        })
    });
    cells.filter(|cells| cells.count > 0).collect()
}
