//! The rows of a batch as the destination receives them: text, row by row.

use std::collections::HashSet;
use std::ops::Range;

use super::columns::{Columns, Key};
use super::emptied_counts::{EmptiedCounts, EmptyCause, OtherFiles, recorded, recorded_others};
use super::links::{LinkOutcome, OwnLinks, identities, link, points_at};
use super::sequence_counter::Counter;
use super::target_value::TargetValue;
use super::targets::{Targets, WantedColumn};
use crate::apply::{LinkWork, Minter};
use crate::definitions::Storage;
use crate::json::write_string_to;
use crate::package::payload::RawRow;
use crate::rows::{Cell, EntryFault, EntryReason, Identity, Storable, Text, file_id, members};
use crate::workspace::ledger::{EarlyLinks, EmptiedColumn, RowDigest, WrittenRow};
use crate::workspace::{Id, RowData, StoredRow};

/// Rows that are written together.
#[derive(Debug, Default)]
pub(super) struct InsertBatch {
    text: String,
    /// The rows.
    pub(super) rows: Vec<NewRow>,
    /// Where the values of wanted columns stand: row by row, column by column.
    values: Vec<Range<usize>>,
    /// By column: cells that are left empty.
    pub(super) emptied: Vec<EmptiedCounts>,
    /// Cells that become null in columns that only the destination has.
    pub(super) other_files: OtherFiles,
    /// Whether cells read like a file's id whose columns, if any, only the destination knows, and it was not asked.
    pub(super) asks_columns: bool,
    /// Of the cells that are left empty, links to rows that are not there: row and column.
    pub(super) unlinked: Vec<(usize, usize)>,
    /// By sequence column.
    pub(super) sequences: Vec<Counter>,
    /// By column: the last row that needs nothing more there.
    finished: Vec<usize>,
    link: String,
    lookups: usize,
}

/// A row of a batch.
#[derive(Debug)]
pub(super) struct NewRow {
    /// Its position in its payload entry or step.
    pub(super) position: usize,
    /// Its id.
    pub(super) id: Id,
    /// What it holds.
    pub(super) digest: RowDigest,
    /// Whether cells wait for its own table to be complete.
    pub(super) deferred: bool,
    own: Option<OwnTableCells>,
    text: Range<usize>,
}

/// Cells of a row that point at rows of its own table and did not have to wait.
#[derive(Debug)]
struct OwnTableCells {
    /// How many they are.
    count: u32,
    /// What the row would hold without them.
    without: RowDigest,
    /// Their text, with a comma in front of each.
    text: String,
}

/// What rows are written against.
#[derive(Clone, Copy)]
pub(super) struct BatchContext<'s> {
    /// The columns.
    pub(super) columns: &'s Columns<'s>,
    /// The ref of the table.
    pub(super) own: &'s str,
    /// Columns whose values other rows take, in the order in which they are kept.
    pub(super) wanted: &'s [WantedColumn<'s>],
    /// The rows that links point at.
    pub(super) targets: &'s Targets<'s>,
    /// Whether each looked-up identity is at the destination, in the order of cells and elements.
    pub(super) found: &'s [bool],
    /// Where ids come from.
    pub(super) minter: &'s Minter,
    /// The columns that hold files at the destination, once they are known.
    pub(super) file_columns: Option<&'s HashSet<String>>,
}

impl InsertBatch {
    /// Forgets the rows; sequences go back to where the store has them.
    pub(super) fn begin(&mut self, columns: usize) {
        self.text.clear();
        self.rows.clear();
        self.values.clear();
        self.emptied.clear();
        self.emptied.resize(columns, EmptiedCounts::default());
        self.other_files.clear();
        self.asks_columns = false;
        self.unlinked.clear();
        self.finished.clear();
        self.finished.resize(columns, usize::MAX);
        self.lookups = 0;
        for counter in &mut self.sequences {
            counter.next = counter.stands;
        }
    }

