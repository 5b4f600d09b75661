//! Reads rows that earlier jobs wrote, once a link points at them: links show what they held before this job changes them.

use super::table::LinkColumns;
use super::targets::{Targets, UnreadRow};
use super::{BATCH, Run};
use crate::apply::ApplyError;
use crate::apply::row_refs::all_row_refs;
use crate::rows::Text;
use crate::workspace::{Id, StoredRow, Target, fetch_each};

impl Targets<'_> {
    /// The rows that the refs of rows point at and that are still to be read.
    pub(super) fn unread_by<'r>(&self, refs: impl Iterator<Item = &'r str>) -> Vec<UnreadRow> {
        let rows = refs.flat_map(all_row_refs);
        self.unread(rows.filter_map(|row| self.find(row)))
    }
}

impl<T: Target> Run<'_, '_, T> {
    /// Reads rows, which are in the order of their tables.
    pub(super) async fn read_rows(
        &mut self,
        mut unread: &[UnreadRow],
    ) -> Result<(), ApplyError<T::Error>> {
        while let Some(first) = unread.first() {
            let of_table = unread.iter().take(BATCH);
            let of_table = of_table.take_while(|row| row.table == first.table);
            let (rows, rest) = unread.split_at(of_table.count());
            self.read_rows_of_table(first.table, rows).await?;
            unread = rest;
        }
        Ok(())
    }

    /// Notes what a row held that is about to change, as far as links show it: one that is compared later sees what
    /// those before it saw.
    pub(super) fn note_before(&mut self, uid: Text<'_>, stored: Option<&StoredRow>) {
        let place = self.targets.named(uid);
        for unread in self.targets.unread(place.into_iter()) {
            let (_, columns) = self.targets.shown_columns(unread.table);
            let link_columns = LinkColumns::new(columns);
            let cells = stored.map(|row| link_columns.cells(&row.data));
            self.targets.note(unread, cells);
        }
    }

    async fn read_rows_of_table(
        &mut self,
        table: usize,
        rows: &[UnreadRow],
    ) -> Result<(), ApplyError<T::Error>> {
        let (Some(feature), columns) = self.targets.shown_columns(table) else {
            return Ok(());
        };
        let ids: Vec<Id> = rows.iter().map(|row| row.id).collect();
        let link_columns = LinkColumns::new(columns);
        let found = fetch_each(&*self.target, feature, &ids, |row| {
            row.map(|row| link_columns.cells(&row.data))
        });
        let found = found.await.map_err(ApplyError::store("reading rows"))?;
        for (row, cells) in rows.iter().zip(found) {
            self.targets.note(*row, cells);
        }
        Ok(())
    }
}
