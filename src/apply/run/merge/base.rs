//! What the base says of the cells of a row, as the destination holds them.
//!
//! A link counts as the row that it points at (`upgrade` 3.3.2). Links of the base may point at rows that the package
//! does not have any more: these are found by the ledgers.

use super::row::Table;
use crate::apply::ApplyError;
use crate::apply::LinkWork;
use crate::apply::row_refs::{RowRef, row_refs};
use crate::apply::run::Run;
use crate::package::payload::RawRow;
use crate::rows::{Cell, canonical_to, elements, members};
use crate::workspace::{Id, Target};

impl<'a, T: Target> Run<'_, 'a, T> {
    /// The cells of a row of the base by column. What the columns cannot hold any more is as the base has it.
    pub(super) async fn base_cells(
        &mut self,
        table: &Table<'a>,
        row: RawRow<'a>,
    ) -> Result<Vec<String>, ApplyError<T::Error>> {
        let columns = &table.base_columns;
        let fitting = self.fitting_cells(columns, row).await?;
        let raw = |at| columns.cell(row.data, at).unwrap_or("null").to_owned();
        let cells = fitting.into_iter().enumerate();
        let mut cells: Vec<String> = cells
            .map(|(at, cell)| cell.unwrap_or_else(|_| raw(at)))
            .collect();
        for (at, column) in columns.all.iter().enumerate() {
            let links = matches!(column.work.link, LinkWork::Refs | LinkWork::Identity { .. });
            if !links || cells[at] != "null" {
                continue;
            }
            let mut refs = row.refs.into_iter().flat_map(members);
            let refs = refs.find(|(key, _)| key.is(column.name));
            let (Some((_, refs)), Some(raw)) = (refs, columns.cell(row.data, at)) else {
                continue;
            };
            let value = self.link_of_base(raw, refs).await?;
            let mut out = String::new();
            if column.rule.write(&value, &mut out).is_ok() {
                cells[at] = out;
            }
        }
        Ok(cells)
    }

    /// What a link cell of the base holds, of which not all rows are in the package any more.
    async fn link_of_base(
        &mut self,
        raw: &str,
        refs: &str,
    ) -> Result<String, ApplyError<T::Error>> {
        let rows: Vec<RowRef<'_>> = row_refs(refs).collect();
        let Cell::List(list) = Cell::new(raw) else {
            let shown = match rows.first() {
                Some(row) => self.cell_of_link(*row).await?,
                None => None,
            };
            // Of a row that is gone from the workspace it is known what it showed when it was exported.
            return Ok(shown.unwrap_or_else(|| raw.to_owned()));
        };
        if elements(list).count() != rows.len() {
            return Ok(raw.to_owned());
        }
        let mut out = String::from("[");
        for (element, row) in elements(list).zip(rows) {
            if out.len() > 1 {
                out.push(',');
            }
            let shown = self.cell_of_link(row).await?;
            canonical_to(&mut out, shown.as_deref().unwrap_or(element));
        }
        out.push(']');
        Ok(out)
    }

    /// What a link shows of a row that was applied, as the row is now.
    async fn cell_of_link(
        &mut self,
        row: RowRef<'_>,
    ) -> Result<Option<String>, ApplyError<T::Error>> {
        let known = self.targets.find(row);
        if let Some(value) = known.and_then(|known| self.targets.value(known, row.column)) {
            return Ok(Some(value.into_owned()));
        }
        let mut tables = self.approved.base_rows.tables.iter();
        let table = tables.find(|(reference, _)| row.is_in(reference));
        let Some(feature) = table.map(|(_, feature)| *feature) else {
            return Ok(None);
        };
        let Some(id) = self.ledger_state.row_of(feature, row.row) else {
            return Ok(None);
        };
        let Some(column) = row.column else {
            return Ok(Some(format!("\"{id}\"")));
        };
        let name = self.column_of_base(feature, &column.decoded());
        let stored = self.target.fetch(feature, &[id]).await;
        let stored = stored.map_err(ApplyError::store("reading rows"))?;
        let stored = self.with_hidden(feature, &[id], stored).await?;
        let stored = stored.into_iter().next().flatten();
        let cell = stored.and_then(|(row, _)| row.data.cell(&name).map(str::to_owned));
        Ok(cell.filter(|cell| !Cell::new(cell).is_empty()))
    }

    /// What the destination calls a column that the base calls so.
    fn column_of_base(&self, feature: Id, name: &str) -> String {
        let mut tables = self.approved.tables.iter();
        let table = tables.find(|table| table.feature == Some(feature));
        let mut columns = table.into_iter().flat_map(|table| &table.compared);
        let column = columns.find(|column| column.base_name == name);
        column.map_or_else(|| name.to_owned(), |column| column.column.name.clone())
    }
}
