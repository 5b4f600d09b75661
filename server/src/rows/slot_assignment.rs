//! Gives slots to the columns that are asked for often: a background task, for all tables.

use uuid::Uuid;

use super::slot_allocation;
use super::table::Table;
use super::tables::Tables;
use crate::context::Context;
use crate::store::{Scope, Store, StoreError, Tx};

/// Gives slots to the columns that were asked for often, as far as there are any. Reports how many tables
/// got some.
///
/// # Errors
/// Those of the store.
pub async fn give_slots(
    store: &Store,
    context: &Context,
    tables: &Tables,
) -> Result<u64, StoreError> {
    let mut given = 0;
    for (feature, names) in tables.hot.take() {
        let input = (feature, names, context.now());
        let some: bool = store
            .write(&Scope::Operator, input, |tx, (feature, names, now)| {
                Box::pin(assign(tx, *feature, names, *now))
            })
            .await?;
        given += u64::from(some);
    }
    Ok(given)
}

async fn assign(
    tx: &mut Tx,
    feature: Uuid,
    names: &[String],
    now: i64,
) -> Result<bool, StoreError> {
    let sql = "SELECT organization_id FROM features WHERE {tenant organization_id} AND id = $1 {across id}";
    let Some(organization) = tx.organization_of(sql, feature).await? else {
        return Ok(false);
    };
    let sql = "SELECT id FROM features \
         WHERE {tenant organization_id} AND organization_id = $1 AND id = $2 {lock}";
    let at = [organization.into(), feature.into()];
    if tx.first(sql, &at).await?.is_none() {
        return Ok(false);
    }
    let given = slot_allocation::assign(tx, organization, feature, names).await?;
    if given {
        Table::changed(tx, organization, feature, now).await?;
    }
    Ok(given)
}
