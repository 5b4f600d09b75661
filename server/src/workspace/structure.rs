//! Reads the structure of a workspace and the records that it may refer to, as the scope sees them.

use std::collections::HashMap;

use tplkit::json::{Object, Value as Json};
use tplkit::workspace::{
    Automation, Channel, Column, Connection, Feature, Id, Module, Named, Organization, Rail,
    Structure, View, Workspace,
};

use super::ReadError;
use crate::store::{Row, Scope, StoreError, Tx, Value};

const WORKSPACE: &str = "SELECT organization_id, id, name, label, config FROM workspaces \
     WHERE {tenant organization_id} AND {workspace id} AND id = $1";
const MODULES: &str = "SELECT id, name, label, icon, position, config FROM modules \
     WHERE {tenant organization_id} AND {workspace workspace_id} \
     AND organization_id = $1 AND workspace_id = $2 ORDER BY position, id";
const RAILS: &str = "SELECT module_id, id, name, label, position, config FROM rails \
     WHERE {tenant organization_id} AND {workspace workspace_id} \
     AND organization_id = $1 AND workspace_id = $2 ORDER BY position, id";
const AUTOMATIONS: &str = "SELECT workflow_id, name, trigger_config, graph_config, is_active \
     FROM (SELECT workflow_id, name, trigger_config, graph_config, is_active, row_number() OVER \
     (PARTITION BY workflow_id ORDER BY is_active DESC, is_draft, version DESC) AS place \
     FROM workflow_versions WHERE {tenant organization_id} AND {workspace workspace_id} \
     AND organization_id = $1 AND workspace_id = $2) AS ranked WHERE place = 1 ORDER BY workflow_id";
const CHANNELS: &str = "SELECT id, name, label FROM channels \
     WHERE {tenant organization_id} AND organization_id = $1 ORDER BY name, id";
const CONNECTIONS: &str = "SELECT id, name, kind FROM connections \
     WHERE {tenant organization_id} AND organization_id = $1 ORDER BY name, id";

/// Statements about tables: those of the workspace, and those of others that are shared.
struct Tables {
    features: &'static str,
    columns: &'static str,
    views: &'static str,
}

const OWN: Tables = Tables {
    features: "SELECT id, name, label, config, is_shared FROM features \
         WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND organization_id = $1 AND workspace_id = $2 ORDER BY id",
    columns: "SELECT feature_id, id, name, label, type, default_component, position, config \
         FROM columns WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND organization_id = $1 AND workspace_id = $2 ORDER BY position, id",
    views: "SELECT feature_id, id, name, label, type, position, config \
         FROM views WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND organization_id = $1 AND workspace_id = $2 ORDER BY position, id",
};

const SHARED: Tables = Tables {
    features: "SELECT id, name, label, config, is_shared FROM features \
         WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND organization_id = $1 AND workspace_id <> $2 AND is_shared ORDER BY id",
    columns: "SELECT feature_id, id, name, label, type, default_component, position, config \
         FROM columns WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND organization_id = $1 AND workspace_id <> $2 AND feature_id IN \
         (SELECT id FROM features WHERE organization_id = $1 AND is_shared) ORDER BY position, id",
    views: "SELECT feature_id, id, name, label, type, position, config \
         FROM views WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND organization_id = $1 AND workspace_id <> $2 AND feature_id IN \
         (SELECT id FROM features WHERE organization_id = $1 AND is_shared) ORDER BY position, id",
};

/// Reads the structure.
///
/// # Errors
/// When the scope does not see the workspace, and those of the store.
pub(crate) async fn structure(tx: &mut Tx, workspace: Id) -> Result<Structure, ReadError> {
    let row = tx.first(WORKSPACE, &[workspace.into()]).await?;
    let row = row.ok_or(ReadError::NoWorkspace(workspace))?;
    let organization: Id = row.get(0)?;
    let here = Workspace {
        id: row.get(1)?,
        name: row.get(2)?,
        label: row.get(3)?,
        config: object(&row, 4)?,
    };
    let at = [organization.into(), workspace.into()];
    Ok(Structure {
        workspace: here,
        modules: modules(tx, &at).await?,
        features: features(tx, &OWN, &at).await?,
        automations: automations(tx, &at).await?,
        // This store never had automations of that format.
        earlier_automations: Vec::new(),
        shared: features(tx, &SHARED, &at).await?,
        row_access_stays: matches!(tx.scope(), Scope::Caller(visible) if !visible.administered.contains(&organization)),
        organization: named(tx, organization).await?,
    })
}

