//! Unique values: the rows of `row_values`.
//!
//! A value is identified by the SHA-256 of its canonical text, so `1` and `1.0` are equal and long
//! texts cost no more than short ones. Stored rows have that text already.

use sha2::{Digest as _, Sha256};
use tplkit::rows::{file_id, members};
use uuid::Uuid;

use super::sequence_floor::floor;
use crate::refusal::Refusal;
use crate::store::{StoreError, Tx, Value};

/// How many rows are looked at in one go.
const BATCH: i64 = 1000;

/// The value as it is known, when it is one: nothing is repeated by being empty. In a column of files an id is the same in
/// other letters.
pub fn known_as(canonical: &str, of_files: bool) -> Option<[u8; 32]> {
    if of_files && let Some(id) = file_id(canonical) {
        return Some(Sha256::digest(format!("\"{id}\"")).into());
    }
    (canonical != "null").then(|| Sha256::digest(canonical).into())
}

/// A value of a row that no other row of its table may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct HashedValue {
    /// The position of its column.
    pub(super) column: usize,
    /// What it is known by.
    pub(super) digest: [u8; 32],
}

/// A column whose values are looked at.
#[derive(Debug, Clone)]
pub struct UniqueColumn {
    /// Where it lies.
    pub organization: Uuid,
    /// Where it lies.
    pub workspace: Uuid,
    /// Its table.
    pub feature: Uuid,
    /// Its id.
    pub id: Uuid,
    /// Its name, for the refusal.
    pub name: String,
    /// Whether it names files.
    pub of_files: bool,
}

/// Enters the values of all rows of a column that becomes unique (`claim`), and finds where a sequence
/// above all of them begins.
///
/// # Errors
/// 409 when a value is in two rows.
pub async fn enter(
    tx: &mut Tx,
    column: &UniqueColumn,
    claim: bool,
) -> Result<Option<i64>, Refusal> {
    let read = "SELECT id, {text data} FROM rows WHERE {tenant organization_id} \
         AND organization_id = $1 AND feature_id = $2 AND id > $3 ORDER BY id LIMIT $4";
    let insert = "INSERT INTO main.row_values {into $1} \
         (organization_id, workspace_id, feature_id, column_id, value, row_id) \
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING RETURNING row_id";
    let (mut after_all, mut after) = (None, Uuid::nil());
    loop {
        let parameters = [
            column.organization.into(),
            column.feature.into(),
            after.into(),
            BATCH.into(),
        ];
        let rows = tx.query(read, &parameters).await?;
        let Some(last) = rows.last() else {
            return Ok(after_all);
        };
        after = last.get(0)?;
        let mut values = Vec::new();
        for row in &rows {
            let (id, data): (Uuid, String) = (row.get(0)?, row.get(1)?);
            let cell = members(&data).find(|(key, _)| key.is(&column.name));
            let Some((_, cell)) = cell else { continue };
            after_all = after_all.max(floor(cell));
            values.extend(known_as(cell, column.of_files).map(|value| -> Vec<Value> {
                vec![
                    column.organization.into(),
                    column.workspace.into(),
                    column.feature.into(),
                    column.id.into(),
                    value.into(),
                    id.into(),
                ]
            }));
        }
        if claim {
            let entered = tx.each(insert, &values).await?;
            if entered.iter().any(Vec::is_empty) {
                return Err(Refusal::repeated(&column.name));
            }
        }
    }
}

/// Removes the values of a column that is unique no more.
///
/// # Errors
/// Those of the store.
pub async fn forget(tx: &mut Tx, column: &UniqueColumn) -> Result<(), StoreError> {
    let sql = "DELETE FROM main.row_values WHERE {tenant organization_id} \
         AND organization_id = $1 AND feature_id = $2 AND column_id = $3";
    let parameters = [
        column.organization.into(),
        column.feature.into(),
        column.id.into(),
    ];
    tx.query(sql, &parameters).await.map(drop)
}
