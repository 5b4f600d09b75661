//! Carries out the steps of a hand-written plan that write rows.

use std::collections::HashSet;

use super::columns::{Columns, Key};
use super::emptied_counts::{EmptiedCounts, EmptyCause, OtherFiles, recorded, recorded_others};
use super::tally::FailedRow;
use super::targets::RowLocation;
use super::{BATCH, Run};
use crate::apply::{ApplyError, LinkWork, RowStep, RowStepWork, TableWork};
use crate::json::write_string_to;
use crate::problem::Code;
use crate::rows::{Cell, EntryReason, Rule, Text, canonical_to, file_id};
use crate::workspace::ledger::{Entry, RowDigest, Updated, Updates};
use crate::workspace::{Change, CommitError, Id, RowData, RowWrite, StoredRow, Target};

/// One row that a step changes.
struct Update<'a> {
    /// Its position in the step.
    position: usize,
    /// The uid by which the step names it.
    uid: &'a str,
    id: Id,
    data: &'a str,
}

impl Update<'_> {
    fn failed(&self, code: Code, column: Option<String>, message: String) -> FailedRow {
        FailedRow {
            position: self.position,
            uid: Some(self.uid.to_owned()),
            code,
            column,
            message,
        }
    }
}

/// What a row becomes.
struct StepWrite<'u, 'a> {
    update: &'u Update<'a>,
    written: Written,
}

/// Where a row names files.
struct FilesAt<'s> {
    /// The positions of columns of the package.
    own: Vec<usize>,
    /// Name and cell of columns that only the destination has.
    other: Vec<(String, &'s str)>,
    /// The columns that hold files at the destination, where they matter.
    columns: &'s HashSet<String>,
}

/// What a step makes of a row.
struct Written {
    write: RowWrite,
    row: Updated,
    /// Columns that become null because the step names a file there.
    files: Vec<usize>,
    /// The same, of columns that only the destination has.
    other_files: Vec<String>,
}

/// Rows of one table that a step changes.
struct StepUpdates<'a> {
    uid: &'a str,
    work: &'a TableWork,
    feature: Id,
    columns: Columns<'a>,
    merge: bool,
}

