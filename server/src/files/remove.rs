//! Removes files: a deleted one, and those of a removed workspace.

use uuid::Uuid;

use super::find::uses;
use super::objects;
use super::record::{File, columns};
use crate::auth::{Actor, Role};
use crate::refusal::{Code, Refusal};
use crate::store::{StoreError, Tx, sees_file};

/// Deletes a file.
///
/// # Errors
/// 404 for one that cannot be seen, 403 for a role that does not suffice and for uses that the caller does not see, 409
/// while something uses it.
pub async fn remove(
    tx: &mut Tx,
    actor: Actor<'_>,
    id: Uuid,
    force: Result<bool, Refusal>,
) -> Result<(), Refusal> {
    let find = concat!(
        "SELECT files.organization_id FROM files WHERE files.id = $1 AND ",
        sees_file!()
    );
    let found = tx.first(find, &[id.into()]).await?;
    let organization: Uuid = found.ok_or_else(Refusal::not_found)?.get(0)?;
    lock_organization(tx, organization).await?;
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM files WHERE files.organization_id = $1 AND files.id = $2 AND ",
        sees_file!(in "$1"),
        " {lock}"
    );
    let at = [organization.into(), id.into()];
    let row = tx.first(sql, &at).await?;
    let file = File::read(&row.ok_or_else(Refusal::not_found)?)?;
    let role = actor.enter(file.organization_id)?;
    let force = force?;
    // Looked at under the lock: who makes a use shares it, and looks again, too.
    let (seen, all) = uses(tx, &file).await?;
    if all > 0 && !force {
        return Err(Refusal::new(
            Code::NotEmpty,
            "Cells or automations use this file; force=true deletes it all the same.",
        ));
    }
    if all > seen && role < Role::Admin {
        return Err(Refusal::forbidden(
            "Something that you do not see uses this file; deleting it all the same takes the role admin.",
        ));
    }
    Ok(erase(tx, &file).await?)
}

/// Locks the organization, before its files: whoever writes rows has the same order, and what files hold together is
/// counted by one transaction at a time. An update that changes nothing: it does not keep others from naming the
/// organization, as a lock for an update would.
///
/// # Errors
/// Those of the store.
pub(super) async fn lock_organization(tx: &mut Tx, organization: Uuid) -> Result<(), StoreError> {
    let sql = "UPDATE main.organizations SET file_bytes = file_bytes WHERE {tenant id} AND id = $1";
    tx.query(sql, &[organization.into()]).await.map(drop)
}

/// Removes a record, which its transaction has locked after its organization, with its uses; gives the room back.
pub(super) async fn erase(tx: &mut Tx, file: &File) -> Result<(), StoreError> {
    let of = [file.organization_id.into(), file.id.into()];
    let sql = "DELETE FROM main.files WHERE {tenant organization_id} AND organization_id = $1 AND id = $2";
    tx.query(sql, &of).await?;
    let sql =
        "UPDATE main.organizations SET file_bytes = file_bytes - $2 WHERE {tenant id} AND id = $1";
    tx.query(sql, &[file.organization_id.into(), file.size.into()])
        .await?;
    objects::release(tx, file.organization_id, file.object).await
}

/// Gives back the room of all files of a workspace that is about to go, seen by the caller or not. Their records go with
/// the workspace.
///
/// # Errors
/// Those of the store.
pub async fn release_workspace(
    tx: &mut Tx,
    organization: Uuid,
    workspace: Uuid,
) -> Result<(), StoreError> {
    let before = tx.set_administered(vec![organization]).await?;
    let there = "SELECT id FROM files WHERE {tenant files.organization_id} AND files.organization_id = $1 \
         AND files.workspace_id = $2 LIMIT 1";
    let of = [organization.into(), workspace.into()];
    if tx.first(there, &of).await?.is_none() {
        // Nor will there be any: an upload shares the lock of its workspace.
        tx.set_administered(before).await?;
        return Ok(());
    }
    // What is summed up below has to be what is still there.
    lock_organization(tx, organization).await?;
    let bytes = "UPDATE main.organizations SET file_bytes = file_bytes - coalesce((SELECT CAST(sum(size) AS bigint) \
         FROM files WHERE files.organization_id = $1 AND files.workspace_id = $2), 0) WHERE {tenant id} AND id = $1";
    tx.query(bytes, &of).await?;
    let objects = "UPDATE main.file_objects SET free_since = coalesce(free_since, 0) \
         WHERE {tenant organization_id} AND organization_id = $1 AND id IN (SELECT object_id FROM files \
         WHERE files.organization_id = $1 AND files.workspace_id = $2)";
    tx.query(objects, &of).await?;
    tx.set_administered(before).await?;
    Ok(())
}
