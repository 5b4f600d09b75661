//! Automations that a job brings: versions, and which of them fires.

use tplkit::json::{Object, Value as Json};
use tplkit::workspace::{Automation, Id, Kind};
use uuid::Uuid;

use super::Stopped;
use super::error::missing;
use super::unit::Here;
use crate::automation;
use crate::rows::Table;
use crate::store::{Row, StoreError, Tx, Value};

/// A version as far as it matters here.
struct Version {
    number: i64,
    name: String,
    is_draft: bool,
    is_active: bool,
    trigger: String,
    graph: String,
}

impl Version {
    fn read(row: &Row) -> Result<Version, StoreError> {
        Ok(Version {
            number: row.get(0)?,
            name: row.get(1)?,
            is_draft: row.get(2)?,
            is_active: row.get(3)?,
            trigger: row.get(4)?,
            graph: row.get(5)?,
        })
    }

    fn config(&self) -> Json {
        let part = |text: &str| match Json::parse(text) {
            Ok(Json::Object(part)) => part,
            _ => Object::new(),
        };
        let whole = Automation {
            id: Id::nil(),
            name: String::new(),
            trigger_config: part(&self.trigger),
            graph_config: part(&self.graph),
            active: false,
        };
        whole.config()
    }
}

/// Creates an automation with its first version, a draft.
pub(super) async fn create(tx: &mut Tx, here: &Here, new: &Automation) -> Result<(), Stopped> {
    let sql = "INSERT INTO main.workflows {into $1} \
         (organization_id, workspace_id, id, last_version, created_at) VALUES ($1, $2, $3, 1, $4)";
    let parameters = [
        here.organization.into(),
        here.workspace.into(),
        new.id.into(),
        here.now.into(),
    ];
    tx.query(sql, &parameters).await?;
    let version = Version {
        number: 1,
        name: new.name.clone(),
        is_draft: true,
        is_active: false,
        trigger: Json::Object(new.trigger_config.clone()).write(),
        graph: Json::Object(new.graph_config.clone()).write(),
    };
    Ok(add(tx, here, new.id, &version, None).await?)
}

async fn add(
    tx: &mut Tx,
    here: &Here,
    workflow: Id,
    version: &Version,
    base: Option<i64>,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO main.workflow_versions {into $1} (organization_id, workspace_id, \
         workflow_id, id, version, base_version, name, is_draft, is_active, trigger_type, \
         trigger_feature_id, trigger_config, graph_config, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)";
    let trigger = Json::parse(&version.trigger).unwrap_or_default();
    let kind = trigger.get("type").and_then(Json::as_str);
    let parameters: [Value; 14] = [
        here.organization.into(),
        here.workspace.into(),
        workflow.into(),
        here.context.id().into(),
        version.number.into(),
        base.into(),
        version.name.as_str().into(),
        version.is_draft.into(),
        version.is_active.into(),
        kind.unwrap_or_default().into(),
        watched(&trigger).into(),
        version.trigger.as_str().into(),
        version.graph.as_str().into(),
        here.now.into(),
    ];
    tx.query(sql, &parameters).await.map(drop)
}

/// The table whose rows fire it.
fn watched(trigger: &Json) -> Option<Uuid> {
    let feature = trigger.get("config")?.get("featureId")?.as_str()?;
    Uuid::try_parse(feature).ok()
}

/// The version in force, if there is such an automation in this workspace. Others wait until the
/// transaction ends.
async fn in_force(tx: &mut Tx, here: &Here, workflow: Id) -> Result<Option<Version>, StoreError> {
    let sql = "SELECT id FROM workflows WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND organization_id = $1 AND workspace_id = $2 AND id = $3 \
         {lock}";
    let at = [
        here.organization.into(),
        here.workspace.into(),
        workflow.into(),
    ];
    if tx.first(sql, &at).await?.is_none() {
        return Ok(None);
    }
    let sql = "SELECT version, name, is_draft, is_active, trigger_config, graph_config \
         FROM workflow_versions WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND organization_id = $1 AND workspace_id = $2 AND workflow_id = $3 \
         ORDER BY is_active DESC, is_draft, version DESC LIMIT 1";
    let row = tx.first(sql, &at).await?;
    row.as_ref().map(Version::read).transpose()
}

