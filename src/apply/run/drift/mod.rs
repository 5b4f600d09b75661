//! Rows of a workspace compared with what a line applied (`upgrade` 4.1).
//!
//! An equal digest of the ledger proves a row unchanged. Of any other row the cells that the package brought
//! are compared with what they held when they were applied; of links whose row is gone the digest may tell it.

mod compared_cell;
mod written;

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;

use super::columns::Columns;
use super::table_base::TableBase;
use super::untouched_links::{is_link, untouched};
use super::{BATCH, Run, through_rows};
use crate::apply::{ApplyError, Approved, JobHistory, RowStep};
use crate::definitions::Definitions;
use crate::json::Value;
use crate::package::payload::RawEntry;
use crate::upgrade::{CellDrift, RowsDrift, shorten};
use crate::workspace::ledger::RowDigest;
use crate::workspace::{Id, StoredRow, Target, is_last_batch};
use compared_cell::{ComparedCell, DriftUpdate, updates};
use written::WrittenRows;

/// How many cells are shown.
const MAX_SHOWN_CELLS: usize = 1000;

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
                differing.push((row, digest));
            }
            let base = table.base.as_ref();
            let bases = differing.iter().filter_map(|(row, _)| base?.row(row.id));
            let unread = self
                .targets
                .unread_by(bases.filter_map(|base| base.row.refs));
            self.read_rows(&unread).await?;
            for (row, digest) in differing {
                let changed = self.is_changed(table, row, digest, drifted).await?;
                if changed && drifted.changed.insert(row.id) {
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

    /// Whether cells of a row are not what was applied, by the digest of what it held then. Notes those of reference
    /// data.
    async fn is_changed(
        &mut self,
        table: &ComparedTable<'a, '_>,
        stored: &StoredRow,
        digest: RowDigest,
        drifted: &mut RowsDrifted,
    ) -> Result<bool, ApplyError<T::Error>> {
        let based = table.columns.as_ref().zip(table.base.as_ref());
        let based = based.and_then(|(columns, base)| Some((columns, base, base.row(stored.id)?)));
        let Some((columns, base, row)) = based else {
            // No package has the row: what it held is not known cell by cell.
            return Ok(table.only.is_none());
        };
        let based_cells = self.based_cells(base, stored.id).await?;
        let stays = self.ledger_state.stays(stored.id);
        let uid = row.row.uid.decoded();
        let updates = table.updates.get(&*uid).map_or(&[][..], Vec::as_slice);
        let cells = columns.all.iter().zip(&based_cells);
        let cells =
            cells.map(|(slot, based)| ComparedCell::of(slot, based.as_ref(), stays, updates));
        let cells: Vec<ComparedCell<'_>> = cells.collect();
        let written = cells.iter().map(|cell| cell.written(&stored.data));
        let untouched = untouched(digest, &stored.data, &written.collect::<Vec<_>>());
        let mut changed = false;
        for (at, cell) in cells.iter().enumerate() {
            let column = &cell.slot.work.column;
            let only = |only: &HashSet<Id>| only.contains(&column.id);
            if !table.only.is_none_or(only) || !cell.is_compared() {
                continue;
            }
            let ours = stored.data.cell(&column.name).unwrap_or("null");
            let ours = cell.slot.rule.without_file(ours);
            if cell.is_same(ours) || is_link(cell.slot) && untouched.contains(&at) {
                continue;
            }
            changed = true;
            if !table.is_reference {
                continue;
            }
            if drifted.cells.len() == MAX_SHOWN_CELLS {
                drifted.more += 1;
                continue;
            }
            let value = |cell: &str| shorten(Value::parse(cell).unwrap_or_default());
            drifted.cells.push(CellDrift {
                reference: table.reference.to_owned(),
                uid: uid.clone().into_owned(),
                id: stored.id,
                column: column.name.clone(),
                base: value(cell.base),
                ours: value(ours),
            });
        }
        Ok(changed)
    }
}
