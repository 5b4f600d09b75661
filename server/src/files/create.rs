//! Makes the record of a file whose bytes are in their place.

use uuid::Uuid;

use super::objects::{self, Object};
use super::record::{File, columns};
use crate::refusal::{Code, Refusal};
use crate::store::{StoreError, Tx, Value};

/// A file that is to be.
#[derive(Debug, Clone)]
pub struct NewFile {
    /// Of the record.
    pub id: Uuid,
    /// Where it is.
    pub workspace: Uuid,
    /// As it was sent.
    pub name: String,
    /// As it was sent.
    pub content_type: String,
    /// Its bytes.
    pub object: Object,
    /// Who brings it.
    pub by: Uuid,
    /// The time.
    pub now: i64,
}

/// Makes the record. Locks the workspace, then the organization, then the object: whoever removes files has the same
/// order.
///
/// # Errors
/// 404 when the workspace has gone, 409 when the organization has no room, 503 when the object has gone.
pub async fn create(tx: &mut Tx, new: &NewFile) -> Result<File, Refusal> {
    let object = &new.object;
    let organization: Value = object.organization.into();
    let sql = "SELECT id FROM workspaces WHERE {tenant organization_id} AND {workspace id} AND organization_id = $1 \
         AND id = $2 {share workspaces}";
    let there = tx
        .first(sql, &[organization.clone(), new.workspace.into()])
        .await?;
    there.ok_or_else(Refusal::not_found)?;
    charge(tx, object).await?;
    objects::keep(tx, object).await?;
    let sql = concat!(
        "INSERT INTO main.files {into $1} (organization_id, id, workspace_id, object_id, name, content_type, size, \
         sha256, created_by, created_at, unused_since) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10) RETURNING ",
        columns!()
    );
    let parameters: [Value; 10] = [
        organization,
        new.id.into(),
        new.workspace.into(),
        object.id.into(),
        new.name.as_str().into(),
        new.content_type.as_str().into(),
        object.size.into(),
        object.sha256.into(),
        new.by.into(),
        new.now.into(),
    ];
    let row = tx.first(sql, &parameters).await?;
    let row = row.ok_or_else(|| StoreError::Internal("no file was inserted".to_owned()))?;
    Ok(File::read(&row)?)
}

/// Takes the room for it, under the lock of the organization.
async fn charge(tx: &mut Tx, object: &Object) -> Result<(), Refusal> {
    let sql = "UPDATE main.organizations SET file_bytes = file_bytes + $2 WHERE {tenant id} AND id = $1 \
         AND (file_quota IS NULL OR file_bytes + $2 <= file_quota) RETURNING id";
    let charged = tx
        .first(sql, &[object.organization.into(), object.size.into()])
        .await?;
    charged.map(drop).ok_or_else(no_room)
}

/// The refusal of a file for which there is no room.
pub fn no_room() -> Refusal {
    Refusal::new(
        Code::QuotaExceeded,
        "The files of the organization would have more bytes than its quota allows; delete some, or have the quota \
         raised.",
    )
}

/// How much room an organization has left; any amount where nothing limits it.
///
/// # Errors
/// Those of the store.
pub async fn room(tx: &mut Tx, organization: Uuid) -> Result<Option<i64>, StoreError> {
    let sql = "SELECT file_quota - file_bytes FROM organizations WHERE {tenant id} AND id = $1";
    let row = tx.first(sql, &[organization.into()]).await?;
    row.map_or(Ok(None), |row| row.get(0))
}
