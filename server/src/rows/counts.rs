//! Row counts of tables, in parts, and the row quota of the organization.

use super::table::Table;
use crate::store::{Dialect, StoreError, Tx, Value};

/// Counts rows that come, or go when `more` is negative.
pub(super) async fn add(tx: &mut Tx, table: &Table, more: i64) -> Result<(), StoreError> {
    let (sql, parameters) = added(tx.dialect()?, table, more);
    tx.query(sql, &parameters).await.map(drop)
}

/// The statement of [`add`]. Whoever counts keeps the part until the transaction ends, so each session of
/// PostgreSQL has one of its own: the pool of a process opens them one after the other, and their numbers are
/// neighbours. A part may be negative; only the sum means something.
pub(super) fn added(dialect: Dialect, table: &Table, more: i64) -> (&'static str, [Value; 4]) {
    macro_rules! counted {
        ($shard:literal) => {
            concat!(
                "INSERT INTO main.row_counts {into $1} (organization_id, workspace_id, feature_id, \
                 shard, count) VALUES ($1, $2, $3, ",
                $shard,
                ", $4) ON CONFLICT (organization_id, feature_id, shard) \
                 DO UPDATE SET count = row_counts.count + excluded.count"
            )
        };
    }
    let sql = match dialect {
        Dialect::Postgres => counted!("pg_backend_pid() % 32"),
        // One writes at a time.
        Dialect::Sqlite => counted!("0"),
    };
    let parameters = [
        table.organization.into(),
        table.workspace.into(),
        table.id.into(),
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
