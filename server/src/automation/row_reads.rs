//! The step `feature.read`.

use std::time::Duration;

use tplkit::automation::run::bounds::{self, DEPTH};
use tplkit::automation::run::{ColumnKind, Failure, RowQuery, TableQuery};
use tplkit::definitions::{Definitions, ReferenceKind};
use tplkit::json::{Object, Value as Json};
use tplkit::rows::query::{Match, Row};
use uuid::Uuid;

use super::processor_time::Meter;
use super::rollback_time::RollbackTime;
use super::stop::Stop;
use crate::ids::WorkspaceKey;
use crate::model::referenced::existing;
use crate::paging::PageRequest;
use crate::rows::query::{self, CursorPosition, RowListRequest};
use crate::rows::{StoredRow, Tables};
use crate::store::Tx;

/// How many rows are held in memory at a time, before they are found to be wanted and small enough: few at
/// first, more where those that were seen are small.
#[derive(Debug, Default)]
pub(super) struct ReadSize {
    /// Which of the sizes it has.
    at: usize,
    rows: usize,
    bytes: usize,
}

/// How many bytes of rows are asked for at a time, as far as can be known by those before.
const BYTES_PER_QUERY: usize = 4 << 20;
/// How many rows are asked for: pages as everybody asks for them, whose statements are known.
const SIZES: [i64; 7] = [1, 5, 10, 25, 50, 100, 200];
/// Which of the sizes the first part has, where rows are not known to be large.
const FIRST_SIZE: usize = 1;

impl ReadSize {
    /// The first rows of a table, whose rows were so large when they were read last.
    pub(super) fn first(size: usize) -> ReadSize {
        ReadSize {
            at: fitting(size).min(FIRST_SIZE),
            ..ReadSize::default()
        }
    }

    /// The next rows, of which so many are missing.
    pub(super) fn request(&self, missing: usize) -> PageRequest {
        let missing = i64::try_from(missing).unwrap_or(i64::MAX);
        let enough = SIZES.iter().take(self.at).find(|size| **size >= missing);
        PageRequest::first(*enough.unwrap_or(&SIZES[self.at]))
    }

    /// Takes note of the rows that came.
    pub(super) fn note(&mut self, rows: &[StoredRow]) {
        self.rows += rows.len();
        self.bytes += rows.iter().map(|row| row.data.len()).sum::<usize>();
        let usual = self.bytes / self.rows.max(1) + 1;
        self.at = fitting(usual).min(self.at + 1);
    }
}

/// The largest of the sizes at which rows of so many bytes stay below what is asked for at a time.
fn fitting(row: usize) -> usize {
    let fit = |size: &&i64| usize::try_from(**size).is_ok_and(|size| size * row <= BYTES_PER_QUERY);
    SIZES.iter().filter(fit).count().saturating_sub(1)
}

/// Sees to it that a table may be used in a workspace: it is there, or is shared; and is not hidden
/// from who the run works as.
///
/// # Errors
/// A failure when it may not, and those of the store.
pub(super) async fn usable(
    tx: &mut Tx,
    WorkspaceKey {
        organization,
        workspace,
    }: WorkspaceKey,
    feature: Uuid,
    field: &str,
) -> Result<(), Stop> {
    let kind = ReferenceKind::Feature;
    if !existing(
        tx,
        WorkspaceKey {
            organization,
            workspace,
        },
        kind,
        &[feature],
    )
    .await?
    .is_empty()
    {
        return Ok(());
    }
    Err(gone(feature, field))
}

fn gone(feature: Uuid, field: &str) -> Stop {
    let reason = format!("the table {feature} is no longer here");
    Stop::Failed(Failure::at(field, reason))
}

/// What a read needs outside of the transaction.
#[derive(Debug, Clone)]
pub(super) struct ReadRequest {
    pub(super) tables: Tables,
    /// The workspace of the run.
    pub(super) scope: WorkspaceKey,
    /// How many bytes of records there is room for.
    pub(super) room: usize,
    pub(super) meter: Meter,
    pub(super) processor_time: Duration,
    /// How long the transaction may go on, where others wait for its end.
    pub(super) rollback_time: Option<RollbackTime>,
    pub(super) query: RowQuery,
}