impl<'a, T: Target> Run<'_, 'a, T> {
    /// Does what a step says.
    pub(super) async fn step(&mut self, step: &'a RowStep) -> Result<(), ApplyError<T::Error>> {
        match &step.work {
            RowStepWork::Nothing => Ok(()),
            RowStepWork::Insert {
                feature_ref,
                feature,
                columns,
                rows,
                first_ordinal,
            } => {
                self.inserts(
                    &step.uid,
                    feature_ref,
                    *feature,
                    columns,
                    rows,
                    *first_ordinal,
                )
                .await
            }
            RowStepWork::Update {
                feature_ref,
                rows,
                merge,
            } => {
                for (at, chunk) in rows.chunks(BATCH).enumerate() {
                    let reference = feature_ref.as_deref();
                    self.updates(&step.uid, reference, chunk, at * BATCH, *merge)
                        .await?;
                }
                Ok(())
            }
        }
    }

    async fn updates(
        &mut self,
        uid: &'a str,
        reference: Option<&'a str>,
        rows: &'a [(String, String)],
        first: usize,
        merge: bool,
    ) -> Result<(), ApplyError<T::Error>> {
        self.done += rows.len() as u64;
        let named = rows
            .iter()
            .filter_map(|(row, _)| self.find_row(row, reference));
        let unread = self.targets.unread(named);
        self.read_rows(&unread).await?;
        // Table by table: a step without a ref may name rows of any.
        let mut by_table: Vec<(usize, Vec<Update<'a>>)> = Vec::new();
        for (at, (row, data)) in rows.iter().enumerate() {
            let position = first + at;
            let Some(place) = self.find_row(row, reference) else {
                self.nothing_there(reference, position, row);
                continue;
            };
            let update = Update {
                position,
                uid: row,
                id: self.targets.id(place),
                data,
            };
            match by_table.iter_mut().find(|(table, _)| *table == place.table) {
                Some((_, updates)) if updates.iter().any(|other| other.id == update.id) => {
                    let message = format!("rows[{position}]: the step names this row twice");
                    let table = &self.approved.tables[place.table].feature_ref;
                    let failed = update.failed(Code::Conflict, None, message);
                    self.tally.failed(table, failed);
                }
                Some((_, updates)) => updates.push(update),
                None => by_table.push((place.table, vec![update])),
            }
        }
        for (at, (table, updates)) in by_table.into_iter().enumerate() {
            if first == 0 && at == 0 {
                let reference = &self.approved.tables[table].feature_ref;
                self.tally.begin(reference, uid, &self.ledger_state);
            }
            let approved = self.approved;
            let work = &approved.tables[table];
            let Some(feature) = work.feature else {
                continue;
            };
            let updating = StepUpdates {
                uid,
                work,
                feature,
                columns: self.columns(&work.feature_ref, &work.columns),
                merge,
            };
            self.update(&updating, updates).await?;
        }
        Ok(())
    }

    fn find_row(&self, row: &str, reference: Option<&str>) -> Option<RowLocation> {
        let uid = Text {
            inner: row,
            escaped: false,
        };
        let place = self.targets.named(uid)?;
        let table = self.approved.tables.get(place.table)?;
        let fits = reference.is_none_or(|reference| reference == table.feature_ref);
        fits.then_some(place)
    }

    fn nothing_there(&mut self, reference: Option<&'a str>, position: usize, row: &str) {
        let failed = FailedRow {
            position,
            uid: Some(row.to_owned()),
            code: Code::NotFound,
            column: None,
            message: format!("rows[{position}]: {row:?} names no row at the destination"),
        };
        match reference {
            Some(reference) => self.tally.failed(reference, failed),
            // The table of a row that is not there is not known.
            None => self.tally.error("", failed),
        }
    }

    async fn update(
        &mut self,
        updating: &StepUpdates<'a>,
        mut updates: Vec<Update<'a>>,
    ) -> Result<(), ApplyError<T::Error>> {
        updates.retain(|update| !self.ledger_state.is_updated(updating.uid, update.id));
        let mut left = updates.as_slice();
        while !left.is_empty() {
            let ids: Vec<Id> = left.iter().map(|update| update.id).collect();
            let stored = self.target.fetch(updating.feature, &ids).await;
            let stored = stored.map_err(ApplyError::store("reading rows"))?;
            // Of large rows not all are there at once.
            let (part, rest) = left.split_at(stored.len().clamp(1, left.len()));
            self.update_part(updating, part, stored).await?;
            left = rest;
        }
        Ok(())
    }

    /// Changes rows together.
    async fn update_part(
        &mut self,
        updating: &StepUpdates<'a>,
        updates: &[Update<'a>],
        stored: Vec<Option<StoredRow>>,
    ) -> Result<(), ApplyError<T::Error>> {
        let reference = updating.work.feature_ref.as_str();
        let mut others = stored.iter().flatten();
        let has_others = others.any(|stored| updating.other_file_cells(stored).next().is_some());
        let file_columns = if has_others || updates.iter().any(|one| updating.names_others(one)) {
            self.file_columns(updating.feature).await?
        } else {
            HashSet::new()
        };
        let mut writes: Vec<StepWrite<'_, 'a>> = Vec::new();
        for (update, stored) in updates.iter().zip(stored) {
            let Some(stored) = stored else {
                self.nothing_there(Some(reference), update.position, update.uid);
                continue;
            };
            let data = std::iter::once((update.data, None));
            let found = self.match_keys(&updating.columns, data).await?;
            let files = updating.files_at(&stored, &file_columns);
            match updating.write(update, &stored, &files, &mut found.here.into_iter()) {
                Ok(written) => writes.push(StepWrite { update, written }),
                Err(fault) => {
                    let message = format!("rows[{}].{fault}", update.position);
                    let code = Code::ValidationFailed;
                    let failed = update.failed(code, Some(fault.column), message);
                    self.tally.failed(reference, failed);
                }
            }
        }
        self.write_updates(updating, writes).await
    }

    /// The names of the columns of a table that hold files at the destination, whoever has added them.
    pub(super) async fn file_columns(
        &mut self,
        feature: Id,
    ) -> Result<HashSet<String>, ApplyError<T::Error>> {
        if let Some(known) = self.file_columns.get(&feature) {
            return Ok(known.clone());
        }
        let structure = self.target.structure().await;
        let structure = structure.map_err(ApplyError::store("reading the structure"))?;
        let mut features = structure.features.iter().chain(&structure.shared);
        let columns = features.find(|there| there.id == feature).into_iter();
        let columns = columns.flat_map(|there| &there.columns);
        let files = columns.filter(|column| Rule::of(*column, self.definitions).file);
        let names: HashSet<String> = files.map(|column| column.name.clone()).collect();
        self.file_columns.insert(feature, names.clone());
        Ok(names)
    }

    /// Writes the updates that the store takes.
    async fn write_updates(
        &mut self,
        updating: &StepUpdates<'a>,
        mut writes: Vec<StepWrite<'_, 'a>>,
    ) -> Result<(), ApplyError<T::Error>> {
        let reference = updating.work.feature_ref.as_str();
        let mut alone: Vec<StepWrite<'_, 'a>> = Vec::new();
        while !writes.is_empty() {
            let change = Change::UpdateRows {
                feature: updating.feature,
                rows: writes.iter().map(|one| one.written.write.clone()).collect(),
            };
            let mut files = vec![EmptiedCounts::default(); updating.columns.all.len()];
            for slot in writes.iter().flat_map(|one| &one.written.files) {
                files[*slot].add(EmptyCause::File, 1);
            }
            let mut other_files = OtherFiles::new();
            for column in writes.iter().flat_map(|one| &one.written.other_files) {
                *other_files.entry(column.clone()).or_default() += 1;
            }
            let mut emptied = recorded(&files, &updating.columns);
            emptied.extend(recorded_others(&other_files));
            let entry = Entry::Updates(Updates {
                uid: updating.uid.to_owned(),
                feature: updating.feature,
                emptied,
                rows: writes.iter().map(|one| one.written.row.clone()).collect(),
            });
            let unit = self.unit("rows", vec![change], entry);
            match self.try_commit(unit).await {
                Ok(()) => {
                    self.tally.table(reference).updated += writes.len() as u64;
                    self.tally.emptied(updating.uid, &updating.columns, &files);
                    self.tally
                        .emptied_others(updating.uid, reference, &other_files);
                    for column in writes.iter().flat_map(|one| &one.written.row.files) {
                        self.tally.leaves_out(reference, column);
                    }
                    writes.clear();
                }
                Err(CommitError::Refused(refused)) => {
                    let row = match writes.len() {
                        1 => Some(0),
                        rows => refused.row.filter(|row| *row < rows),
                    };
                    if let Some(row) = row {
                        let update = writes.remove(row).update;
                        let message = format!("rows[{}]: {refused}", update.position);
                        let column = refused.column.clone();
                        let failed = update.failed(refused.code, column, message);
                        self.tally.failed(reference, failed);
                    } else {
                        // The store does not say which: one by one.
                        alone = writes.split_off(1);
                        alone.reverse();
                    }
                }
                Err(error) => {
                    let doing = format!("changing rows of {reference:?}");
                    return Err(ApplyError::commit(doing, error));
                }
            }
            if writes.is_empty() {
                writes.extend(alone.pop());
            }
        }
        Ok(())
    }
}

impl StepUpdates<'_> {
    /// Where a row names files.
    fn files_at<'s>(&self, stored: &'s StoredRow, columns: &'s HashSet<String>) -> FilesAt<'s> {
        let slots = self.columns.all.iter().enumerate();
        let own = slots.filter(|(_, column)| {
            column.rule.file && {
                let cell = stored.data.cell(&column.work.column.name);
                cell.is_some_and(|cell| column.rule.file_id(cell).is_some())
            }
        });
        let other = self.other_file_cells(stored);
        FilesAt {
            own: own.map(|(slot, _)| slot).collect(),
            other: other.filter(|(name, _)| columns.contains(name)).collect(),
            columns,
        }
    }

    /// Whether a step brings cells that read like a file's id, in columns that the package does not have.
    fn names_others(&self, update: &Update<'_>) -> bool {
        let mut cells = self.columns.cells(update.data);
        cells.any(|(key, raw)| matches!(key, Key::Unknown(_)) && file_id(raw).is_some())
    }

    /// The cells of a row that read like a file's id, in columns that the package does not have.
    fn other_file_cells<'s>(
        &self,
        stored: &'s StoredRow,
    ) -> impl Iterator<Item = (String, &'s str)> {
        let cells = stored.data.cells();
        let files = cells.filter(|(_, cell)| file_id(cell).is_some());
        let files = files.map(|(name, cell)| (name.decoded().into_owned(), cell));
        files.filter(|(name, _)| !self.has_column(name))
    }

    /// Whether the package has the column that the destination names so.
    fn has_column(&self, name: &str) -> bool {
        let mut columns = self.columns.all.iter();
        columns.any(|column| column.work.column.name == name)
    }

    /// What a row becomes. A file is never written over.
    fn write(
        &self,
        update: &Update<'_>,
        stored: &StoredRow,
        there: &FilesAt<'_>,
        found: &mut impl Iterator<Item = bool>,
    ) -> Result<Written, crate::rows::EntryFault> {
        let mut cells = String::from("{");
        let mut put = |name: &str, write: &mut dyn FnMut(&mut String)| {
            if cells.len() > 1 {
                cells.push(',');
            }
            write_string_to(&mut cells, name);
            cells.push(':');
            write(&mut cells);
        };
        let mut kept: Vec<usize> = (0..self.columns.all.len())
            .filter(|slot| self.columns.all[*slot].rule.identity.is_some())
            .collect();
        let (mut emptied, mut files) = (Vec::new(), Vec::new());
        let (mut kept_files, mut other_files) = (Vec::new(), Vec::new());
        for (key, raw) in self.columns.cells(update.data) {
            let slot = match key {
                Key::Column(slot) => slot,
                Key::Absent => continue,
                Key::Unknown(name) => {
                    let name = name.decoded();
                    let file = file_id(raw).is_some();
                    let mut others = there.other.iter();
                    if others.any(|(known, _)| *known == *name) {
                        if !file && !Cell::new(raw).is_empty() {
                            kept_files.push(name.into_owned());
                        }
                    } else if file && there.columns.contains(&*name) {
                        put(&name, &mut |out| out.push_str("null"));
                        other_files.push(name.into_owned());
                    } else {
                        put(&name, &mut |out| canonical_to(out, raw));
                    }
                    continue;
                }
            };
            let column = &self.columns.all[slot];
            let empty = Cell::new(raw).is_empty();
            if column.rule.identity.is_some() {
                if empty {
                    continue;
                }
                kept.retain(|kept| *kept != slot);
            }
            let gone = match column.work.link {
                LinkWork::Skipped { .. } | LinkWork::Absent => !empty,
                LinkWork::Identity { .. } => {
                    // All of them are taken, whatever the first says: they are reported cell by cell.
                    let count = super::links::identities(raw).count();
                    found.by_ref().take(count).filter(|here| !here).count() > 0
                }
                LinkWork::Refs => column.work.source_identities && !empty,
                LinkWork::Data => false,
            };
            let file = column.rule.file_id(raw).is_some();
            if there.own.contains(&slot) {
                if !empty && !file {
                    let fits = column.rule.check(raw);
                    fits.map_err(|kind| column.rule.fault(EntryReason::NotStorable(kind)))?;
                    kept_files.push(column.work.package_name.clone());
                }
                continue;
            }
            if file {
                files.push(slot);
            }
            if gone || file {
                emptied.push(slot);
                put(&column.work.column.name, &mut |out| out.push_str("null"));
                continue;
            }
            let mut written = Ok(());
            put(&column.work.column.name, &mut |out| {
                written = column.rule.write(raw, out).map(drop);
            });
            written.map_err(|kind| column.rule.fault(EntryReason::NotStorable(kind)))?;
        }
        if !self.merge {
            // A row keeps its identity, which others hold, and its files.
            for slot in kept.iter().chain(&there.own) {
                let name = &self.columns.all[*slot].work.column.name;
                if let Some(value) = stored.data.cell(name) {
                    put(name, &mut |out| out.push_str(value));
                }
            }
            for (name, value) in &there.other {
                put(name, &mut |out| out.push_str(value));
            }
        }
        cells.push('}');
        let cells = RowData::trusted(&cells);
        let after = stored.data.written(&cells, !self.merge);
        for (slot, column) in self.columns.all.iter().enumerate() {
            let value = after.cell(&column.rule.name);
            if value.is_none_or(|value| Cell::new(value).is_empty())
                && !emptied.contains(&slot)
                && let Some(fault) = column.rule.missing()
            {
                return Err(fault);
            }
        }
        let updated = Updated {
            id: update.id,
            before: stored.data.clone(),
            digest: RowDigest::of(&after),
            files: kept_files,
        };
        let write = RowWrite {
            id: update.id,
            cells,
            replace: !self.merge,
            digest: Some(RowDigest::of(&stored.data)),
        };
        Ok(Written {
            write,
            row: updated,
            files,
            other_files,
        })
    }
}
