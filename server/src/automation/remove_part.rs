//! Removes the finished runs of an automation in parts, before it is deleted itself.
//!
//! One transaction over a million of them takes longer than a statement may, and on SQLite nobody else writes meanwhile.

use uuid::Uuid;

use super::find;
use crate::store::{StoreError, Tx, Value};

/// Fewer finished runs go with their automation. The number is that of the statement.
const RUNS_PER_PART: usize = 1000;

/// Removes a part of the finished runs of an automation that may be deleted; false when those that are left may go with
/// it, and for one that stays because it fires.
///
/// # Errors
/// Those of the store.
pub async fn remove_part(
    tx: &mut Tx,
    organization: Uuid,
    workflow: Uuid,
    force: bool,
) -> Result<bool, StoreError> {
    if !force && find::active(tx, workflow).await?.is_some() {
        return Ok(false);
    }
    let some = "SELECT id FROM workflow_runs WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND organization_id = $1 AND workflow_id = $2 AND finished_at IS NOT NULL ORDER BY id LIMIT 1000";
    let found = tx
        .query(some, &[organization.into(), workflow.into()])
        .await?;
    if found.len() < RUNS_PER_PART {
        return Ok(false);
    }
    let ids = found.iter().map(|row| row.get(0));
    let ids: Vec<Uuid> = ids.collect::<Result<_, StoreError>>()?;
    let remove = "DELETE FROM main.workflow_runs WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND organization_id = $1 AND {any id $2}";
    tx.query(remove, &[organization.into(), Value::Ids(ids)])
        .await?;
    Ok(true)
}
