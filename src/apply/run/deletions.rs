//! Columns and tables that an upgrade takes away with what they hold (`upgrade` 3.4.3).
//!
//! What people added or changed since the plan was not decided about: then all of it stays. Once the first row is
//! gone, the rest follows. The ledger keeps every row and every cell before it goes, a batch in a unit. A row that
//! somebody changes meanwhile is read anew, so that nothing goes which is not kept.

use super::{BATCH, BATCH_BYTES, Run};
use crate::apply::{ApplyError, Dropped, HELD};
use crate::problem::Code;
use crate::rows::Cell;
use crate::workspace::ledger::{
    BaseRecord, Entry, HeldDigest, MovedSequence, RemovedContent, RowDigest, Siblings,
    WrittenStructure,
};
use crate::workspace::{
    AnyRecord, Change, CommitError, Id, KeptRow, RecordKind, Removal, Structure, Target,
};

/// How often a deletion is retried after a concurrent change.
const MAX_ATTEMPTS: usize = 20;

impl<T: Target> Run<'_, '_, T> {
    /// Takes them away.
    pub(super) async fn take_away(&mut self) -> Result<(), ApplyError<T::Error>> {
        let approved = self.approved;
        let dropped = approved.upgrade.iter();
        for dropped in dropped.flat_map(|upgrade| &upgrade.dropped) {
            if !self.is_as_planned(dropped).await? {
                self.tally.stays.push(dropped);
                continue;
            }
            let mut open = true;
            for _ in 0..MAX_ATTEMPTS {
                open = !self.try_take_away(dropped).await?;
                if !open {
                    break;
                }
            }
            if open {
                let detail = "others write to it all the time".to_owned();
                let doing = format!("taking {:?} away", dropped.reference);
                let code = Code::NotEmpty;
                return Err(ApplyError::Refused {
                    doing,
                    code,
                    detail,
                });
            }
        }
        Ok(())
    }

    /// Whether what is to go holds what the plan saw, or goes already.
    async fn is_as_planned(&mut self, dropped: &Dropped) -> Result<bool, ApplyError<T::Error>> {
        let approved = self.approved;
        let upgrade = approved.upgrade.as_ref();
        let Some(planned) = upgrade.and_then(|upgrade| upgrade.terms.planned.as_ref()) else {
            return Ok(true);
        };
        if self.ledger_state.taken_from.contains(&dropped.id) {
            return Ok(true);
        }
        let structure = self.target.structure().await;
        let structure = structure.map_err(ApplyError::store("reading the structure"))?;
        let Some(record) = AnyRecord::find(&structure, dropped.kind, dropped.id) else {
            return Ok(true);
        };
        let feature = record.parent.unwrap_or(record.id);
        let (mut held, mut last) = (HeldDigest::default(), None);
        loop {
            let rows = self.next_rows(feature, last).await?;
            let Some(row) = rows.last() else {
                return Ok(planned.has(&dropped.reference, HELD, &held.value()));
            };
            last = Some(row.id);
            for row in &rows {
                match dropped.kind {
                    RecordKind::Feature => held.add_row(row.id, &row.data),
                    _ => held.add_cell(row.id, &record.name, &row.data),
                }
            }
        }
    }

    /// Removes one; false after a concurrent change.
    async fn try_take_away(&mut self, dropped: &Dropped) -> Result<bool, ApplyError<T::Error>> {
        let structure = self.target.structure().await;
        let structure = structure.map_err(ApplyError::store("reading the structure"))?;
        let Some(record) = AnyRecord::find(&structure, dropped.kind, dropped.id) else {
            return Ok(true);
        };
        let kept = match record.parent {
            Some(feature) => self.keep_cells(feature, &record).await?,
            None => self.take_rows(record.id).await?,
        };
        let Some(kept) = kept else { return Ok(false) };
        let entry = self.records(dropped, record, &structure).await?;
        let entry = self.with_report(&entry);
        let change = Change::Remove {
            kind: dropped.kind,
            id: dropped.id,
            force: false,
        };
        let unit = self.unit("rows", vec![change], Entry::Structure(entry));
        let done = self.commit_unless_changed(unit, dropped).await?;
        if done {
            *self.tally.taken.entry(dropped.id).or_default() += kept;
        }
        Ok(done)
    }

    /// Writes a unit; false when something has changed.
    async fn commit_unless_changed(
        &mut self,
        unit: crate::workspace::Unit,
        dropped: &Dropped,
    ) -> Result<bool, ApplyError<T::Error>> {
        match self.try_commit(unit).await {
            Ok(()) => Ok(true),
            Err(CommitError::Refused(refused)) if refused.code == Code::NotEmpty => Ok(false),
            Err(error) => {
                let doing = format!("taking {:?} away", dropped.reference);
                Err(ApplyError::commit(doing, error))
            }
        }
    }

