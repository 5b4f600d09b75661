//! Reads ledgers, entry by entry: what an earlier attempt at the job, and other jobs, did with rows.

use std::collections::{HashMap, HashSet};

use super::{Counts, KnownRow, LedgerState, Stays};
use crate::apply::ledger_rows::LedgerRows;
use crate::rows::Cell;
use crate::workspace::ledger::{
    Cells, CellsOf, CellsPart, EmptiedColumn, Entry, MovedLeaf, Rows, WrittenStructure,
};
use crate::workspace::{Id, RowData};

/// The rows of an entry, by their positions.
fn known_rows(rows: &Rows, open: bool) -> impl Iterator<Item = (u32, KnownRow)> + '_ {
    // Both in the order in which they were written.
    let mut early_links = rows.early_links.iter().peekable();
    rows.rows.iter().map(move |row| {
        let early_links = early_links.next_if(|early_links| early_links.position == row.position);
        let early_links = early_links.filter(|_| open);
        let known = KnownRow {
            id: row.id,
            digest: early_links.map_or(row.digest, |early_links| early_links.digest),
            feature: rows.feature,
            open,
            early_links: early_links.map(|early_links| (early_links.cells, row.digest)),
        };
        (row.position, known)
    })
}

/// What the cells of a row held that were written, null for those that were not there.
fn before(row: &CellsOf) -> RowData {
    let cells: Vec<_> = row.after.cells().map(|(name, _)| name.decoded()).collect();
    let before = |name: &str| row.before.cell(name).unwrap_or("null");
    RowData::from_cells(cells.iter().map(|name| (&**name, before(name))))
}

/// Cells that an upgrade left as people had made them after the plan.
fn moved(cells: &Cells) -> Vec<MovedLeaf> {
    let names = |row: &CellsOf| {
        let names = row
            .stays
            .cells()
            .map(|(name, _)| name.decoded().into_owned())
            // Nobody changed these after the plan.
            .filter(|name| !row.files.contains(name) && !row.not_compared.contains(name));
        names.collect::<Vec<_>>()
    };
    // Cells that were emptied for another type have no row of the package; of rows that are refused nobody changed any.
    let merged = || {
        cells
            .rows
            .iter()
            .filter(|row| row.uid.is_some() && !row.failed)
    };
    let (hidden, shown): (Vec<&CellsOf>, Vec<&CellsOf>) = merged().partition(|row| row.hidden);
    let unseen: usize = hidden.into_iter().map(|row| names(row).len()).sum();
    let unseen = (unseen > 0).then(|| MovedLeaf::unseen(&cells.reference, unseen as u64));
    let shown = shown.into_iter().flat_map(|row| {
        names(row).into_iter().map(|name| MovedLeaf {
            kind: None,
            reference: cells.reference.clone(),
            uid: row.uid.clone(),
            id: Some(row.id),
            path: None,
            column: Some(name),
            count: None,
        })
    });
    shown.chain(unseen).collect()
}

impl LedgerState {
    /// Reads the ledgers of other jobs, then the job's own.
    pub(in crate::apply::run) fn read(earlier: &[Entry], own: Vec<Entry>) -> LedgerState {
        let recognised = own
            .iter()
            .filter(|entry| matches!(entry, Entry::Recognised(_)));
        let mut known = LedgerState {
            ledger: LedgerRows::read(earlier.iter().chain(recognised)),
            ..LedgerState::default()
        };
        for entry in earlier {
            known.earlier(entry);
        }
        for entry in own {
            known.own(entry);
        }
        known
    }

    fn earlier(&mut self, entry: &Entry) {
        match entry {
            // What rows are known by is reported by the ledger itself.
            Entry::Rows(rows) if rows.names.is_empty() => {
                let known = self.others.entry(rows.uid.clone()).or_default();
                let known = known.entry(rows.feature).or_default();
                known.extend(known_rows(rows, false));
            }
            Entry::Updates(updates) => {
                let ids = updates.rows.iter().map(|row| row.id);
                self.updated
                    .entry(updates.uid.clone())
                    .or_default()
                    .extend(ids);
            }
            Entry::Cells(cells) => self.keep_stays(cells),
            Entry::Undoing { .. } | Entry::Undone => {
                self.others.clear();
                self.updated.clear();
                self.stays.clear();
            }
            _ => {}
        }
    }

