//! Cells that the package changed since their base and that are not written: those that a plain apply counts, and
//! those of refused rows.

use crate::apply::ApplyError;
use crate::apply::run::Run;
use crate::apply::run::target_value::Moment;
use crate::rows::equal;
use crate::workspace::ledger::{Cells, CellsOf, CellsPart, Entry};
use crate::workspace::{RowData, Target};

use super::packaged_cell::{same_cell, same_link};
use super::row::{Candidate, MergedTable};
use super::rows::unread;

/// A cell of which the package says something else than its base.
struct OtherCell {
    /// Its column.
    at: usize,
    /// Its base; nothing where no package has the column.
    base: Option<String>,
}

impl<'a, T: Target> Run<'_, 'a, T> {
    /// Counts the cells that a plain apply leaves out: it writes none that are there.
    pub(super) async fn count_left_out(
        &mut self,
        table: &MergedTable<'a>,
        rows: &[Candidate<'a>],
    ) -> Result<(), ApplyError<T::Error>> {
        let differs =
            |row: &&Candidate<'a>| table.base.row(row.id).is_some() && self.differs(table, row);
        let rows: Vec<Candidate<'a>> = rows.iter().filter(differs).copied().collect();
        let unread = unread(&self.targets, table, &rows);
        self.read_rows(&unread).await?;
        for row in &rows {
            for cell in self.other_cells(table, row).await? {
                let slot = &table.columns.all[cell.at];
                // Of transactional data the cells of new columns alone are brought, by an upgrade.
                if table.whole || cell.base.is_none() {
                    let column = &slot.work.package_name;
                    self.tally.leaves_out(&table.work.feature_ref, column);
                }
            }
        }
        Ok(())
    }

    /// The cells of which the package says something else than their base.
    async fn other_cells(
        &mut self,
        table: &MergedTable<'a>,
        row: &Candidate<'a>,
    ) -> Result<Vec<OtherCell>, ApplyError<T::Error>> {
        let stays = self.ledger_state.stays(row.id).cloned();
        let mut base_cells = self.base_cells(table, row.id).await?.into_iter();
        let theirs = self
            .fitting_cells(&table.columns, row.theirs, Moment::Now)
            .await?;
        let mut others = Vec::new();
        for ((at, slot), theirs) in table.columns.all.iter().enumerate().zip(theirs) {
            let base_cell = base_cells.next().flatten();
            if slot.rule.identity.is_some()
                || slot.work.package_name.is_empty()
                || self.ledger_state.is_freed(row.id, &slot.work.column.name)
            {
                continue;
            }
            let kept = stays.as_ref();
            let kept = kept.and_then(|stays| stays.cell(&slot.work.column.name));
            if kept.is_none()
                && (same_link(table, *row, at) || theirs.is_err() && same_cell(table, *row, at))
            {
                continue;
            }
            let base = kept.map(str::to_owned).or(base_cell);
            let based = base.as_deref().unwrap_or("null");
            // A value that the column cannot hold may be another one, too.
            let raw = || table.columns.cell(row.theirs.data, at).unwrap_or("null");
            let theirs = theirs.unwrap_or_else(|_| raw().to_owned());
            if !equal(based, &theirs) {
                others.push(OtherCell { at, base });
            }
        }
        Ok(others)
    }

    /// Notes the base of cells of rows that are refused although the package says something else: the next upgrade
    /// brings them.
    pub(super) async fn keep_bases(
        &mut self,
        table: &MergedTable<'a>,
        rows: &[Candidate<'a>],
    ) -> Result<(), ApplyError<T::Error>> {
        let mut cells = Vec::new();
        let unread = unread(&self.targets, table, rows);
        self.read_rows(&unread).await?;
        for row in rows {
            let before = self.ledger_state.stays(row.id).cloned();
            let others = self.other_cells(table, row).await?;
            let stays: Vec<(&str, &str)> = others
                .iter()
                .map(|cell| {
                    let name = table.columns.all[cell.at].work.column.name.as_str();
                    (name, cell.base.as_deref().unwrap_or("null"))
                })
                .collect();
            let stays = RowData::from_cells(stays.into_iter());
            if before.as_ref().map_or("{}", RowData::as_str) == stays.as_str() {
                continue;
            }
            let new = |cell: &&OtherCell| table.whole || cell.base.is_none();
            let outside = others.iter().filter(|cell| !new(cell));
            let outside = outside.map(|cell| table.columns.all[cell.at].work.column.name.clone());
            cells.push(CellsOf {
                id: row.id,
                uid: Some(row.theirs.uid.decoded().into_owned()),
                hidden: false,
                before: RowData::trusted("{}"),
                after: RowData::trusted("{}"),
                digest: Some(row.digest),
                stays,
                files: Vec::new(),
                not_compared: outside.collect(),
                failed: true,
            });
        }
        if cells.is_empty() {
            return Ok(());
        }
        let entry = Entry::Cells(Cells {
            uid: table.work.uid.clone(),
            reference: table.work.feature_ref.clone(),
            feature: table.feature,
            kept: 0,
            decided: 0,
            emptied: Vec::new(),
            part: CellsPart::All,
            rows: cells,
        });
        let unit = self.unit("rows", Vec::new(), entry);
        self.commit("noting cells that stay", unit).await
    }
}