    /// The next rows of a table, as many as one entry of the ledger holds.
    pub(super) async fn next_rows(
        &mut self,
        feature: Id,
        after: Option<Id>,
    ) -> Result<Vec<KeptRow>, ApplyError<T::Error>> {
        let rows = self.target.whole_rows(feature, after, BATCH).await;
        let mut rows = rows.map_err(ApplyError::store("reading rows"))?;
        let mut bytes = 0;
        let fits = rows.iter().take_while(|row| {
            let before = bytes;
            bytes += row.data.as_str().len();
            before <= BATCH_BYTES
        });
        let fits = fits.count();
        rows.truncate(fits);
        Ok(rows)
    }

    /// Keeps and removes all rows of a table. Gives how many, and nothing when somebody changed one of them.
    async fn take_rows(&mut self, feature: Id) -> Result<Option<u64>, ApplyError<T::Error>> {
        let mut count = 0;
        loop {
            let rows = self.next_rows(feature, None).await?;
            if rows.is_empty() {
                return Ok(Some(count));
            }
            count += rows.len() as u64;
            let removals = rows.iter().map(|row| Removal {
                id: row.id,
                digest: Some(RowDigest::of(&row.data)),
            });
            let change = Change::RemoveRows {
                feature,
                rows: removals.collect(),
            };
            let entry = Entry::Taken(RemovedContent {
                feature,
                column: None,
                rows,
            });
            let unit = self.unit("rows", vec![change], entry);
            match self.try_commit(unit).await {
                Ok(()) => {}
                Err(CommitError::Refused(refused)) if refused.code == Code::NotEmpty => {
                    return Ok(None);
                }
                Err(error) => return Err(ApplyError::commit("taking rows away", error)),
            }
        }
    }

    /// Keeps the filled cells of a column, and gives how many there are.
    async fn keep_cells(
        &mut self,
        feature: Id,
        column: &AnyRecord,
    ) -> Result<Option<u64>, ApplyError<T::Error>> {
        let (mut count, mut last) = (0, None);
        loop {
            let rows = self.next_rows(feature, last).await?;
            let Some(row) = rows.last() else {
                return Ok(Some(count));
            };
            last = Some(row.id);
            let cells = rows.into_iter().filter_map(|row| {
                let cell = row.data.cell(&column.name)?;
                count += u64::from(!Cell::new(cell).is_empty());
                let data = row.data.only(&[&column.name]);
                Some(KeptRow {
                    id: row.id,
                    data,
                    created_by: None,
                    created_at: None,
                    updated_at: None,
                })
            });
            let rows: Vec<KeptRow> = cells.collect();
            if rows.is_empty() {
                continue;
            }
            let entry = Entry::Taken(RemovedContent {
                feature,
                column: Some(column.name.clone()),
                rows,
            });
            let unit = self.unit("rows", Vec::new(), entry);
            self.commit("keeping cells", unit).await?;
        }
    }

    /// What the ledger keeps of the records that go: of a table first itself, then its columns and views.
    async fn records(
        &mut self,
        dropped: &Dropped,
        record: AnyRecord,
        structure: &Structure,
    ) -> Result<WrittenStructure, ApplyError<T::Error>> {
        let inside = |kind| AnyRecord::siblings(structure, kind, Some(dropped.id));
        let mut records = vec![record];
        if dropped.kind == RecordKind::Feature {
            records.extend(inside(RecordKind::Column));
            records.extend(inside(RecordKind::View));
        }
        // Those of a table go with it.
        let siblings = Siblings::of(structure, &records[0]).into_iter();
        let mut entry = WrittenStructure {
            siblings: siblings.collect(),
            ..WrittenStructure::default()
        };
        let features = structure.features.iter().chain(&structure.shared);
        let shared = features.filter(|feature| feature.id == dropped.id && feature.is_shared);
        entry.shared = shared.map(|feature| feature.id).collect();
        for record in records {
            if let (RecordKind::Column, Some(feature)) = (record.kind, record.parent) {
                let next = self.target.sequence(feature, record.id).await;
                let next = next.map_err(ApplyError::store("reading a sequence"))?;
                let moved = next.filter(|next| *next > 1);
                entry.sequences.extend(moved.map(|next| MovedSequence {
                    column: record.id,
                    from: 1,
                    to: next,
                }));
            }
            entry.deleted.push(BaseRecord {
                reference: dropped.reference.clone(),
                name: None,
                record,
            });
        }
        Ok(entry)
    }
}
