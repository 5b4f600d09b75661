//! State from the ledgers: rows already written, and the progress of the job.

use std::collections::{HashMap, HashSet};

use super::emptied_counts::EmptiedCounts;
use crate::apply::ledger_rows::{EarlierNames, LedgerRows};
use crate::json::Value;
use crate::package::payload::RawEntry;
use crate::rows::{Cell, Text};
use crate::workspace::ledger::{Cells, CellsOf, Entry, MovedLeaf, RowDigest, Rows, Structure};
use crate::workspace::{Id, RowData};

/// A row that was written before.
#[derive(Debug, Clone, Copy)]
pub(super) struct KnownRow {
    /// Its id at the destination.
    pub(super) id: Id,
    /// What it held when it was last written.
    pub(super) digest: RowDigest,
    /// The table.
    pub(super) feature: Id,
    /// Whether links inside its table may still be missing.
    pub(super) open: bool,
    /// Links that were written along with it, until the table is complete: how many, and what it holds
    /// with them.
    pub(super) early_links: Option<(u32, RowDigest)>,
}

/// Cells of a row with their base.
#[derive(Debug)]
struct Stays {
    cells: RowData,
    /// Columns among these whose cells were not compared.
    not_compared: Vec<String>,
}

/// Counts of entries that this job wrote earlier, by rows item or step.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    /// Rows that an undo removes.
    pub(super) recorded: u64,
    /// Link cells written since the job was last completed.
    pub(super) linked: u64,
    /// Rows changed since then.
    pub(super) updated: u64,
    /// Cells that stay as people made them, of rows that were merged since then.
    pub(super) kept: u64,
}

