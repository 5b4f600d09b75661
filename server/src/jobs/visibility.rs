//! The visibility of a job: that of its creator, by current rights (`rest` 2.5).
//!
//! Links are resolved and keys compared with it, so no report shows hidden rows. A creator who left
//! the organization sees nothing restricted.

use uuid::Uuid;

use super::Lease;
use crate::auth::Role;
use crate::store::{Row, Scope, StoreError, Tx, Visible};

/// The scope in which a job reads.
///
/// # Errors
/// Those of the store.
pub(super) async fn visibility(tx: &mut Tx, lease: &Lease) -> Result<Scope, StoreError> {
    let Scope::Caller(visible) = lease.scope() else {
        return Ok(lease.scope());
    };
    let creator = lease.creator.unwrap_or_default();
    if sees_all(tx, lease.organization, creator).await? {
        return Ok(Scope::Caller(visible));
    }
    let sql = "SELECT id FROM features WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND organization_id = $1 AND own_rows ORDER BY id";
    let guarded = tx.query(sql, &[lease.organization.into()]).await?;
    let sql = "SELECT w.id FROM workspaces w WHERE {tenant w.organization_id} AND {workspace w.id} \
         AND w.organization_id = $1 AND w.access = 'members' AND w.id <> $2 AND NOT EXISTS \
         (SELECT 1 FROM workspace_members m WHERE m.organization_id = w.organization_id \
         AND m.workspace_id = w.id AND m.user_id = $3) ORDER BY w.id";
    let parameters = [
        lease.organization.into(),
        lease.workspace.into(),
        creator.into(),
    ];
    let hidden = tx.query(sql, &parameters).await?;
    let ids = |rows: &[Row]| {
        let ids = rows.iter().map(|row| row.get(0));
        ids.collect::<Result<Vec<Uuid>, StoreError>>()
    };
    let visible = Visible {
        guarded: ids(&guarded)?,
        hidden: ids(&hidden)?,
        ..Visible::clone(&visible)
    };
    Ok(visible.into())
}

/// Whether the creator of the job may change visibility (`rest` 2.4).
///
/// # Errors
/// Those of the store.
pub(super) async fn decides(tx: &mut Tx, lease: &Lease) -> Result<bool, StoreError> {
    let creator = lease.creator.unwrap_or_default();
    sees_all(tx, lease.organization, creator).await
}

/// Whether nothing in the organization is kept from them: administrators, and keys.
async fn sees_all(tx: &mut Tx, organization: Uuid, who: Uuid) -> Result<bool, StoreError> {
    let parameters = [organization.into(), who.into()];
    let sql = "SELECT role FROM memberships WHERE {tenant organization_id} \
         AND organization_id = $1 AND user_id = $2";
    if let Some(row) = tx.first(sql, &parameters).await? {
        let role: String = row.get(0)?;
        return Ok(Role::parse(&role).is_some_and(|role| role >= Role::Admin));
    }
    let sql = "SELECT id FROM api_keys WHERE {tenant organization_id} \
         AND organization_id = $1 AND id = $2";
    Ok(tx.first(sql, &parameters).await?.is_some())
}