    /// Begins to hear of rows in a table. When those before went into another one, that one is
    /// gone, and with it everything that was known of the rows in it.
    pub(in crate::apply::run) fn enters(&mut self, uid: &str, feature: Id) {
        if let Some(others) = self.others.get_mut(uid) {
            let here = others.remove(&feature).unwrap_or_default();
            let kept: HashSet<Id> = here.values().map(|row| row.id).collect();
            let gone = others.drain().flat_map(|(_, rows)| rows.into_values());
            let gone = gone.map(|row| row.id).filter(|id| !kept.contains(id));
            let gone = gone.collect();
            others.insert(feature, here);
            self.forget(&gone);
        }
        self.begins(uid, feature);
    }

    /// The same, as far as this job's own rows are concerned.
    fn begins(&mut self, uid: &str, feature: Id) {
        let rows = self.rows.get(uid).into_iter().flat_map(HashMap::values);
        let gone: HashSet<Id> = rows
            .filter(|row| row.feature != feature)
            .map(|row| row.id)
            .collect();
        if gone.is_empty() {
            return;
        }
        self.rows.remove(uid);
        self.counts.remove(uid);
        self.emptied.remove(uid);
        self.unclosed.remove(uid);
        self.forget(&gone);
    }

    /// Forgets that rows were changed. A job that goes on gives its rows the ids that they had.
    fn forget(&mut self, gone: &HashSet<Id>) {
        if gone.is_empty() {
            return;
        }
        for updated in self.updated.values_mut() {
            updated.retain(|id| !gone.contains(id));
        }
    }

    /// Notes tables and columns that went with what they held.
    fn note_taken(&mut self, structure: &WrittenStructure) {
        for based in &structure.deleted {
            let record = &based.record;
            let kept = record.parent.and_then(|table| {
                let of = (table, record.name.clone());
                self.kept_cells.remove(&of)
            });
            let kept = kept.map_or(0, |rows| rows.len() as u64);
            *self.taken.entry(record.id).or_default() += kept;
        }
    }

    fn own(&mut self, entry: Entry) {
        self.completed = matches!(entry, Entry::Completed);
        match entry {
            Entry::Structure(structure) => {
                // What is created anew goes live anew.
                for reference in &structure.pending_publishes {
                    self.published.remove(reference);
                }
                self.reported = structure.reported.clone().or(self.reported.take());
                self.note_taken(&structure);
                self.structures.push(structure);
            }
            Entry::Rows(rows) => {
                self.begins(&rows.uid, rows.feature);
                let known = self.rows.entry(rows.uid.clone()).or_default();
                known.extend(known_rows(&rows, true));
                self.count(&rows.uid).recorded += rows.rows.len() as u64;
                self.add_emptied(&rows.uid, &rows.emptied);
            }
            Entry::Links(links) => {
                let known = self.rows.entry(links.uid.clone()).or_default();
                for row in &links.rows {
                    if let Some(known) = known.get_mut(&row.position) {
                        known.open = false;
                        known.early_links = None;
                        known.digest = row.digest;
                    }
                }
                self.count(&links.uid).linked += links.linked;
                self.add_emptied(&links.uid, &links.emptied);
                self.unclosed.insert(links.uid);
            }
            Entry::Closed { uid } => {
                let known = self.rows.entry(uid.clone()).or_default();
                let mut linked = 0;
                for row in known.values_mut() {
                    row.open = false;
                    if let Some((cells, digest)) = row.early_links.take() {
                        linked += u64::from(cells);
                        row.digest = digest;
                    }
                }
                self.count(&uid).linked += linked;
                self.unclosed.remove(&uid);
            }
            Entry::Updates(updates) => {
                self.count(&updates.uid).updated += updates.rows.len() as u64;
                self.add_emptied(&updates.uid, &updates.emptied);
                for column in updates.rows.iter().flat_map(|row| &row.files) {
                    let of = (updates.feature, column.clone());
                    *self.step_files.entry(of).or_default() += 1;
                }
                let ids = updates.rows.iter().map(|row| row.id);
                self.updated.entry(updates.uid).or_default().extend(ids);
            }
            Entry::Published { reference, paused } => {
                self.published.insert(reference);
                self.published_now += u64::from(!paused);
            }
            Entry::Cells(cells) => {
                self.add_emptied(&cells.uid, &cells.emptied);
                self.add_files(&cells);
                let updated = self.count_changed(&cells);
                let counts = self.count(&cells.uid);
                counts.updated += updated;
                counts.kept += cells.kept;
                self.decided += cells.decided;
                self.note_cells(&cells);
            }
            // Read with the ledgers of the others, and by an undo.
            Entry::Taken(taken) => match taken.column {
                None => {
                    self.taken_from.insert(taken.feature);
                    *self.taken.entry(taken.feature).or_default() += taken.rows.len() as u64;
                }
                // Cells of a column are kept first, and go together.
                Some(column) => {
                    let filled = taken.rows.iter().filter(|row| {
                        let cell = row.data.cell(&column);
                        cell.is_some_and(|cell| !Cell::new(cell).is_empty())
                    });
                    let filled: Vec<Id> = filled.map(|row| row.id).collect();
                    let kept = self.kept_cells.entry((taken.feature, column));
                    kept.or_default().extend(filled);
                }
            },
            Entry::Recognised(_) => {}
            Entry::Completed => {
                self.published_now = 0;
                for counts in self.counts.values_mut() {
                    (counts.linked, counts.updated, counts.kept) = (0, 0, 0);
                }
                (self.reported, self.decided) = (None, 0);
                self.taken.clear();
                self.moved.clear();
                self.merged_uids.clear();
                self.changed.clear();
                self.before.clear();
                self.files.clear();
                self.step_files.clear();
            }
            Entry::Undoing { .. } | Entry::Undone => self.undone = true,
        }
    }

