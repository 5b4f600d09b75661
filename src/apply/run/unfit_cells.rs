//! Cells that do not fit the type that their column has now, where somebody decided to lose them
//! (`upgrade` 3.4.6): they become null, and the ledger keeps what they were.

use super::Run;
use crate::apply::ApplyError;
use crate::problem::Code;
use crate::rows::{Cell, Rule, equal};
use crate::upgrade::takes_theirs;
use crate::workspace::ledger::{Cells, CellsOf, CellsPart, Changed, Entry, RowDigest};
use crate::workspace::{Change, CommitError, Id, KeptRow, RowData, RowWrite, Target};

/// How often rows are read again after a concurrent change.
const MAX_ATTEMPTS: usize = 20;

/// Whether a cell stands as it is in a column of that rule: without conversion.
pub(in crate::apply) fn fits(rule: &Rule<'_>, cell: &str) -> bool {
    let mut out = String::new();
    Cell::new(cell).is_empty() || rule.write(cell, &mut out).is_ok() && equal(&out, cell)
}

impl<T: Target> Run<'_, '_, T> {
    /// Empties them.
    pub(super) async fn empty_cells(&mut self) -> Result<(), ApplyError<T::Error>> {
        let Some(upgrade) = self.approved.upgrade.as_deref() else {
            return Ok(());
        };
        let terms = &upgrade.terms;
        if !terms.allow_destructive {
            return Ok(());
        }
        // An attempt that goes on finds the type written already.
        let earlier = self.ledger_state.structures.iter();
        let own = std::iter::once(&self.approved.structure.entry);
        let changed = earlier.chain(own).flat_map(|structure| &structure.changed);
        let changed = changed.filter(|changed| {
            let [before, after] = [&changed.before, &changed.after];
            before.own_type != after.own_type
                && takes_theirs(&terms.decisions, &changed.reference, "type")
        });
        let changed: Vec<Changed> = changed.cloned().collect();
        for changed in changed {
            self.empty_column(&changed).await?;
        }
        Ok(())
    }

    async fn empty_column(&mut self, changed: &Changed) -> Result<(), ApplyError<T::Error>> {
        let (Some(column), Some(feature)) = (changed.after.as_column(), changed.after.parent)
        else {
            return Ok(());
        };
        let rule = Rule::of(&column, self.definitions);
        let tables = &self.approved.base_rows.tables;
        let table = tables.iter().find(|(_, id)| *id == feature);
        let reference = table.map(|(reference, _)| reference.clone());
        let (mut last, mut attempts) = (None, 0);
        loop {
            let rows = self.next_rows(feature, last).await?;
            let Some(end) = rows.last().map(|row| row.id) else {
                return Ok(());
            };
            let misfits: Vec<Misfit> = rows
                .iter()
                .filter_map(|row| misfit(row, &column.name, &rule))
                .collect();
            if misfits.is_empty() {
                last = Some(end);
                continue;
            }
            let (writes, cells) = self.emptied(&column.name, misfits);
            let change = Change::UpdateRows {
                feature,
                rows: writes,
            };
            let entry = Entry::Cells(Cells {
                uid: String::new(),
                reference: reference.clone().unwrap_or_default(),
                feature,
                kept: 0,
                decided: 0,
                emptied: Vec::new(),
                part: CellsPart::All,
                rows: cells,
            });
            let unit = self.unit("rows", vec![change], entry);
            match self.try_commit(unit).await {
                Ok(()) => last = Some(end),
                Err(CommitError::Refused(refused))
                    if refused.code == Code::NotEmpty && attempts < MAX_ATTEMPTS =>
                {
                    attempts += 1;
                }
                Err(error) => {
                    let doing = format!("emptying cells of {:?}", changed.reference);
                    return Err(ApplyError::commit(doing, error));
                }
            }
        }
    }

    /// The writes that empty cells, and what the ledger keeps of them.
    fn emptied(&self, column: &str, misfits: Vec<Misfit>) -> (Vec<RowWrite>, Vec<CellsOf>) {
        let null = RowData::from_cells(std::iter::once((column, "null")));
        let pairs = misfits.into_iter().map(|Misfit { id, digest, cell }| {
            let write = RowWrite {
                id,
                cells: null.clone(),
                replace: false,
                digest: Some(digest),
            };
            let stays = self.ledger_state.stays(id).cloned();
            let kept = CellsOf {
                id,
                uid: None,
                hidden: false,
                before: RowData::from_cells(std::iter::once((column, cell.as_str()))),
                after: null.clone(),
                digest: None,
                stays: stays.unwrap_or_else(|| RowData::trusted("{}")),
                files: Vec::new(),
                not_compared: self.ledger_state.not_compared(id),
                failed: false,
            };
            (write, kept)
        });
        pairs.unzip()
    }
}

/// A row whose cell does not fit.
struct Misfit {
    /// Its id.
    id: Id,
    /// What it holds.
    digest: RowDigest,
    /// The cell.
    cell: String,
}

fn misfit(row: &KeptRow, column: &str, rule: &Rule<'_>) -> Option<Misfit> {
    let cell = row.data.cell(column)?;
    (!fits(rule, cell)).then(|| Misfit {
        id: row.id,
        digest: RowDigest::of(&row.data),
        cell: cell.to_owned(),
    })
}
