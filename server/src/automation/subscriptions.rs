//! Updates the subscriptions of an automation whose active version changed, or whose table came back: the
//! rows that writers of rows and the scheduler read.
//!
//! A table whose watchers change gets a new version, so no writer uses an outdated cache.

use tplkit::json::Value as Json;
use uuid::Uuid;

use super::find;
use crate::ids::WorkflowKey;
use crate::refusal::{Code, Refusal};
use crate::rows::Table;
use crate::store::{Scope, StoreError, Tx};

/// Brings what is waited for in step with the active version of an automation, if it has one. False when
/// the table that it watches is not there for the caller: then nothing fires it.
///
/// # Errors
/// Those of the store.
pub async fn subscribe(
    tx: &mut Tx,
    WorkflowKey {
        organization,
        workflow,
    }: WorkflowKey,
    now: i64,
) -> Result<bool, StoreError> {
    let of = [organization.into(), workflow.into()];
    let sql = "DELETE FROM main.workflow_watchers WHERE {tenant organization_id} \
         AND organization_id = $1 AND workflow_id = $2 RETURNING feature_id";
    for row in tx.query(sql, &of).await? {
        Table::changed(tx, organization, row.get(0)?, now).await?;
    }
    let sql = "SELECT version, trigger_type, trigger_feature_id, trigger_config \
         FROM workflow_versions WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND organization_id = $1 AND workflow_id = $2 AND is_active";
    let active = tx.first(sql, &of).await?;
    let kind: Option<String> = active.as_ref().map(|row| row.get(1)).transpose()?;
    if kind.as_deref() != Some("cron") {
        let sql = "DELETE FROM main.workflow_schedules WHERE {tenant organization_id} \
             AND organization_id = $1 AND workflow_id = $2";
        tx.query(sql, &of).await?;
    }
    let Some(active) = active else {
        return Ok(true);
    };
    let version: i64 = active.get(0)?;
    match kind.as_deref() {
        Some("cron") => schedule(tx, organization, workflow, version, now).await?,
        Some("record.event") => {
            let feature: Option<Uuid> = active.get(2)?;
            let feature = feature.unwrap_or_default();
            let config: String = active.get(3)?;
            let key = WorkflowKey {
                organization,
                workflow,
            };
            if !watch_table(tx, key, feature, version, &config).await? {
                return Ok(false);
            }
            Table::changed(tx, organization, feature, now).await?;
        }
        _ => {}
    }
    Ok(true)
}

/// Lets the automations that fire watch a table that is there again under its id: their subscriptions went with it.
///
/// # Errors
/// Those of the store.
pub async fn watch_again(
    tx: &mut Tx,
    organization: Uuid,
    feature: Uuid,
    now: i64,
) -> Result<(), Refusal> {
    let sql = "SELECT workflow_id FROM workflow_versions WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND organization_id = $1 AND trigger_feature_id = $2 \
         AND is_active ORDER BY workflow_id";
    let found = tx
        .query(sql, &[organization.into(), feature.into()])
        .await?;
    for row in found {
        let workflow: Uuid = row.get(0)?;
        // Whoever pauses it at the same time goes first, or finds the subscription.
        match find::lock(tx, workflow).await {
            Ok(_) => {
                let key = WorkflowKey {
                    organization,
                    workflow,
                };
                subscribe(tx, key, now).await?;
            }
            Err(refusal) if refusal.code == Code::NotFound => {}
            Err(refusal) => return Err(refusal),
        }
    }
    Ok(())
}

/// 409 for a table that is not there for the caller: without it the picture that others have of it could not be
/// renewed.
pub(super) fn no_table(scope: &Scope) -> Refusal {
    let detail = match scope {
        Scope::Operator => "The table that the automation watches is gone.",
        _ => "The table that the automation watches is gone, or hidden from you.",
    };
    Refusal::new(Code::Conflict, detail)
}

async fn watch_table(
    tx: &mut Tx,
    WorkflowKey {
        organization,
        workflow,
    }: WorkflowKey,
    feature: Uuid,
    version: i64,
    config: &str,
) -> Result<bool, StoreError> {
    let sql = "SELECT id FROM features WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND organization_id = $1 AND id = $2";
    let found = tx
        .first(sql, &[organization.into(), feature.into()])
        .await?;
    if found.is_none() {
        return Ok(false);
    }
    let config = Json::parse(config).unwrap_or_default();
    let part = |key: &str| {
        let list = config.get("config")?.get(key)?;
        list.as_list().filter(|list| !list.is_empty())?;
        Some(list.write())
    };
    let sql = "INSERT INTO main.workflow_watchers {into $1} \
         (organization_id, feature_id, workflow_id, version, modes, columns) \
         VALUES ($1, $2, $3, $4, $5, $6)";
    let parameters = [
        organization.into(),
        feature.into(),
        workflow.into(),
        version.into(),
        part("modes").unwrap_or_else(|| "[]".to_owned()).into(),
        part("watchedColumns").into(),
    ];
    tx.query(sql, &parameters).await?;
    Ok(true)
}

/// Notes that an active version runs by the clock, from now on. While an instant of the version before it waits for
/// its run, the row stays with that version: the scheduler comes to the active one once every instant up to now has a
/// run. Of a version that runs by it already nothing changes.
async fn schedule(
    tx: &mut Tx,
    organization: Uuid,
    workflow: Uuid,
    version: i64,
    now: i64,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO main.workflow_schedules {into $1} \
         (organization_id, workflow_id, version, since, due_at) VALUES ($1, $2, $3, $4, NULL) \
         ON CONFLICT (organization_id, workflow_id) DO UPDATE SET \
         version = CASE WHEN workflow_schedules.due_at <= excluded.since \
         THEN workflow_schedules.version ELSE excluded.version END, since = excluded.since, \
         due_at = CASE WHEN workflow_schedules.due_at <= excluded.since THEN workflow_schedules.due_at END \
         WHERE workflow_schedules.version <> excluded.version \
         AND (workflow_schedules.due_at IS NULL OR workflow_schedules.due_at > workflow_schedules.since)";
    let parameters = [
        organization.into(),
        workflow.into(),
        version.into(),
        now.into(),
    ];
    tx.query(sql, &parameters).await?;
    tx.note_queue(organization).await
}