/// Everything that the ledgers say.
#[derive(Debug, Default)]
pub(super) struct LedgerState {
    /// Of this job, by rows item or step.
    rows: HashMap<String, HashMap<u32, KnownRow>>,
    /// Of the others, by rows item or step and table: what this job wrote may be older or newer.
    others: HashMap<String, HashMap<Id, HashMap<u32, KnownRow>>>,
    /// Rows of the others by their names.
    ledger: LedgerRows,
    updated: HashMap<String, HashSet<Id>>,
    counts: HashMap<String, Counts>,
    /// By rows item or step and column: cells that are left empty.
    emptied: HashMap<String, HashMap<String, EmptiedCounts>>,
    /// By rows item and column of the destination: cells that keep a file where the package brings another
    /// text, of rows that were merged since the job was last completed.
    files: HashMap<String, HashMap<String, u64>>,
    unclosed: HashSet<String>,
    /// Cells of rows whose base is not what a package says.
    stays: HashMap<Id, Stays>,
    /// Rows whose cells this job has merged already.
    merged: HashSet<Id>,
    /// Rows that this job has changed, since it was last completed.
    changed: HashSet<Id>,
    /// By rows item the uids of such rows, with what their cells held before.
    before: HashMap<String, Vec<(String, RowData)>>,
    /// What the first phase wrote.
    pub(super) structures: Vec<Structure>,
    /// What the first phase of an upgrade told of records, since the job was last completed.
    pub(super) reported: Option<Value>,
    /// Cells of merged rows that somebody decided, and those that people changed after the plan, since then.
    pub(super) decided: u64,
    pub(super) moved: Vec<MovedLeaf>,
    /// The uids of rows that were merged, since then.
    merged_uids: HashSet<String>,
    /// Tables whose rows this job takes away.
    pub(super) taken_from: HashSet<Id>,
    /// How many rows and cells went with tables and columns, since the job was last completed.
    pub(super) taken: HashMap<Id, u64>,
    /// Rows whose cells were kept of a column, by table and name: until it goes they may be kept anew.
    kept_cells: HashMap<(Id, String), HashSet<Id>>,
    /// Automations that are in force already.
    pub(super) published: HashSet<String>,
    /// Of these, how many since the job was last completed.
    pub(super) published_now: u64,
    /// Whether nothing was written since the job was completed.
    pub(super) completed: bool,
    /// Whether the job was undone.
    pub(super) undone: bool,
}

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
    pub(super) fn read(earlier: &[Entry], own: Vec<Entry>) -> LedgerState {
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

    /// Finds the rows of an entry that the others wrote. Gives those that are to be known by other
    /// names from now on: their positions and ids.
    pub(super) fn recognise(
        &mut self,
        entry: &RawEntry<'_>,
        feature: Id,
        earlier_names: &EarlierNames,
    ) -> Vec<(usize, Id)> {
        let found = self.ledger.recognise(feature, entry, earlier_names);
        let mut renamed = Vec::new();
        for (position, row) in found.into_iter().enumerate() {
            let (Some(row), Ok(at)) = (row, u32::try_from(position)) else {
                continue;
            };
            let own = self.rows.get(&entry.item_uid);
            if own.is_some_and(|rows| rows.contains_key(&at)) {
                continue;
            }
            if row.renamed {
                renamed.push((position, row.id));
            }
            let known = KnownRow {
                id: row.id,
                digest: row.digest,
                feature,
                open: false,
                early_links: None,
            };
            let others = self.others.entry(entry.item_uid.clone()).or_default();
            others.entry(feature).or_default().insert(at, known);
        }
        renamed
    }

    /// Begins to hear of rows in a table. When those before went into another one, that one is
    /// gone, and with it everything that was known of the rows in it.
    pub(super) fn enters(&mut self, uid: &str, feature: Id) {
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
    fn note_taken(&mut self, structure: &Structure) {
        for based in &structure.deleted {
            let thing = &based.thing;
            let kept = thing.parent.and_then(|table| {
                let of = (table, thing.name.clone());
                self.kept_cells.remove(&of)
            });
            let kept = kept.map_or(0, |rows| rows.len() as u64);
            *self.taken.entry(thing.id).or_default() += kept;
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
                let ids = updates.rows.iter().map(|row| row.id);
                self.updated.entry(updates.uid).or_default().extend(ids);
            }
            Entry::Published { reference, paused } => {
                self.published.insert(reference);
                self.published_now += u64::from(!paused);
            }
            Entry::Cells(cells) => {
                self.keep_stays(&cells);
                self.add_emptied(&cells.uid, &cells.emptied);
                self.add_files(&cells);
                let updated = self.note_changed(&cells);
                let counts = self.count(&cells.uid);
                counts.updated += updated;
                counts.kept += cells.kept;
                if cells.follows {
                    // Whatever else there was to do with them was done before.
                    self.merged.extend(cells.rows.iter().map(|row| row.id));
                    return;
                }
                self.decided += cells.decided;
                self.moved.extend(moved(&cells));
                let merged = || cells.rows.iter().filter(|row| !row.failed);
                let uids = merged().filter_map(|row| row.uid.clone());
                self.merged_uids.extend(uids);
                self.merged.extend(merged().map(|row| row.id));
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
            }
            Entry::Undoing { .. } | Entry::Undone => self.undone = true,
        }
    }

    /// Notes rows that were changed. Gives how many of them others wrote and were not changed before.
    fn note_changed(&mut self, cells: &Cells) -> u64 {
        let written = || cells.rows.iter().filter(|row| row.after.as_str() != "{}");
        // Cells that were emptied for another type are of no rows item.
        if cells.uid.is_empty() {
            return written().count() as u64;
        }
        let before = written().filter_map(|row| Some((row.uid.clone()?, before(row))));
        let before: Vec<_> = before.collect();
        self.before
            .entry(cells.uid.clone())
            .or_default()
            .extend(before);
        let own = self.rows.get(&cells.uid).filter(|_| cells.follows);
        let own = own.into_iter().flat_map(HashMap::values);
        let own: HashSet<Id> = own.map(|row| row.id).collect();
        let others = written().filter(|row| !own.contains(&row.id));
        others.filter(|row| self.changed.insert(row.id)).count() as u64
    }

    /// Notes that a row that others wrote is changed; whether it was not so before.
    pub(super) fn changes(&mut self, row: Id) -> bool {
        self.changed.insert(row)
    }

    /// The rows of an item that an earlier attempt at this job changed: uids, and what cells held before. Of several
    /// that speak of a cell the first is right.
    pub(super) fn take_before(&mut self, uid: &str) -> Vec<(String, RowData)> {
        self.before.remove(uid).unwrap_or_default()
    }

    fn add_files(&mut self, cells: &Cells) {
        let columns = self.files.entry(cells.uid.clone()).or_default();
        for column in cells.rows.iter().flat_map(|row| &row.files) {
            *columns.entry(column.clone()).or_default() += 1;
        }
    }

    /// Notes cells of rows with their base.
    pub(super) fn keep_stays(&mut self, cells: &Cells) {
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

    /// Cells of a row with their base, where that is not what a package says.
    pub(super) fn stays(&self, row: Id) -> Option<&RowData> {
        self.stays.get(&row).map(|stays| &stays.cells)
    }

    /// Whether the ledgers say this of a row already.
    pub(super) fn stays_so(&self, row: Id, cells: &RowData, not_compared: &[String]) -> bool {
        match self.stays.get(&row) {
            None => cells.as_str() == "{}",
            Some(stays) => stays.cells == *cells && stays.not_compared == not_compared,
        }
    }

    /// Whether a cell that stayed was compared.
    pub(super) fn is_compared(&self, row: Id, column: &str) -> bool {
        let stays = self.stays.get(&row);
        !stays.is_some_and(|stays| stays.not_compared.iter().any(|name| name == column))
    }

    /// Columns of a row whose cells were not compared.
    pub(super) fn not_compared(&self, row: Id) -> Vec<String> {
        let stays = self.stays.get(&row);
        stays.map_or_else(Vec::new, |stays| stays.not_compared.clone())
    }

    /// Whether this job has merged the cells of a row already.
    pub(super) fn is_merged(&self, row: Id) -> bool {
        self.merged.contains(&row)
    }

    /// For each row of an entry of another package the one that stands for it in a table.
    pub(super) fn known_in(&self, entry: &RawEntry<'_>, feature: Id) -> Vec<Option<Id>> {
        let known = self.ledger.recognise(feature, entry, &[]).into_iter();
        known.map(|row| row.map(|row| row.id)).collect()
    }

    /// The row of a table that a uid stood for.
    pub(super) fn row_of(&self, feature: Id, uid: Text<'_>) -> Option<Id> {
        self.ledger.row_of(feature, uid)
    }

    /// The rows of a payload entry that other jobs wrote to that table, by their positions.
    pub(super) fn others(&self, uid: &str, feature: Id) -> impl Fn(usize) -> Option<KnownRow> {
        let own = self.rows.get(uid);
        let others = self.others.get(uid).and_then(|rows| rows.get(&feature));
        move |position| {
            let position = u32::try_from(position).ok()?;
            if own.is_some_and(|rows| rows.contains_key(&position)) {
                return None;
            }
            others?.get(&position).copied()
        }
    }

    fn count(&mut self, uid: &str) -> &mut Counts {
        self.counts.entry(uid.to_owned()).or_default()
    }

    fn add_emptied(&mut self, uid: &str, emptied: &[crate::workspace::ledger::EmptiedColumn]) {
        let columns = self.emptied.entry(uid.to_owned()).or_default();
        for cells in emptied {
            let of_column = columns.entry(cells.column.clone()).or_default();
            of_column.note(cells);
        }
    }

    /// The rows of a payload entry or step that were written to that table, by their positions.
    pub(super) fn rows(&self, uid: &str, feature: Id) -> impl Fn(usize) -> Option<KnownRow> {
        let own = self.rows.get(uid);
        let others = self.others.get(uid).and_then(|rows| rows.get(&feature));
        move |position| {
            let position = u32::try_from(position).ok()?;
            let own = own.and_then(|rows| rows.get(&position));
            let own = own.filter(|row| row.feature == feature);
            own.or_else(|| others?.get(&position)).copied()
        }
    }

    /// Ends to hear of rows of a payload entry that other jobs wrote: they can be
    /// [recognised](LedgerState::recognise) again.
    pub(super) fn forget_others(&mut self, uid: &str) {
        self.others.remove(uid);
    }

    /// Ends to hear of rows of a payload entry or step: as many as it has may be known.
    pub(super) fn leave(&mut self, uid: &str) {
        self.rows.remove(uid);
        self.others.remove(uid);
    }

    /// Whether cells of the row of that uid were merged earlier by this job: what was decided about them was of use
    /// then.
    pub(super) fn is_decided(&self, uid: &str) -> bool {
        self.merged_uids.contains(uid)
    }

    /// Whether this job has carried out any decision about cells earlier.
    pub(super) fn decided_any(&self) -> bool {
        self.decided > 0
    }

    /// Whether a step of the plan has changed the row.
    pub(super) fn is_updated(&self, uid: &str, row: Id) -> bool {
        self.updated
            .get(uid)
            .is_some_and(|rows| rows.contains(&row))
    }

    /// Whether links of a table were written without an end.
    pub(super) fn is_unclosed(&self, uid: &str) -> bool {
        self.unclosed.contains(uid)
    }

    /// What this job wrote earlier for a rows item or step.
    pub(super) fn counts(&self, uid: &str) -> Counts {
        self.counts.get(uid).copied().unwrap_or_default()
    }

    /// Cells of a column that this job emptied earlier.
    pub(super) fn emptied(&self, uid: &str, column: &str) -> EmptiedCounts {
        let columns = self.emptied.get(uid);
        let cells = columns.and_then(|columns| columns.get(column));
        cells.copied().unwrap_or_default()
    }

    /// Cells of a column of the destination that keep a file, of rows that this job merged earlier.
    pub(super) fn files(&self, uid: &str, column: &str) -> u64 {
        let columns = self.files.get(uid);
        let cells = columns.and_then(|columns| columns.get(column));
        cells.copied().unwrap_or_default()
    }
}
