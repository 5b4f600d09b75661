//! The cells of rows, looked at one by one: which are written, which stay, and which are asked about.

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

use super::is_null;
use super::packaged_cell::{brings_file, lacks_target, missing, same_cell, same_link};
use super::row::{
    Candidate, CellChange, ConflictingCell, Here, KeptBase, MergeOutcome, MergedTable,
};

impl<'a, T: Target> Run<'_, 'a, T> {
    /// The cells of a row of a package as the destination holds them, by column; null where there are none.
    async fn destination_cells(
        &mut self,
        columns: &Columns<'a>,
        row: RawRow<'a>,
    ) -> Result<Result<Vec<String>, EntryFault>, ApplyError<T::Error>> {
        let cells = self.fitting_cells(columns, row, Moment::Now).await?;
        Ok(cells.into_iter().collect())
    }

    /// The same, and what is wrong with those that the destination cannot hold.
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
        here: Here<'_>,
    ) -> Result<Result<MergeOutcome, EntryFault>, ApplyError<T::Error>> {
        let Here {
            stored,
            edited,
            hidden,
        } = here;
        let theirs = match self.destination_cells(&table.columns, row.theirs).await? {
            Ok(cells) => cells,
            Err(fault) => return Ok(Err(fault)),
        };
        let base = self.base_of_stored(table, row, &stored.data).await?;
        let is_based = !base.is_empty();
        let stays = self.ledger_state.stays(row.id).cloned();
        let mut outcome = MergeOutcome {
            hidden,
            // What people changed in cells that are not compared.
            differs: edited && !table.whole,
            ..MergeOutcome::default()
        };
        for ((at, slot), theirs) in table.columns.all.iter().enumerate().zip(&theirs) {
            let column = &slot.work.column;
            if slot.rule.identity.is_some()
                || slot.work.package_name.is_empty()
                || !table.merges(at)
            {
                continue;
            }
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
                    None => base_cell.is_none() && is_based,
                };
            let fresh = late || table.is_fresh(column.id);
            if (fresh || table.whole)
                && lacks_target(table, row, at, theirs)
                && (kept.is_some() || !same_cell(table, row, at))
                && (hidden
                    || !matches!(
                        takes(table, tracked, row, &slot.work.package_name),
                        Some(Take::Value(_))
                    ))
            {
                let based = match (kept, base_cell) {
                    (Some(kept), _) => kept,
                    _ if fresh => "null",
                    _ if !edited => ours,
                    (None, base_cell) => base_cell.unwrap_or("null"),
                };
                outcome.differs |= !equal(based, ours);
                outcome.stays.push(KeptBase {
                    column: column.name.clone(),
                    base: based.to_owned(),
                });
                outcome.left_out.push(at);
                continue;
            }
            let stays_empty =
                table.only.is_none() && brings_file(table, row, at) && Cell::new(ours).is_empty();
            if fresh {
                if stays_empty {
                    outcome.emptied.push(at);
                }
                if is_null(ours) && !is_null(theirs) {
                    outcome.written.push(CellChange {
                        column: column.name.clone(),
                        before: ours.to_owned(),
                        after: theirs.clone(),
                    });
                } else if table.whole && !equal(ours, theirs) {
                    // The value that a column of that name has left behind is people's.
                    (outcome.differs, outcome.moves) = (true, true);
                }
                continue;
            }
            if !table.whole {
                // Once these rows are compared, the package of then meets what was written.
                if let Some(based) = kept.or(base_cell)
                    && !(kept.is_none() && same_link(table, row, at))
                    && !equal(based, theirs)
                {
                    outcome.stays.push(KeptBase {
                        column: column.name.clone(),
                        base: based.to_owned(),
                    });
                    outcome.not_compared.push(column.name.clone());
                }
                continue;
            }
            let based = match (kept, base_cell) {
                (Some(kept), _) => kept,
                // What people did not touch is what was written.
                _ if !edited => slot.rule.without_file(ours),
                (None, Some(base_cell)) => base_cell,
                (None, None) => "null",
            };
            // What such a link shows here, if anything, does not concern the package.
            let same = kept.is_none() && same_link(table, row, at);
            let theirs = if same { based } else { theirs };
            if slot.rule.file_id(ours).is_some() {
                if table.only.is_some() {
                    continue;
                }
                // It counts as empty, and is never written over.
                if Cell::new(theirs).is_empty() {
                    continue;
                }
                outcome.differs = true;
                if equal(based, theirs) {
                    outcome.kept += 1;
                } else {
                    outcome.stays.push(KeptBase {
                        column: column.name.clone(),
                        base: based.to_owned(),
                    });
                    outcome.left_out.push(at);
                }
                continue;
            }
            let values = [based, theirs, ours].map(value);
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
            let name = column.name.clone();
            // Whatever else there is to say of the cell is said when the row is merged as a whole.
            if table.only.is_some() && !matches!(verdict, LeafOutcome::Written(_)) {
                continue;
            }
            outcome.moves |= base != theirs && !matches!(verdict, LeafOutcome::Conflict);
            match verdict {
                LeafOutcome::Same => {
                    if stays_empty {
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
                    let mut out = String::new();
                    if let Err(kind) = slot.rule.write(&after.write(), &mut out) {
                        self.check_decided(table, tracked, path);
                        let fault = slot.rule.fault(EntryReason::NotStorable(kind));
                        return Ok(Err(fault));
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
                    outcome.stays.push(KeptBase {
                        column: name,
                        base: base.write(),
                    });
                    let theirs = self.with_new_names(row.theirs, slot, theirs);
                    outcome.conflicts.push(ConflictingCell {
                        path,
                        values: [base, theirs, ours],
                    });
                }
            }
        }
        if table.only.is_some() {
            if let Some(fault) = missing(table, row, &theirs) {
                return Ok(Err(fault));
            }
            self.keep_others(row, edited, &mut outcome);
        }
        for cell in &outcome.written {
            let slot = slot_at(table, &cell.column).map(|at| &table.columns.all[at]);
            if let Some(slot) = slot
                && Cell::new(&cell.after).is_empty()
                && let Some(fault) = slot.rule.missing()
            {
                let path = cell_path(row, &slot.work.package_name);
                self.check_decided(table, tracked, path);
                return Ok(Err(fault));
            }
        }
        Ok(Ok(outcome))
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

/// What somebody decided about a cell.
pub(super) fn takes<'d>(
    table: &MergedTable<'_>,
    tracked: &TrackedDecisions<'d>,
    row: Candidate<'_>,
    column: &str,
) -> Option<&'d Take> {
    tracked.takes(&table.work.feature_ref, &cell_path(row, column))
}

/// The path of a cell.
fn cell_path(row: Candidate<'_>, column: &str) -> String {
    let uid = row.theirs.uid.decoded();
    let mut path = String::new();
    for segment in ["rows", &*uid, column] {
        crate::json::path::push_dotted(&mut path, segment);
    }
    path
}

fn slot_at(table: &MergedTable<'_>, name: &str) -> Option<usize> {
    let mut all = table.columns.all.iter();
    all.position(|slot| slot.work.column.name == name)
}

fn value(cell: &str) -> Value {
    Value::parse(cell).unwrap_or_default()
}
