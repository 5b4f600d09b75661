//! Sequences: their current numbers, and advancing them.

use tplkit::problem::Code;
use tplkit::workspace::{Id, RecordKind};

use super::error::{missing, refused};
use super::{ReadError, UnitError};
use crate::store::{StoreError, Tx};

/// The column whose sequence it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sequence {
    /// Whose the table is.
    pub(super) organization: Id,
    /// The table.
    pub(super) feature: Id,
    /// The column.
    pub(super) column: Id,
}

/// The number that the next empty cell of a column gets; 1 where nothing is known of the column.
///
/// # Errors
/// Those of the store.
pub(crate) async fn stands(tx: &mut Tx, feature: Id, column: Id) -> Result<u64, ReadError> {
    Ok(next(tx, feature, column).await?.unwrap_or(1))
}

async fn next(tx: &mut Tx, feature: Id, column: Id) -> Result<Option<u64>, StoreError> {
    let sql = "SELECT next_number FROM columns WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND feature_id = $1 AND id = $2";
    let row = tx.first(sql, &[feature.into(), column.into()]).await?;
    let number: Option<i64> = row.map(|row| row.get(0)).transpose()?;
    Ok(number.and_then(|number| u64::try_from(number).ok()))
}

/// Sets a sequence that is at `from`; false when it stands elsewhere or is not there.
async fn set(tx: &mut Tx, sequence: Sequence, from: u64, to: u64) -> Result<bool, UnitError> {
    let Sequence {
        organization,
        feature,
        column,
    } = sequence;
    let Ok(from) = i64::try_from(from) else {
        return Ok(false);
    };
    let to = i64::try_from(to).map_err(|_| {
        let detail = format!(
            "no sequence goes on to {to}: the greatest number is {}",
            i64::MAX
        );
        refused(Code::ValidationFailed, detail)
    })?;
    let sql = "UPDATE main.columns SET next_number = $5 WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND organization_id = $1 AND feature_id = $2 AND id = $3 \
         AND next_number = $4 RETURNING id";
    let parameters = [
        organization.into(),
        feature.into(),
        column.into(),
        from.into(),
        to.into(),
    ];
    Ok(tx.first(sql, &parameters).await?.is_some())
}

/// Moves a sequence on from where it has to stand.
pub(super) async fn move_on(
    tx: &mut Tx,
    sequence: Sequence,
    from: u64,
    to: u64,
) -> Result<(), UnitError> {
    if set(tx, sequence, from, to).await? {
        return Ok(());
    }
    let stands = next(tx, sequence.feature, sequence.column).await?;
    let stands = stands.ok_or_else(|| missing(RecordKind::Column, sequence.column))?;
    let detail = format!("the sequence stands at {stands}, not at {from}");
    Err(refused(Code::Conflict, detail).into())
}

/// Moves a sequence back, unless others have taken numbers since.
pub(super) async fn rewind(
    tx: &mut Tx,
    sequence: Sequence,
    from: u64,
    to: u64,
) -> Result<(), UnitError> {
    set(tx, sequence, from, to).await.map(drop)
}
