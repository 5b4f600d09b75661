//! The step `feature.write`: writes rows under the same rules as every other writer.

use std::borrow::Cow;

use tplkit::automation::run::effect_rules::{self, MAX_ROWS_PER_WRITE};
use tplkit::automation::run::{Binding, Failure, Reason, Write, WriteMode};
use tplkit::json::Object;
use tplkit::rows::query::{CellTest, Compare, Condition, Filter, Match, Search, Sort};
use tplkit::rows::{equal, file_id, member, text_form};
use uuid::Uuid;

use super::events::{self, Cause, CreatedRows, UpdatedRow};
use super::rollback_time::RollbackTime;
use super::row_reads::{ReadSize, usable};
use super::runs::Run;
use super::stop::Stop;
use crate::context::Context;
use crate::paging::PageRequest;
use crate::refusal::Refusal;
use crate::rows::query::{self, CursorPosition, RowListRequest};
use crate::rows::{
    Faults, OpenTable, RowPreparer, SourceCell, StoredRow, Table, Tables, Validate, insert, merge,
    replace,
};
use crate::store::{Dialect, StoreError, Tx};
use crate::wake::WorkerSignal;

/// What a write needs outside of the transaction.
pub(super) struct RowWrites<'w> {
    pub(super) run: &'w Run,
    pub(super) write: &'w Write,
    pub(super) tables: &'w Tables,
    pub(super) context: &'w Context,
    pub(super) signal: &'w WorkerSignal,
    /// How long the transaction may go on, where others wait for its end.
    pub(super) rollback_time: Option<&'w RollbackTime>,
}

