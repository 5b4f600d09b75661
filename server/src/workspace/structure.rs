//! Reads the structure of a workspace and the records that it may refer to, as the scope sees them.

use std::collections::{BTreeSet, HashMap};

use tplkit::automation::named_in_steps;
use tplkit::definitions::{Definitions, ReferenceKind};
use tplkit::json::{Object, Value as Json};
use tplkit::workspace::{
    Automation, Channel, Column, Connection, Feature, Id, Module, Named, Organization, Rail,
    Structure, View, Workspace,
};

use super::ReadError;
use crate::ids::WorkspaceKey;
use crate::model::Record;
use crate::model::find::{self, Ownership};
use crate::model::kind::{COLUMN, FEATURE, MODULE, RAIL, VIEW, WORKSPACE};
use crate::model::referenced::existing;
use crate::store::{Row, Scope, StoreError, Tx, Value};

const AUTOMATIONS: &str = "SELECT workflow_id, name, trigger_config, graph_config, is_active, \
     is_draft, drafts FROM (SELECT workflow_id, name, trigger_config, graph_config, is_active, is_draft, row_number() \
     OVER (PARTITION BY workflow_id ORDER BY is_active DESC, is_draft, version DESC) AS place, \
     count(*) FILTER (WHERE is_draft) OVER (PARTITION BY workflow_id) AS drafts \
     FROM workflow_versions WHERE {tenant organization_id} AND {workspace workspace_id} \
     AND organization_id = $1 AND workspace_id = $2) AS ranked WHERE place = 1 ORDER BY workflow_id";
const CHANNELS: &str = "SELECT id, name, label FROM channels \
     WHERE {tenant organization_id} AND organization_id = $1 ORDER BY name, id";
const CONNECTIONS: &str = "SELECT id, name, kind FROM connections \
     WHERE {tenant organization_id} AND organization_id = $1 ORDER BY name, id";

/// The ids of all workspaces that the scope sees, in order.
///
/// # Errors
/// Those of the store.
pub(crate) async fn workspaces(tx: &mut Tx) -> Result<Vec<Id>, StoreError> {
    let sql =
        "SELECT id FROM workspaces WHERE {tenant organization_id} AND {workspace id} ORDER BY id";
    let rows = tx.query(sql, &[]).await?;
    rows.iter().map(|row| row.get(0)).collect()
}

/// Reads the structure.
///
/// # Errors
/// When the scope does not see the workspace, and those of the store.
pub(crate) async fn structure(tx: &mut Tx, workspace: Id) -> Result<Structure, ReadError> {
    let found = find::read(tx, &WORKSPACE, workspace).await?;
    let found = found.ok_or(ReadError::NoWorkspace(workspace))?;
    let organization = found.organization();
    let here = Workspace {
        id: found.id,
        config: object(&found.config)?,
        name: found.name,
        label: found.label,
    };
    let of = WorkspaceKey {
        organization,
        workspace,
    };
    let at = [organization.into(), workspace.into()];
    let automations = automations(tx, &at).await?;
    Ok(Structure {
        workspace: here,
        modules: modules(tx, of).await?,
        features: features(tx, Ownership::Own, of).await?,
        unseen: unseen(tx, of, &automations).await?,
        automations,
        // This store never had automations of that format.
        earlier_automations: Vec::new(),
        shared: features(tx, Ownership::Shared, of).await?,
        row_access_stays: matches!(tx.scope(), Scope::Caller(visible) if !visible.administered.contains(&organization)),
        organization: named(tx, organization).await?,
    })
}

async fn modules(tx: &mut Tx, of: WorkspaceKey) -> Result<Vec<Module>, StoreError> {
    let modules = find::structure(tx, &MODULE, Ownership::Own, of).await?;
    let rails = find::structure(tx, &RAIL, Ownership::Own, of).await?;
    let mut by_module = grouped(rails, |rail| {
        Ok(Rail {
            id: rail.id,
            order: position(&rail),
            config: objects(&rail.config)?,
            name: rail.name,
            label: rail.label,
        })
    })?;
    let read = |module: Record| {
        Ok(Module {
            id: module.id,
            icon: module.optional_text("icon").map(str::to_owned),
            order: position(&module),
            config: object(&module.config)?,
            rails: by_module.remove(&module.id).unwrap_or_default(),
            name: module.name,
            label: module.label,
        })
    };
    modules.into_iter().map(read).collect()
}

