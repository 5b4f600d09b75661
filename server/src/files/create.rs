//! Makes the record of a file whose bytes are in their place.

use uuid::Uuid;

use super::objects::{self, AfterRelease, Object, end_hold};
use super::record::{File, columns};
use crate::refusal::{Code, Refusal};
use crate::store::{PipelinedStatement, StoreError, Tx};

/// A file that is to be.
#[derive(Debug, Clone)]
pub struct NewFile {
    /// The id of its record.
    pub id: Uuid,
    /// Where it is.
    pub workspace: Uuid,
    /// As it was sent.
    pub name: String,
    /// As it was sent.
    pub content_type: String,
    /// Its bytes.
    pub object: Object,
    /// Until when they are held for it at least, in microseconds.
    pub hold_ends: i64,
    /// Who brings it.
    pub by: Uuid,
    /// The time.
    pub now: i64,
}

/// Where a file is to be.
#[derive(Debug, Clone, Copy)]
pub struct Destination {
    /// Whose the workspace is.
    pub organization: Uuid,
    /// The workspace.
    pub workspace: Uuid,
    /// Bytes that the organization may still have; any amount where nothing limits it.
    pub room: Option<i64>,
}

/// A workspace as the destination of a file; nothing where the caller does not see it.
///
/// # Errors
/// Those of the store.
pub async fn destination(tx: &mut Tx, workspace: Uuid) -> Result<Option<Destination>, StoreError> {
    let sql = "SELECT workspaces.organization_id, organizations.file_quota - organizations.file_bytes FROM workspaces \
         JOIN organizations ON organizations.id = workspaces.organization_id \
         WHERE {tenant workspaces.organization_id} AND {workspace workspaces.id} AND {tenant organizations.id} \
         AND workspaces.id = $1";
    let rows = tx.last(sql, &[workspace.into()]).await?;
    let found = rows.first().map(|row| {
        Ok(Destination {
            organization: row.get(0)?,
            workspace,
            room: row.get(1)?,
        })
    });
    found.transpose()
}

/// Makes the record, and lets go of its object, which it names. Locks the workspace, then the organization, then the
/// object: whoever removes files has the same order. The organization is locked no longer than needed: all of its uploads
/// wait for each other there. `now` is the time at which this begins.
///
/// # Errors
/// 404 when the workspace has gone, 409 when the organization has no room, 503 when the object has gone.
pub async fn create(tx: &mut Tx, new: &NewFile, now: i64) -> Result<File, Refusal> {
    let object = &new.object;
    let sql = "SELECT id FROM workspaces WHERE {tenant organization_id} AND {workspace id} AND organization_id = $1 \
         AND id = $2 {share workspaces}";
    let of = [object.organization.into(), new.workspace.into()];
    let there = tx.first(sql, &of).await?;
    there.ok_or_else(Refusal::not_found)?;
    let mut statements = vec![charge(object), insert(new)];
    // What is held after that is held for others.
    if now < new.hold_ends {
        statements.push(end_hold(object, now, AfterRelease::Named));
    }
    let made = tx.pipeline(statements).await?;
    let [charged, inserted, ..] = &made[..] else {
        return Err(StoreError::Internal("no file was inserted".to_owned()).into());
    };
    charged.first().ok_or_else(no_room)?;
    let file = inserted.first().ok_or_else(objects::gone)?;
    Ok(File::read(file)?)
}

/// Lets go of the object of a file of which no record is made: the response to an earlier request stands for it.
///
/// # Errors
/// Those of the store.
pub async fn give_up(tx: &mut Tx, new: &NewFile, now: i64) -> Result<(), StoreError> {
    if now < new.hold_ends {
        let end = end_hold(&new.object, now, AfterRelease::Free);
        tx.pipeline(vec![end]).await?;
    }
    Ok(())
}

/// Takes the room for it, under the lock of the organization.
fn charge(object: &Object) -> PipelinedStatement {
    let sql = "UPDATE main.organizations SET file_bytes = file_bytes + $2 WHERE {tenant id} AND id = $1 \
         AND (file_quota IS NULL OR file_bytes + $2 <= file_quota) RETURNING id";
    let parameters = vec![object.organization.into(), object.size.into()];
    PipelinedStatement::new(sql, parameters)
}

/// Inserts the record, where its object lives, under the lock of the object.
fn insert(new: &NewFile) -> PipelinedStatement {
    let object = &new.object;
    let sql = concat!(
        "INSERT INTO main.files {into $1} (organization_id, id, workspace_id, object_id, name, content_type, size, \
         sha256, created_by, created_at, unused_since) SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10 \
         FROM file_objects WHERE {tenant file_objects.organization_id} AND file_objects.organization_id = $1 \
         AND file_objects.id = $4 AND NOT file_objects.condemned {lock} RETURNING ",
        columns!()
    );
    let parameters = vec![
        object.organization.into(),
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
    PipelinedStatement::new(sql, parameters)
}

/// The refusal of a file for which there is no room.
pub fn no_room() -> Refusal {
    Refusal::new(
        Code::QuotaExceeded,
        "The files of the organization would have more bytes than its quota allows; delete some, or ask the operator of \
         the server to raise it (`admin set-quota`).",
    )
}
