//! What the base says of the cells of a row, as the destination holds them.
//!
//! A link counts as the row that it points at (`upgrade` 3.3.2). Links of the base may point at rows that the package
//! does not have any more: these are found by the ledgers. What they pointed at may be gone from the workspace, too:
//! then the sum that ledgers have of the row shows whether anybody touched them.

use super::row::{Candidate, MergedTable};
use crate::apply::row_refs::{RowRef, row_refs};
use crate::apply::run::Run;
use crate::apply::run::table_base::BaseCell;
use crate::apply::run::target_value::{Moment, TargetValue};
use crate::apply::run::untouched_links::{WrittenCell, is_link, untouched};
use crate::apply::{ApplyError, BasePackageRows, LinkedValue};
use crate::rows::{Cell, canonical_to, elements};
use crate::workspace::{Id, RowData, Target};

impl<'a, T: Target> Run<'_, 'a, T> {
    /// The cells of a row of the base by column; nothing of columns that no package has. What the columns cannot
    /// hold any more is as the base has it.
    pub(super) async fn base_cells(
        &mut self,
        table: &MergedTable<'a>,
        id: Id,
    ) -> Result<Vec<Option<String>>, ApplyError<T::Error>> {
        let mut cells = Vec::new();
        for (at, based) in self
            .based_cells(&table.base, id)
            .await?
            .into_iter()
            .enumerate()
        {
            let Some(BaseCell { cell, raw, row }) = based else {
                cells.push(None);
                continue;
            };
            let mut cell = cell.unwrap_or_else(|_| raw.unwrap_or("null").to_owned());
            let column = &table.columns.all[at];
            if is_link(column)
                && cell == "null"
                && let (Some(raw), Some(refs)) = (raw, row.refs(table.base.columns(row), at))
            {
                let linked = &column.work.linked_value;
                let value = self.link_of_base(row.package, raw, refs, linked).await?;
                let mut out = String::new();
                if column.rule.write(&value, &mut out).is_ok() {
                    cell = out;
                }
            }
            cells.push(Some(cell));
        }
        Ok(cells)
    }

    /// The same of a row that is there: of a link that nobody touched the base is what it holds, whatever became of the
    /// row that it points at.
    pub(super) async fn base_of_stored(
        &mut self,
        table: &MergedTable<'a>,
        row: Candidate<'a>,
        stored: &RowData,
    ) -> Result<Vec<Option<String>>, ApplyError<T::Error>> {
        let mut base = self.base_cells(table, row.id).await?;
        let stays = self.ledger_state.stays(row.id);
        let written = table.columns.all.iter().zip(&base).map(|(slot, base)| {
            let column = slot.work.column.name.as_str();
            let kept = stays.and_then(|stays| stays.cell(column));
            let held = kept.or(base.as_deref()).unwrap_or("null");
            let cell = if self.ledger_state.is_freed(row.id, column) {
                WrittenCell::Uncertain(held)
            } else {
                WrittenCell::of(slot, held, stored.cell(column).unwrap_or("null"))
            };
            (column, cell)
        });
        let written: Vec<(&str, WrittenCell<'_>)> = written.collect();
        for at in untouched(row.digest, stored, &written) {
            let slot = &table.columns.all[at];
            if is_link(slot) && base[at].is_some() {
                let ours = stored.cell(&slot.work.column.name).unwrap_or("null");
                base[at] = Some(ours.to_owned());
            }
        }
        Ok(base)
    }

    /// What a link cell of the base holds, of which not all rows are in the package any more.
    async fn link_of_base(
        &mut self,
        package: usize,
        raw: &str,
        refs: &str,
        linked: &LinkedValue,
    ) -> Result<String, ApplyError<T::Error>> {
        let rows: Vec<RowRef<'_>> = row_refs(refs).collect();
        let Cell::List(list) = Cell::new(raw) else {
            let shown = match rows.first() {
                Some(row) => self.cell_of_link(package, *row, linked).await?,
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
            let shown = self.cell_of_link(package, row, linked).await?;
            canonical_to(&mut out, shown.as_deref().unwrap_or(element));
        }
        out.push(']');
        Ok(out)
    }

    /// What a link shows of a row that was applied, as the row is now.
    async fn cell_of_link(
        &mut self,
        package: usize,
        row: RowRef<'_>,
        linked: &LinkedValue,
    ) -> Result<Option<String>, ApplyError<T::Error>> {
        let known = self.targets.find(row);
        let shown = TargetValue {
            value: linked,
            moment: Moment::Before,
        };
        let value = known.and_then(|known| self.targets.value(known, row.column, shown));
        if let Some(value) = value {
            return Ok(Some(value.into_owned()));
        }
        let Some(named) = self.approved.base_rows.packages.get(package) else {
            return Ok(None);
        };
        let mut tables = named.tables.iter();
        let table = tables.find(|(reference, _)| row.is_in(reference));
        let Some(feature) = table.map(|(_, feature)| *feature) else {
            return Ok(None);
        };
        let Some(id) = self.ledger_state.row_of(feature, row.row) else {
            return Ok(None);
        };
        let name = match (linked, row.column) {
            (LinkedValue::Unknown, _) => return Ok(None),
            (LinkedValue::Column(name), _) => name.clone(),
            (LinkedValue::AsPackaged, None) => return Ok(Some(format!("\"{id}\""))),
            (LinkedValue::AsPackaged, Some(column)) => {
                self.column_of_base(named, feature, &column.decoded())
            }
        };
        let stored = self.target.fetch(feature, &[id]).await;
        let stored = stored.map_err(ApplyError::store("reading rows"))?;
        let stored = self.with_hidden(feature, &[id], stored).await?;
        let stored = stored.into_iter().next().flatten();
        let cell = stored.and_then(|one| one.row.data.cell(&name).map(str::to_owned));
        Ok(cell.filter(|cell| !Cell::new(cell).is_empty()))
    }

    /// What the destination calls a column that a package calls so.
    fn column_of_base(&self, named: &BasePackageRows, feature: Id, name: &str) -> String {
        let mut tables = self.approved.tables.iter();
        let table = tables.find(|table| table.feature == Some(feature));
        let mut columns = table.into_iter().flat_map(|table| &table.compared);
        let called = |column: Id| {
            named
                .columns
                .get(&column)
                .is_some_and(|known| known == name)
        };
        let column = columns.find(|column| called(column.column.id));
        column.map_or_else(|| name.to_owned(), |column| column.column.name.clone())
    }
}
