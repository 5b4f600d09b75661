//! Numbers for empty cells of sequences.
//!
//! A sequence is stored in the row of its column and advances under that row's lock. Explicit
//! numbers advance it too, so it never mints one that exists.

use super::prepare::PreparedRow;
use super::table::Table;
use crate::store::{StoreError, Tx};

/// Numbers the empty cells of rows, in the order of the rows.
pub(super) async fn number(
    tx: &mut Tx,
    table: &Table,
    rows: &mut [PreparedRow],
) -> Result<(), StoreError> {
    let mut next = vec![0; table.columns.len()];
    let mut minted = false;
    for (at, column) in table.columns.iter().enumerate() {
        if !column.is_sequence() {
            continue;
        }
        let holes = rows.iter().flat_map(|row| &row.holes);
        let count = holes.filter(|hole| hole.column == at).count();
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        let floors = rows.iter().flat_map(|row| &row.floors);
        let floors = floors.filter(|floor| floor.column == at);
        let floor = floors.map(|floor| floor.floor).max().unwrap_or(1);
        if count == 0 && floor == 1 {
            continue;
        }
        let sql = "UPDATE main.columns \
             SET next_number = (CASE WHEN next_number < $3 THEN $3 ELSE next_number END) + CAST($4 AS bigint) \
             WHERE {tenant organization_id} AND {workspace workspace_id} AND organization_id = $1 \
             AND id = $2 AND (next_number < $3 OR CAST($4 AS bigint) > 0) RETURNING next_number";
        let parameters = [
            table.organization.into(),
            column.definition.id.into(),
            floor.into(),
            count.into(),
        ];
        if let Some(row) = tx.first(sql, &parameters).await? {
            next[at] = row.get::<i64>(0)? - count;
        }
        minted |= count > 0;
    }
    if minted {
        for row in rows {
            row.number(table, |column| {
                let number = next[column];
                next[column] += 1;
                number
            });
        }
    }
    Ok(())
}
