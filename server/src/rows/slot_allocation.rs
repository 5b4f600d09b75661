//! Slots of columns: sixteen indexed columns of a row that repeat the values of some cells.

use uuid::Uuid;

use crate::store::{StoreError, Tx};

/// How many a row has.
pub(crate) const SLOTS: i64 = 16;

/// Whether a table has rows, visible to the caller or not.
pub(crate) async fn has_rows(
    tx: &mut Tx,
    organization: Uuid,
    feature: Uuid,
) -> Result<bool, StoreError> {
    let sql = "SELECT id FROM rows WHERE {tenant organization_id} \
         AND organization_id = $1 AND feature_id = $2 LIMIT 1";
    let parameters = [organization.into(), feature.into()];
    Ok(tx.first(sql, &parameters).await?.is_some())
}

/// A slot that no column of the table has, if one is left.
pub(crate) async fn free(
    tx: &mut Tx,
    organization: Uuid,
    feature: Uuid,
) -> Result<Option<i64>, StoreError> {
    let taken = taken(tx, organization, feature).await?;
    Ok(least(
        &taken
            .into_iter()
            .map(|column| column.slot)
            .collect::<Vec<_>>(),
    ))
}

/// Gives a slot to each of the named columns that has none, as far as there are any. Reports whether
/// some column got one. The feature is locked.
pub(crate) async fn assign(
    tx: &mut Tx,
    organization: Uuid,
    feature: Uuid,
    names: &[String],
) -> Result<bool, StoreError> {
    let columns = taken(tx, organization, feature).await?;
    let mut slots: Vec<_> = columns.iter().map(|column| column.slot).collect();
    let mut given = None;
    let wanting = columns.iter().filter(|column| column.slot.is_none());
    for column in wanting.filter(|column| names.contains(&column.name)) {
        let Some(slot) = least(&slots) else { break };
        let ready = match given {
            Some(ready) => ready,
            None => !has_rows(tx, organization, feature).await?,
        };
        let sql = "UPDATE main.columns SET slot = $2, slot_ready = $3, slot_long = $4 \
             WHERE {tenant organization_id} AND organization_id = $1 AND id = $5";
        let parameters = [
            organization.into(),
            slot.into(),
            ready.into(),
            false.into(),
            column.id.into(),
        ];
        tx.query(sql, &parameters).await?;
        slots.push(Some(slot));
        given = Some(ready);
    }
    Ok(given.is_some())
}

struct SlottedColumn {
    id: Uuid,
    name: String,
    slot: Option<i64>,
}

async fn taken(
    tx: &mut Tx,
    organization: Uuid,
    feature: Uuid,
) -> Result<Vec<SlottedColumn>, StoreError> {
    let sql = "SELECT id, name, slot FROM columns WHERE {tenant organization_id} \
         AND organization_id = $1 AND feature_id = $2 ORDER BY position, id";
    let rows = tx
        .query(sql, &[organization.into(), feature.into()])
        .await?;
    let columns = rows.iter().map(|row| {
        Ok(SlottedColumn {
            id: row.get(0)?,
            name: row.get(1)?,
            slot: row.get(2)?,
        })
    });
    columns.collect()
}

fn least(taken: &[Option<i64>]) -> Option<i64> {
    (1..=SLOTS).find(|slot| !taken.contains(&Some(*slot)))
}