impl RowWrites<'_> {
    /// Writes, and gives the output.
    ///
    /// # Errors
    /// A failure that says which binding yields what cannot be written, and those of the store.
    pub(super) async fn run(&self, tx: &mut Tx) -> Result<Object, Stop> {
        let (run, write) = (self.run, self.write);
        usable(tx, run.workspace_key(), write.feature, "targetFeatureId").await?;
        let opened = self.tables.open(tx, write.feature).await?;
        let opened = opened.ok_or_else(|| Stop::Failed(effect_rules::table_gone(write.feature)))?;
        self.columns(&opened.table)?;
        let found = match write.mode {
            WriteMode::UpdateTrigger => {
                match run.row.filter(|_| run.feature == Some(write.feature)) {
                    Some(row) => vec![row],
                    None => return Err(Stop::Failed(effect_rules::no_trigger_row())),
                }
            }
            WriteMode::Insert => Vec::new(),
            WriteMode::Update => self.matching(tx, &opened.table).await?,
            WriteMode::Upsert => {
                self.hold_value(tx, &opened.table).await?;
                self.matching(tx, &opened.table).await?
            }
        };
        let mut written = Vec::new();
        for row in found {
            self.in_time()?;
            if self.change(tx, &opened.table, row).await? {
                written.push(row);
            } else if write.mode == WriteMode::UpdateTrigger {
                return Err(Stop::Failed(effect_rules::trigger_row_gone()));
            }
        }
        let inserts = write.mode == WriteMode::Insert
            || (write.mode == WriteMode::Upsert && written.is_empty());
        if inserts {
            written.push(self.add(tx, &opened).await?);
        }
        let first = written.first().map(|id| id.to_string().into());
        let count = i64::try_from(written.len()).unwrap_or(i64::MAX);
        Ok(Object::from_iter([
            ("rowId".to_owned(), first.unwrap_or_default()),
            ("count".to_owned(), count.into()),
        ]))
    }

    /// Whether the transaction may go on.
    fn in_time(&self) -> Result<(), Stop> {
        let checked = self.rollback_time.map_or(Ok(()), RollbackTime::check);
        checked.map_err(Stop::Failed)
    }

    /// Refuses to write what the table has no column for: it was there when the automation was saved.
    fn columns(&self, table: &Table) -> Result<(), Stop> {
        let known = |name: &str| {
            let mut columns = table.columns.iter();
            columns.any(|column| column.definition.name == name)
        };
        let Some(gone) = self.write.cells.iter().find(|cell| !known(&cell.column)) else {
            return Ok(());
        };
        Err(Stop::Failed(effect_rules::column_gone(gone)))
    }

    /// The cells as texts, in the order of their keys.
    fn texts(&self) -> Vec<(&str, String)> {
        let cells = self.write.cells.iter();
        cells
            .map(|cell| (cell.column.as_str(), cell.value.write()))
            .collect()
    }

    fn entering<'t>(&'t self, table: &'t Table) -> RowPreparer<'t> {
        RowPreparer {
            table,
            validate: Validate::On,
            context: self.context,
        }
    }

    async fn add(&self, tx: &mut Tx, opened: &OpenTable) -> Result<Uuid, Stop> {
        let texts = self.texts();
        let cells = texts.iter().map(|(key, raw)| SourceCell {
            key: Cow::Borrowed(*key),
            raw,
            kept: false,
        });
        let mut faults = Faults::new(false);
        let id = self.context.id();
        let entered = self.entering(&opened.table).row(id, cells, 0, &mut faults);
        faults.finish().map_err(|refusal| self.refused(&refusal))?;
        let now = self.context.now();
        let mut rows = [entered];
        // They belong to nobody; the run itself sees them, wherever rows are kept apart.
        let creator = Some(self.run.id);
        insert(tx, opened, creator, now, &mut rows)
            .await
            .map_err(|refused| self.refused(&refused.into()))?;
        let cause = Cause::run(self.run, self.signal).to_row_of(creator);
        let created = CreatedRows { rows: &rows, now };
        events::created(tx, &opened.table, created, cause, self.context).await?;
        Ok(id)
    }

    /// Changes a row; false when it is not there, or does not hold the value any more by which it was found.
    async fn change(&self, tx: &mut Tx, table: &Table, id: Uuid) -> Result<bool, Stop> {
        let sql = "SELECT id, created_at, updated_at, {text data}, created_by FROM rows \
             WHERE {tenant organization_id} AND {workspace workspace_id} \
             AND {row feature_id created_by} \
             AND organization_id = $1 AND feature_id = $2 AND id = $3 {lock}";
        let parameters = [table.organization.into(), table.id.into(), id.into()];
        let Some(found) = tx.first(sql, &parameters).await? else {
            return Ok(false);
        };
        let mut row = StoredRow::read(&found)?;
        if !self.still_matches(table, &row.data) {
            return Ok(false);
        }
        let texts = self.texts();
        let sent: Vec<(&str, &str)> = texts
            .iter()
            .map(|(key, raw)| (*key, raw.as_str()))
            .collect();
        let mut faults = Faults::new(false);
        let cells = merge(table, &row.data, &sent, true).into_iter();
        let entered = self.entering(table).row(row.id, cells, 0, &mut faults);
        faults.finish().map_err(|refusal| self.refused(&refusal))?;
        if entered.is_complete() && entered.data == row.data {
            return Ok(true);
        }
        let before = replace(tx, table, &mut row, entered, self.context.now())
            .await
            .map_err(|refused| self.refused(&refused.into()))?;
        let cause = Cause::run(self.run, self.signal).to_row_of(found.get(4)?);
        let updated = UpdatedRow {
            before: &before,
            after: &row,
        };
        events::updated(tx, table, updated, cause, self.context).await?;
        Ok(true)
    }

    /// The cell by which rows are found, for update and upsert.
    fn matched(&self) -> Option<&Binding> {
        self.write.matched.and_then(|at| self.write.cells.get(at))
    }

    /// Whether a row that was found, and is locked since, holds the value that is looked for: somebody may have
    /// changed it in between.
    fn still_matches(&self, table: &Table, data: &str) -> bool {
        let (Some(Binding { column, .. }), Some(raw)) = (self.matched(), self.wanted(table)) else {
            return true;
        };
        let file = self.matched_file(table);
        member(data, column).is_some_and(|cell| holds(cell, &raw, file))
    }

    /// The value that is looked for, as its column stores it: an amount is rounded as it is when a row enters with it.
    fn wanted(&self, table: &Table) -> Option<String> {
        let Binding { column, value, .. } = self.matched()?;
        let raw = value.write();
        let known = table.column(column);
        let stored = known.map(|known| known.rule.stored(&raw).into_owned());
        Some(stored.unwrap_or(raw))
    }

    /// The file that is looked for, where rows are found by a column of files.
    fn matched_file(&self, table: &Table) -> Option<Uuid> {
        let Binding { column, value, .. } = self.matched()?;
        let mut columns = table.columns.iter();
        let known = columns.find(|known| known.definition.name == *column)?;
        known.rule.file_id(&value.write())
    }

    /// Lets one run at a time look for a value, until its transaction ends: the next one finds the row that this one
    /// has added, instead of adding another. There is no row yet that could be locked. SQLite has one writer.
    async fn hold_value(&self, tx: &mut Tx, table: &Table) -> Result<(), StoreError> {
        let (Some(Binding { column, .. }), Some(raw)) = (self.matched(), self.wanted(table)) else {
            return Ok(());
        };
        if tx.dialect()? == Dialect::Sqlite {
            return Ok(());
        }
        let text = match self.matched_file(table) {
            Some(file) => file.to_string(),
            None => text_form(&raw).unwrap_or_default().into_owned(),
        };
        // Values that share a number wait for each other, and no more comes of it.
        let value = format!("{} {column} {text}", table.id);
        let sql = "SELECT CAST(pg_advisory_xact_lock(hashtextextended($2, uuid_hash_extended($1, 0))) AS text) \
             {into $1}";
        let parameters = [table.organization.into(), value.into()];
        tx.query(sql, &parameters).await.map(drop)
    }

    /// The rows whose cell in the matching column holds the value that is looked for.
    async fn matching(&self, tx: &mut Tx, table: &Table) -> Result<Vec<Uuid>, Stop> {
        let (Some(Binding { column, .. }), Some(raw)) = (self.matched(), self.wanted(table)) else {
            return Err(Stop::Failed(effect_rules::no_match_column()));
        };
        let file = self.matched_file(table);
        let test = match file {
            Some(file) => CellTest::Search(Search::Ilike, file.to_string()),
            None => CellTest::Text(
                Compare::Eq,
                text_form(&raw).unwrap_or_default().into_owned(),
            ),
        };
        let key = column.clone();
        let mut listing = RowListRequest {
            filter: query::RowFilter {
                feature: table.id,
                filters: vec![Filter {
                    negated: false,
                    condition: Condition::Cell { key, test },
                }],
                matching: Match::All,
            },
            sort: Sort::default(),
            fields: None,
            page: PageRequest::first(1),
            after: None,
        };
        let (mut looked_at, mut found) = (0, Vec::new());
        let mut part = ReadSize::first(self.tables.sizes.of(table.id));
        loop {
            listing.page = part.request(usize::MAX);
            let query::RowSlice { rows, more, .. } = query::rows(tx, self.tables, &listing)
                .await
                .map_err(|refusal| Stop::of(&refusal))?;
            self.in_time()?;
            part.note(&rows);
            looked_at += rows.len();
            if looked_at > MAX_ROWS_PER_WRITE {
                return Err(Stop::Failed(effect_rules::too_many_rows()));
            }
            let is_value = |cell: &str| holds(cell, &raw, file);
            let same = |row: &&StoredRow| member(&row.data, column).is_some_and(is_value);
            found.extend(rows.iter().filter(same).map(|row| row.id));
            listing.after = rows
                .last()
                .map(|row| CursorPosition::of(&listing.sort, table, row));
            if !more || listing.after.is_none() {
                return Ok(found);
            }
        }
    }

    /// A refusal of the row, reported with its binding.
    fn refused(&self, refusal: &Refusal) -> Stop {
        if let Some(stop) = Stop::passing(refusal) {
            return stop;
        }
        let named = refusal.column.clone().or_else(|| {
            let fault = refusal.errors().first()?;
            fault.path.strip_prefix("data.").map(str::to_owned)
        });
        let about = |binding: &&Binding| Some(&binding.column) == named.as_ref();
        let reason = refusal.detail().to_owned();
        let failure = match self.write.cells.iter().find(about) {
            Some(binding) => Failure::at(format!("bindings.{}", binding.column), reason)
                .yields(Some(&binding.expression), &binding.value),
            None => Failure::at("bindings", reason),
        };
        Stop::Failed(failure.because(Reason::Refused(refusal.code)))
    }
}

/// Whether a cell holds a value that is looked for. 1 is not "1", however alike their texts are, and a file is the same
/// in other letters.
fn holds(cell: &str, value: &str, file: Option<Uuid>) -> bool {
    match file {
        Some(file) => file_id(cell) == Some(file),
        None => equal(cell, value),
    }
}
