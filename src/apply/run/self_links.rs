//! Writes links inside one table after all its rows (`service`: self-links).

use super::emptied_counts::{EmptiedCounts, EmptyCause, recorded};
use super::links::{LinkOutcome, OwnLinks, link, points_at};
use super::pending_links::PendingLinks;
use super::table::TableInsertion;
use super::tally::FailedRow;
use super::target_value::TargetValue;
use super::{BATCH, Run};
use crate::apply::{ApplyError, LinkWork};
use crate::package::payload::RawEntry;
use crate::problem::Code;
use crate::rows::{EntryReason, members};
use crate::workspace::ledger::{Entry, Links, RowDigest, WrittenRow};
use crate::workspace::{Change, CommitError, RowData, RowWrite, Target};

/// The links of one row.
pub(super) struct RowLinks {
    pub(super) row: PendingLinks,
    /// Its uid in the package.
    uid: Option<String>,
    cells: String,
    /// The columns that are written, and those whose links are dropped.
    pub(super) linked: Vec<usize>,
    pub(super) dropped: Vec<usize>,
    /// Whether cells are taken away.
    emptied: bool,
    digest: RowDigest,
}

impl RowLinks {
    /// Adds a cell, by its key with the colon.
    fn write(&mut self, key: &str, value: &str) {
        if self.cells.len() > 1 {
            self.cells.push(',');
        }
        self.cells.push_str(key);
        self.cells.push_str(value);
    }

    /// Takes a cell away that may be there.
    fn empty(&mut self, key: &str) {
        if self.row.again {
            self.write(key, "null");
            self.emptied = true;
        }
    }
}

