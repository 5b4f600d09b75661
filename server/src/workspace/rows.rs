//! Reads the rows of a table by pages, as the scope sees them.

use tplkit::workspace::{Id, RowData, StoredRow};

use super::ReadError;
use crate::store::{Row, StoreError, Tx};

/// At most `limit` rows after a row, by ascending id.
///
/// # Errors
/// When the scope does not see the table, and those of the store.
pub(crate) async fn page(
    tx: &mut Tx,
    feature: Id,
    after: Option<Id>,
    limit: usize,
) -> Result<Vec<StoredRow>, ReadError> {
    let organization = organization(tx, feature).await?;
    let sql = "SELECT id, {text data} FROM rows WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND {row feature_id created_by} \
         AND organization_id = $1 AND feature_id = $2 AND id > $3 ORDER BY id LIMIT $4";
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let parameters = [
        organization.into(),
        feature.into(),
        // No row has the least of all ids.
        after.unwrap_or_default().into(),
        limit.into(),
    ];
    let rows = tx.query(sql, &parameters).await?;
    Ok(rows.iter().map(read).collect::<Result<_, _>>()?)
}

/// Whose a table is, for as long as the scope sees it.
pub(super) async fn organization(tx: &mut Tx, feature: Id) -> Result<Id, ReadError> {
    let sql = "SELECT organization_id FROM features WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND id = $1";
    let row = tx.first(sql, &[feature.into()]).await?;
    let row = row.ok_or(ReadError::NoTable(feature))?;
    Ok(row.get(0)?)
}

/// A row of `id, data`.
pub(super) fn read(row: &Row) -> Result<StoredRow, StoreError> {
    let data: String = row.get(1)?;
    Ok(StoredRow {
        id: row.get(0)?,
        data: RowData::trusted(&data),
    })
}
