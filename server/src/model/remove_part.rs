//! Removes what is in a large table or workspace in parts, before it is deleted itself: rows, then finished runs.
//!
//! One transaction over a million of them takes longer than a statement may, and on SQLite nobody else writes meanwhile.

use uuid::Uuid;

use super::find;
use super::kind::RecordKind;
use super::record::Record;
use super::remove::Remove;
use crate::auth::Actor;
use crate::refusal::Refusal;
use crate::rows::{Tables, remove_all};
use crate::store::{Row, StoreError, Tx, Value};

/// So many rows go together with their table or workspace, in one transaction.
const MAX_ROWS_WITH_RECORD: i64 = 10_000;

/// Of a workspace fewer finished runs go with it. The number is that of the statement.
const RUNS_PER_PART: usize = 1000;

/// Removes a part of what is in a table or workspace that holds much; false when what is left may go with it.
///
/// # Errors
/// 404 for a record that cannot be seen, 403 for a role that does not suffice.
pub async fn remove_part(
    tx: &mut Tx,
    actor: Actor<'_>,
    remove: &Remove,
    tables: &Tables,
    now: i64,
) -> Result<bool, Refusal> {
    let record = find::read(tx, remove.kind, remove.id).await?;
    let record = record.ok_or_else(Refusal::not_found)?;
    actor.enter(record.organization())?;
    let largest = largest(tx, &record).await?;
    if let Some(feature) = largest
        && remove_rows(tx, tables, feature, now).await?
    {
        return Ok(true);
    }
    Ok(record.kind.what == RecordKind::Workspace && remove_runs(tx, &record).await?)
}

/// Removes rows of a table; false when there is none.
async fn remove_rows(
    tx: &mut Tx,
    tables: &Tables,
    feature: Uuid,
    now: i64,
) -> Result<bool, StoreError> {
    let Some(opened) = tables.open(tx, feature).await? else {
        return Ok(false);
    };
    // Rows may be large: a part ends at the size of a page, too.
    let some = "SELECT id, {text data} FROM rows WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND {row feature_id created_by} AND organization_id = $1 AND feature_id = $2 \
         ORDER BY id LIMIT 1000 {bounded}";
    let of = [opened.table.organization.into(), feature.into()];
    let ids = ids(&tx.query(some, &of).await?)?;
    if ids.is_empty() {
        return Ok(false);
    }
    remove_all(tx, &opened.table, ids, now).await?;
    Ok(true)
}

/// Removes finished runs of the automations of a workspace; false when few are left.
async fn remove_runs(tx: &mut Tx, workspace: &Record) -> Result<bool, StoreError> {
    let some = "SELECT id FROM workflow_runs WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND organization_id = $1 AND workflow_id IN (SELECT id FROM workflows WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND organization_id = $1 AND workspace_id = $2) \
         AND finished_at IS NOT NULL LIMIT 1000";
    let remove = "DELETE FROM main.workflow_runs WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND organization_id = $1 AND {any id $2}";
    let organization = workspace.organization();
    let of = [organization.into(), workspace.id.into()];
    let ids = ids(&tx.query(some, &of).await?)?;
    if ids.len() < RUNS_PER_PART {
        return Ok(false);
    }
    tx.query(remove, &[organization.into(), Value::Ids(ids)])
        .await?;
    Ok(true)
}

fn ids(rows: &[Row]) -> Result<Vec<Uuid>, StoreError> {
    rows.iter().map(|row| row.get(0)).collect()
}

/// The table with the most rows, where there are too many to go with the record.
async fn largest(tx: &mut Tx, record: &Record) -> Result<Option<Uuid>, StoreError> {
    let counts = match record.kind.what {
        RecordKind::Workspace => {
            "SELECT feature_id, CAST(sum(count) AS bigint) FROM row_counts WHERE {tenant organization_id} \
             AND organization_id = $1 AND feature_id IN (SELECT id FROM features WHERE {tenant organization_id} \
             AND {workspace workspace_id} AND organization_id = $1 AND workspace_id = $2) GROUP BY feature_id"
        }
        RecordKind::Feature => {
            "SELECT feature_id, CAST(sum(count) AS bigint) FROM row_counts WHERE {tenant organization_id} \
             AND organization_id = $1 AND feature_id = $2 GROUP BY feature_id"
        }
        RecordKind::Module | RecordKind::Rail | RecordKind::View | RecordKind::Column => {
            return Ok(None);
        }
    };
    let of = [record.organization().into(), record.id.into()];
    let counts = tx.query(counts, &of).await?;
    let counts = counts
        .iter()
        .map(|row: &Row| Ok((row.get(1)?, row.get(0)?)));
    let counts: Vec<(i64, Uuid)> = counts.collect::<Result<_, StoreError>>()?;
    let total: i64 = counts.iter().map(|(count, _)| count).sum();
    let largest = counts.into_iter().max();
    Ok(largest
        .filter(|_| total > MAX_ROWS_WITH_RECORD)
        .map(|(_, feature)| feature))
}
