//! The base of link cells of new rows that stay empty because the row that they point at is not there
//! (`upgrade` 3.1.2): it is null and not what the package says, so the next upgrade brings the link.
//!
//! A unit has one entry, so this is in the ledger before the rows are: a job that goes on gives them the same ids. What
//! is said of a row that does not enter after all is said of none.

use std::collections::BTreeSet;

use super::Run;
use super::self_links::RowLinks;
use super::table::TableInsertion;
use crate::apply::ApplyError;
use crate::workspace::ledger::{Cells, CellsOf, CellsPart, Entry, RowDigest};
use crate::workspace::{Id, RowData, Target};

impl<'a, T: Target> Run<'_, 'a, T> {
    /// Whether cells of the rows of an item have a base that upgrades compare.
    pub(super) fn keeps_bases(&self, uid: &str) -> bool {
        let base = &self.approved.base_rows;
        self.approved.upgrade.is_some() && base.cells && base.reference.contains(uid)
    }

    /// Notes it for the rows of a batch, as far as their cells do not wait for the table to be complete.
    pub(super) async fn note_unlinked(
        &mut self,
        entering: &TableInsertion<'a>,
    ) -> Result<(), ApplyError<T::Error>> {
        if !entering.keeps_bases {
            return Ok(());
        }
        let mut unlinked = entering.batch.unlinked.as_slice();
        let mut noted = Vec::new();
        for (at, row) in entering.batch.rows.iter().enumerate() {
            let count = unlinked.partition_point(|(row, _)| *row <= at);
            let (own, rest) = unlinked.split_at(count);
            unlinked = rest;
            let cells = own.iter().map(|(_, slot)| (entering.name(*slot), "null"));
            self.add_unlinked(&mut noted, row.id, row.digest, cells);
        }
        self.write_unlinked(entering, noted).await
    }

    /// Notes it for rows whose cells have waited for the table to be complete.
    pub(super) async fn note_unlinked_within(
        &mut self,
        entering: &TableInsertion<'a>,
        rows: &[RowLinks],
    ) -> Result<(), ApplyError<T::Error>> {
        if !entering.keeps_bases {
            return Ok(());
        }
        let mut noted = Vec::new();
        for row in rows {
            let (id, digest) = (row.row.id, row.row.digest);
            let dropped = row.dropped.iter().filter(|slot| !row.linked.contains(slot));
            let mut cells: BTreeSet<&str> = dropped.map(|slot| entering.name(*slot)).collect();
            let linked: BTreeSet<&str> =
                row.linked.iter().map(|slot| entering.name(*slot)).collect();
            // Links to other tables were noted with the row.
            let known = self.ledger_state.stays(id).cloned();
            let known: Vec<_> = known
                .iter()
                .flat_map(RowData::cells)
                .map(|(name, _)| name.decoded())
                .collect();
            cells.extend(
                known
                    .iter()
                    .map(|name| &**name)
                    .filter(|name| !linked.contains(name)),
            );
            self.add_unlinked(
                &mut noted,
                id,
                digest,
                cells.into_iter().map(|name| (name, "null")),
            );
        }
        self.write_unlinked(entering, noted).await
    }

    /// Adds a row, unless the ledger says this of it already.
    fn add_unlinked<'c>(
        &self,
        noted: &mut Vec<CellsOf>,
        id: Id,
        digest: RowDigest,
        cells: impl Iterator<Item = (&'c str, &'c str)>,
    ) {
        let mut cells = cells.peekable();
        if cells.peek().is_none() && self.ledger_state.stays(id).is_none() {
            return;
        }
        let stays = RowData::from_cells(cells);
        if self.ledger_state.stays_so(id, &stays, &[]) {
            return;
        }
        noted.push(CellsOf {
            id,
            // A report counts these cells as links that are dropped, and not once more.
            uid: None,
            hidden: false,
            before: RowData::trusted("{}"),
            after: RowData::trusted("{}"),
            digest: Some(digest),
            stays,
            files: Vec::new(),
            not_compared: Vec::new(),
            failed: false,
        });
    }

    async fn write_unlinked(
        &mut self,
        entering: &TableInsertion<'a>,
        rows: Vec<CellsOf>,
    ) -> Result<(), ApplyError<T::Error>> {
        if rows.is_empty() {
            return Ok(());
        }
        let cells = Cells {
            uid: entering.uid.to_owned(),
            reference: entering.reference.to_owned(),
            feature: entering.feature,
            kept: 0,
            decided: 0,
            emptied: Vec::new(),
            part: CellsPart::All,
            rows,
        };
        self.ledger_state.keep_stays(&cells);
        let unit = self.unit("rows", Vec::new(), Entry::Cells(cells));
        self.commit("noting links that are dropped", unit).await
    }
}

impl<'a> TableInsertion<'a> {
    /// The name of a column at the destination.
    fn name(&self, slot: usize) -> &'a str {
        &self.columns.all[slot].work.column.name
    }
}
