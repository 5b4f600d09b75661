//! Inserts, replaces and removes rows, in the transaction of the caller.
//!
//! Locks are taken in one order: the table (shared, when it was opened), the organization (when it has
//! a quota), the files that cells use from now on (shared), the row, sequences, values, counts, the files that they use no more.

use tplkit::rows::members;
use uuid::Uuid;

use super::file_uses::{self, ChangedUses};
use super::prepare::PreparedRow;
use super::row_refusal::RowRefusal;
use super::row_values::{HashedValue, known_as};
use super::table::Table;
use super::tables::OpenTable;
use super::unique_reservations::{
    self, Conflict, ReleasedValue, ReplacedValues, Reservations, ValueMoves,
};
use super::{StoredRow, counts, search_index, sequence, slots};
use crate::context::changed_at;
use crate::store::{Dialect, PipelinedStatement, StoreError, Tx, Value};

/// Inserts rows, and numbers their empty cells of sequences.
///
/// # Errors
/// When a value is taken, the organization may not have so many rows, or a sequence is used up.
pub async fn insert(
    tx: &mut Tx,
    opened: &OpenTable,
    creator: Option<Uuid>,
    now: i64,
    rows: &mut [PreparedRow],
) -> Result<(), RowRefusal> {
    check_quota(tx, opened, rows).await?;
    sequence::number(tx, &opened.table, rows).await?;
    insert_numbered(tx, opened, creator, now, rows).await
}

/// Inserts rows that nothing is to be put into any more, and that move no sequence on.
///
/// # Errors
/// When a value is taken, or the organization may not have so many rows.
pub async fn insert_complete(
    tx: &mut Tx,
    opened: &OpenTable,
    creator: Option<Uuid>,
    now: i64,
    rows: &[PreparedRow],
) -> Result<(), RowRefusal> {
    check_quota(tx, opened, rows).await?;
    insert_numbered(tx, opened, creator, now, rows).await
}

/// Whether the organization may have so many rows more.
async fn check_quota(
    tx: &mut Tx,
    opened: &OpenTable,
    rows: &[PreparedRow],
) -> Result<(), RowRefusal> {
    let count = i64::try_from(rows.len()).unwrap_or(i64::MAX);
    if count > 0 && opened.row_quota.is_some() && !counts::fits(tx, &opened.table, count).await? {
        return Err(RowRefusal::Quota);
    }
    Ok(())
}

async fn insert_numbered(
    tx: &mut Tx,
    opened: &OpenTable,
    creator: Option<Uuid>,
    now: i64,
    rows: &[PreparedRow],
) -> Result<(), RowRefusal> {
    let table = &*opened.table;
    if rows.is_empty() {
        return Ok(());
    }
    let uses = ChangedUses::of_new(rows);
    check_files(tx, table, &uses).await?;
    let count = i64::try_from(rows.len()).unwrap_or(i64::MAX);
    let records: Vec<Vec<Value>> = rows
        .iter()
        .map(|row| {
            let mut values = Vec::with_capacity(2 + row.slots.len());
            values.extend([row.id.into(), row.data.as_str().into()]);
            values.extend(row.slots.iter().map(|slot| slot.clone().into()));
            values
        })
        .collect();
    let shared = [
        table.organization.into(),
        table.workspace.into(),
        table.id.into(),
        creator.into(),
        now.into(),
    ];
    let taken = if tx.dialect()? == Dialect::Postgres {
        enter_at_once(tx, table, rows, &shared, records).await?
    } else {
        let taken = unique_reservations::reserve(tx, table, rows).await?;
        if taken.is_empty() {
            table.insert.insert(tx, &shared, records).await?;
            search_index::keep(tx, table, &search_index::of_new(table, rows)).await?;
            counts::add(tx, table, count).await?;
        }
        taken
    };
    if !taken.is_empty() {
        return Err(RowRefusal::conflict(table, &taken));
    }
    let long = rows.iter().flat_map(|row| row.long.iter().copied());
    slots::mark_long(tx, table, long, now).await?;
    Ok(uses.write(tx, table, now).await?)
}

