//! What the ledgers say: which rows are written already, and how far the job came.

use std::collections::{HashMap, HashSet};

use crate::workspace::Id;
use crate::workspace::ledger::{Entry, RowDigest, Structure};

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
}

/// Everything that the ledgers say.
#[derive(Debug, Default)]
pub(super) struct Known {
    rows: HashMap<String, HashMap<u32, KnownRow>>,
    updated: HashMap<String, HashSet<Id>>,
    counts: HashMap<String, Counts>,
    /// By rows item or step and column: dropped, skipped.
    emptied: HashMap<String, HashMap<String, [u64; 2]>>,
    unclosed: HashSet<String>,
    /// What the first phase wrote.
    pub(super) structures: Vec<Structure>,
    /// Automations that are in force already.
    pub(super) published: HashSet<String>,
    /// Of these, how many since the job was last completed.
    pub(super) published_now: u64,
    /// Whether nothing was written since the job was completed.
    pub(super) completed: bool,
    /// Whether the job was undone.
    pub(super) undone: bool,
}

impl Known {
    /// Reads the ledgers of earlier jobs, then the job's own.
    pub(super) fn read(earlier: &[Entry], own: Vec<Entry>) -> Known {
        let mut known = Known::default();
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
            Entry::Rows(rows) => self.add_rows(rows, false),
            Entry::Updates(updates) => {
                let ids = updates.rows.iter().map(|row| row.id);
                self.updated
                    .entry(updates.uid.clone())
                    .or_default()
                    .extend(ids);
            }
            Entry::Undone => {
                self.rows.clear();
                self.updated.clear();
            }
            _ => {}
        }
    }

    /// Begins to hear of rows in a table. When those before went into another one, that one is
    /// gone, and with it everything that was known of the rows in it.
    pub(super) fn enters(&mut self, uid: &str, feature: Id) {
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
        // A job that goes on gives its rows the ids that they had.
        for updated in self.updated.values_mut() {
            updated.retain(|id| !gone.contains(id));
        }
    }

    fn add_rows(&mut self, rows: &crate::workspace::ledger::Rows, open: bool) {
        self.enters(&rows.uid, rows.feature);
        let known = self.rows.entry(rows.uid.clone()).or_default();
        known.extend(rows.rows.iter().map(|row| {
            let known = KnownRow {
                id: row.id,
                digest: row.digest,
                feature: rows.feature,
                open,
            };
            (row.position, known)
        }));
    }

    fn own(&mut self, entry: Entry) {
        self.completed = matches!(entry, Entry::Completed);
        match entry {
            Entry::Structure(structure) => {
                // What is created anew goes live anew.
                for reference in &structure.pending_publishes {
                    self.published.remove(reference);
                }
                self.structures.push(structure);
            }
            Entry::Rows(rows) => {
                self.add_rows(&rows, true);
                self.count(&rows.uid).recorded += rows.rows.len() as u64;
                self.add_emptied(&rows.uid, &rows.emptied);
            }
            Entry::Links(links) => {
                let known = self.rows.entry(links.uid.clone()).or_default();
                for row in &links.rows {
                    if let Some(known) = known.get_mut(&row.position) {
                        known.open = false;
                        known.digest = row.digest;
                    }
                }
                self.count(&links.uid).linked += links.linked;
                self.add_emptied(&links.uid, &links.emptied);
                self.unclosed.insert(links.uid);
            }
            Entry::Closed { uid } => {
                let known = self.rows.entry(uid.clone()).or_default();
                for row in known.values_mut() {
                    row.open = false;
                }
                self.unclosed.remove(&uid);
            }
            Entry::Updates(updates) => {
                self.count(&updates.uid).updated += updates.rows.len() as u64;
                let ids = updates.rows.iter().map(|row| row.id);
                self.updated.entry(updates.uid).or_default().extend(ids);
            }
            Entry::Published { reference } => {
                self.published.insert(reference);
                self.published_now += 1;
            }
            Entry::Completed => {
                self.published_now = 0;
                for counts in self.counts.values_mut() {
                    (counts.linked, counts.updated) = (0, 0);
                }
            }
            Entry::Undone => self.undone = true,
        }
    }

    fn count(&mut self, uid: &str) -> &mut Counts {
        self.counts.entry(uid.to_owned()).or_default()
    }

    fn add_emptied(&mut self, uid: &str, emptied: &[crate::workspace::ledger::Emptied]) {
        let columns = self.emptied.entry(uid.to_owned()).or_default();
        for cells in emptied {
            columns.entry(cells.column.clone()).or_default()[usize::from(cells.skipped)] +=
                cells.count;
        }
    }

    /// The rows of a payload entry or step that were written to that table, by their positions.
    pub(super) fn rows(&self, uid: &str, feature: Id) -> impl Fn(usize) -> Option<KnownRow> {
        let rows = self.rows.get(uid);
        move |position| {
            let row = *rows?.get(&u32::try_from(position).ok()?)?;
            (row.feature == feature).then_some(row)
        }
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

    /// Cells of a column that this job emptied earlier: dropped, skipped.
    pub(super) fn emptied(&self, uid: &str, column: &str) -> [u64; 2] {
        let columns = self.emptied.get(uid);
        let cells = columns.and_then(|columns| columns.get(column));
        cells.copied().unwrap_or_default()
    }
}
