//! Reads the rows of a table batch by batch, as the scope sees them.
//!
//! A batch is bounded in bytes. The store is asked for as many rows as stay below the bound, as far as can be
//! known by those that were read before; where they turn out larger, its response ends early.

use tplkit::workspace::{Id, KeptRow, RowData, StoredRow};

use super::ReadError;
use crate::rows::RowSizes;
use crate::store::{BOUND, Row, StoreError, Tx};

/// How many rows of a table of which nothing is known are asked for first.
const FIRST_ROWS: usize = 50;

/// Bytes of rows that are looked up together: until it is written, each is there several times.
pub(super) const BYTES_PER_QUERY: usize = 2 << 20;

/// As [`batch`], with everything that is known of each row.
///
/// # Errors
/// When the scope does not see the table, and those of the store.
pub(crate) async fn whole_batch(
    tx: &mut Tx,
    feature: Id,
    after: Option<Id>,
    limit: usize,
) -> Result<Vec<KeptRow>, ReadError> {
    let organization = organization(tx, feature).await?;
    let sql = "SELECT id, {text data}, created_by, created_at, updated_at FROM rows \
         WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND {row feature_id created_by} AND organization_id = $1 AND feature_id = $2 \
         AND id > $3 ORDER BY id LIMIT $4 {bounded}";
    let parameters = [
        organization.into(),
        feature.into(),
        after.unwrap_or_default().into(),
        i64::try_from(limit).unwrap_or(i64::MAX).into(),
    ];
    let rows = tx.query(sql, &parameters).await?;
    let whole = |row: &Row| {
        let StoredRow { id, data } = read(row)?;
        Ok(KeptRow {
            id,
            data,
            created_by: row.get(2)?,
            created_at: Some(row.get(3)?),
            updated_at: Some(row.get(4)?),
        })
    };
    rows.iter().map(whole).collect()
}

/// At most `limit` rows after a row, by ascending id, and fewer behind the bound.
///
/// # Errors
/// When the scope does not see the table, and those of the store.
pub(crate) async fn batch(
    tx: &mut Tx,
    sizes: &RowSizes,
    feature: Id,
    after: Option<Id>,
    limit: usize,
) -> Result<Vec<StoredRow>, ReadError> {
    let organization = organization(tx, feature).await?;
    let sql = "SELECT id, {text data} FROM rows WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND {row feature_id created_by} \
         AND organization_id = $1 AND feature_id = $2 AND id > $3 ORDER BY id LIMIT $4 {bounded}";
    let mut batch: Vec<StoredRow> = Vec::new();
    let (mut bytes, mut largest) = (0, sizes.of(feature));
    let mut at_once = match (after, largest) {
        (None, 0) => FIRST_ROWS.min(limit),
        _ => fitting(BOUND, largest, limit),
    };
    loop {
        let behind = batch.last().map(|row| row.id).or(after);
        let parameters = [
            organization.into(),
            feature.into(),
            // No row has the least of all ids.
            behind.unwrap_or_default().into(),
            i64::try_from(at_once).unwrap_or(i64::MAX).into(),
        ];
        let rows = tx.query(sql, &parameters).await?;
        let (count, mut came) = (rows.len(), 0);
        largest = 0;
        // Each is let go once it is read: they may be large.
        for row in rows {
            came += row.bytes();
            largest = largest.max(row.bytes());
            batch.push(read(&row)?);
        }
        bytes += came;
        // A response that reached its bound may have left rows unread.
        let ended = count < at_once && came <= BOUND;
        if ended || batch.len() >= limit || bytes + largest > BOUND {
            break;
        }
        at_once = fitting(BOUND - bytes, largest, limit - batch.len());
    }
    sizes.note(feature, (largest > BOUND / limit.max(1)).then_some(largest));
    Ok(batch)
}

/// How many rows of that size stay below so many bytes, at least one.
pub(super) fn fitting(bytes: usize, size: usize, limit: usize) -> usize {
    (bytes / size.max(1)).clamp(1, limit.max(1))
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
