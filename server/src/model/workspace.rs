//! What is particular about workspaces: who closes one stays inside.

use super::record::Record;
use crate::auth::{Caller, Role};
use crate::http::problem::Problem;
use crate::store::Tx;

/// Lists the caller as a member of a workspace that only its members see, unless they see it anyway.
pub(super) async fn keep_sight(
    tx: &mut Tx,
    workspace: &Record,
    caller: &Caller,
    role: Role,
) -> Result<(), Problem> {
    if workspace.text("access") != "members" || role >= Role::Admin || caller.is_key() {
        return Ok(());
    }
    let sql = "INSERT INTO main.workspace_members {into $1} \
         (organization_id, workspace_id, user_id, created_at) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (organization_id, workspace_id, user_id) DO NOTHING";
    let parameters = [
        workspace.organization().into(),
        workspace.id.into(),
        caller.id.into(),
        workspace.updated_at.into(),
    ];
    tx.query(sql, &parameters).await?;
    Ok(())
}
