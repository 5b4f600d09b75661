//! Reads the structure of a workspace, everything except rows, from the lists of the model.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::DeserializeOwned;

use super::organization;
use super::record::{Names, Record, Version};
use crate::client::{Client, Error, Request};
use crate::workspace::{Automation, Column, Feature, Id, Module, Rail, Structure, View, Workspace};

/// Whether automations could be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Automations {
    /// They were read.
    Read,
    /// The server has no such route.
    NoRoute,
}

/// Reads it, list by list.
pub(super) fn read(client: &Client, id: Id) -> Result<(Structure, Automations), Error> {
    let workspace: Record = client.read(&Request::get(format!("/v1/workspaces/{id}")))?;
    let organization = workspace.organization_id.unwrap_or_default();
    let modules = modules(client, id)?;
    let (features, shared) = features(client, id, organization)?;
    // The workspace is visible, so that a 404 can only mean the route.
    let (automations, route) = match automations(client, id) {
        Ok(automations) => (automations, Automations::Read),
        Err(error) if error.status() == Some(404) => (Vec::new(), Automations::NoRoute),
        Err(error) => return Err(error),
    };
    let (name, label) = Names::default().of(&workspace, "workspace");
    let structure = Structure {
        organization: organization::read(client, workspace.organization_id)?,
        workspace: Workspace {
            id,
            name,
            label,
            config: workspace.config(),
        },
        modules,
        features,
        automations,
        earlier_automations: Vec::new(),
        shared,
        row_access_stays: false,
        unseen: BTreeSet::new(),
    };
    Ok((structure, route))
}

/// All pages of a list.
fn read_all<T: DeserializeOwned>(client: &Client, request: Request) -> Result<Vec<T>, Error> {
    let mut items = Vec::new();
    for page in client.pages(request, None) {
        items.extend(page?.items);
    }
    Ok(items)
}

fn below(path: &str, parent: &str, id: Id) -> Request {
    Request::get(path).with(parent, id.to_string())
}

/// By position, then by id.
fn in_order(records: &mut [Record]) {
    records.sort_by_key(|record| (record.order.unwrap_or(i64::MAX), record.id));
}

/// Positions as they are, or by place where the server gives none.
fn order(record: &Record, at: usize) -> i64 {
    record
        .order
        .unwrap_or_else(|| i64::try_from(at + 1).unwrap_or(i64::MAX))
}

fn modules(client: &Client, workspace: Id) -> Result<Vec<Module>, Error> {
    let mut records: Vec<Record> =
        read_all(client, below("/v1/modules", "workspace_id", workspace))?;
    in_order(&mut records);
    let mut names = Names::default();
    let mut modules = Vec::new();
    for (at, record) in records.iter().enumerate() {
        let (name, label) = names.of(record, "module");
        modules.push(Module {
            id: record.id,
            name,
            label,
            icon: record.icon.clone(),
            order: order(record, at),
            config: record.config(),
            rails: rails(client, record.id)?,
        });
    }
    Ok(modules)
}

fn rails(client: &Client, module: Id) -> Result<Vec<Rail>, Error> {
    let mut records: Vec<Record> = read_all(client, below("/v1/rails", "module_id", module))?;
    in_order(&mut records);
    let mut names = Names::default();
    let rails = records.iter().enumerate().map(|(at, record)| {
        let (name, label) = names.of(record, "rail");
        Rail {
            id: record.id,
            name,
            label,
            order: order(record, at),
            config: record.configs(),
        }
    });
    Ok(rails.collect())
}

/// The tables of the workspace, and those of others that the organization shares.
fn features(
    client: &Client,
    workspace: Id,
    organization: Id,
) -> Result<(Vec<Feature>, Vec<Feature>), Error> {
    let own = below("/v1/features", "workspace_id", workspace);
    let own: Vec<Record> = read_all(client, own)?;
    let others: Vec<Record> = read_all(client, Request::get("/v1/features"))?;
    let shared = others.iter().filter(|record| {
        let elsewhere = record.workspace_id.is_some_and(|id| id != workspace);
        let same = record.organization_id.is_none_or(|id| id == organization);
        record.is_shared && elsewhere && same
    });
    let mut names = Names::default();
    let whole = |record: &Record, names: &mut Names| feature(client, record, names);
    let own: Result<Vec<Feature>, Error> =
        own.iter().map(|record| whole(record, &mut names)).collect();
    let shared: Result<Vec<Feature>, Error> = shared
        .map(|record| whole(record, &mut Names::default()))
        .collect();
    Ok((own?, shared?))
}

fn feature(client: &Client, record: &Record, names: &mut Names) -> Result<Feature, Error> {
    let (name, label) = names.of(record, "feature");
    Ok(Feature {
        id: record.id,
        name,
        label,
        config: record.config(),
        is_shared: record.is_shared,
        columns: columns(client, record.id)?,
        views: views(client, record.id)?,
    })
}

fn columns(client: &Client, feature: Id) -> Result<Vec<Column>, Error> {
    let path = format!("/v1/features/{feature}/columns");
    let mut records: Vec<Record> = client.read(&Request::get(path))?;
    in_order(&mut records);
    let mut names = Names::default();
    let columns = records.iter().enumerate().map(|(at, record)| {
        let (name, label) = names.of(record, "column");
        Column {
            id: record.id,
            name,
            label,
            column_type: record.kind.clone().unwrap_or_else(|| "text".to_owned()),
            default_component: record.default_component.clone().unwrap_or_default(),
            order: order(record, at),
            config: record.config(),
        }
    });
    Ok(columns.collect())
}

fn views(client: &Client, feature: Id) -> Result<Vec<View>, Error> {
    let mut records: Vec<Record> = read_all(client, below("/v1/views", "feature_id", feature))?;
    in_order(&mut records);
    let mut names = Names::default();
    let views = records.iter().enumerate().map(|(at, record)| {
        let (name, label) = names.of(record, "view");
        View {
            id: record.id,
            name,
            label,
            view_type: record.kind.clone().unwrap_or_default(),
            order: order(record, at),
            config: record.config(),
        }
    });
    Ok(views.collect())
}

/// Of each automation the version in force.
fn automations(client: &Client, workspace: Id) -> Result<Vec<Automation>, Error> {
    let request = below("/v1/workflows-v2", "workspace_id", workspace);
    let versions: Vec<Version> = read_all(client, request)?;
    let mut by_workflow: BTreeMap<Id, Vec<Version>> = BTreeMap::new();
    for version in versions {
        if version.workspace_id.is_none_or(|id| id == workspace) {
            let known = by_workflow.entry(version.workflow_id).or_default();
            known.push(version);
        }
    }
    let in_force = by_workflow.into_values().filter_map(in_force);
    Ok(in_force.collect())
}

/// The active version, else the newest published, else the newest draft.
fn in_force(versions: Vec<Version>) -> Option<Automation> {
    let active = versions.iter().any(|version| version.is_active);
    let drafts = versions.iter().any(|version| version.is_draft);
    // Later in the list is newer where nothing else decides.
    let best = versions.into_iter().enumerate().max_by_key(|(at, one)| {
        let age = (one.number, one.created_at.clone(), *at);
        (one.is_active, !one.is_draft, age)
    });
    let (_, best) = best?;
    Some(Automation {
        id: best.workflow_id,
        name: best.name.unwrap_or_else(|| best.workflow_id.to_string()),
        trigger_config: best.trigger_config,
        graph_config: best.graph_config,
        active,
        draft: best.is_draft,
        has_draft: drafts && !best.is_draft,
    })
}
