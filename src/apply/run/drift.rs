//! Rows of a workspace compared with what a line applied (`upgrade` 4.1).
//!
//! An equal digest of the ledger proves a row unchanged. Of any other row the cells that the package brought
//! are compared with what they held when they were applied.

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;

use super::columns::{Columns, Key};
use super::{BATCH, Run, through_rows};
use crate::apply::{ApplyError, Approved, LinkWork, Past, RowStep, RowStepWork, TableWork};
use crate::definitions::Definitions;
use crate::json::Value;
use crate::package::payload::{RawEntry, RawRow};
use crate::rows::{equal, members};
use crate::upgrade::{CellDrift, RowsDrift, shown};
use crate::workspace::ledger::{Entry, RowDigest};
use crate::workspace::{Id, StoredRow, Target, is_last_batch};

/// How many cells are shown.
const SHOWN: usize = 1000;

/// What is compared.
#[derive(Clone, Copy)]
pub(in crate::apply) struct DriftQuestion<'q> {
    /// Tables of the template that are there, with their refs.
    pub(in crate::apply) tables: &'q [(String, Id)],
    /// Rows that steps of the plan changed after they had entered.
    pub(in crate::apply) updates: &'q [RowStep],
    /// Rows that would not be seen if they were there.
    pub(in crate::apply) unseen: &'q HashSet<Id>,
}

/// What was found.
#[derive(Debug, Default)]
pub(in crate::apply) struct RowsDrifted {
    /// By the ref of each table.
    pub(in crate::apply) rows: IndexMap<String, RowsDrift>,
    /// The first cells of reference data that differ.
    pub(in crate::apply) cells: Vec<CellDrift>,
    /// How many more there are.
    pub(in crate::apply) more: u64,
}

/// Compares the rows of tables. The target is one that keeps nothing.
pub(in crate::apply) async fn drift<T: Target>(
    target: &mut T,
    approved: &Approved,
    payloads: &[RawEntry<'_>],
    past: Past<'_>,
    definitions: &Definitions,
    question: DriftQuestion<'_>,
) -> Result<RowsDrifted, ApplyError<T::Error>> {
    let watch = &mut |_| {};
    // Links show what the rows that they point at hold, so those are looked up first.
    let mut run = through_rows(target, approved, payloads, past, definitions, watch).await?;
    let ledger = digests(past.entries);
    let updates = updates(question.updates);
    let nothing = HashMap::new();
    let mut drifted = RowsDrifted::default();
    for (reference, feature) in question.tables {
        let mut tables = approved.tables.iter();
        let work = tables.find(|work| work.feature == Some(*feature));
        let written = ledger.get(feature);
        if work.is_none() && written.is_none() {
            continue;
        }
        let table = Table {
            reference,
            feature: *feature,
            columns: work.map(|work| Columns::new(&work.columns, definitions)),
            is_reference: work.is_some_and(|work| approved.base_rows.reference.contains(&work.uid)),
            base: work.map_or_else(HashMap::new, |work| run.package_rows(work, *feature)),
            written: written.unwrap_or(&nothing),
            updates: &updates,
        };
        let counts = run
            .drift_table(&table, question.unseen, &mut drifted)
            .await?;
        drifted.rows.insert(reference.clone(), counts);
    }
    Ok(drifted)
}

/// A table that is compared.
struct Table<'a, 'u> {
    reference: &'u str,
    feature: Id,
    columns: Option<Columns<'a>>,
    is_reference: bool,
    /// Rows of the package, by those that stand for them.
    base: HashMap<Id, RawRow<'a>>,
    /// Every row that the line wrote, with what it held then.
    written: &'u HashMap<Id, RowDigest>,
    updates: &'u HashMap<&'u str, Vec<Update<'u>>>,
}

/// What a step of the plan made of a row.
struct Update<'u> {
    data: &'u str,
    merge: bool,
}

/// What rows held when the line last wrote them; a number that no row has where people had changed others of
/// their cells by then.
fn digests(entries: &[Entry]) -> HashMap<Id, HashMap<Id, RowDigest>> {
    let mut tables: HashMap<Id, HashMap<Id, RowDigest>> = HashMap::new();
    for entry in entries {
        match entry {
            Entry::Rows(rows) => {
                let table = tables.entry(rows.feature).or_default();
                table.extend(rows.rows.iter().map(|row| (row.id, row.digest)));
            }
            Entry::Links(links) => {
                let table = tables.entry(links.feature).or_default();
                table.extend(links.rows.iter().map(|row| (row.id, row.digest)));
            }
            Entry::Updates(updates) => {
                let table = tables.entry(updates.feature).or_default();
                for row in &updates.rows {
                    // A step may change a row that the line did not write.
                    if let Some(digest) = table.get_mut(&row.id) {
                        *digest = row.digest;
                    }
                }
            }
            Entry::Cells(cells) => {
                let table = tables.entry(cells.feature).or_default();
                for row in &cells.rows {
                    if let Some(digest) = table.get_mut(&row.id) {
                        *digest = row.digest.unwrap_or_default();
                    }
                }
            }
            Entry::Undoing { .. } | Entry::Undone => tables.clear(),
            _ => {}
        }
    }
    tables
}

