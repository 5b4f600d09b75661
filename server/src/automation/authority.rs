//! As whom a run works. One that a person or a key began sees what they see, by the rights that they have
//! now; one that an event or the clock began sees its organization.

use uuid::Uuid;

use super::runs::Run;
use crate::auth::Role;
use crate::store::{Scope, Store, StoreError, Tx, Visible};

/// The scope of a run; none when who began it may not any more.
///
/// # Errors
/// Those of the store.
pub(super) async fn scope_of(
    store: &Store,
    run: &Run,
    now: i64,
) -> Result<Option<Scope>, StoreError> {
    let Some(caller) = run.caller else {
        return Ok(Some(Scope::from(Visible {
            caller: run.id,
            organizations: vec![run.organization],
            administered: vec![run.organization],
            ..Visible::default()
        })));
    };
    store
        .read(
            &Scope::Operator,
            (run.organization, caller, now),
            |tx, input| Box::pin(look(tx, *input)),
        )
        .await
}

async fn look(
    tx: &mut Tx,
    (organization, caller, now): (Uuid, Uuid, i64),
) -> Result<Option<Scope>, StoreError> {
    let of = [organization.into(), caller.into()];
    let mut visible = Visible {
        caller,
        organizations: vec![organization],
        ..Visible::default()
    };
    let sql = "SELECT role FROM memberships WHERE organization_id = $1 AND user_id = $2";
    let role: Option<String> = tx
        .first(sql, &of)
        .await?
        .map(|row| row.get(0))
        .transpose()?;
    let Some(role) = role else {
        let sql = "SELECT id FROM api_keys WHERE organization_id = $1 AND id = $2 \
             AND (expires_at IS NULL OR expires_at > $3)";
        let of = [of[0].clone(), of[1].clone(), now.into()];
        if tx.first(sql, &of).await?.is_none() {
            return Ok(None);
        }
        visible.administered = vec![organization];
        return Ok(Some(visible.into()));
    };
    match Role::parse(&role) {
        Some(Role::Admin | Role::Owner) => visible.administered = vec![organization],
        Some(Role::Editor) => {
            let ids = |rows: Vec<crate::store::Row>| -> Result<Vec<Uuid>, StoreError> {
                rows.iter().map(|row| row.get(0)).collect()
            };
            let sql = "SELECT w.id FROM workspaces w WHERE w.organization_id = $1 \
                 AND w.access = 'members' AND NOT EXISTS (SELECT 1 FROM workspace_members l \
                 WHERE l.organization_id = w.organization_id AND l.workspace_id = w.id \
                 AND l.user_id = $2)";
            visible.hidden = ids(tx.query(sql, &of).await?)?;
            let sql = "SELECT workspace_id FROM workspace_members \
                 WHERE organization_id = $1 AND user_id = $2";
            visible.workspaces = ids(tx.query(sql, &of).await?)?;
            let sql = "SELECT id FROM features WHERE organization_id = $1 AND own_rows";
            visible.guarded = ids(tx.query(sql, &of[..1]).await?)?;
        }
        // Who may not write any more begins nothing that writes.
        Some(Role::Viewer) | None => return Ok(None),
    }
    Ok(Some(visible.into()))
}
