//! Unique values that rows give up and that new rows take: these rows change first, in the columns of such values alone
//! (`upgrade` 6: what comes out is what a fresh apply of the package gives). Everything else of them waits for the new
//! rows, which their links may point at.

use crate::apply::run::columns::Slot;
use crate::apply::run::{BATCH, BATCH_BYTES, Run};
use crate::apply::{ApplyError, LinkWork, LinkedValue, TableWork};
use crate::package::payload::RawEntry;
use crate::upgrade::TrackedDecisions;
use crate::workspace::{Id, Target};

use super::cell_sides::takes;
use super::packaged_cell::same_cell;
use super::row::{Candidate, MergeBatch, MergedTable};

impl<'a, T: Target> Run<'_, 'a, T> {
    /// Lets rows of a table give up unique values that new rows of the package take.
    pub(super) async fn free_values(
        &mut self,
        work: &'a TableWork,
        tracked: &TrackedDecisions<'_>,
    ) -> Result<(), ApplyError<T::Error>> {
        let compared = self.approved.base_rows.reference.contains(&work.uid);
        let unique = work.compared.iter().any(|work| work.column.is_unique());
        let (Some(feature), Some(entry)) = (work.feature, self.payloads.get(work.entry)) else {
            return Ok(());
        };
        if !compared || !unique || self.approved.upgrade.is_none() {
            return Ok(());
        }
        if !self.has_new_rows(work, feature, entry) {
            return Ok(());
        }
        let table = self.merged_table(work, feature);
        self.free_values_of(table, entry, tracked).await
    }

    fn has_new_rows(&self, work: &TableWork, feature: Id, entry: &RawEntry<'_>) -> bool {
        let known = self.ledger_state.rows(&work.uid, feature);
        (0..entry.count()).any(|position| known(position).is_none())
    }

    async fn free_values_of(
        &mut self,
        mut table: MergedTable<'a>,
        entry: &'a RawEntry<'a>,
        tracked: &TrackedDecisions<'_>,
    ) -> Result<(), ApplyError<T::Error>> {
        let slots = table.columns.all.iter().enumerate();
        let unique =
            slots.filter(|(_, slot)| can_be_freed(slot) && !table.is_fresh(slot.work.column.id));
        let unique: Vec<usize> = unique.map(|(at, _)| at).collect();
        let mut rows = entry.rows().enumerate();
        let mut giving = Vec::new();
        loop {
            let batch = self.candidates(&table, &mut 0, &mut rows);
            if batch.is_empty() {
                break;
            }
            let may_change = |row: &Candidate<'a>, at: usize| {
                let column = &table.columns.all[at].work;
                let stays = self.ledger_state.stays(row.id);
                !same_cell(&table, *row, at)
                    || stays.is_some_and(|stays| stays.cell(&column.column.name).is_some())
                    || takes(&table, tracked, *row, &column.package_name).is_some()
            };
            let gives = |row: &Candidate<'a>| unique.iter().any(|at| may_change(row, *at));
            giving.extend(batch.into_iter().filter(gives));
        }
        if giving.is_empty() || !self.takes_values(&table, entry, &unique).await? {
            return Ok(());
        }
        table.only = Some(unique);
        let mut blocked = Vec::new();
        for rows in giving.chunks(BATCH) {
            let more = self.merge_rows(&table, MergeBatch::alone(rows, BATCH_BYTES), tracked);
            blocked.extend(more.await?);
        }
        // What cannot change now is reported when these rows are merged as a whole.
        self.merge_while_some_can(&table, blocked, tracked).await?;
        Ok(())
    }

    /// Whether new rows bring values that stand in rows of the destination.
    async fn takes_values(
        &mut self,
        table: &MergedTable<'a>,
        entry: &RawEntry<'a>,
        unique: &[usize],
    ) -> Result<bool, ApplyError<T::Error>> {
        for at in unique {
            let slot = &table.columns.all[*at];
            let values: Vec<String> = {
                let known = self.ledger_state.rows(&table.work.uid, table.feature);
                let new = entry.rows().enumerate();
                let new = new.filter(|(position, _)| known(*position).is_none());
                new.filter_map(|(_, row)| {
                    let mut value = String::new();
                    let cell = table.columns.cell(row.data, *at)?;
                    slot.rule.write(cell, &mut value).ok()?;
                    Some(value).filter(|value| value != "null")
                })
                .collect()
            };
            let column = &slot.work.column.name;
            for values in values.chunks(BATCH) {
                let taken = self.target.taken(table.feature, column, values).await;
                let taken = taken.map_err(ApplyError::store("looking values up"))?;
                if taken.contains(&true) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

/// Whether rows hold unique values of the package in a column, which need nothing else to be there.
fn can_be_freed(slot: &Slot<'_>) -> bool {
    let work = slot.work;
    work.column.is_unique()
        && slot.rule.identity.is_none()
        && matches!(work.link, LinkWork::Data)
        && work.linked_value == LinkedValue::AsPackaged
        && !work.package_name.is_empty()
}
