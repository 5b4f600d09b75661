//! Finds one row, as far as the scope sees it.

use uuid::Uuid;

use super::StoredRow;
use crate::store::{StoreError, Tx};

/// The row of a table that nobody has looked at: a row says itself who may see it.
///
/// # Errors
/// Those of the store.
pub async fn by_id(tx: &mut Tx, feature: Uuid, row: Uuid) -> Result<Option<StoredRow>, StoreError> {
    let sql = "SELECT id, created_at, updated_at, {text data} FROM rows \
         WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND {row feature_id created_by} AND feature_id = $1 AND id = $2";
    let rows = tx.last(sql, &[feature.into(), row.into()]).await?;
    rows.first().map(StoredRow::read).transpose()
}

/// The row of a table of that organization.
///
/// # Errors
/// Those of the store.
pub async fn within(
    tx: &mut Tx,
    organization: Uuid,
    feature: Uuid,
    row: Uuid,
) -> Result<Option<StoredRow>, StoreError> {
    let sql = "SELECT id, created_at, updated_at, {text data} FROM rows \
         WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND {row feature_id created_by} \
         AND organization_id = $1 AND feature_id = $2 AND id = $3";
    let parameters = [organization.into(), feature.into(), row.into()];
    let found = tx.first(sql, &parameters).await?;
    found.as_ref().map(StoredRow::read).transpose()
}

/// A row that nobody else changes until the transaction ends.
#[derive(Debug)]
pub struct LockedRow {
    /// The row.
    pub row: StoredRow,
    /// Who created it.
    pub creator: Option<Uuid>,
}

/// Locks a row and reads it, in this order, so that changes of different cells build on each other.
///
/// # Errors
/// Those of the store.
pub async fn lock(
    tx: &mut Tx,
    organization: Uuid,
    feature: Uuid,
    row: Uuid,
) -> Result<Option<LockedRow>, StoreError> {
    let sql = "SELECT id, created_at, updated_at, {text data}, created_by FROM rows \
         WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND {row feature_id created_by} \
         AND organization_id = $1 AND feature_id = $2 AND id = $3 {lock}";
    let parameters = [organization.into(), feature.into(), row.into()];
    let Some(found) = tx.first(sql, &parameters).await? else {
        return Ok(None);
    };
    Ok(Some(LockedRow {
        row: StoredRow::read(&found)?,
        creator: found.get(4)?,
    }))
}
