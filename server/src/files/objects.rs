//! Which objects there are in the place, and which of them may go.
//!
//! The row of an object is the lock on a content of an organization, for every process of the store. An upload holds
//! the object before it writes it, makes its record only if the object still lives, and lets go of it then, or when it
//! comes to nothing ([`upload_hold`](super::upload_hold)). Whoever removes one condemns it first, when no record names
//! it and nobody holds it; from then on nobody makes a record of it.
//!
//! `free_since` says who keeps an object. Nothing: a record names it. Until a time to come: so many `uploads` hold it.
//! Since a time that is over: maybe nobody, so a sweep looks.

use uuid::Uuid;

use super::record::hex;
use super::storage::ObjectKey;
use crate::refusal::Refusal;
use crate::store::{PipelinedStatement, StoreError, Tx, Value};

/// How long an upload may take from its last byte to its record, in microseconds.
const HOLD_MICROS: i64 = 15 * 60 * 1_000_000;

/// An object, with its organization.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObjectRef {
    /// Whose it is.
    pub organization: Uuid,
    /// Its id.
    pub object: Uuid,
}

/// The object of a content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Object {
    /// Whose it is.
    pub organization: Uuid,
    /// Its id.
    pub id: Uuid,
    /// Its content.
    pub sha256: [u8; 32],
    /// Bytes.
    pub size: i64,
}

impl Object {
    /// Its name in the place.
    pub fn key(&self) -> ObjectKey {
        ObjectKey::new(self.organization, &hex(&self.sha256), self.id)
    }
}

/// Until when a hold lasts that begins now. Nothing is let go of after that: others may hold the object by then.
pub fn hold_ends(now: i64) -> i64 {
    now + HOLD_MICROS
}

/// Holds the object of a content for an upload that is about to write it. `new.id` is its id if there is none.
///
/// # Errors
/// Those of the store.
pub async fn hold(tx: &mut Tx, new: Object, now: i64) -> Result<Object, StoreError> {
    // What is left of holds that are over counts no more.
    let sql = "INSERT INTO main.file_objects {into $1} (organization_id, id, sha256, size, condemned, free_since, uploads, \
         created_at) VALUES ($1, $2, $3, $4, false, $5, 1, $6) ON CONFLICT (organization_id, sha256) WHERE NOT condemned \
         DO UPDATE SET free_since = excluded.free_since, uploads = 1 + CASE \
         WHEN file_objects.free_since > excluded.created_at THEN file_objects.uploads ELSE 0 END RETURNING id";
    let parameters: [Value; 6] = [
        new.organization.into(),
        new.id.into(),
        new.sha256.into(),
        new.size.into(),
        hold_ends(now).into(),
        now.into(),
    ];
    let row = tx.first(sql, &parameters).await?;
    let row = row.ok_or_else(|| StoreError::Internal("no object was held".to_owned()))?;
    Ok(Object {
        id: row.get(0)?,
        ..new
    })
}

/// What the last hold that ends leaves of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AfterRelease {
    /// A record names it.
    Named,
    /// Maybe nobody needs it.
    Free,
}

/// Ends one of the holds of an object. Whoever has one of them that lasts longer, or of another upload, keeps it.
pub(super) fn end_hold(object: &Object, now: i64, afterwards: AfterRelease) -> PipelinedStatement {
    let sql = "UPDATE main.file_objects SET uploads = uploads - 1, \
         free_since = CASE WHEN uploads > 1 THEN free_since ELSE $4 END \
         WHERE {tenant organization_id} AND organization_id = $1 AND id = $2 AND NOT condemned AND free_since > $3 \
         AND uploads > 0";
    let last = match afterwards {
        AfterRelease::Named => None,
        AfterRelease::Free => Some(0_i64),
    };
    let parameters = vec![
        object.organization.into(),
        object.id.into(),
        now.into(),
        last.into(),
    ];
    PipelinedStatement::new(sql, parameters)
}

/// The refusal of a record whose object was condemned meanwhile, because the upload took too long.
pub(super) fn gone() -> Refusal {
    Refusal::unavailable(
        "Storing the bytes took too long, and they were removed; upload the file again.",
    )
}

/// Notes that a record of an object is gone. Whether it was the last one the next sweep finds out, and an object that is
/// held stays so.
///
/// # Errors
/// Those of the store.
pub(super) async fn release(
    tx: &mut Tx,
    organization: Uuid,
    object: Uuid,
) -> Result<(), StoreError> {
    let sql = "UPDATE main.file_objects SET free_since = coalesce(free_since, 0) \
         WHERE {tenant organization_id} AND organization_id = $1 AND id = $2";
    tx.query(sql, &[organization.into(), object.into()])
        .await
        .map(drop)
}
