//! Rows that earlier jobs wrote: cells that the package changed since the base (`upgrade` 3.4.5).
//!
//! Rows of the package and of the base are compared as they are written; only where they differ, or where
//! people changed the row at the destination, its cells are looked at one by one. What is written is
//! compared with what stands there once more by the store.

use std::collections::HashSet;

mod base;
mod cells;
mod row;
mod write;

use super::columns::Columns;
use super::{BATCH, BATCH_BYTES, Run};
use crate::apply::{ApplyError, UpgradeTerms, UpgradeWork};
use crate::json::path::split_dotted;
use crate::package::payload::{RawEntry, RawRow};
use crate::rows::Cell;
use crate::upgrade::{EVERYTHING, TrackedDecisions};
use crate::workspace::ledger::{Cells, CellsOf, Entry};
use crate::workspace::{Id, RecordKind, RowData, Target};

use cells::{same_link, unread};
use row::{BaseRows, Candidate, Table};

/// Why cells are left as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leaving {
    /// A plain apply writes none that are there.
    Plain,
    /// Their row was refused.
    Failed,
}

impl<'a, T: Target> Run<'_, 'a, T> {
    /// Merges the rows of all tables.
    pub(super) async fn merge(&mut self) -> Result<(), ApplyError<T::Error>> {
        let approved = self.approved;
        let upgrade = approved.upgrade.as_deref();
        let nothing = UpgradeTerms::default();
        let terms = upgrade.map_or(&nothing, |upgrade| &upgrade.terms);
        let tracked = TrackedDecisions::new(&terms.decisions, terms.conflicts);
        let tracked = tracked.with_planned(terms.planned.as_ref());
        // Without the package that was applied last a plain apply has nothing to tell.
        if approved.base_rows.cells && (upgrade.is_some() || !self.base.is_empty()) {
            self.merge_tables(&tracked).await?;
        }
        if let Some(upgrade) = upgrade {
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

    async fn merge_tables(
        &mut self,
        tracked: &TrackedDecisions<'_>,
    ) -> Result<(), ApplyError<T::Error>> {
        let approved = self.approved;
        let upgrade = approved.upgrade.as_deref();
        for work in &approved.tables {
            let Some(feature) = work.feature else {
                continue;
            };
            let Some(entry) = self.payloads.get(work.entry) else {
                continue;
            };
            let table = Table {
                work,
                feature,
                columns: Columns::new(&work.compared, self.definitions),
                base_columns: Columns::of_base(&work.compared, self.definitions),
                upgrade,
                whole: approved.base_rows.reference.contains(&work.uid),
                fresh: self.fresh_columns(),
            };
            self.merge_table(&table, entry, tracked).await?;
        }
        Ok(())
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
        table: &Table<'a>,
        entry: &'a RawEntry<'a>,
        tracked: &TrackedDecisions<'_>,
    ) -> Result<(), ApplyError<T::Error>> {
        // What was known of its rows was forgotten when it was complete.
        self.ledger_state.recognise(entry, table.feature);
        let mut base = self.base_rows(table);
        let mut columns = table.columns.all.iter();
        let fresh = columns.any(|slot| table.is_fresh(slot.work.column.id));
        let mut rows = entry.rows().enumerate();
        loop {
            let mut batch = self.candidates(table, &mut base, &mut rows);
            if batch.is_empty() {
                break;
            }
            if !table.whole && !fresh {
                // Those that a plain apply has left without cells of a column that it created.
                let late = |row: &Candidate<'_>| self.ledger_state.stays(row.id).is_some();
                batch.retain(|row| table.upgrade.is_some() && late(row));
                if batch.is_empty() {
                    continue;
                }
            }
            if table.upgrade.is_some() {
                self.merge_rows(table, &batch, tracked).await?;
            } else {
                self.keep_bases(table, &batch, Leaving::Plain).await?;
            }
        }
        self.ledger_state.forget_others(&table.work.uid);
        if table.upgrade.is_some() {
            self.tally.table(&table.work.feature_ref).left += base.places.len() as u64;
        }
        Ok(())
    }

    /// Where the base says something of rows of a table.
    fn base_rows(&self, table: &Table<'a>) -> BaseRows<'a> {
        let mut base = BaseRows::default();
        for (reference, feature) in &self.approved.base_rows.tables {
            if *feature != table.feature {
                continue;
            }
            let entries = self.base.iter().copied();
            for entry in entries.filter(|entry| entry.feature_ref == *reference) {
                let known = self.ledger_state.known_in(entry, table.feature);
                base.add(entry, known);
            }
        }
        base
    }

    /// Rows of which the package says something else than the base, or whose cells have a base of their own.
    fn differing(&self, rows: &[Candidate<'a>]) -> Vec<Candidate<'a>> {
        let differs = |row: &&Candidate<'_>| {
            row.base.is_some_and(|base| {
                let same = base.data == row.theirs.data && base.refs == row.theirs.refs;
                !same || self.ledger_state.stays(row.id).is_some()
            })
        };
        rows.iter().filter(differs).copied().collect()
    }

    /// Notes cells that are left as they are although the package says something else than their base, which they
    /// keep: the next upgrade brings them.
    async fn keep_bases(
        &mut self,
        table: &Table<'a>,
        rows: &[Candidate<'a>],
        because: Leaving,
    ) -> Result<(), ApplyError<T::Error>> {
        let mut cells = Vec::new();
        let rows = self.differing(rows);
        let unread = unread(&self.targets, &rows);
        self.read_rows(&unread).await?;
        for row in &rows {
            let before = self.ledger_state.stays(row.id).cloned();
            let Some(said) = row.base else { continue };
            let (base, theirs) = (
                self.base_cells(table, said).await?,
                self.fitting_cells(&table.columns, row.theirs).await?,
            );
            let mut stays: Vec<(&str, String)> = Vec::new();
            let columns = table.columns.all.iter().enumerate();
            for (((at, slot), base), theirs) in columns.zip(base).zip(theirs) {
                if slot.rule.identity.is_some() || slot.work.package_name.is_empty() {
                    continue;
                }
                let name = slot.work.column.name.as_str();
                let kept = before.as_ref().and_then(|before| before.cell(name));
                // Of transactional data the cells of new columns alone are brought, by an upgrade.
                if !table.whole && kept.is_none() && !table.is_fresh(slot.work.column.id) {
                    continue;
                }
                if kept.is_none() && same_link(table, *row, at) {
                    continue;
                }
                let base = kept.map_or(base, str::to_owned);
                // A value that does not fit the column yet is another one, too.
                let same = theirs.is_ok_and(|theirs| crate::rows::equal(&base, &theirs));
                if !same {
                    stays.push((name, base));
                    // Of rows that fail more is reported.
                    if because == Leaving::Plain {
                        self.tally
                            .leaves_out(&table.work.feature_ref, &slot.work.package_name);
                    }
                }
            }
            let stays =
                RowData::from_cells(stays.iter().map(|(name, base)| (*name, base.as_str())));
            if before.as_ref().map_or("{}", RowData::as_str) != stays.as_str() {
                cells.push(CellsOf {
                    id: row.id,
                    uid: Some(row.theirs.uid.decoded().into_owned()),
                    hidden: false,
                    before: RowData::trusted("{}"),
                    after: RowData::trusted("{}"),
                    digest: Some(row.digest),
                    stays,
                    files: Vec::new(),
                    failed: because == Leaving::Failed,
                });
            }
        }
        if cells.is_empty() {
            return Ok(());
        }
        let entry = Entry::Cells(Cells {
            uid: table.work.uid.clone(),
            reference: table.work.feature_ref.clone(),
            feature: table.feature,
            kept: 0,
            decided: 0,
            emptied: Vec::new(),
            rows: cells,
        });
        let unit = self.unit("rows", Vec::new(), entry);
        self.commit("noting cells that stay", unit).await
    }

    /// The next rows that are at the destination by what earlier jobs wrote, with what the base says of them:
    /// as many as are looked at together.
    fn candidates(
        &self,
        table: &Table<'a>,
        base: &mut BaseRows<'a>,
        rows: &mut impl Iterator<Item = (usize, RawRow<'a>)>,
    ) -> Vec<Candidate<'a>> {
        let known = self.ledger_state.others(&table.work.uid, table.feature);
        let (mut candidates, mut bytes) = (Vec::new(), 0);
        for (position, theirs) in rows {
            let Some(row) = known(position) else { continue };
            let base = base.take(row.id);
            if self.ledger_state.is_merged(row.id) {
                continue;
            }
            bytes += theirs.data.len();
            candidates.push(Candidate {
                position,
                id: row.id,
                digest: row.digest,
                theirs,
                base,
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
