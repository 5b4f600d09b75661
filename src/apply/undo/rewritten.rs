//! Rows that an upgrade changed several times: cells that it emptied for another type, unique values that new rows take,
//! all else that the package says of them, and links that follow rows which it changed. They go back in one step, with the
//! oldest of these changes, from what they hold last to what they held first.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Place;

use crate::workspace::ledger::{Cells, CellsOf, Entry};
use crate::workspace::{Id, RowData};

/// Such rows by table and id.
#[derive(Debug, Default)]
pub(super) struct RewrittenRows(HashMap<(Id, Id), Rewritten>);

#[derive(Debug)]
struct Rewritten {
    /// The entry with which it goes back: what newer entries say of other rows may rest on that.
    at: usize,
    /// All changes as one; nothing while there is one alone.
    change: Option<CellsOf>,
}

impl RewrittenRows {
    /// Reads a ledger.
    pub(super) fn of(ledger: &[Entry]) -> RewrittenRows {
        let mut first: HashMap<(Id, Id), &CellsOf> = HashMap::new();
        let mut rewritten: HashMap<(Id, Id), Rewritten> = HashMap::new();
        for (at, entry) in ledger.iter().enumerate() {
            let Entry::Cells(cells) = entry else { continue };
            for (of, row) in rows(cells) {
                match rewritten.entry(of) {
                    Place::Vacant(place) => {
                        first.insert(of, row);
                        place.insert(Rewritten { at, change: None });
                    }
                    Place::Occupied(mut known) => {
                        let known = known.get_mut();
                        let earlier = known.change.take();
                        let earlier = earlier.or_else(|| first.get(&of).copied().cloned());
                        known.change = earlier.map(|earlier| joined(earlier, row));
                    }
                }
            }
        }
        rewritten.retain(|_, row| row.change.is_some());
        RewrittenRows(rewritten)
    }

    /// What is taken back of a row with an entry that changes it; nothing where it goes back with another one.
    pub(super) fn back(&self, at: usize, feature: Id, row: &CellsOf) -> Option<CellsOf> {
        match self.0.get(&(feature, row.id)) {
            Some(known) => known.change.clone().filter(|_| known.at == at),
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
