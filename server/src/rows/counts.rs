//! Row counts of tables, in parts, and the row quota of the organization.

use uuid::Uuid;

use super::table::Table;
use crate::store::{StoreError, Tx, Value};

/// Writers spread over so many rows, so that they rarely wait for each other.
const SHARDS: u128 = 8;

/// Counts rows that come, or go when `more` is negative. The id of one of them chooses the row.
pub(super) async fn add(
    tx: &mut Tx,
    table: &Table,
    row: Uuid,
    more: i64,
) -> Result<(), StoreError> {
    let (sql, parameters) = added(table, row, more);
    tx.query(sql, &parameters).await.map(drop)
}

/// The statement of [`add`].
pub(super) fn added(table: &Table, row: Uuid, more: i64) -> (&'static str, [Value; 5]) {
    let sql = "INSERT INTO main.row_counts {into $1} (organization_id, workspace_id, feature_id, \
         shard, count) VALUES ($1, $2, $3, $4, $5) \
         ON CONFLICT (organization_id, feature_id, shard) \
         DO UPDATE SET count = row_counts.count + excluded.count";
    let shard = i64::try_from(row.as_u128() % SHARDS).unwrap_or_default();
    let parameters = [
        table.organization.into(),
        table.workspace.into(),
        table.id.into(),
        shard.into(),
        more.into(),
    ];
    (sql, parameters)
}

/// Whether the organization may have so many rows more. Keeps other writers from counting until the
/// transaction ends.
pub(super) async fn fits(tx: &mut Tx, table: &Table, more: i64) -> Result<bool, StoreError> {
    let sql = "SELECT row_quota FROM organizations WHERE {tenant id} AND id = $1 {lock}";
    let row = tx.first(sql, &[table.organization.into()]).await?;
    let Some(quota) = row.map_or(Ok(None), |row| row.get::<Option<i64>>(0))? else {
        return Ok(true);
    };
    let sql = "SELECT CAST(coalesce(sum(count), 0) AS bigint) FROM row_counts \
         WHERE {tenant organization_id} AND organization_id = $1";
    let row = tx.first(sql, &[table.organization.into()]).await?;
    let present: i64 = row.map_or(Ok(0), |row| row.get(0))?;
    Ok(present.saturating_add(more) <= quota)
}