/// Refuses cells that name no file that the writer sees.
async fn check_files(tx: &mut Tx, table: &Table, uses: &ChangedUses) -> Result<(), RowRefusal> {
    let unseen = uses.unseen(tx, table).await?;
    if unseen.is_empty() {
        return Ok(());
    }
    let names = unseen
        .iter()
        .map(|cell| (cell.at, table.columns[cell.column].name().to_owned()));
    Err(RowRefusal::Files(names.collect()))
}

/// Values, rows and their number in one round trip; where a value is taken, all of it is undone.
async fn enter_at_once(
    tx: &mut Tx,
    table: &Table,
    rows: &[PreparedRow],
    shared: &[Value],
    records: Vec<Vec<Value>>,
) -> Result<Vec<Conflict>, StoreError> {
    let claims = Reservations::new(table, rows);
    let values = claims.statement(table);
    let claimed = values.is_some();
    let count = i64::try_from(rows.len()).unwrap_or(i64::MAX);
    let (counted, parameters) = counts::added(tx.dialect()?, table, count);
    let mut statements: Vec<PipelinedStatement> = values.into_iter().collect();
    statements.push(table.insert.whole_row(shared, records));
    let terms = search_index::of_new(table, rows);
    statements.extend(search_index::statement(table, &terms));
    statements.push(PipelinedStatement::new(counted, parameters.to_vec()));
    let responses = tx.pipeline(statements).await?;
    match responses.first() {
        Some(entered) if claimed => claims.conflicts(entered),
        _ => Ok(Vec::new()),
    }
}

/// Puts another row in place of one that is locked; `row` is that one then, and what it held is given.
///
/// # Errors
/// When a value is taken, or a sequence is used up.
pub async fn replace(
    tx: &mut Tx,
    table: &Table,
    row: &mut StoredRow,
    after: PreparedRow,
    now: i64,
) -> Result<String, RowRefusal> {
    let now = changed_at(now, row.updated_at);
    let mut after = [after];
    let mut moves = ValueMoves::default();
    let part = ReplacedRows {
        positions: &[0],
        before: &[row.data.as_str()],
        after: &mut after,
    };
    replace_part(tx, table, part, &mut moves, now).await?;
    finish_moves(tx, table, moves).await?;
    let [after] = after;
    row.updated_at = now;
    Ok(std::mem::replace(&mut row.data, after.data))
}

/// Rows that others take the places of, in the same order.
pub struct ReplacedRows<'r> {
    /// Their positions among all that are replaced.
    pub positions: &'r [usize],
    /// What they held; they are locked.
    pub before: &'r [&'r str],
    /// What they are to hold.
    pub after: &'r mut [PreparedRow],
}

/// Puts other rows in the places of some, at an instant behind the last change of each. Unique values that stand in other
/// rows are noted: these may give them up in other parts. [`finish_moves`] comes when all parts are there.
///
/// # Errors
/// When two of these rows take one value, or a sequence is used up.
pub async fn replace_part(
    tx: &mut Tx,
    table: &Table,
    rows: ReplacedRows<'_>,
    moves: &mut ValueMoves,
    now: i64,
) -> Result<(), RowRefusal> {
    let ReplacedRows {
        positions,
        before,
        after,
    } = rows;
    let uses = ChangedUses::of_replaced(table, before, after);
    let checked = check_files(tx, table, &uses).await;
    checked.map_err(|why| why.placed(positions))?;
    sequence::number(tx, table, after).await?;
    let values = positions.iter().zip(before).zip(&*after);
    let values: Vec<ReplacedValues<'_>> = values
        .map(|((position, before), after)| ReplacedValues {
            position: *position,
            row: after.id,
            before: unique_values(table, before),
            after: &after.uniques,
        })
        .collect();
    let taken = moves.take(tx, table, &values).await?;
    if !taken.is_empty() {
        return Err(RowRefusal::conflict(table, &taken));
    }
    let pairs = before
        .iter()
        .zip(&*after)
        .map(|(one, other)| (*one, &*other.data));
    let slots = slots::changed(table, pairs);
    let records: Vec<Vec<Value>> = after
        .iter()
        .map(|after| {
            let mut record: Vec<Value> = vec![after.id.into(), after.data.as_str().into()];
            record.extend(after.slots[slots.clone()].iter().cloned().map(Value::from));
            record
        })
        .collect();
    let shared = [table.organization.into(), table.id.into(), now.into()];
    table.update(slots).run(tx, &shared, records).await?;
    let terms = search_index::of_replaced(table, before, after);
    search_index::keep(tx, table, &terms).await?;
    let long = after.iter().flat_map(|row| row.long.iter().copied());
    slots::mark_long(tx, table, long, now).await?;
    Ok(uses.write(tx, table, now).await?)
}

