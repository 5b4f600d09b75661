//! Merges rows cell by cell: which cells are written, which are kept, and which are conflicts.

use crate::apply::new_names::Names;
use crate::apply::row_refs::row_refs;
use crate::apply::run::Run;
use crate::apply::run::columns::{Columns, Key, Slot};
use crate::apply::run::links::{LinkOutcome, OwnLinks, link};
use crate::apply::run::target_value::{Moment, TargetValue};
use crate::apply::{ApplyError, LinkWork};
use crate::json::Value;
use crate::package::payload::RawRow;
use crate::rows::{Cell, EntryFault, EntryReason, equal, members};
use crate::upgrade::rule::{DecidedLeaf, LeafOutcome, unseen, verdict};
use crate::upgrade::{Take, TrackedDecisions};
use crate::workspace::{RowData, Target};

use super::cell_sides::{CellSides, ComparedCell, cell_path};
use super::is_null;
use super::packaged_cell::missing;
use super::row::{
    Candidate, CellChange, ConflictingCell, DestinationCells, DestinationRow, KeptBase,
    MergeOutcome, MergedTable, UnfitCell,
};

impl<'a, T: Target> Run<'_, 'a, T> {
    /// The cells of a row of a package as the destination holds them, by column; null where there are none. Those that
    /// it cannot hold are as the package has them: a cell that is not written keeps no other from being written.
    async fn destination_cells(
        &mut self,
        columns: &Columns<'a>,
        row: RawRow<'a>,
    ) -> Result<DestinationCells, ApplyError<T::Error>> {
        let fitting = self.fitting_cells(columns, row, Moment::Now).await?;
        let mut cells = DestinationCells::default();
        for (at, cell) in fitting.into_iter().enumerate() {
            let cell = cell.unwrap_or_else(|fault| {
                cells.unfit.push(UnfitCell { at, fault });
                columns.cell(row.data, at).unwrap_or("null").to_owned()
            });
            cells.all.push(cell);
        }
        Ok(cells)
    }

    /// The same, or what is wrong with those that the destination cannot hold.
    pub(in crate::apply::run) async fn fitting_cells(
        &mut self,
        columns: &Columns<'a>,
        row: RawRow<'a>,
        moment: Moment,
    ) -> Result<Vec<Result<String, EntryFault>>, ApplyError<T::Error>> {
        let unread = self.targets.unread_by(row.refs.into_iter());
        self.read_rows(&unread).await?;
        let entering = std::iter::once((row.data, row.refs));
        let mut found = self.match_keys(columns, entering).await?.here.into_iter();
        let mut cells: Vec<_> = columns.all.iter().map(|_| Ok("null".to_owned())).collect();
        for (key, raw) in columns.cells(row.data) {
            let Key::Column(slot) = key else { continue };
            let column = &columns.all[slot];
            let empty = Cell::new(raw).is_empty();
            let mut refs = row.refs.into_iter().flat_map(members);
            let refs = refs.find(|(key, _)| key.is(column.name));
            let value = match (&column.work.link, refs) {
                (LinkWork::Refs | LinkWork::Identity { .. }, Some((_, refs))) => {
                    let mut value = String::new();
                    let shown = TargetValue {
                        value: &column.work.linked_value,
                        moment,
                    };
                    match link(&mut value, raw, refs, OwnLinks::Now, shown, &self.targets) {
                        LinkOutcome::Whole | LinkOutcome::Short => value,
                        LinkOutcome::Dropped | LinkOutcome::Deferred => continue,
                    }
                }
                (LinkWork::Identity { .. }, None) => {
                    let count = crate::apply::run::links::identities(raw).count();
                    let gone = found.by_ref().take(count).filter(|here| !here).count() > 0;
                    if gone || column.work.is_unknown(raw) {
                        continue;
                    }
                    raw.to_owned()
                }
                (LinkWork::Skipped { .. } | LinkWork::Absent, _) if !empty => continue,
                _ if column.work.is_emptied(raw) => continue,
                _ => column.rule.without_file(raw).to_owned(),
            };
            let mut out = String::new();
            let fault = |kind| column.rule.fault(EntryReason::NotStorable(kind));
            cells[slot] = column
                .rule
                .write(&value, &mut out)
                .map(|_| out)
                .map_err(fault);
        }
        Ok(cells)
    }

    /// What becomes of a row: of each of its cells, or what is wrong with the row as it would be.
    pub(super) async fn merge_outcome(
        &mut self,
        table: &MergedTable<'a>,
        tracked: &TrackedDecisions<'_>,
        row: Candidate<'a>,
        here: DestinationRow<'_>,
    ) -> Result<Result<MergeOutcome, EntryFault>, ApplyError<T::Error>> {
        let DestinationRow {
            stored,
            edited,
            hidden,
        } = here;
        let cells = self.destination_cells(&table.columns, row.theirs).await?;
        let base = self.base_of_stored(table, row, &stored.data).await?;
        let stays = self.ledger_state.stays(row.id).cloned();
        let mut outcome = MergeOutcome {
            hidden,
            // What people changed in cells that are not compared.
            differs: edited && !table.whole,
            ..MergeOutcome::default()
        };
        let mut elsewhere = MergeOutcome::default();
        for ((at, slot), theirs) in table.columns.all.iter().enumerate().zip(&cells.all) {
            let column = &slot.work.column;
            // A row that would be refused is not changed in part.
            let merges = table.merges(at);
            if slot.rule.identity.is_some()
                || slot.work.package_name.is_empty()
                || !(merges || cells.unfit(at).is_some())
            {
                continue;
            }
            let outcome = if merges { &mut outcome } else { &mut elsewhere };
            let ours = stored.data.cell(&column.name).unwrap_or("null");
            if self.ledger_state.is_freed(row.id, &column.name) {
                // What was decided about it was carried out.
                outcome.differs |= !equal(ours, theirs);
                continue;
            }
            let kept = stays.as_ref().and_then(|stays| stays.cell(&column.name));
            let base_cell = base.get(at).and_then(Option::as_deref);
            // Also a column that a plain apply has created, and left empty in rows that were there.
            let late = !table.whole
                && match kept {
                    Some(kept) => {
                        is_null(kept) && self.ledger_state.is_compared(row.id, &column.name)
                    }
                    None => base_cell.is_none() && !base.is_empty(),
                };
            let cell = CellSides {
                table,
                row,
                at,
                ours,
                theirs,
                unfit: cells.unfit(at),
                base: base_cell,
                kept,
                fresh: late || table.is_fresh(column.id),
                edited,
                hidden,
            };
            if let Some(fault) = cell.unfit_fresh() {
                return Ok(Err(fault.clone()));
            }
            if cell.keep_without_target(tracked, outcome)
                || cell.fill_fresh(outcome)
                || cell.note_not_compared(outcome)
            {
                continue;
            }
            let cell = cell.compared();
            if cell.keep_file(outcome) {
                continue;
            }
            if let Err(fault) = self.merge_leaf(cell, tracked, outcome) {
                return Ok(Err(fault));
            }
        }
        if table.only.is_some() {
            if let Some(fault) = missing(table, row, &cells.all) {
                return Ok(Err(fault));
            }
            self.keep_others(row, edited, &mut outcome);
        }
        Ok(match self.missing_required(table, tracked, row, &outcome) {
            Some(fault) => Err(fault),
            None => Ok(outcome),
        })
    }

    /// Merges a cell that is compared by base, package and destination, and by what somebody decided.
    fn merge_leaf(
        &mut self,
        cell: ComparedCell<'_, 'a>,
        tracked: &TrackedDecisions<'_>,
        outcome: &mut MergeOutcome,
    ) -> Result<(), EntryFault> {
        let CellSides {
            table,
            row,
            at,
            ours,
            hidden,
            ..
        } = cell.sides;
        let slot = cell.sides.slot();
        let values = [cell.base, cell.theirs, ours].map(value);
        let path = cell_path(row, &slot.work.package_name);
        let decided = DecidedLeaf {
            reference: &table.work.feature_ref,
            path: &path,
            list: false,
        };
        let verdict = if hidden {
            unseen(decided, &values, tracked)
        } else {
            verdict(decided, &values, tracked, &Value::clone)
        };
        let [base, theirs, ours] = values;
        let name = slot.work.column.name.clone();
        // Other outcomes are reported when the whole row is merged.
        if table.only.is_some() && !matches!(verdict, LeafOutcome::Written(_)) {
            return Ok(());
        }
        outcome.moves |= base != theirs && !matches!(verdict, LeafOutcome::Conflict);
        match verdict {
            LeafOutcome::Same => {
                if cell.sides.stays_empty() {
                    outcome.emptied.push(at);
                }
            }
            LeafOutcome::Kept { decided } => {
                outcome.differs = true;
                outcome.kept += 1;
                outcome.decided += u64::from(decided);
            }
            LeafOutcome::Written(after) => {
                outcome.decided += u64::from(base != ours || after != theirs);
                outcome.differs |= after != theirs;
                // As the package has it a link may fit that shows something else here.
                if let Some(fault) = cell.sides.unfit.filter(|_| after == theirs) {
                    self.check_decided(table, tracked, path);
                    return Err(fault.clone());
                }
                let mut out = String::new();
                if let Err(kind) = slot.rule.write(&after.write(), &mut out) {
                    self.check_decided(table, tracked, path);
                    return Err(slot.rule.fault(EntryReason::NotStorable(kind)));
                }
                let package_cell = table.columns.cell(row.theirs.data, at);
                if out == "null"
                    && package_cell.is_some_and(|cell| slot.rule.file_id(cell).is_some())
                {
                    outcome.emptied.push(at);
                }
                outcome.written.push(CellChange {
                    column: name,
                    before: ours.write(),
                    after: out,
                });
            }
            LeafOutcome::Conflict => {
                outcome.differs = true;
                outcome.keep(&name, base.write());
                let theirs = self.with_new_names(row.theirs, slot, theirs);
                outcome.conflicts.push(ConflictingCell {
                    path,
                    values: [base, theirs, ours],
                });
            }
        }
        Ok(())
    }

    /// What is wrong with a cell that is required and would become empty.
    fn missing_required(
        &mut self,
        table: &MergedTable<'a>,
        tracked: &TrackedDecisions<'_>,
        row: Candidate<'_>,
        outcome: &MergeOutcome,
    ) -> Option<EntryFault> {
        for cell in &outcome.written {
            let slot = slot_at(table, &cell.column).map(|at| &table.columns.all[at]);
            if let Some(slot) = slot
                && Cell::new(&cell.after).is_empty()
                && let Some(fault) = slot.rule.missing()
            {
                let path = cell_path(row, &slot.work.package_name);
                self.check_decided(table, tracked, path);
                return Some(fault);
            }
        }
        None
    }

    /// Leaves what the ledger says of cells that are not merged now.
    fn keep_others(&self, row: Candidate<'_>, edited: bool, outcome: &mut MergeOutcome) {
        let written = |column: &str| outcome.written.iter().any(|cell| cell.column == column);
        let stays = self.ledger_state.stays(row.id);
        let stays = stays.into_iter().flat_map(RowData::cells);
        let stays = stays.map(|(name, base)| KeptBase {
            column: name.decoded().into_owned(),
            base: base.to_owned(),
        });
        let stays: Vec<_> = stays.filter(|kept| !written(&kept.column)).collect();
        (outcome.stays, outcome.not_compared) = (stays, self.ledger_state.not_compared(row.id));
        (outcome.differs, outcome.moves) = (edited, false);
    }

    /// A cell of the package as people read it: the ids and identities of rows that enter only now stand for
    /// nothing yet.
    fn with_new_names(&self, row: RawRow<'_>, slot: &Slot<'_>, cell: Value) -> Value {
        let mut refs = row.refs.into_iter().flat_map(members);
        let refs = refs
            .find(|(key, _)| key.is(slot.name))
            .map(|(_, refs)| refs);
        let entering = refs.into_iter().flat_map(row_refs).filter_map(|target| {
            let place = self.targets.find(target)?;
            let shown = TargetValue::now(slot.work);
            let value = self.targets.value(place, target.column, shown)?;
            let source = target.column;
            let source = source.and_then(|column| self.targets.source_value(place, column));
            let minted = self.approved.minter.minted(self.targets.id(place));
            let Value::String(text) = Value::parse(&value).ok()? else {
                return None;
            };
            (minted && source != Some(&value)).then(|| (text, target.row.decoded()))
        });
        Names::new(entering).replace_ids(cell)
    }

    /// Notes that a cell cannot be written whose value somebody decided.
    fn check_decided(
        &mut self,
        table: &MergedTable<'a>,
        tracked: &TrackedDecisions<'_>,
        path: String,
    ) {
        let reference = &table.work.feature_ref;
        if matches!(tracked.takes(reference, &path), Some(Take::Value(_))) {
            self.tally.invalid_decision(reference, path);
        }
    }
}

fn slot_at(table: &MergedTable<'_>, name: &str) -> Option<usize> {
    let mut all = table.columns.all.iter();
    all.position(|slot| slot.work.column.name == name)
}

fn value(cell: &str) -> Value {
    Value::parse(cell).unwrap_or_default()
}
