//! The rows of one table, batch by batch.

use std::collections::HashSet;

use super::batch::InsertBatch;
use super::columns::Columns;
use super::pending_links::PendingLinks;
use super::targets::WantedColumn;
use super::{BATCH, BATCH_BYTES, Run};
use crate::apply::{ApplyError, ColumnWork, Mode, RowStepWork, TableWork, ledger_rows};
use crate::package::payload::{RawEntry, RawRow};
use crate::workspace::ledger::{Entry, RecognisedRows};
use crate::workspace::{Id, RowData, StoredRow, Target};

/// Rows of earlier passes that are noted together.
const ROWS_PER_NOTE: usize = 5000;

/// A table while its rows enter.
pub(super) struct TableInsertion<'a> {
    /// The rows item, or the step that brought the rows.
    pub(super) uid: &'a str,
    /// The ref of the table.
    pub(super) reference: &'a str,
    /// The table at the destination.
    pub(super) feature: Id,
    /// Which rows enter.
    pub(super) mode: &'a Mode,
    /// Where its rows stand, unless a step brought them.
    pub(super) entry: Option<&'a RawEntry<'a>>,
    /// The position of its last row.
    pub(super) last: usize,
    /// The ordinal of the id of the first row.
    pub(super) first_ordinal: u32,
    /// Its columns.
    pub(super) columns: Columns<'a>,
    /// Its position among the tables, when something points at its rows.
    pub(super) pointed_at: Option<usize>,
    /// Columns whose values other rows take.
    pub(super) wanted: Vec<WantedColumn<'a>>,
    /// Rows with cells that wait for the table to be complete.
    pub(super) pending: Vec<PendingLinks>,
    /// Whether links inside the table were written along with rows.
    pub(super) has_early_links: bool,
    /// The rows that are being written.
    pub(super) batch: InsertBatch,
    /// Whether upgrades compare the cells of its rows with a base.
    pub(super) keeps_bases: bool,
    /// Whether the store was asked where the sequences stand.
    pub(super) sequence_is_read: bool,
    /// The columns that hold files at the destination, once a row asks for them.
    pub(super) file_columns: Option<HashSet<String>>,
}

/// What links show of rows: all that is kept of one that is there, however large it is.
pub(super) struct LinkColumns<'e>(Vec<&'e str>);

impl<'e> LinkColumns<'e> {
    pub(super) fn new(columns: Vec<&'e str>) -> LinkColumns<'e> {
        LinkColumns(columns)
    }

    /// The cells of a row; an empty text where there is none.
    pub(super) fn cells(&self, data: &RowData) -> Vec<String> {
        let cells = self.0.iter().map(|column| data.cell(column));
        cells
            .map(|cell| cell.unwrap_or_default().to_owned())
            .collect()
    }

    pub(super) fn of(&self, row: Option<StoredRow>) -> Option<StoredRow> {
        row.map(|row| StoredRow {
            id: row.id,
            data: row.data.only(&self.0),
        })
    }
}

impl TableInsertion<'_> {
    pub(super) fn link_columns(&self) -> LinkColumns<'_> {
        LinkColumns(self.wanted.iter().map(|wanted| wanted.name).collect())
    }
}