/// The output of a read.
///
/// # Errors
/// A failure when the table is not there or its rows are larger than there is room for, and those of the
/// store.
pub(super) async fn read(tx: &mut Tx, request: &ReadRequest) -> Result<Object, Stop> {
    let mut working = request.meter.start();
    let feature = request.query.feature;
    usable(tx, request.scope, feature, "featureId").await?;
    let query = of_table(tx, request).await?;
    let mut listing = RowListRequest {
        filter: query::RowFilter {
            feature,
            filters: query.filters.clone(),
            matching: Match::All,
        },
        sort: query.sort.clone(),
        fields: None,
        page: PageRequest::first(1),
        after: None,
    };
    let mut part = ReadSize::first(request.tables.sizes.of(feature));
    let mut records = Vec::new();
    let mut room = request.room;
    while records.len() < query.limit {
        let missing = query.limit - records.len();
        listing.page = part.request(if query.is_whole() {
            missing
        } else {
            usize::MAX
        });
        let query::RowSlice { table, rows, more } = query::rows(tx, &request.tables, &listing)
            .await
            .map_err(|refusal| Stop::of(&refusal))?;
        part.note(&rows);
        listing.after = rows
            .last()
            .map(|row| CursorPosition::of(&listing.sort, &table, row));
        for row in rows {
            let seen = Row {
                id: row.id,
                created_at: row.created_at,
                updated_at: row.updated_at,
                data: &row.data,
            };
            if records.len() < query.limit && (query.is_whole() || query.holds(&seen)) {
                let text = String::from_utf8(row.document(table.id)).unwrap_or_default();
                // Each with the comma behind it.
                room = room
                    .checked_sub(text.len() + 1)
                    .ok_or_else(|| too_much(request.room))?;
                records.push(bounds::row(&text).ok_or_else(|| too_deep(row.id))?);
            }
        }
        working.note();
        request
            .meter
            .check(request.processor_time)
            .map_err(Stop::Failed)?;
        if let Some(time) = &request.rollback_time {
            time.check().map_err(Stop::Failed)?;
        }
        if !more || listing.after.is_none() {
            break;
        }
    }
    let count = i64::try_from(records.len()).unwrap_or(i64::MAX);
    Ok(Object::from_iter([
        ("count".to_owned(), count.into()),
        ("records".to_owned(), Json::List(records)),
    ]))
}

/// What is asked of the table, whose columns are looked up where that depends on them.
async fn of_table(tx: &mut Tx, request: &ReadRequest) -> Result<TableQuery, Stop> {
    let query = &request.query;
    if !query.asks_for_columns() {
        let asked = query.of_table(|_| ColumnKind::Undeclared);
        return asked.map_err(Stop::Failed);
    }
    let table = request.tables.read(tx, query.feature).await?;
    let table = table.ok_or_else(|| gone(query.feature, "featureId"))?;
    let types = &Definitions::embedded().column_types;
    let asked = query.of_table(|name| match table.column(name) {
        Some(column) => {
            let kind = types.get(&column.definition.column_type);
            ColumnKind::of(kind.map(|kind| kind.storage))
        }
        None => ColumnKind::Undeclared,
    });
    asked.map_err(Stop::Failed)
}

/// A failure of a read whose rows the run has no room for.
fn too_much(room: usize) -> Stop {
    let reason = format!(
        "the rows are larger than the {room} bytes that the run has room for: add a filter, or a limit"
    );
    Stop::Failed(Failure::too_large("featureId", reason))
}

/// A failure of a read of a row that no run can carry.
fn too_deep(row: Uuid) -> Stop {
    let reason =
        format!("a cell of row {row} has more than {DEPTH} lists and objects in one another");
    Stop::Failed(Failure::too_large("featureId", reason))
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::{BYTES_PER_QUERY, ReadSize};
    use crate::rows::StoredRow;

    /// How many rows it asks for.
    fn requested(part: &ReadSize) -> i64 {
        part.request(usize::MAX).lookahead() - 1
    }

    fn rows(count: usize, size: usize) -> Vec<StoredRow> {
        let row = StoredRow {
            id: Uuid::nil(),
            created_at: 0,
            updated_at: 0,
            data: "x".repeat(size),
        };
        vec![row; count]
    }

    #[test]
    fn large_rows_are_asked_for_one_by_one() {
        let mut part = ReadSize::first(BYTES_PER_QUERY / 2);
        assert_eq!(requested(&part), 1);
        part.note(&rows(1, BYTES_PER_QUERY / 2));
        assert_eq!(requested(&part), 1);
        // They turn out smaller.
        part.note(&rows(20, 10));
        assert_eq!(requested(&part), 5);
    }

    #[test]
    fn small_rows_are_asked_for_in_larger_and_larger_parts() {
        let mut part = ReadSize::first(0);
        for size in [5, 10, 25, 50, 100, 200, 200] {
            assert_eq!(requested(&part), size);
            part.note(&rows(5, 10));
        }
        // For the few that are missing a small part is enough.
        assert_eq!(part.request(3).lookahead() - 1, 5);
        part.note(&rows(10, BYTES_PER_QUERY / 4));
        assert_eq!(requested(&part), 10);
    }
}
