//! Numbers for empty cells of sequences.
//!
//! A sequence is stored in the row of its column and advances under that row's lock. Explicit
//! numbers advance it too, so it never mints one that exists. Those from [`LAST`] on do not, so a sequence
//! that has come that far asks which of its next numbers are taken, and passes over them.

use std::collections::HashSet;

use super::prepare::PreparedRow;
use super::row_refusal::RowRefusal;
use super::row_values::known_as;
use super::sequence_floor::LAST;
use super::table::Table;
use crate::store::{StoreError, Tx, Value};

/// How many numbers are looked at in one go where some are taken.
const NUMBERS_PER_QUERY: usize = 500;

/// Empty cells that get numbers.
#[derive(Debug, Clone, Copy)]
struct EmptyCells {
    /// The position of their column.
    column: usize,
    /// The lowest number that they get.
    floor: i64,
    /// How many there are.
    count: usize,
}

/// Numbers the empty cells of rows, in the order of the rows.
///
/// # Errors
/// When a sequence has no number left.
pub(super) async fn number(
    tx: &mut Tx,
    table: &Table,
    rows: &mut [PreparedRow],
) -> Result<(), RowRefusal> {
    let mut numbers = vec![Vec::new().into_iter(); table.columns.len()];
    let mut minted = false;
    for (at, column) in table.columns.iter().enumerate() {
        if !column.is_sequence() {
            continue;
        }
        let holes = rows.iter().flat_map(|row| &row.holes);
        let count = holes.filter(|hole| hole.column == at).count();
        let floors = rows.iter().flat_map(|row| &row.floors);
        let floors = floors.filter(|floor| floor.column == at);
        let floor = floors.map(|floor| floor.floor).max().unwrap_or(1);
        if count == 0 && floor == 1 {
            continue;
        }
        let empty = EmptyCells {
            column: at,
            floor,
            count,
        };
        let next = match advance(tx, table, empty).await? {
            Some(next) => next,
            None => pass_over_taken(tx, table, empty, rows).await?,
        };
        numbers[at] = next.into_iter();
        minted |= count > 0;
    }
    if minted {
        for row in rows {
            row.number(table, |column| numbers[column].next().unwrap_or_default());
        }
    }
    Ok(())
}

/// The next numbers of a sequence; nothing, and nothing done, when it would come to [`LAST`] with them.
async fn advance(
    tx: &mut Tx,
    table: &Table,
    empty: EmptyCells,
) -> Result<Option<Vec<i64>>, StoreError> {
    let count = i64::try_from(empty.count).unwrap_or(i64::MAX);
    let most = LAST - count;
    if empty.floor > most {
        return Ok(None);
    }
    let sql = "UPDATE main.columns \
         SET next_number = (CASE WHEN next_number < $3 THEN $3 ELSE next_number END) + CAST($4 AS bigint) \
         WHERE {tenant organization_id} AND {workspace workspace_id} AND organization_id = $1 \
         AND id = $2 AND (next_number < $3 OR CAST($4 AS bigint) > 0) AND next_number <= $5 \
         RETURNING next_number";
    let parameters = [
        table.organization.into(),
        table.columns[empty.column].definition.id.into(),
        empty.floor.into(),
        count.into(),
        most.into(),
    ];
    let Some(row) = tx.first(sql, &parameters).await? else {
        // Without a cell to fill, it stands higher already.
        return Ok((count == 0).then(Vec::new));
    };
    let next: i64 = row.get(0)?;
    Ok(Some((next - count..next).collect()))
}

/// The next numbers of a sequence that no row of the table has, and none of `rows`: those from [`LAST`] on are given
/// without moving it, so it may come to them.
async fn pass_over_taken(
    tx: &mut Tx,
    table: &Table,
    empty: EmptyCells,
    rows: &[PreparedRow],
) -> Result<Vec<i64>, RowRefusal> {
    let column = &table.columns[empty.column];
    let id = column.definition.id;
    let sql = "SELECT next_number FROM columns WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND organization_id = $1 AND id = $2 {lock}";
    let found = tx
        .first(sql, &[table.organization.into(), id.into()])
        .await?;
    let stands: i64 = found.map_or(Ok(1), |row| row.get(0))?;
    let sent = rows.iter().flat_map(|row| &row.uniques);
    let sent = sent.filter(|value| value.column == empty.column);
    let sent: HashSet<[u8; 32]> = sent.map(|value| value.digest).collect();
    let (mut numbers, mut part) = (Vec::new(), empty.count);
    let mut next = stands.max(empty.floor);
    while numbers.len() < empty.count {
        // The last of all numbers has none behind it where the sequence could stand.
        let candidates = (next..i64::MAX).take(part);
        let candidates: Vec<(i64, [u8; 32])> = candidates
            .filter_map(|number| Some((number, known_as(&number.to_string(), false)?)))
            .collect();
        let Some((last, _)) = candidates.last() else {
            return Err(RowRefusal::UsedUp(column.name().to_owned()));
        };
        next = last + 1;
        let sql = "SELECT row_id FROM row_values WHERE {tenant organization_id} \
             AND {workspace workspace_id} AND organization_id = $1 AND feature_id = $2 \
             AND column_id = $3 AND value = $4";
        let values = candidates.iter().map(|(_, digest)| -> Vec<Value> {
            vec![
                table.organization.into(),
                table.id.into(),
                id.into(),
                (*digest).into(),
            ]
        });
        let holders = tx.each(sql, &values.collect::<Vec<_>>()).await?;
        let free = candidates.iter().zip(holders);
        let free =
            free.filter(|((_, digest), holders)| holders.is_empty() && !sent.contains(digest));
        numbers.extend(free.map(|((number, _), _)| *number));
        part = NUMBERS_PER_QUERY;
    }
    numbers.truncate(empty.count);
    let next = numbers.last().map_or(next, |last| last + 1);
    let sql = "UPDATE main.columns SET next_number = $3 WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND organization_id = $1 AND id = $2";
    let parameters = [table.organization.into(), id.into(), next.into()];
    tx.query(sql, &parameters).await?;
    Ok(numbers)
}
