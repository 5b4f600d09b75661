//! Rows of a workspace compared with what a line applied (`upgrade` 4.1).
//!
//! An equal digest of the ledger proves a row unchanged. Of any other row the cells that the package brought
//! are compared with what they held when they were applied.

mod written;

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;

use super::columns::Columns;
use super::table_base::TableBase;
use super::{BATCH, Run, through_rows};
use crate::apply::{ApplyError, Approved, JobHistory, LinkWork, RowStep, RowStepWork};
use crate::definitions::Definitions;
use crate::json::Value;
use crate::package::payload::RawEntry;
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
    /// Tables of the template that are there.
    pub(in crate::apply) tables: &'q [DriftTable],
    /// Rows that steps of the plan changed after they had entered.
    pub(in crate::apply) updates: &'q [RowStep],
    /// Rows that would not be seen if they were there.
    pub(in crate::apply) unseen: &'q HashSet<Id>,
}

/// A table that is compared.
#[derive(Debug)]
pub(in crate::apply) struct DriftTable {
    /// Its ref.
    pub(in crate::apply) reference: String,
    /// The table.
    pub(in crate::apply) feature: Id,
    /// The columns whose cells are compared, where a newer package was asked for its rows and the others; nothing for
    /// all of them.
    pub(in crate::apply) columns: Option<HashSet<Id>>,
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
    /// Rows that count as changed.
    changed: HashSet<Id>,
}

/// Compares the rows of tables with what a package says, and adds what differs. The target is one that keeps nothing.
pub(in crate::apply) async fn drift<T: Target>(
    target: &mut T,
    approved: &Approved,
    payloads: &[RawEntry<'_>],
    past: JobHistory<'_>,
    definitions: &Definitions,
    scope: DriftScope<'_>,
    drifted: &mut RowsDrifted,
) -> Result<(), ApplyError<T::Error>> {
    let watch = &mut |_| {};
    // Links show what the rows that they point at hold, so those are looked up first.
    let mut run = through_rows(target, approved, payloads, past, definitions, watch).await?;
    let updates = updates(scope.updates);
    for DriftTable {
        reference,
        feature,
        columns,
    } in scope.tables
    {
        let mut tables = approved.tables.iter();
        let work = tables.find(|work| work.feature == Some(*feature));
        let written = WrittenRows::of(past.entries, *feature);
        if work.is_none() && written.is_empty() {
            continue;
        }
        let table = ComparedTable {
            reference,
            feature: *feature,
            columns: work.map(|work| Columns::new(&work.compared, definitions)),
            only: columns.as_ref(),
            is_reference: work.is_some_and(|work| approved.base_rows.reference.contains(&work.uid)),
            base: work.map(|work| run.table_base(*feature, &work.compared)),
            written,
            updates: &updates,
        };
        let counts = run.drift_table(&table, scope.unseen, drifted).await?;
        match drifted.rows.get_mut(reference) {
            Some(known) => known.changed += counts.changed,
            None => drop(drifted.rows.insert(reference.clone(), counts)),
        }
    }
    Ok(())
}

/// A table that is compared.
struct ComparedTable<'a, 'u> {
    reference: &'u str,
    feature: Id,
    columns: Option<Columns<'a>>,
    /// The columns that count, where not all do.
    only: Option<&'u HashSet<Id>>,
    is_reference: bool,
    /// What packages say of its rows.
    base: Option<TableBase<'a>>,
    /// Rows that the line wrote, with what they held then.
    written: WrittenRows<'u>,
    updates: &'u HashMap<&'u str, Vec<DriftUpdate<'u>>>,
}

/// What a step of the plan made of a row.
struct DriftUpdate<'u> {
    data: &'u str,
    merge: bool,
}

fn updates(steps: &[RowStep]) -> HashMap<&str, Vec<DriftUpdate<'_>>> {
    let mut updates: HashMap<&str, Vec<DriftUpdate<'_>>> = HashMap::new();
    for step in steps {
        if let RowStepWork::Update { rows, merge, .. } = &step.work {
            for (uid, data) in rows {
                let of = updates.entry(uid).or_default();
                of.push(DriftUpdate {
                    data,
                    merge: *merge,
                });
            }
        }
    }
    updates
}

impl<'a, T: Target> Run<'_, 'a, T> {
    async fn drift_table(
        &mut self,
        table: &ComparedTable<'a, '_>,
        unseen: &HashSet<Id>,
        drifted: &mut RowsDrifted,
    ) -> Result<RowsDrift, ApplyError<T::Error>> {
        let mut counts = RowsDrift::default();
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
                differing.push(row);
            }
            let base = table.base.as_ref();
            let bases = differing.iter().filter_map(|row| base?.row(row.id));
            let unread = self
                .targets
                .unread_by(bases.filter_map(|base| base.row.refs));
            self.read_rows(&unread).await?;
            for row in differing {
                if self.is_changed(table, row, drifted).await? && drifted.changed.insert(row.id) {
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
        table: &ComparedTable<'a, '_>,
        stored: &StoredRow,
        drifted: &mut RowsDrifted,
    ) -> Result<bool, ApplyError<T::Error>> {
        let based = table.columns.as_ref().zip(table.base.as_ref());
        let based = based.and_then(|(columns, base)| Some((columns, base, base.row(stored.id)?)));
        let Some((columns, base, row)) = based else {
            // No package has the row: what it held is not known cell by cell.
            return Ok(table.only.is_none());
        };
        let based_cells = self.based_cells(base, stored.id).await?;
        let stays = self.ledger_state.stays(stored.id).cloned();
        let uid = row.row.uid.decoded();
        let updates = table.updates.get(&*uid).map_or(&[][..], Vec::as_slice);
        let mut changed = false;
        for (slot, based) in columns.all.iter().zip(&based_cells) {
            let column = &slot.work.column.name;
            let only = |only: &HashSet<Id>| only.contains(&slot.work.column.id);
            if !table.only.is_none_or(only) {
                continue;
            }
            let applied_cell = match based.as_ref().map(|based| &based.cell) {
                None => "null",
                Some(Ok(cell)) => cell,
                // What the column cannot hold was never applied.
                Some(Err(_)) => continue,
            };
            if slot.rule.identity.is_some() || slot.work.package_name.is_empty() {
                continue;
            }
            let raw = based.as_ref().and_then(|based| based.raw);
            // What the column would show of the row is not known.
            if applied_cell == "null" && raw.is_some_and(|raw| slot.work.is_unknown(raw)) {
                continue;
            }
            let ours = stored.data.cell(column).unwrap_or("null");
            let ours = slot.rule.without_file(ours);
            // Where the row is gone that a link points at, its value alone is left.
            let is_link = matches!(slot.work.link, LinkWork::Refs | LinkWork::Identity { .. });
            let raw = raw.filter(|_| is_link);
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
fn updated<'c>(updates: &[DriftUpdate<'c>], column: &str, applied_cell: &'c str) -> &'c str {
    updates.iter().fold(applied_cell, |applied_cell, update| {
        let mut cells = members(update.data);
        let cell = cells.find_map(|(key, cell)| key.is(column).then_some(cell));
        cell.unwrap_or(if update.merge { applied_cell } else { "null" })
    })
}
