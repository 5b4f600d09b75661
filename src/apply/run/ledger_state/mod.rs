//! State from the ledgers: rows already written, and the progress of the job.

mod read;

use std::collections::{BTreeMap, HashMap, HashSet};

use super::emptied_counts::{EmptiedCounts, EmptyCause};
use crate::apply::ledger_rows::{EarlierNames, LedgerRows};
use crate::json::Value;
use crate::package::payload::RawEntry;
use crate::rows::Text;
use crate::workspace::ledger::{MovedLeaf, RowDigest, WrittenStructure};
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

/// A row that gave up unique values.
#[derive(Debug, Default)]
struct FreedRow {
    /// Their columns.
    columns: Vec<String>,
    /// What it holds now; nothing when people changed other cells of it.
    digest: Option<RowDigest>,
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
    /// By table and column of the package: cells that keep a file where a step brings another text, of rows that were
    /// changed since then.
    pub(super) step_files: BTreeMap<(Id, String), u64>,
    unclosed: HashSet<String>,
    /// Cells of rows whose base is not what a package says.
    stays: HashMap<Id, Stays>,
    /// Rows whose cells this job has merged already.
    merged: HashSet<Id>,
    /// Rows of which this job has written unique values; their other cells may still have to be merged.
    freed: HashMap<Id, FreedRow>,
    /// Rows that this job has changed, since it was last completed.
    changed: HashSet<Id>,
    /// By rows item the uids of such rows, with what their cells held before.
    before: HashMap<String, Vec<(String, RowData)>>,
    /// By row, how many cells stay as people made them, where nothing was written into the row: no entry counts them.
    kept: HashMap<Id, u64>,
    /// What the first phase wrote.
    pub(super) structures: Vec<WrittenStructure>,
    /// What the first phase of an upgrade reported of records, since the job was last completed.
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

impl LedgerState {
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

    /// What a row holds that gave up unique values, when nobody has changed anything else of it.
    pub(super) fn freed(&self, row: Id) -> Option<RowDigest> {
        self.freed.get(&row)?.digest
    }

    /// Whether this job has written a unique value of a row already.
    pub(super) fn is_freed(&self, row: Id, column: &str) -> bool {
        let freed = self.freed.get(&row);
        freed.is_some_and(|freed| freed.columns.iter().any(|name| name == column))
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

    /// Notes that cells of a row stay as people made them, and that nothing is written into it.
    pub(super) fn keeps(&mut self, row: Id, cells: u64) {
        if cells > 0 {
            self.kept.insert(row, cells);
        }
    }

    /// How many these are: for the entry that is the first to be about the row.
    pub(super) fn kept(&self, row: Id) -> u64 {
        self.kept.get(&row).copied().unwrap_or_default()
    }

    /// Notes that an entry counts these cells now.
    pub(super) fn counted_kept(&mut self, row: Id) {
        self.kept.remove(&row);
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

    /// Cells that this job emptied earlier because they named files: rows item or step, column, and how many.
    pub(super) fn emptied_files(&self) -> impl Iterator<Item = (&str, &str, u64)> {
        let items = self.emptied.iter();
        items.flat_map(|(uid, columns)| {
            let columns = columns.iter();
            columns.map(move |(column, cells)| (&**uid, &**column, cells.of(EmptyCause::File)))
        })
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
