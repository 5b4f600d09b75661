//! Who a restricted workspace lists: the people below administrators who see it.

use uuid::Uuid;

use super::members::is_member;
use crate::ids::WorkspaceKey;
use crate::store::{StoreError, Tx};

/// Lists a person in a workspace, who sees it from then on; false when the person does not belong to the organization.
///
/// # Errors
/// Those of the store.
pub async fn list(
    tx: &mut Tx,
    WorkspaceKey {
        organization,
        workspace,
    }: WorkspaceKey,
    user: Uuid,
    now: i64,
) -> Result<bool, StoreError> {
    // Locks the membership, so only current members are listed.
    let member = "SELECT user_id FROM memberships WHERE {tenant organization_id} \
         AND organization_id = $1 AND user_id = $2 {share memberships}";
    let parameters = [organization.into(), user.into()];
    if tx.first(member, &parameters).await?.is_none() {
        return Ok(false);
    }
    let insert = "INSERT INTO main.workspace_members {into $1} \
         (organization_id, workspace_id, user_id, created_at) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (organization_id, workspace_id, user_id) DO NOTHING";
    let parameters = [
        organization.into(),
        workspace.into(),
        user.into(),
        now.into(),
    ];
    tx.query(insert, &parameters).await?;
    Ok(true)
}

/// Takes a person from the list of a workspace; false when the person does not belong to the organization.
///
/// # Errors
/// Those of the store.
pub async fn unlist(
    tx: &mut Tx,
    WorkspaceKey {
        organization,
        workspace,
    }: WorkspaceKey,
    user: Uuid,
) -> Result<bool, StoreError> {
    if !is_member(tx, organization, user).await? {
        return Ok(false);
    }
    let delete = "DELETE FROM main.workspace_members WHERE {tenant organization_id} \
         AND organization_id = $1 AND workspace_id = $2 AND user_id = $3";
    let parameters = [organization.into(), workspace.into(), user.into()];
    tx.query(delete, &parameters).await?;
    Ok(true)
}