fn updates(steps: &[RowStep]) -> HashMap<&str, Vec<Update<'_>>> {
    let mut updates: HashMap<&str, Vec<Update<'_>>> = HashMap::new();
    for step in steps {
        if let RowStepWork::Update { rows, merge, .. } = &step.work {
            for (uid, data) in rows {
                let of = updates.entry(uid).or_default();
                of.push(Update {
                    data,
                    merge: *merge,
                });
            }
        }
    }
    updates
}

impl<'a, T: Target> Run<'_, 'a, T> {
    /// The rows of the package in a table, by those that stand for them.
    fn package_rows(&self, work: &TableWork, feature: Id) -> HashMap<Id, RawRow<'a>> {
        let mut rows_by_id = HashMap::new();
        if let Some(entry) = self.payloads.get(work.entry) {
            let known = self.ledger_state.known_in(entry, feature);
            let rows = entry.rows().zip(known);
            rows_by_id.extend(rows.filter_map(|(row, id)| Some((id?, row))));
        }
        rows_by_id
    }

    async fn drift_table(
        &mut self,
        table: &Table<'a, '_>,
        unseen: &HashSet<Id>,
        drifted: &mut RowsDrifted,
    ) -> Result<RowsDrift, ApplyError<T::Error>> {
        let mut counts = RowsDrift::default();
        let mut seen: HashSet<Id> = HashSet::new();
        let mut after = None;
        loop {
            let batch = self.target.rows(table.feature, after, BATCH).await;
            let batch = batch.map_err(ApplyError::store("reading rows"))?;
            for row in &batch {
                let Some(digest) = table.written.get(&row.id) else {
                    counts.added += 1;
                    continue;
                };
                seen.insert(row.id);
                if RowDigest::of(&row.data) != *digest
                    && self.is_changed(table, row, drifted).await?
                {
                    counts.changed += 1;
                }
            }
            after = batch.last().map(|row| row.id);
            if is_last_batch(&batch, BATCH) {
                break;
            }
        }
        let missing = table.written.keys();
        let missing = missing.filter(|id| !seen.contains(id) && !unseen.contains(id));
        counts.deleted = missing.count() as u64;
        Ok(counts)
    }

    /// Whether cells of a row are not what was applied. Notes those of reference data.
    async fn is_changed(
        &mut self,
        table: &Table<'a, '_>,
        stored: &StoredRow,
        drifted: &mut RowsDrifted,
    ) -> Result<bool, ApplyError<T::Error>> {
        let (Some(columns), Some(row)) = (&table.columns, table.base.get(&stored.id)) else {
            // The newest package does not have the row: what it held is not known cell by cell.
            return Ok(true);
        };
        let Ok(held) = self.destination_cells(columns, *row).await? else {
            return Ok(false);
        };
        let stays = self.ledger_state.stays(stored.id).cloned();
        let uid = row.uid.decoded();
        let updates = table.updates.get(&*uid).map_or(&[][..], Vec::as_slice);
        let mut changed = false;
        for (slot, held) in columns.all.iter().zip(&held) {
            let column = &slot.work.column.name;
            if slot.rule.identity.is_some() || slot.work.package_name.is_empty() {
                continue;
            }
            let ours = stored.data.cell(column).unwrap_or("null");
            let said = columns.cells(row.data).find_map(|(key, raw)| match key {
                Key::Column(at) if columns.all[at].work.column.name == *column => Some(raw),
                _ => None,
            });
            // Where the row is gone that a link points at, its value alone is left.
            let is_link = matches!(slot.work.link, LinkWork::Refs | LinkWork::Identity { .. });
            let raw = said.filter(|_| is_link);
            let kept = stays.as_ref().and_then(|stays| stays.cell(column));
            let base = match kept {
                Some(kept) => kept,
                None => updated(updates, &slot.work.package_name, held),
            };
            let same =
                equal(base, ours) || kept.is_none() && raw.is_some_and(|raw| equal(raw, ours));
            if same {
                continue;
            }
            changed = true;
            if !table.is_reference {
                continue;
            }
            if drifted.cells.len() == SHOWN {
                drifted.more += 1;
                continue;
            }
            let value = |cell: &str| shown(Value::parse(cell).unwrap_or_default());
            drifted.cells.push(CellDrift {
                reference: table.reference.to_owned(),
                uid: uid.clone().into_owned(),
                id: stored.id,
                column: column.clone(),
                base: value(base),
                ours: value(ours),
            });
        }
        Ok(changed)
    }
}

/// What steps of the plan made of a cell.
fn updated<'c>(updates: &[Update<'c>], column: &str, held: &'c str) -> &'c str {
    updates.iter().fold(held, |held, update| {
        let mut cells = members(update.data);
        let cell = cells.find_map(|(key, cell)| key.is(column).then_some(cell));
        cell.unwrap_or(if update.merge { held } else { "null" })
    })
}