/// Both configs of the version in force.
pub(super) async fn config(
    tx: &mut Tx,
    here: &Here,
    workflow: Id,
) -> Result<Option<Json>, StoreError> {
    let version = in_force(tx, here, workflow).await?;
    Ok(version.map(|version| version.config()))
}

/// Adds a version with these configs, in force where the one before was.
pub(super) async fn configure(
    tx: &mut Tx,
    here: &Here,
    workflow: Id,
    config: &Json,
) -> Result<(), Stopped> {
    let before = in_force(tx, here, workflow).await?;
    let before = before.ok_or_else(|| missing(Kind::Workflow, workflow))?;
    let part = |key: &str| match config.get(key) {
        Some(part @ Json::Object(_)) => part.write(),
        _ => "{}".to_owned(),
    };
    let sql = "UPDATE main.workflows SET last_version = last_version + 1 \
         WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND organization_id = $1 AND id = $2 RETURNING last_version";
    let at = [here.organization.into(), workflow.into()];
    let row = tx.first(sql, &at).await?;
    let row = row.ok_or_else(|| missing(Kind::Workflow, workflow))?;
    let version = Version {
        number: row.get(0)?,
        name: before.name.clone(),
        is_draft: before.is_draft,
        is_active: before.is_active,
        trigger: part("triggerConfig"),
        graph: part("graphConfig"),
    };
    if before.is_active {
        quiet(tx, here, workflow).await?;
    }
    add(tx, here, workflow, &version, Some(before.number)).await?;
    settled(tx, here, workflow).await
}

/// Publishes the newest version and makes it the one that fires.
pub(super) async fn publish(tx: &mut Tx, here: &Here, workflow: Id) -> Result<(), Stopped> {
    let before = in_force(tx, here, workflow).await?;
    let before = before.ok_or_else(|| missing(Kind::Workflow, workflow))?;
    let sql = "SELECT version, name, is_draft, is_active, trigger_config, graph_config \
         FROM workflow_versions WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND organization_id = $1 AND workflow_id = $2 ORDER BY version DESC LIMIT 1";
    let at = [here.organization.into(), workflow.into()];
    let row = tx.first(sql, &at).await?;
    let row = row.ok_or_else(|| missing(Kind::Workflow, workflow))?;
    let newest = Version::read(&row)?;
    if newest.is_active && !newest.is_draft {
        return Ok(());
    }
    if before.is_active {
        quiet(tx, here, workflow).await?;
    }
    let sql = "UPDATE main.workflow_versions SET is_draft = $4, is_active = $5 \
         WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND organization_id = $1 AND workflow_id = $2 AND version = $3";
    let parameters = [
        here.organization.into(),
        workflow.into(),
        newest.number.into(),
        false.into(),
        true.into(),
    ];
    tx.query(sql, &parameters).await?;
    settled(tx, here, workflow).await
}

/// Takes an automation away with all its versions; one that is gone is no error.
pub(super) async fn remove(tx: &mut Tx, here: &Here, workflow: Id) -> Result<(), Stopped> {
    let Some(before) = in_force(tx, here, workflow).await? else {
        return Ok(());
    };
    if before.is_active {
        tell(tx, here, &before.trigger).await?;
    }
    let sql = "DELETE FROM main.workflows WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND organization_id = $1 AND id = $2";
    tx.query(sql, &[here.organization.into(), workflow.into()])
        .await?;
    Ok(())
}

/// No version fires any more.
async fn quiet(tx: &mut Tx, here: &Here, workflow: Id) -> Result<(), StoreError> {
    let sql = "UPDATE main.workflow_versions SET is_active = $3 \
         WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND organization_id = $1 AND workflow_id = $2 AND is_active";
    let parameters = [here.organization.into(), workflow.into(), false.into()];
    tx.query(sql, &parameters).await.map(drop)
}

/// Tells tables and schedules which version waits for them now. One whose table was left out fires nothing.
async fn settled(tx: &mut Tx, here: &Here, workflow: Id) -> Result<(), Stopped> {
    let _ = automation::settle(tx, (here.organization, workflow), here.now).await?;
    Ok(())
}

/// Tells the watched table that it is watched no more: whoever writes rows goes by its version.
async fn tell(tx: &mut Tx, here: &Here, trigger: &str) -> Result<(), StoreError> {
    let trigger = Json::parse(trigger).unwrap_or_default();
    match watched(&trigger) {
        Some(feature) => Table::changed(tx, (here.organization, feature), here.now).await,
        None => Ok(()),
    }
}
