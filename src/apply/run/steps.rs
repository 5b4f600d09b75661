//! Steps of a hand-written plan that write rows.

use super::columns::{Columns, Key};
use super::targets::Place;
use super::{BATCH, Run};
use crate::apply::{ApplyError, LinkWork, RowStep, RowStepWork, TableWork};
use crate::json::write_string_to;
use crate::problem::Code;
use crate::rows::{Cell, EntryReason, Text, canonical_to};
use crate::workspace::ledger::{Entry, RowDigest, Updated, Updates};
use crate::workspace::{Change, CommitError, Id, RowData, RowWrite, StoredRow, Target};

/// One row that a step changes.
struct Update<'a> {
    /// Its position in the step.
    position: usize,
    id: Id,
    data: &'a str,
}

/// Rows of one table that a step changes.
struct Updating<'a> {
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
        // Table by table: a step without a ref may name rows of any.
        let mut by_table: Vec<(usize, Vec<Update<'a>>)> = Vec::new();
        for (at, (row, data)) in rows.iter().enumerate() {
            let position = first + at;
            let Some(place) = self.place(row, reference) else {
                self.nothing_there(reference, position, row);
                continue;
            };
            let update = Update {
                position,
                id: self.targets.id(place),
                data,
            };
            match by_table.iter_mut().find(|(table, _)| *table == place.table) {
                Some((_, updates)) if updates.iter().any(|other| other.id == update.id) => {
                    let message = format!("rows[{position}]: the step names this row twice");
                    let reference = reference.unwrap_or_default();
                    self.tally
                        .error(reference, position, position, Code::Conflict, message);
                }
                Some((_, updates)) => updates.push(update),
                None => by_table.push((place.table, vec![update])),
            }
        }
        for (at, (table, updates)) in by_table.into_iter().enumerate() {
            if first == 0 && at == 0 {
                let reference = &self.approved.tables[table].feature_ref;
                self.tally.begin(reference, uid, &self.known);
            }
            let approved = self.approved;
            let work = &approved.tables[table];
            let Some(feature) = work.feature else {
                continue;
            };
            let updating = Updating {
                uid,
                work,
                feature,
                columns: Columns::new(&work.columns, self.definitions),
                merge,
            };
            self.update(&updating, updates).await?;
        }
        Ok(())
    }

    fn place(&self, row: &str, reference: Option<&str>) -> Option<Place> {
        let uid = Text {
            inner: row,
            escaped: false,
        };
        let place = self.targets.named(uid)?;
        let table = self.approved.tables.get(place.table)?;
        let fits = reference.is_none_or(|reference| reference == table.feature_ref);
        fits.then_some(place)
    }

    fn nothing_there(&mut self, reference: Option<&str>, position: usize, row: &str) {
        let message = format!("rows[{position}]: {row:?} names no row at the destination");
        let reference = reference.unwrap_or_default();
        self.tally
            .error(reference, position, position, Code::NotFound, message);
    }

    async fn update(
        &mut self,
        updating: &Updating<'a>,
        mut updates: Vec<Update<'a>>,
    ) -> Result<(), ApplyError<T::Error>> {
        let reference = updating.work.feature_ref.as_str();
        updates.retain(|update| !self.known.is_updated(updating.uid, update.id));
        if updates.is_empty() {
            return Ok(());
        }
        let ids: Vec<Id> = updates.iter().map(|update| update.id).collect();
        let stored = self.target.fetch(updating.feature, &ids).await;
        let stored = stored.map_err(ApplyError::store("reading rows"))?;
        let mut writes: Vec<(usize, RowWrite, Updated)> = Vec::new();
        for (update, stored) in updates.iter().zip(stored) {
            let Some(stored) = stored else {
                self.nothing_there(Some(reference), update.position, &update.id.to_string());
                continue;
            };
            let data = std::iter::once((update.data, None));
            let found = self.found(&updating.columns, data).await?;
            match updating.write(update, &stored, &mut found.into_iter()) {
                Ok(write) => writes.push((update.position, write.0, write.1)),
                Err(fault) => {
                    let position = update.position;
                    let message = format!("rows[{position}].{fault}");
                    let code = Code::ValidationFailed;
                    self.tally
                        .error(reference, position, position, code, message);
                }
            }
        }
        self.write_updates(updating, writes).await
    }

    /// Writes the updates that the store takes.
    async fn write_updates(
        &mut self,
        updating: &Updating<'a>,
        mut writes: Vec<(usize, RowWrite, Updated)>,
    ) -> Result<(), ApplyError<T::Error>> {
        let reference = updating.work.feature_ref.as_str();
        while let (Some(first), Some(last)) = (writes.first(), writes.last()) {
            let (first, last) = (first.0, last.0);
            let change = Change::UpdateRows {
                feature: updating.feature,
                rows: writes.iter().map(|(_, write, _)| write.clone()).collect(),
            };
            let entry = Entry::Updates(Updates {
                uid: updating.uid.to_owned(),
                feature: updating.feature,
                rows: writes.iter().map(|(_, _, row)| row.clone()).collect(),
            });
            let unit = self.unit("rows", vec![change], entry);
            match self.try_commit(unit).await {
                Ok(()) => {
                    self.tally.table(reference).updated += writes.len() as u64;
                    return Ok(());
                }
                Err(CommitError::Refused(refused)) => {
                    let row = refused.row.filter(|row| *row < writes.len());
                    let (first, last) = match row {
                        Some(row) => (writes[row].0, writes[row].0),
                        None => (first, last),
                    };
                    let message = format!("rows[{first}]: {refused}");
                    self.tally
                        .error(reference, first, last, refused.code, message);
                    match row {
                        Some(row) => drop(writes.remove(row)),
                        None => return Ok(()),
                    }
                }
                Err(error) => {
                    let doing = format!("changing rows of {reference:?}");
                    return Err(ApplyError::commit(doing, error));
                }
            }
        }
        Ok(())
    }
}

impl Updating<'_> {
    /// What a row becomes.
    fn write(
        &self,
        update: &Update<'_>,
        stored: &StoredRow,
        found: &mut impl Iterator<Item = bool>,
    ) -> Result<(RowWrite, Updated), crate::rows::EntryFault> {
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
        let mut emptied = Vec::new();
        for (key, raw) in self.columns.cells(update.data) {
            let slot = match key {
                Key::Column(slot) => slot,
                Key::Unknown(name) => {
                    put(&name.decoded(), &mut |out| canonical_to(out, raw));
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
                    // All of them are taken, whatever the first says: they are told cell by cell.
                    let count = super::links::identities(raw).count();
                    found.by_ref().take(count).filter(|here| !here).count() > 0
                }
                LinkWork::Data | LinkWork::Refs => false,
            };
            if gone {
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
        // A row keeps its identity: others hold it.
        for slot in kept.iter().filter(|_| !self.merge) {
            let name = &self.columns.all[*slot].work.column.name;
            if let Some(value) = stored.data.cell(name) {
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
        };
        let write = RowWrite {
            id: update.id,
            cells,
            replace: !self.merge,
            digest: Some(RowDigest::of(&stored.data)),
        };
        Ok((write, updated))
    }
}