    /// Notes what was written into rows.
    fn note_cells(&mut self, cells: &Cells) {
        let merged = || cells.rows.iter().filter(|row| !row.failed);
        let uids = merged().filter_map(|row| row.uid.clone());
        match cells.part {
            CellsPart::UniqueValues => {
                self.frees(cells);
                self.merged_uids.extend(uids);
                return;
            }
            CellsPart::All => {
                self.moved.extend(moved(cells));
                self.merged_uids.extend(uids);
            }
            // Whatever else there was to do with them was done before.
            CellsPart::Links => {}
        }
        self.keep_stays(cells);
        self.note_before(cells);
        self.merged.extend(merged().map(|row| row.id));
    }

    /// Notes rows that gave up unique values, before they are merged as a whole.
    pub(in crate::apply::run) fn frees(&mut self, cells: &Cells) {
        self.keep_stays(cells);
        self.note_before(cells);
        for row in &cells.rows {
            let freed = self.freed.entry(row.id).or_default();
            let columns = row.after.cells();
            let columns = columns.map(|(name, _)| name.decoded().into_owned());
            freed.columns.extend(columns);
            freed.digest = row.digest;
        }
    }

    /// Notes what cells held before.
    fn note_before(&mut self, cells: &Cells) {
        // Cells that were emptied for another type are of no rows item.
        if cells.uid.is_empty() {
            return;
        }
        let written = cells.rows.iter().filter(|row| row.after.as_str() != "{}");
        let before = written.filter_map(|row| Some((row.uid.clone()?, before(row))));
        let known = self.before.entry(cells.uid.clone()).or_default();
        known.extend(before);
    }

    /// Notes rows that were changed. Gives how many of them others wrote and were not changed before.
    fn count_changed(&mut self, cells: &Cells) -> u64 {
        let written = || cells.rows.iter().filter(|row| row.after.as_str() != "{}");
        // Cells that were emptied for another type are of no rows item.
        if cells.uid.is_empty() {
            return written().count() as u64;
        }
        let own = self.rows.get(&cells.uid);
        let own = own.filter(|_| cells.part == CellsPart::Links);
        let own = own.into_iter().flat_map(HashMap::values);
        let own: HashSet<Id> = own.map(|row| row.id).collect();
        let others = written().filter(|row| !own.contains(&row.id));
        others.filter(|row| self.changed.insert(row.id)).count() as u64
    }

    fn add_files(&mut self, cells: &Cells) {
        let columns = self.files.entry(cells.uid.clone()).or_default();
        for column in cells.rows.iter().flat_map(|row| &row.files) {
            *columns.entry(column.clone()).or_default() += 1;
        }
    }

    /// Notes cells of rows with their base.
    pub(in crate::apply::run) fn keep_stays(&mut self, cells: &Cells) {
        for row in &cells.rows {
            if row.stays.as_str() == "{}" {
                self.stays.remove(&row.id);
            } else {
                let stays = Stays {
                    cells: row.stays.clone(),
                    not_compared: row.not_compared.clone(),
                };
                self.stays.insert(row.id, stays);
            }
        }
    }

    fn count(&mut self, uid: &str) -> &mut Counts {
        self.counts.entry(uid.to_owned()).or_default()
    }

    fn add_emptied(&mut self, uid: &str, emptied: &[EmptiedColumn]) {
        let columns = self.emptied.entry(uid.to_owned()).or_default();
        for cells in emptied {
            let of_column = columns.entry(cells.column.clone()).or_default();
            of_column.note(cells);
        }
    }
}
