//! Specifics of features: whose rows they show, and the version of their columns.

use tplkit::json::Value as Json;
use uuid::Uuid;

use super::find;
use super::kind::FEATURE;
use super::record::Record;
use super::visibility::shows_own_rows;
use crate::refusal::Refusal;
use crate::rows::slot_allocation;
use crate::store::{StoreError, Tx};

/// Completes a feature whose config has been checked.
pub(super) fn complete(feature: &mut Record) {
    let config = Json::parse(&feature.config).unwrap_or_default();
    feature.set("own_rows", shows_own_rows(&config));
    let version = feature.integer("version").unwrap_or_default();
    feature.set("version", version + 1);
}

/// Raises the version of a feature whose columns change, so that no cache of it stays in use.
pub(super) async fn touch(
    tx: &mut Tx,
    organization: Uuid,
    feature: Uuid,
) -> Result<(), StoreError> {
    let sql = "UPDATE main.features SET version = version + 1 WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND organization_id = $1 AND id = $2";
    let of = [organization.into(), feature.into()];
    tx.query(sql, &of).await.map(drop)
}

/// Gives slots to the columns that a view filters, sorts or groups by.
pub(super) async fn serve_view(
    tx: &mut Tx,
    view: &Record,
    names: &[String],
) -> Result<(), Refusal> {
    if names.is_empty() {
        return Ok(());
    }
    let feature = find::lock(tx, &FEATURE, view.parent()).await?;
    if slot_allocation::assign(tx, feature.organization(), feature.id, names).await? {
        touch(tx, feature.organization(), feature.id).await?;
    }
    Ok(())
}
