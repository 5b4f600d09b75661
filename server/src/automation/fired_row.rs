//! The row that a run is started with by hand.

use tplkit::json::Value as Json;
use uuid::Uuid;

use super::Version;
use crate::ids;
use crate::refusal::Refusal;
use crate::rows::find;
use crate::store::{Scope, StoreError, Tx};

/// A row that fires a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FiredRow {
    /// Its table.
    pub table: Uuid,
    /// Its id.
    pub row: Uuid,
    /// The row as it is then, as the API writes it.
    pub document: String,
}

/// The row that is to fire, if one is named. Its table is the one that the trigger watches, unless `feature` names
/// it.
///
/// # Errors
/// 404 for a table or row that the scope does not see, 422 for a row without a table, or of another one than the trigger
/// watches.
pub async fn fired_row(
    tx: &mut Tx,
    version: &Version,
    feature: Option<Uuid>,
    row: Option<Uuid>,
) -> Result<Option<FiredRow>, Refusal> {
    let watched = watched(&version.trigger_config);
    let feature = match (row, feature, watched) {
        (_, Some(feature), _) | (Some(_), None, Some(feature)) => feature,
        (Some(_), None, None) => {
            let message = "is required with row_id where the trigger names no table";
            return Err(Refusal::fault("feature_id", message));
        }
        (None, None, _) => return Ok(None),
    };
    if !sees_table(tx, version.organization, feature).await? {
        return Err(Refusal::not_found());
    }
    let Some(row) = row else {
        return Ok(None);
    };
    let stored = find::within(tx, version.organization, feature, row).await?;
    let stored = stored.ok_or_else(Refusal::not_found)?;
    if watched.is_some_and(|watched| watched != feature) {
        let message = "is another table than the one that the trigger watches";
        return Err(Refusal::fault("feature_id", message));
    }
    Ok(Some(FiredRow {
        table: feature,
        row,
        document: String::from_utf8(stored.document(feature)).unwrap_or_default(),
    }))
}

/// The table and the row that a request for a run names.
#[derive(Debug, Clone, Copy)]
pub struct NamedRow {
    /// The table, where it is named.
    pub feature: Option<Uuid>,
    /// The row, where there is one.
    pub row: Option<Uuid>,
}

/// Whether the scope sees now with what a run was begun. A row without a table is of the one that the run was begun with:
/// the trigger may watch another one since.
///
/// # Errors
/// Those of the store.
pub async fn sees_fired(
    tx: &mut Tx,
    organization: Uuid,
    run: Uuid,
    NamedRow { feature, row }: NamedRow,
) -> Result<bool, StoreError> {
    let mut feature = feature;
    if feature.is_none() && row.is_some() {
        let sql = "SELECT feature_id FROM workflow_runs WHERE {tenant organization_id} \
             AND {workspace workspace_id} AND organization_id = $1 AND id = $2";
        let run = tx.first(sql, &[organization.into(), run.into()]).await?;
        feature = run.map_or(Ok(None), |run| run.get(0))?;
    }
    let Some(feature) = feature else {
        return Ok(true);
    };
    if !sees_table(tx, organization, feature).await? {
        return Ok(false);
    }
    let is_guarded =
        matches!(tx.scope(), Scope::Caller(visible) if visible.guarded.contains(&feature));
    // Where everybody sees all rows, one that is gone was not hidden.
    let Some(row) = row.filter(|_| is_guarded) else {
        return Ok(true);
    };
    let found = find::within(tx, organization, feature, row).await?;
    Ok(found.is_some())
}

async fn sees_table(tx: &mut Tx, organization: Uuid, feature: Uuid) -> Result<bool, StoreError> {
    let sql = "SELECT organization_id FROM features WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND organization_id = $1 AND id = $2";
    let of = [organization.into(), feature.into()];
    Ok(tx.first(sql, &of).await?.is_some())
}

/// The table that a trigger names.
fn watched(trigger: &str) -> Option<Uuid> {
    let trigger = Json::parse(trigger).ok()?;
    let config = trigger.get("config")?;
    ids::uuid(config.get("featureId")?.as_str()?)
}