impl<'a, T: Target> Run<'_, 'a, T> {
    /// Writes the links that waited, and notes that the table is complete.
    pub(super) async fn close(
        &mut self,
        entering: &mut TableInsertion<'a>,
        entry: &'a RawEntry<'a>,
    ) -> Result<(), ApplyError<T::Error>> {
        let pending = std::mem::take(&mut entering.pending);
        let begun = entering.has_early_links || self.ledger_state.is_unclosed(entering.uid);
        if pending.is_empty() && !begun {
            return Ok(());
        }
        for rows in pending.chunks(BATCH) {
            let raw = rows.iter().filter_map(|row| entry.row(row.start));
            let unread = self.targets.unread_by(raw.filter_map(|row| row.refs));
            self.read_rows(&unread).await?;
            let links = rows.iter();
            let mut links: Vec<RowLinks> = links
                .map(|row| self.links_of(entering, entry, *row))
                .collect();
            self.write_links(entering, &mut links).await?;
        }
        let closed = Entry::Closed {
            uid: entering.uid.to_owned(),
        };
        let unit = self.unit("rows", Vec::new(), closed);
        self.commit("closing a table", unit).await
    }

    fn links_of(
        &mut self,
        entering: &TableInsertion<'a>,
        entry: &'a RawEntry<'a>,
        row: PendingLinks,
    ) -> RowLinks {
        let raw = entry.row(row.start);
        let mut links = RowLinks {
            row,
            uid: raw.map(|raw| raw.uid.decoded().into_owned()),
            cells: String::from("{"),
            linked: Vec::new(),
            dropped: Vec::new(),
            emptied: false,
            digest: row.digest,
        };
        let refs = raw.and_then(|raw| raw.refs).unwrap_or("{}");
        let mut value = String::new();
        let mut stored = String::new();
        for (key, refs) in members(refs) {
            let Some(slot) = entering.columns.named(&key.decoded()) else {
                continue;
            };
            let column = &entering.columns.all[slot];
            let waits = matches!(column.work.link, LinkWork::Refs | LinkWork::Identity { .. })
                && points_at(refs, entering.reference);
            let cell = raw.and_then(|raw| entering.columns.cell(raw.data, slot));
            let (true, Some(cell)) = (waits, cell) else {
                continue;
            };
            value.clear();
            stored.clear();
            let shown = TargetValue::now(column.work);
            let linked = link(&mut value, cell, refs, OwnLinks::Now, shown, &self.targets);
            if linked != LinkOutcome::Whole {
                links.dropped.push(slot);
            }
            if !matches!(linked, LinkOutcome::Whole | LinkOutcome::Short) {
                links.empty(&column.key);
                continue;
            }
            if let Err(kind) = column.rule.write(&value, &mut stored) {
                links.empty(&column.key);
                let fault = column.rule.fault(EntryReason::NotStorable(kind));
                let message = format!("rows[{}].{fault}", row.position);
                links.dropped.push(slot);
                let failed = FailedRow {
                    position: row.position,
                    uid: links.uid.clone(),
                    code: Code::ValidationFailed,
                    column: Some(fault.column),
                    message,
                };
                self.tally.error(entering.reference, failed);
                continue;
            }
            links.linked.push(slot);
            links.digest = links.digest.with(column.digest, &stored);
            links.write(&column.key, &stored);
        }
        links.cells.push('}');
        links
    }

    /// Writes the links of a batch. A row that the store refuses keeps its cells empty; the others
    /// are written all the same.
    async fn write_links(
        &mut self,
        entering: &TableInsertion<'a>,
        rows: &mut [RowLinks],
    ) -> Result<(), ApplyError<T::Error>> {
        loop {
            self.note_unlinked_within(entering, rows).await?;
            let writes: Vec<usize> = (0..rows.len())
                .filter(|at| rows[*at].emptied || !rows[*at].linked.is_empty())
                .collect();
            let mut counts = vec![EmptiedCounts::default(); entering.columns.all.len()];
            let dropped = rows.iter().flat_map(|row| &row.dropped);
            dropped.for_each(|slot| counts[*slot].add(EmptyCause::RowMissing, 1));
            let linked = rows.iter().map(|row| row.linked.len() as u64).sum();
            let unit = self.links_unit(entering, rows, &writes, &counts, linked);
            match self.try_commit(unit).await {
                Ok(()) => {
                    let table = self.tally.table(entering.reference);
                    super::tally::add(&mut table.linked, linked);
                    self.tally.emptied(entering.uid, &entering.columns, &counts);
                    return Ok(());
                }
                Err(CommitError::Refused(refused)) => {
                    let at_fault = refused.row.and_then(|row| writes.get(row));
                    let at_fault = match at_fault {
                        Some(row) => std::slice::from_ref(row),
                        None if !writes.is_empty() => &writes,
                        None => {
                            let error = CommitError::Refused(refused);
                            return Err(ApplyError::commit("writing links", error));
                        }
                    };
                    for at in at_fault {
                        let row = &mut rows[*at];
                        let linked = std::mem::take(&mut row.linked);
                        row.dropped.extend(linked);
                        row.digest = row.row.digest;
                        row.emptied = false;
                        // Somebody took the row away meanwhile: nothing is left to be reported.
                        if refused.code != Code::NotFound {
                            let position = row.row.position;
                            let failed = FailedRow {
                                position,
                                uid: row.uid.clone(),
                                code: refused.code,
                                column: refused.column.clone(),
                                message: format!("rows[{position}]: {refused}"),
                            };
                            self.tally.error(entering.reference, failed);
                        }
                    }
                }
                Err(error) => {
                    let doing = format!("writing links inside {:?}", entering.reference);
                    return Err(ApplyError::commit(doing, error));
                }
            }
        }
    }

    fn links_unit(
        &self,
        entering: &TableInsertion<'a>,
        rows: &[RowLinks],
        writes: &[usize],
        counts: &[EmptiedCounts],
        linked: u64,
    ) -> crate::workspace::Unit {
        let write = |at: &usize| RowWrite {
            id: rows[*at].row.id,
            cells: RowData::trusted(&rows[*at].cells),
            replace: false,
            digest: None,
        };
        let changes = if writes.is_empty() {
            Vec::new()
        } else {
            vec![Change::UpdateRows {
                feature: entering.feature,
                rows: writes.iter().map(write).collect(),
            }]
        };
        // Rows without a link that could be written are in the ledger too: they are done.
        let done = rows.iter().map(|row| WrittenRow {
            position: u32::try_from(row.row.position).unwrap_or(u32::MAX),
            id: row.row.id,
            digest: row.digest,
        });
        let entry = Entry::Links(Links {
            uid: entering.uid.to_owned(),
            feature: entering.feature,
            rows: done.collect(),
            linked,
            emptied: recorded(counts, &entering.columns),
        });
        self.unit("rows", changes, entry)
    }
}
