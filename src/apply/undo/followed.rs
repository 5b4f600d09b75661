//! Rows that an upgrade changed twice: once by what the package says of them, and once because their links follow rows
//! that it changed. They go back in one step, from what they hold last to what they held first.

use std::collections::{HashMap, HashSet};

use crate::workspace::ledger::{Cells, CellsOf, Entry};
use crate::workspace::{Id, RowData};

/// By table and row, what is taken back of it, until it was given.
#[derive(Debug, Default)]
pub(super) struct Followed(HashMap<(Id, Id), Option<CellsOf>>);

impl Followed {
    /// Reads a ledger.
    pub(super) fn of(ledger: &[Entry]) -> Followed {
        let cells = || {
            ledger.iter().filter_map(|entry| match entry {
                Entry::Cells(cells) => Some(cells),
                _ => None,
            })
        };
        let following = cells().filter(|cells| cells.follows);
        let following: HashSet<(Id, Id)> = following.flat_map(rows).map(|(of, _)| of).collect();
        let mut followed = Followed::default();
        if following.is_empty() {
            return followed;
        }
        for (of, row) in cells().flat_map(rows) {
            if following.contains(&of) {
                let known = followed.0.entry(of).or_default();
                *known = Some(match known.take() {
                    Some(earlier) => joined(earlier, row),
                    None => row.clone(),
                });
            }
        }
        followed
    }

    /// What is taken back of a row that an entry changes; nothing where a newer entry has led to it.
    pub(super) fn take(&mut self, feature: Id, row: &CellsOf) -> Option<CellsOf> {
        match self.0.get_mut(&(feature, row.id)) {
            Some(followed) => followed.take(),
            None => Some(row.clone()),
        }
    }
}

/// The rows that an entry changes.
fn rows(cells: &Cells) -> impl Iterator<Item = ((Id, Id), &CellsOf)> {
    let written = cells.rows.iter().filter(|row| row.after.as_str() != "{}");
    written.map(|row| ((cells.feature, row.id), row))
}

/// Two changes as one.
fn joined(earlier: CellsOf, later: &CellsOf) -> CellsOf {
    // A cell that the first one brought was not there before.
    let brought = |name: &str| earlier.after.cell(name).is_some();
    CellsOf {
        before: both(&earlier.before, &later.before, |name| !brought(name)),
        after: both(&later.after, &earlier.after, |name| {
            later.after.cell(name).is_none()
        }),
        ..earlier
    }
}

/// All cells of the first, and some of the second.
fn both(first: &RowData, second: &RowData, some: impl Fn(&str) -> bool) -> RowData {
    let named = |data: &RowData| {
        let cells = data
            .cells()
            .map(|(name, cell)| (name.decoded().into_owned(), cell.to_owned()));
        cells.collect::<Vec<_>>()
    };
    let (first, mut second) = (named(first), named(second));
    second.retain(|(name, _)| some(name));
    let all = first.iter().chain(&second);
    RowData::from_cells(all.map(|(name, cell)| (name.as_str(), cell.as_str())))
}