    /// Writes a row.
    pub(super) fn push(
        &mut self,
        row: &RawRow<'_>,
        position: usize,
        ordinal: u32,
        with: BatchContext<'_>,
    ) -> Result<(), EntryFault> {
        let start = self.text.len();
        let index = self.rows.len();
        let values = self.values.len();
        self.values.resize(values + with.wanted.len(), 0..0);
        let mut new = NewRow {
            position,
            id: with.minter.id(ordinal),
            digest: RowDigest::default(),
            deferred: false,
            own: None,
            text: start..start,
        };
        self.text.push('{');
        let refs: Vec<_> = row.refs.into_iter().flat_map(members).collect();
        for (key, raw) in with.columns.cells(row.data) {
            match key {
                Key::Column(slot) => self.cell(slot, raw, &refs, index, &mut new, with)?,
                Key::Absent => {}
                Key::Unknown(key) => {
                    // What no column shows is kept, unless a column has that name here.
                    let name = key.decoded();
                    let mut columns = with.columns.all.iter();
                    if columns.all(|slot| slot.work.column.name != *name) {
                        if self.is_other_file(&name, raw, with) {
                            // A digest does not tell null from nothing.
                            write_string_to(&mut self.text, &name);
                            self.text.push_str(":null,");
                            *self.other_files.entry(name.into_owned()).or_default() += 1;
                            continue;
                        }
                        kept(&name, raw)?;
                        write_string_to(&mut self.text, &name);
                        self.text.push(':');
                        let from = self.text.len();
                        crate::rows::canonical_to(&mut self.text, raw);
                        let digest = crate::workspace::ledger::ColumnDigest::of(&name);
                        new.digest = new.digest.with(digest, &self.text[from..]);
                        self.text.push(',');
                    }
                }
            }
        }
        for slot in &with.columns.required {
            if self.finished[*slot] != index {
                self.fill_required(*slot, index, ordinal, &mut new, with)?;
            }
        }
        if self.text.ends_with(',') {
            self.text.pop();
        }
        self.text.push('}');
        new.text = start..self.text.len();
        self.rows.push(new);
        Ok(())
    }

    /// Whether a cell of no column of the package names a file in a column of the destination. Notes that this is not
    /// known.
    fn is_other_file(&mut self, name: &str, raw: &str, with: BatchContext<'_>) -> bool {
        if file_id(raw).is_none() {
            return false;
        }
        self.asks_columns |= with.file_columns.is_none();
        with.file_columns
            .is_some_and(|columns| columns.contains(name))
    }