/// Moves unique values between the rows that were replaced.
///
/// # Errors
/// When a value stands in a row that keeps it.
pub async fn finish_moves(tx: &mut Tx, table: &Table, moves: ValueMoves) -> Result<(), RowRefusal> {
    let taken = moves.finish(tx, table).await?;
    if taken.is_empty() {
        return Ok(());
    }
    Err(RowRefusal::conflict(table, &taken))
}

/// A row that was removed.
#[derive(Debug)]
pub struct RemovedRow {
    /// What it held.
    pub data: String,
    /// When it was created, in microseconds.
    pub created_at: i64,
    /// When it was changed last.
    pub updated_at: i64,
    /// Whose it was.
    pub creator: Option<Uuid>,
}

/// Removes a row, if the scope of the transaction sees it; gives what it was.
///
/// # Errors
/// Those of the store.
pub async fn remove(
    tx: &mut Tx,
    table: &Table,
    row: Uuid,
    now: i64,
) -> Result<Option<RemovedRow>, StoreError> {
    Ok(remove_all(tx, table, vec![row], now).await?.pop())
}

/// Removes rows, as far as the scope of the transaction sees them; gives what they were.
///
/// # Errors
/// Those of the store.
pub async fn remove_all(
    tx: &mut Tx,
    table: &Table,
    rows: Vec<Uuid>,
    now: i64,
) -> Result<Vec<RemovedRow>, StoreError> {
    let sql = "DELETE FROM main.rows WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND {row feature_id created_by} \
         AND organization_id = $1 AND feature_id = $2 AND {any id $3} \
         RETURNING id, {text data}, created_by, created_at, updated_at";
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    file_uses::end_rows(tx, table, &rows, now).await?;
    let parameters = [table.organization.into(), table.id.into(), Value::Ids(rows)];
    let (mut removed, mut gone) = (Vec::new(), Vec::new());
    let mut ids = Vec::new();
    for row in &tx.query(sql, &parameters).await? {
        let (id, data): (Uuid, String) = (row.get(0)?, row.get(1)?);
        ids.push(id);
        let uniques = unique_values(table, &data);
        let uniques = uniques.into_iter();
        gone.extend(uniques.map(|value| ReleasedValue { row: id, value }));
        removed.push(RemovedRow {
            data,
            created_at: row.get(3)?,
            updated_at: row.get(4)?,
            creator: row.get(2)?,
        });
    }
    if !removed.is_empty() {
        unique_reservations::release(tx, table, &gone).await?;
        if table.is_searched() {
            search_index::forget(tx, table.organization, table.id, ids).await?;
        }
        let count = i64::try_from(removed.len()).unwrap_or(i64::MAX);
        counts::add(tx, table, -count).await?;
    }
    Ok(removed)
}

/// What the unique columns of a stored row hold.
fn unique_values(table: &Table, data: &str) -> Vec<HashedValue> {
    if !table.columns.iter().any(|column| column.is_unique) {
        return Vec::new();
    }
    let mut values = Vec::new();
    for (key, value) in members(data) {
        let key = key.decoded();
        let at = table.position(&key);
        if let Some(at) = at.filter(|at| table.columns[*at].is_unique) {
            let digest = known_as(value, table.columns[at].rule.file);
            values.extend(digest.map(|digest| HashedValue { column: at, digest }));
        }
    }
    values
}