async fn modules(tx: &mut Tx, at: &[Value]) -> Result<Vec<Module>, StoreError> {
    let modules = tx.query(MODULES, at).await?;
    let rails = tx.query(RAILS, at).await?;
    let mut by_module = grouped(&rails, |row| {
        Ok(Rail {
            id: row.get(1)?,
            name: row.get(2)?,
            label: row.get(3)?,
            order: row.get(4)?,
            config: objects(row, 5)?,
        })
    })?;
    let read = |row: &Row| {
        let id = row.get(0)?;
        Ok(Module {
            id,
            name: row.get(1)?,
            label: row.get(2)?,
            icon: row.get(3)?,
            order: row.get(4)?,
            config: object(row, 5)?,
            rails: by_module.remove(&id).unwrap_or_default(),
        })
    };
    modules.iter().map(read).collect()
}

async fn features(tx: &mut Tx, of: &Tables, at: &[Value]) -> Result<Vec<Feature>, StoreError> {
    let features = tx.query(of.features, at).await?;
    if features.is_empty() {
        return Ok(Vec::new());
    }
    let columns = tx.query(of.columns, at).await?;
    let views = tx.query(of.views, at).await?;
    let mut columns = grouped(&columns, |row| {
        Ok(Column {
            id: row.get(1)?,
            name: row.get(2)?,
            label: row.get(3)?,
            column_type: row.get(4)?,
            default_component: row.get(5)?,
            order: row.get(6)?,
            config: object(row, 7)?,
        })
    })?;
    let mut views = grouped(&views, |row| {
        Ok(View {
            id: row.get(1)?,
            name: row.get(2)?,
            label: row.get(3)?,
            view_type: row.get(4)?,
            order: row.get(5)?,
            config: objects(row, 6)?.into_iter().next().unwrap_or_default(),
        })
    })?;
    let read = |row: &Row| {
        let id = row.get(0)?;
        Ok(Feature {
            id,
            name: row.get(1)?,
            label: row.get(2)?,
            config: object(row, 3)?,
            is_shared: row.get(4)?,
            columns: columns.remove(&id).unwrap_or_default(),
            views: views.remove(&id).unwrap_or_default(),
        })
    };
    features.iter().map(read).collect()
}

async fn automations(tx: &mut Tx, at: &[Value]) -> Result<Vec<Automation>, StoreError> {
    let read = |row: &Row| {
        Ok(Automation {
            id: row.get(0)?,
            name: row.get(1)?,
            trigger_config: object(row, 2)?,
            graph_config: object(row, 3)?,
            active: row.get(4)?,
        })
    };
    let versions = tx.query(AUTOMATIONS, at).await?;
    versions.iter().map(read).collect()
}

async fn named(tx: &mut Tx, organization: Id) -> Result<Organization, StoreError> {
    let at = [organization.into()];
    let channels = tx.query(CHANNELS, &at).await?;
    let channels = channels.iter().map(|row| {
        Ok(Channel {
            id: row.get(0)?,
            name: row.get(1)?,
            label: row.get(2)?,
        })
    });
    let channels = channels.collect::<Result<_, StoreError>>()?;
    let (mut connections, mut timers) = (Vec::new(), Vec::new());
    for row in &tx.query(CONNECTIONS, &at).await? {
        let (id, name, kind): (Id, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        // A timer profile is kept like a connection and referred to by a name of its own kind.
        if kind == "timer" {
            let label = None;
            timers.push(Named { id, name, label });
        } else {
            connections.push(Connection { name, kind });
        }
    }
    Ok(Organization {
        id: organization,
        connections: Some(connections),
        channels: Some(channels),
        timer_profiles: Some(timers),
    })
}

/// Records by the parent in their first column, in the order in which they came.
fn grouped<T>(
    rows: &[Row],
    read: impl Fn(&Row) -> Result<T, StoreError>,
) -> Result<HashMap<Id, Vec<T>>, StoreError> {
    let mut groups: HashMap<Id, Vec<T>> = HashMap::new();
    for row in rows {
        groups.entry(row.get(0)?).or_default().push(read(row)?);
    }
    Ok(groups)
}

fn object(row: &Row, index: usize) -> Result<Object, StoreError> {
    Ok(objects(row, index)?.into_iter().next().unwrap_or_default())
}

/// The objects of a config that is an object, or a list of them.
fn objects(row: &Row, index: usize) -> Result<Vec<Object>, StoreError> {
    let text: String = row.get(index)?;
    let bad = |_| StoreError::Internal("a config in the store is no JSON".to_owned());
    let objects = match Json::parse(&text).map_err(bad)? {
        Json::Object(object) => vec![object],
        Json::List(elements) => elements
            .into_iter()
            .filter_map(|element| match element {
                Json::Object(object) => Some(object),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    };
    Ok(objects)
}