impl<'a, T: Target> Run<'_, 'a, T> {
    /// How many rows there are to look at.
    pub(super) fn count(&self) -> u64 {
        let steps = self.approved.row_steps.iter().map(|step| match &step.work {
            RowStepWork::Insert { rows, .. } => rows.len(),
            RowStepWork::Update { rows, .. } => rows.len(),
            RowStepWork::Nothing => 0,
        });
        (self.targets.count + steps.sum::<usize>()) as u64
    }

    /// The rows of one table of the package.
    pub(super) async fn table(
        &mut self,
        position: usize,
        work: &'a TableWork,
    ) -> Result<(), ApplyError<T::Error>> {
        self.tally
            .begin(&work.feature_ref, &work.uid, &self.ledger_state);
        let entry = self.payloads.get(work.entry);
        let (Some(entry), Some(feature)) = (entry, work.feature) else {
            self.done += entry.map_or(0, RawEntry::count) as u64;
            return Ok(());
        };
        let mut entering = self.entering(
            &work.uid,
            &work.feature_ref,
            feature,
            &work.columns,
            work.first_ordinal,
        );
        entering.entry = Some(entry);
        entering.mode = &work.mode;
        entering.keeps_bases = self.keeps_bases(&work.uid);
        if self.targets.is_wanted(position) {
            entering.pointed_at = Some(position);
            entering.wanted = self.targets.wanted_columns(position).collect();
        }
        let rows = self.targets.take_rows(position);
        entering.last = rows.len().saturating_sub(1);
        entering.count_on(&rows.iter().copied());
        self.enter_all(&mut entering, &rows).await?;
        self.close(&mut entering, entry).await
    }

    /// Finds the rows of a table that earlier jobs wrote, and notes those that have other names now. They are known until
    /// they are [forgotten](Run::forget).
    pub(super) async fn recognise(
        &mut self,
        work: &'a TableWork,
    ) -> Result<(), ApplyError<T::Error>> {
        let renamed = self.recognise_again(work);
        match (self.payloads.get(work.entry), work.feature) {
            (Some(entry), Some(feature)) if !renamed.is_empty() => {
                self.recognised(&work.uid, entry, feature, &renamed).await
            }
            _ => Ok(()),
        }
    }

    /// Finds these rows once more. Gives those that have other names now.
    pub(super) fn recognise_again(&mut self, work: &'a TableWork) -> Vec<(usize, Id)> {
        let (Some(entry), Some(feature)) = (self.payloads.get(work.entry), work.feature) else {
            return Vec::new();
        };
        let names = &work.earlier_names;
        self.ledger_state.recognise(entry, feature, names)
    }

    /// Forgets what was known of rows of a table that is complete: there is some of each row. Where they are needed once
    /// more, they are found once more.
    pub(super) fn forget(&mut self, uid: &str) {
        if self.base.is_empty() && self.approved.upgrade.is_none() {
            self.ledger_state.leave(uid);
        } else {
            self.ledger_state.forget_others(uid);
        }
    }

    /// The rows of a table, batch by batch.
    async fn enter_all(
        &mut self,
        entering: &mut TableInsertion<'a>,
        rows: &[RawRow<'a>],
    ) -> Result<(), ApplyError<T::Error>> {
        let mut first = 0;
        while first < rows.len() {
            let end = first + batch_size(&rows[first..]);
            self.enter(entering, &rows[first..end], first).await?;
            first = end;
        }
        Ok(())
    }

    /// Notes which rows of earlier passes stand for rows of an entry.
    async fn recognised(
        &mut self,
        uid: &str,
        entry: &RawEntry<'a>,
        feature: Id,
        rows: &[(usize, Id)],
    ) -> Result<(), ApplyError<T::Error>> {
        let all: Vec<RawRow<'_>> = entry.rows().collect();
        for rows in rows.chunks(ROWS_PER_NOTE) {
            let named = rows.iter().filter_map(|(at, _)| all.get(*at).copied());
            let recognised = Entry::Recognised(RecognisedRows {
                uid: uid.to_owned(),
                feature,
                rows: rows.iter().map(|(_, id)| *id).collect(),
                names: ledger_rows::names(entry, named),
                adopted: false,
            });
            let unit = self.unit("rows", Vec::new(), recognised);
            self.commit("noting rows of earlier passes", unit).await?;
        }
        Ok(())
    }

    /// The rows that a step of the plan brings.
    pub(super) async fn inserts(
        &mut self,
        uid: &'a str,
        reference: &'a str,
        feature: Id,
        columns: &'a [ColumnWork],
        rows: &'a [String],
        first_ordinal: u32,
    ) -> Result<(), ApplyError<T::Error>> {
        self.tally.begin(reference, uid, &self.ledger_state);
        let mut entering = self.entering(uid, reference, feature, columns, first_ordinal);
        let rows: Vec<RawRow<'a>> = rows.iter().map(|data| RawRow::of_data(data)).collect();
        entering.last = rows.len().saturating_sub(1);
        entering.count_on(&rows.iter().copied());
        self.enter_all(&mut entering, &rows).await?;
        self.forget(entering.uid);
        Ok(())
    }

    /// The columns of a table, of whose cells those of columns that stay away are passed over.
    pub(super) fn columns(&self, reference: &str, columns: &'a [ColumnWork]) -> Columns<'a> {
        let upgrade = self.approved.upgrade.as_deref();
        let absent = upgrade.and_then(|upgrade| upgrade.absent_columns.get(reference));
        Columns::new(columns, self.definitions).without(absent.map_or(&[], Vec::as_slice))
    }

    fn entering(
        &self,
        uid: &'a str,
        reference: &'a str,
        feature: Id,
        columns: &'a [ColumnWork],
        first_ordinal: u32,
    ) -> TableInsertion<'a> {
        TableInsertion {
            uid,
            reference,
            feature,
            mode: &Mode::All,
            entry: None,
            last: 0,
            first_ordinal,
            columns: self.columns(reference, columns),
            pointed_at: None,
            wanted: Vec::new(),
            pending: Vec::new(),
            has_early_links: false,
            batch: InsertBatch::default(),
            keeps_bases: false,
            sequence_is_read: false,
            file_columns: None,
        }
    }
}

/// How many rows the next batch has: at least one, and no more than may be written together.
fn batch_size(rows: &[RawRow<'_>]) -> usize {
    let mut bytes = 0;
    let fitting = rows.iter().take(BATCH).take_while(|row| {
        bytes += row.data.len();
        bytes <= BATCH_BYTES
    });
    fitting.count().max(1)
}
