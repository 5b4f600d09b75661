//! Rows of a workspace compared with what a line applied (`upgrade` 4.1).
//!
//! An equal digest of the ledger proves a row unchanged. Of any other row the cells that the package brought
//! are compared with what they held when they were applied.

mod written;

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;

use super::columns::{Columns, Key};
use super::{BATCH, Run, through_rows};
use crate::apply::{ApplyError, Approved, JobHistory, LinkWork, RowStep, RowStepWork};
use crate::definitions::Definitions;
use crate::json::Value;
use crate::package::payload::{RawEntry, RawRow};
use crate::rows::{equal, members};
use crate::upgrade::{CellDrift, RowsDrift, shorten};
use crate::workspace::ledger::RowDigest;
use crate::workspace::{Id, StoredRow, Target, is_last_batch};
use written::WrittenRows;

/// How many cells are shown.
const SHOWN: usize = 1000;

/// What is compared.
#[derive(Clone, Copy)]
pub(in crate::apply) struct DriftScope<'q> {
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
    past: JobHistory<'_>,
    definitions: &Definitions,
    scope: DriftScope<'_>,
) -> Result<RowsDrifted, ApplyError<T::Error>> {
    let watch = &mut |_| {};
    // Links show what the rows that they point at hold, so those are looked up first.
    let mut run = through_rows(target, approved, payloads, past, definitions, watch).await?;
    let updates = updates(scope.updates);
    let mut drifted = RowsDrifted::default();
    for (reference, feature) in scope.tables {
        let mut tables = approved.tables.iter();
        let work = tables.find(|work| work.feature == Some(*feature));
        let written = WrittenRows::of(past.entries, *feature);
        if work.is_none() && written.is_empty() {
            continue;
        }
        let table = Table {
            reference,
            feature: *feature,
            columns: work.map(|work| Columns::new(&work.compared, definitions)),
            is_reference: work.is_some_and(|work| approved.base_rows.reference.contains(&work.uid)),
            entry: work.and_then(|work| payloads.get(work.entry)),
            written,
            updates: &updates,
        };
        let counts = run.drift_table(&table, scope.unseen, &mut drifted).await?;
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
    /// Its rows in the package.
    entry: Option<&'a RawEntry<'a>>,
    /// Rows that the line wrote, with what they held then.
    written: WrittenRows<'u>,
    updates: &'u HashMap<&'u str, Vec<Update<'u>>>,
}

/// What a step of the plan made of a row.
struct Update<'u> {
    data: &'u str,
    merge: bool,
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
    /// Where the rows of a table stand in the package, by those that stand for them.
    fn places(&self, table: &Table<'a, '_>) -> Vec<(Id, u32)> {
        let Some(entry) = table.entry else {
            return Vec::new();
        };
        let known = self.ledger_state.known_in(entry, table.feature);
        let rows = entry.rows().zip(known);
        // More do not fit into a text.
        let place = |start: usize| u32::try_from(start).unwrap_or(u32::MAX);
        let mut places: Vec<(Id, u32)> = rows
            .filter_map(|(row, id)| Some((id?, place(row.start))))
            .collect();
        places.sort_unstable();
        places
    }

    async fn drift_table(
        &mut self,
        table: &Table<'a, '_>,
        unseen: &HashSet<Id>,
        drifted: &mut RowsDrifted,
    ) -> Result<RowsDrift, ApplyError<T::Error>> {
        let mut counts = RowsDrift::default();
        // Needed once a row is not what it was.
        let mut places: Option<Vec<(Id, u32)>> = None;
        let mut after = None;
        loop {
            let batch = self.target.rows(table.feature, after, BATCH).await;
            let batch = batch.map_err(ApplyError::store("reading rows"))?;
            let last = is_last_batch(&batch, BATCH);
            let until = batch.last().map(|row| row.id).filter(|_| !last);
            let mut written = table.written.between(after, until);
            let mut differing = Vec::new();
            for row in &batch {
                let Some(digest) = written.remove(&row.id) else {
                    counts.added += 1;
                    continue;
                };
                if RowDigest::of(&row.data) == digest {
                    continue;
                }
                let places = places.get_or_insert_with(|| self.places(table));
                let at = places.binary_search_by_key(&row.id, |(id, _)| *id).ok();
                let place = at.and_then(|at| places.get(at)).map(|(_, place)| *place);
                let base = place.and_then(|place| table.entry?.row(place as usize));
                differing.push((row, base));
            }
            let bases = differing.iter().filter_map(|(_, base)| *base);
            let unread = self.targets.unread_by(bases.filter_map(|row| row.refs));
            self.read_rows(&unread).await?;
            for (row, base) in differing {
                if self.is_changed(table, row, base, drifted).await? {
                    counts.changed += 1;
                }
            }
            let missing = written.keys().filter(|id| !unseen.contains(id));
            counts.deleted += missing.count() as u64;
            if last {
                break;
            }
            after = until;
        }
        Ok(counts)
    }

    /// Whether cells of a row are not what was applied. Notes those of reference data.
    async fn is_changed(
        &mut self,
        table: &Table<'a, '_>,
        stored: &StoredRow,
        base: Option<RawRow<'a>>,
        drifted: &mut RowsDrifted,
    ) -> Result<bool, ApplyError<T::Error>> {
        let (Some(columns), Some(row)) = (&table.columns, base) else {
            // The newest package does not have the row: what it held is not known cell by cell.
            return Ok(true);
        };
        let applied_cells = self.fitting_cells(columns, row).await?;
        let stays = self.ledger_state.stays(stored.id).cloned();
        let uid = row.uid.decoded();
        let updates = table.updates.get(&*uid).map_or(&[][..], Vec::as_slice);
        let mut changed = false;
        for (slot, applied_cell) in columns.all.iter().zip(&applied_cells) {
            let column = &slot.work.column.name;
            // What the column cannot hold was never applied.
            let Ok(applied_cell) = applied_cell else {
                continue;
            };
            if slot.rule.identity.is_some() || slot.work.package_name.is_empty() {
                continue;
            }
            let ours = stored.data.cell(column).unwrap_or("null");
            let ours = slot.rule.without_file(ours);
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
                None => {
                    slot.rule
                        .without_file(updated(updates, &slot.work.package_name, applied_cell))
                }
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
            let value = |cell: &str| shorten(Value::parse(cell).unwrap_or_default());
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
fn updated<'c>(updates: &[Update<'c>], column: &str, applied_cell: &'c str) -> &'c str {
    updates.iter().fold(applied_cell, |applied_cell, update| {
        let mut cells = members(update.data);
        let cell = cells.find_map(|(key, cell)| key.is(column).then_some(cell));
        cell.unwrap_or(if update.merge { applied_cell } else { "null" })
    })
}
