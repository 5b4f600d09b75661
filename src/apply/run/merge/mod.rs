//! Rows that earlier jobs wrote: cells that the package changed since the base (`upgrade` 3.4.5).
//!
//! Rows of the package and of the base are compared as they are written; only where they differ, or where
//! people changed the row at the destination, its cells are looked at one by one. What is written is
//! compared with what stands there once more by the store.

use std::collections::HashSet;

mod base;
mod blocked_rows;
mod cell_sides;
mod cells;
mod follow;
mod freed_values;
mod packaged_cell;
mod row;
mod rows;
mod unwritten_cells;
mod write;

use super::columns::Columns;
use super::{BATCH, BATCH_BYTES, Run};
use crate::apply::{ApplyError, TableWork, UpgradeTerms, UpgradeWork};
use crate::json::path::split_dotted;
use crate::package::payload::{RawEntry, RawRow};
use crate::rows::Cell;
use crate::upgrade::{EVERYTHING, TrackedDecisions};
use crate::workspace::{Id, RecordKind, Target};

use row::{Candidate, MergeBatch, MergedTable};

impl<'a, T: Target> Run<'_, 'a, T> {
    /// Enters the rows of all tables, and merges those that are there: each table once its links point at rows that
    /// are as they will be, so that they show what these hold then.
    pub(super) async fn tables(&mut self) -> Result<(), ApplyError<T::Error>> {
        let approved = self.approved;
        let upgrade = approved.upgrade.as_deref();
        let nothing = UpgradeTerms::default();
        let terms = upgrade.map_or(&nothing, |upgrade| &upgrade.terms);
        let tracked = TrackedDecisions::new(&terms.decisions, terms.conflicts);
        let tracked = tracked.with_planned(terms.planned.as_ref());
        // Without the package that was applied last a plain apply has nothing to report.
        let merges = approved.base_rows.cells && (upgrade.is_some() || !self.base.is_empty());
        let (mut complete, mut waiting) = (HashSet::new(), Vec::new());
        for (position, work) in approved.tables.iter().enumerate() {
            self.recognise(work).await?;
            if merges {
                self.free_values(work, &tracked).await?;
            }
            self.table(position, work).await?;
            if merges {
                self.changed_before(position, work).await?;
                let mut points_at = self.targets.points_at(position).iter();
                if points_at.all(|table| complete.contains(table)) {
                    self.merge(work, &tracked).await?;
                    complete.insert(position);
                } else {
                    waiting.push(work);
                }
            }
            self.forget(&work.uid);
        }
        for work in waiting {
            self.recognise_again(work);
            self.merge(work, &tracked).await?;
            self.forget(&work.uid);
        }
        if let Some(upgrade) = upgrade {
            self.follow().await?;
            self.unused_decisions(&tracked, upgrade);
        }
        self.tally.saw(tracked.take_seen());
        Ok(())
    }

    /// Lists decisions about cells that did nothing.
    fn unused_decisions(&mut self, tracked: &TrackedDecisions<'_>, upgrade: &UpgradeWork) {
        for (reference, path, _) in tracked.unused() {
            let segments = split_dotted(path);
            let unused = match segments.as_slice() {
                [rows, uid, _] if rows == "rows" => !self.ledger_state.is_decided(uid),
                [all] if all == EVERYTHING => {
                    upgrade.words.contains(reference) && !self.ledger_state.decided_any()
                }
                _ => false,
            };
            if unused {
                self.tally.unused_decision(reference, path);
            }
        }
    }

    /// Merges the rows of a table that are there.
    async fn merge(
        &mut self,
        work: &'a TableWork,
        tracked: &TrackedDecisions<'_>,
    ) -> Result<(), ApplyError<T::Error>> {
        let (Some(feature), Some(entry)) = (work.feature, self.payloads.get(work.entry)) else {
            return Ok(());
        };
        let table = self.merged_table(work, feature);
        self.merge_table(&table, entry, tracked).await
    }

    fn merged_table(&self, work: &'a TableWork, feature: Id) -> MergedTable<'a> {
        let approved = self.approved;
        let (fresh, columns) = (self.fresh_columns(), work.compared.iter().enumerate());
        let fresh_slots = columns.filter(|(_, work)| fresh.contains(&work.column.id));
        MergedTable {
            work,
            feature,
            columns: Columns::new(&work.compared, self.definitions),
            base: self.table_base(feature, &work.compared),
            upgrade: approved.upgrade.as_deref(),
            whole: approved.base_rows.reference.contains(&work.uid),
            fresh_slots: fresh_slots.map(|(at, _)| at).collect(),
            fresh,
            only: None,
        }
    }

    fn fresh_columns(&self) -> HashSet<Id> {
        let earlier = self.ledger_state.structures.iter();
        let all = earlier.chain([&self.approved.structure.entry]);
        let columns = all.flat_map(|done| &done.created);
        let columns = columns.filter(|made| made.kind == RecordKind::Column);
        columns.map(|made| made.id).collect()
    }

    async fn merge_table(
        &mut self,
        table: &MergedTable<'a>,
        entry: &'a RawEntry<'a>,
        tracked: &TrackedDecisions<'_>,
    ) -> Result<(), ApplyError<T::Error>> {
        let mut rows = entry.rows().enumerate();
        let (mut found, mut blocked) = (0, Vec::new());
        let mut next = self.compared(table, &mut found, &mut rows);
        while let Some(rows_now) = next {
            next = self.compared(table, &mut found, &mut rows);
            if table.upgrade.is_none() {
                self.count_left_out(table, &rows_now).await?;
                continue;
            }
            let then = next.iter().flatten().map(|row| row.id);
            let batch = MergeBatch {
                rows: &rows_now,
                then: &then.collect::<Vec<_>>(),
                most: BATCH_BYTES,
            };
            let more = self.merge_rows(table, batch, tracked);
            blocked.extend(more.await?);
        }
        self.merge_blocked(table, blocked, tracked).await?;
        if table.upgrade.is_some() {
            let left = table.base.count().saturating_sub(found);
            self.tally.table(&table.work.feature_ref).left += left as u64;
        }
        Ok(())
    }

    /// The next rows that are compared; nothing after the last. Counts those of which the base says something.
    fn compared(
        &self,
        table: &MergedTable<'a>,
        found: &mut usize,
        rows: &mut impl Iterator<Item = (usize, RawRow<'a>)>,
    ) -> Option<Vec<Candidate<'a>>> {
        loop {
            let mut batch = self.candidates(table, found, rows);
            if batch.is_empty() {
                return None;
            }
            if table.upgrade.is_some() && !table.whole && table.fresh_slots.is_empty() {
                // What people changed in transactional data does not matter.
                batch.retain(|row| self.differs(table, row));
            }
            if !batch.is_empty() {
                return Some(batch);
            }
        }
    }

    /// Whether the package says something else of a row than the base, or its cells have a base of their own.
    fn differs(&self, table: &MergedTable<'a>, row: &Candidate<'a>) -> bool {
        !table.base.says_the_same(row.id, row.theirs) || self.ledger_state.stays(row.id).is_some()
    }

    /// The next rows that are at the destination by what earlier jobs wrote, as many as are looked at together.
    /// Counts those of which the base says something.
    fn candidates(
        &self,
        table: &MergedTable<'a>,
        found: &mut usize,
        rows: &mut impl Iterator<Item = (usize, RawRow<'a>)>,
    ) -> Vec<Candidate<'a>> {
        let known = self.ledger_state.others(&table.work.uid, table.feature);
        let (mut candidates, mut bytes) = (Vec::new(), 0);
        for (position, theirs) in rows {
            let Some(row) = known(position) else { continue };
            *found += usize::from(table.base.row(row.id).is_some());
            if self.ledger_state.is_merged(row.id) {
                continue;
            }
            bytes += theirs.data.len();
            candidates.push(Candidate {
                position,
                id: row.id,
                digest: self.ledger_state.freed(row.id).unwrap_or(row.digest),
                theirs,
            });
            if candidates.len() == BATCH || bytes > BATCH_BYTES {
                break;
            }
        }
        candidates
    }
}

fn is_null(cell: &str) -> bool {
    matches!(Cell::new(cell), Cell::Null)
}