    fn cell(
        &mut self,
        slot: usize,
        raw: &str,
        refs: &[(Text<'_>, &str)],
        index: usize,
        new: &mut NewRow,
        with: BatchContext<'_>,
    ) -> Result<(), EntryFault> {
        let column = &with.columns.all[slot];
        if column.rule.identity.is_some() && matches!(raw, "null" | "\"\"") {
            return Ok(());
        }
        match &column.work.link {
            LinkWork::Data if column.rule.file_id(raw).is_some() => {
                self.emptied[slot].add(EmptyCause::File, 1);
                return self.write(slot, "null", index, new, with);
            }
            LinkWork::Data if column.work.is_unknown(raw) => {
                self.leave_unlinked(slot, index);
                return Ok(());
            }
            LinkWork::Data => return self.write(slot, raw, index, new, with),
            LinkWork::Skipped { .. } => {
                if !Cell::new(raw).is_empty() {
                    self.emptied[slot].add(EmptyCause::Skipped, 1);
                    self.finished[slot] = index;
                    return Ok(());
                }
                return self.write(slot, raw, index, new, with);
            }
            LinkWork::Absent => {
                if !Cell::new(raw).is_empty() {
                    self.leave_empty(slot, index);
                    return Ok(());
                }
                return self.write(slot, raw, index, new, with);
            }
            LinkWork::Refs | LinkWork::Identity { .. } => {}
        }
        let mut refs = refs.iter();
        let Some((_, refs)) = refs.find(|(key, _)| key.is(&column.work.package_name)) else {
            let found = match column.work.link {
                LinkWork::Identity { .. } => self.all_found(raw, with.found),
                _ => true,
            };
            if !found || column.work.is_unknown(raw) {
                self.leave_unlinked(slot, index);
                return Ok(());
            }
            if column.work.is_emptied(raw) {
                self.leave_empty(slot, index);
                return Ok(());
            }
            return self.write(slot, raw, index, new, with);
        };
        let mut value = std::mem::take(&mut self.link);
        value.clear();
        let linked = link(
            &mut value,
            raw,
            refs,
            OwnLinks::Later(with.own),
            TargetValue::now(column.work),
            with.targets,
        );
        if matches!(linked, LinkOutcome::Dropped | LinkOutcome::Short) {
            self.emptied[slot].add(EmptyCause::RowMissing, 1);
        }
        if linked == LinkOutcome::Dropped {
            self.unlinked.push((index, slot));
        }
        let written = match linked {
            LinkOutcome::Whole | LinkOutcome::Short => self.write(slot, &value, index, new, with),
            LinkOutcome::Dropped | LinkOutcome::Deferred => {
                new.deferred |= linked == LinkOutcome::Deferred;
                self.finished[slot] = index;
                Ok(())
            }
        };
        self.link = value;
        written
    }

    /// Leaves a link empty whose row is not known at the destination: a later package may bring it.
    fn leave_unlinked(&mut self, slot: usize, index: usize) {
        self.unlinked.push((index, slot));
        self.leave_empty(slot, index);
    }

    /// Leaves a link empty, for good.
    fn leave_empty(&mut self, slot: usize, index: usize) {
        self.emptied[slot].add(EmptyCause::RowMissing, 1);
        self.finished[slot] = index;
    }

    /// Whether all looked-up identities of a cell are at the destination.
    fn all_found(&mut self, raw: &str, found: &[bool]) -> bool {
        let count = identities(raw).count();
        let here = found.get(self.lookups..self.lookups + count);
        self.lookups += count;
        here.is_some_and(|here| here.iter().all(|found| *found))
    }

    /// Writes a cell with the value of that text.
    fn write(
        &mut self,
        slot: usize,
        raw: &str,
        index: usize,
        new: &mut NewRow,
        with: BatchContext<'_>,
    ) -> Result<(), EntryFault> {
        let column = &with.columns.all[slot];
        self.text.push_str(&column.key);
        let start = self.text.len();
        let written = column.rule.write(raw, &mut self.text);
        let cell = written.map_err(|kind| column.rule.fault(EntryReason::NotStorable(kind)))?;
        if !column.rule.required || !cell.is_empty() {
            self.finished[slot] = index;
        }
        if column.rule.identity == Some(Identity::Sequence) {
            let given: Option<u64> = self.text[start..].parse().ok();
            let mut counters = self.sequences.iter_mut();
            let counter = counters.find(|counter| counter.slot == slot);
            if let (Some(counter), Some(after)) = (counter, given.and_then(|n| n.checked_add(1))) {
                counter.next = counter.next.max(after);
            }
        }
        let stored = match cell {
            // Read already.
            Cell::String(text) if !text.escaped => cell,
            _ => Cell::new(&self.text[start..]),
        };
        new.digest = new.digest.with_cell(column.digest, stored);
        self.written(slot, start, with);
        Ok(())
    }

    /// Notes the value that begins there and ends the cell.
    fn written(&mut self, slot: usize, start: usize, with: BatchContext<'_>) {
        let value = start..self.text.len();
        let mut wanted = with.wanted.iter();
        if let Some(at) = wanted.position(|wanted| wanted.slot == Some(slot)) {
            let first = self.values.len() - with.wanted.len();
            self.values[first + at] = value;
        }
        self.text.push(',');
    }

    /// Mints an identity, leaves a cell empty that may be, or finds a required one empty.
    fn fill_required(
        &mut self,
        slot: usize,
        index: usize,
        ordinal: u32,
        new: &mut NewRow,
        with: BatchContext<'_>,
    ) -> Result<(), EntryFault> {
        let column = &with.columns.all[slot];
        if column.rule.identity.is_none() && !column.work.left_empty {
            return column.rule.missing().map_or(Ok(()), Err);
        }
        self.text.push_str(&column.key);
        let start = self.text.len();
        let Some(identity) = column.rule.identity else {
            // A digest does not tell null from nothing.
            self.text.push_str("null");
            self.finished[slot] = index;
            self.written(slot, start, with);
            return Ok(());
        };
        match identity {
            Identity::Uuid => {
                let id = with.minter.identity(ordinal, column.identity);
                self.text.push('"');
                let mut digits = [0; uuid::fmt::Hyphenated::LENGTH];
                self.text
                    .push_str(id.hyphenated().encode_lower(&mut digits));
                self.text.push('"');
            }
            Identity::Sequence => {
                let mut counters = self.sequences.iter_mut();
                if let Some(counter) = counters.find(|counter| counter.slot == slot) {
                    let number = counter.next.max(counter.floor);
                    counter.next = number.saturating_add(1);
                    self.text.push_str(&number.to_string());
                }
            }
        }
        self.finished[slot] = index;
        new.digest = new.digest.with(column.digest, &self.text[start..]);
        self.written(slot, start, with);
        Ok(())
    }

    /// Writes the links inside the table of a row whose targets are all known by now, so that nothing of
    /// it waits. What could be refused waits all the same: then it costs a cell and not the batch.
    pub(super) fn finish_row(&mut self, at: usize, row: &RawRow<'_>, with: BatchContext<'_>) {
        let Some(new) = self.rows.get_mut(at).filter(|new| new.deferred) else {
            return;
        };
        let (mut count, mut cells, before) = (0, String::new(), new.digest);
        let mut digest = before;
        let mut value = std::mem::take(&mut self.link);
        for (key, refs) in row.refs.into_iter().flat_map(members) {
            let Some(slot) = with.columns.named(&key.decoded()) else {
                continue;
            };
            let column = &with.columns.all[slot];
            let waits = matches!(column.work.link, LinkWork::Refs | LinkWork::Identity { .. })
                && points_at(refs, with.own);
            let cell = with.columns.cell(row.data, slot);
            let (true, Some(cell)) = (waits, cell) else {
                continue;
            };
            value.clear();
            let shown = TargetValue::now(column.work);
            let linked = link(&mut value, cell, refs, OwnLinks::Now, shown, with.targets);
            cells.push(',');
            cells.push_str(&column.key);
            let start = cells.len();
            let written = column.rule.write(&value, &mut cells);
            if linked != LinkOutcome::Whole || column.work.column.is_unique() || written.is_err() {
                self.link = value;
                return;
            }
            digest = digest.with(column.digest, &cells[start..]);
            count += 1;
        }
        self.link = value;
        if count == 0 {
            return;
        }
        new.deferred = false;
        new.digest = digest;
        new.own = Some(OwnTableCells {
            count,
            without: before,
            text: cells,
        });
    }

    /// The rows whose links inside the table are written along.
    pub(super) fn early_links(&self) -> Vec<EarlyLinks> {
        let early_links = self.rows.iter().filter_map(|row| {
            let own = row.own.as_ref()?;
            Some(EarlyLinks {
                position: u32::try_from(row.position).unwrap_or(u32::MAX),
                cells: own.count,
                digest: own.without,
            })
        });
        early_links.collect()
    }

    /// The rows for the store.
    pub(super) fn stored(&self) -> Vec<StoredRow> {
        let mut whole = String::new();
        let rows = self.rows.iter();
        rows.map(|row| {
            let text = &self.text[row.text.clone()];
            let data = match &row.own {
                None => RowData::trusted(text),
                Some(OwnTableCells { text: own, .. }) => {
                    whole.clear();
                    let cells = text.strip_suffix('}').unwrap_or(text);
                    whole.push_str(cells);
                    whole.push_str(if cells.len() > 1 { own } else { &own[1..] });
                    whole.push('}');
                    RowData::trusted(&whole)
                }
            };
            StoredRow { id: row.id, data }
        })
        .collect()
    }

    /// The rows for the ledger.
    pub(super) fn recorded(&self) -> Vec<WrittenRow> {
        let rows = self.rows.iter();
        rows.map(|row| WrittenRow {
            position: u32::try_from(row.position).unwrap_or(u32::MAX),
            id: row.id,
            digest: row.digest,
        })
        .collect()
    }

    /// The emptied cells for the ledger.
    pub(super) fn emptied(&self, columns: &Columns<'_>) -> Vec<EmptiedColumn> {
        let mut all = recorded(&self.emptied, columns);
        all.extend(recorded_others(&self.other_files));
        all
    }

    /// The value of a wanted column in a row of the batch.
    pub(super) fn value(&self, row: usize, wanted: usize, of: usize) -> Option<&str> {
        self.text.get(self.values.get(row * of + wanted)?.clone())
    }
}

/// Whether a cell of no column can be kept: its numbers may have as many digits as anywhere.
fn kept(name: &str, raw: &str) -> Result<(), EntryFault> {
    let any = Storable::new(Storage::Any);
    any.check(raw).map_err(|fault| EntryFault {
        column: name.to_owned(),
        reason: EntryReason::NotStorable(fault.kind),
    })
}
