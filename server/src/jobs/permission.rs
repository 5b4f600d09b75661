//! Checks that the creator of a job still has the permission for it (`rest` 2.6), when the job is
//! taken up and before each unit. A lost permission takes effect at once.

use uuid::Uuid;

use super::Job;
use crate::auth::{KeyScope, Role, Scopes};
use crate::ids::WorkspaceKey;
use crate::store::{Row, StoreError, Tx};

/// Whether somebody may apply templates to a workspace of the organization at that time.
///
/// # Errors
/// Those of the store.
pub(super) async fn may_apply(
    tx: &mut Tx,
    WorkspaceKey {
        organization,
        workspace,
    }: WorkspaceKey,
    who: Uuid,
    now: i64,
) -> Result<bool, StoreError> {
    let parameters = [organization.into(), who.into()];
    let sql = "SELECT role FROM memberships WHERE {tenant organization_id} \
         AND organization_id = $1 AND user_id = $2";
    let Some(row) = tx.first(sql, &parameters).await? else {
        return key_may(tx, organization, who, now).await;
    };
    let role: String = row.get(0)?;
    match Role::parse(&role) {
        Some(role) if role >= Role::Admin => Ok(true),
        Some(Role::Editor) => is_open(tx, organization, workspace, who).await,
        _ => Ok(false),
    }
}

/// A key acts as an administrator, as far as its scopes go.
async fn key_may(tx: &mut Tx, organization: Uuid, key: Uuid, now: i64) -> Result<bool, StoreError> {
    let sql = "SELECT scopes FROM api_keys WHERE {tenant organization_id} \
         AND organization_id = $1 AND id = $2 AND (expires_at IS NULL OR expires_at > $3)";
    let parameters = [organization.into(), key.into(), now.into()];
    let scopes = tx.first(sql, &parameters).await?;
    let scopes: Option<String> = scopes.as_ref().map(|row: &Row| row.get(0)).transpose()?;
    Ok(scopes.is_some_and(|scopes| Scopes::parse(&scopes).has(KeyScope::Structure)))
}

/// Whether a member without an administrator's rights sees the workspace. One that is gone is closed
/// to nobody: what is missing is found out where it is needed.
async fn is_open(
    tx: &mut Tx,
    organization: Uuid,
    workspace: Uuid,
    who: Uuid,
) -> Result<bool, StoreError> {
    let sql = "SELECT w.id FROM workspaces w WHERE {tenant w.organization_id} AND {workspace w.id} \
         AND w.organization_id = $1 AND w.id = $2 AND w.access = 'members' AND NOT EXISTS \
         (SELECT 1 FROM workspace_members m WHERE m.organization_id = w.organization_id \
         AND m.workspace_id = w.id AND m.user_id = $3)";
    let parameters = [organization.into(), workspace.into(), who.into()];
    Ok(tx.first(sql, &parameters).await?.is_none())
}

/// Lets a job act as the one who asks for it now, when who asked before has lost the right to. It
/// keeps its ledger; what it reported was for another reader.
///
/// # Errors
/// Those of the store.
pub async fn hand_over(tx: &mut Tx, job: &Job, to: Uuid, now: i64) -> Result<(), StoreError> {
    let place = WorkspaceKey {
        organization: job.organization,
        workspace: job.workspace,
    };
    let before = job.created_by.unwrap_or_default();
    if before == to || may_apply(tx, place, before, now).await? {
        return Ok(());
    }
    let sql = "UPDATE main.template_jobs SET created_by = $3, report = NULL WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND organization_id = $1 AND id = $2";
    let parameters = [job.organization.into(), job.id.into(), to.into()];
    tx.query(sql, &parameters).await.map(drop)
}