async fn features(
    tx: &mut Tx,
    ownership: Ownership,
    of: WorkspaceKey,
) -> Result<Vec<Feature>, StoreError> {
    let features = find::structure(tx, &FEATURE, ownership, of).await?;
    if features.is_empty() {
        return Ok(Vec::new());
    }
    let columns = find::structure(tx, &COLUMN, ownership, of).await?;
    let views = find::structure(tx, &VIEW, ownership, of).await?;
    let mut columns = grouped(columns, |column| {
        Ok(Column {
            id: column.id,
            column_type: column.text("type").to_owned(),
            default_component: column.text("default_component").to_owned(),
            order: position(&column),
            config: object(&column.config)?,
            name: column.name,
            label: column.label,
        })
    })?;
    let mut views = grouped(views, |view| {
        Ok(View {
            id: view.id,
            view_type: view.text("type").to_owned(),
            order: position(&view),
            config: object(&view.config)?,
            name: view.name,
            label: view.label,
        })
    })?;
    let read = |feature: Record| {
        Ok(Feature {
            id: feature.id,
            config: object(&feature.config)?,
            is_shared: feature.flag("is_shared"),
            columns: columns.remove(&feature.id).unwrap_or_default(),
            views: views.remove(&feature.id).unwrap_or_default(),
            name: feature.name,
            label: feature.label,
        })
    };
    features.into_iter().map(read).collect()
}

fn position(record: &Record) -> i64 {
    record.integer("position").unwrap_or_default()
}

async fn automations(tx: &mut Tx, at: &[Value]) -> Result<Vec<Automation>, StoreError> {
    let read = |row: &Row| {
        let draft: bool = row.get(5)?;
        Ok(Automation {
            id: row.get(0)?,
            name: row.get(1)?,
            trigger_config: object(&row.get::<String>(2)?)?,
            graph_config: object(&row.get::<String>(3)?)?,
            active: row.get(4)?,
            draft,
            has_draft: !draft && row.get::<i64>(6)? > 0,
        })
    };
    let versions = tx.query(AUTOMATIONS, at).await?;
    versions.iter().map(read).collect()
}

/// Files and people that automations name, and that are gone or that the scope does not see: whoever saves such an
/// automation by hand is refused.
async fn unseen(
    tx: &mut Tx,
    of: WorkspaceKey,
    automations: &[Automation],
) -> Result<BTreeSet<Id>, StoreError> {
    let mut unseen = BTreeSet::new();
    let graphs = automations.iter().map(|one| one.graph_config.clone());
    let graphs: Vec<Json> = graphs.map(Json::Object).collect();
    for kind in [ReferenceKind::File, ReferenceKind::User] {
        let ids = graphs
            .iter()
            .flat_map(|graph| named_in_steps(Definitions::embedded(), graph, kind));
        let named: BTreeSet<Id> = ids.collect();
        let named: Vec<Id> = named.into_iter().collect();
        if !named.is_empty() {
            let seen = existing(tx, of, kind, &named).await?;
            unseen.extend(named.into_iter().filter(|id| !seen.contains(id)));
        }
    }
    Ok(unseen)
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

/// Records by what they lie in, in the order in which they came.
fn grouped<T>(
    records: Vec<Record>,
    read: impl Fn(Record) -> Result<T, StoreError>,
) -> Result<HashMap<Id, Vec<T>>, StoreError> {
    let mut groups: HashMap<Id, Vec<T>> = HashMap::new();
    for record in records {
        let group = groups.entry(record.parent()).or_default();
        group.push(read(record)?);
    }
    Ok(groups)
}

fn object(config: &str) -> Result<Object, StoreError> {
    Ok(objects(config)?.into_iter().next().unwrap_or_default())
}

/// The objects of a config that is an object, or a list of them.
fn objects(config: &str) -> Result<Vec<Object>, StoreError> {
    let bad = |_| StoreError::Internal("a config in the store is not JSON".to_owned());
    let objects = match Json::parse(config).map_err(bad)? {
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
