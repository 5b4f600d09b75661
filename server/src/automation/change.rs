//! Adds and removes versions and automations; `activation` puts versions in force.
//!
//! Every change locks the row of the automation ([`find::lock`]), so the second of two changes sees
//! the first.

use tplkit::automation::{assign_step_ids, step_id};
use tplkit::definitions::Definitions;
use tplkit::json::Value as Json;
use uuid::Uuid;

use super::activation::switch_off;
use super::file_holds;
use super::find::{self, Workflow};
use super::subscriptions::subscribe;
use super::version::{Version, columns};
use crate::context::Context;
use crate::ids::{self, WorkflowKey};
use crate::refusal::{Code, Refusal};
use crate::store::{StoreError, Tx};

/// What a new version is.
#[derive(Debug, Clone, Copy)]
pub enum VersionState {
    /// Not published yet.
    Draft,
    /// Published by them, as far as that is known.
    Published(Option<Uuid>),
}

/// An automation that is created.
#[derive(Debug, Clone, Copy)]
pub struct NewWorkflow {
    /// Whose it is.
    pub organization: Uuid,
    /// Where it is created.
    pub workspace: Uuid,
    /// Its id.
    pub id: Uuid,
}

/// A version that is added.
#[derive(Debug, Clone, Copy)]
pub struct NewVersion {
    /// Its id.
    pub id: Uuid,
    /// Whether it is published.
    pub standing: VersionState,
    /// The version that was in force when it was begun.
    pub base_version: Option<i64>,
    /// When it is added, in microseconds.
    pub now: i64,
}

/// What a version is made of: its halves as they are kept.
#[derive(Debug, Clone)]
pub struct Definition {
    /// For people.
    pub name: String,
    /// JSON text.
    pub trigger: String,
    /// JSON text, each step with its id.
    pub graph: String,
    kind: String,
    table: Option<Uuid>,
}

impl Definition {
    /// A definition that was found free of errors. Steps without an id are given one.
    pub fn new(name: String, trigger: &Json, graph: &Json, context: &Context) -> Definition {
        let mut graph = graph.clone();
        let mut mint = || mint_step_id(context);
        assign_step_ids(Definitions::embedded(), &mut graph, &mut mint);
        let kind = trigger.get("type").and_then(Json::as_str);
        let table = trigger
            .get("config")
            .and_then(|config| config.get("featureId"))
            .and_then(Json::as_str)
            .and_then(ids::uuid);
        Definition {
            name,
            trigger: trigger.write(),
            graph: graph.write(),
            kind: kind.unwrap_or_default().to_owned(),
            table: table.filter(|_| kind == Some("record.event")),
        }
    }
}

/// A new id for a step.
pub fn mint_step_id(context: &Context) -> String {
    // The lower half of an id is what nobody can guess.
    let number = context.id().as_u64_pair().1 & (u64::MAX >> 2);
    step_id(number.into())
}

/// Creates an automation with its first version: a draft, or published at once by somebody.
///
/// # Errors
/// 404 when the workspace has gone.
pub async fn create(
    tx: &mut Tx,
    new: NewWorkflow,
    definition: &Definition,
    first: NewVersion,
) -> Result<Version, Refusal> {
    let sql = "INSERT INTO main.workflows {into $1} \
         (organization_id, workspace_id, id, last_version, created_at) VALUES ($1, $2, $3, 0, $4)";
    let parameters = [
        new.organization.into(),
        new.workspace.into(),
        new.id.into(),
        first.now.into(),
    ];
    match tx.query(sql, &parameters).await {
        Err(StoreError::Reference) => return Err(Refusal::not_found()),
        other => other?,
    };
    let workflow = Workflow {
        organization: new.organization,
        workspace: new.workspace,
        id: new.id,
        last_version: 0,
    };
    Ok(add_version(tx, &workflow, definition, first).await?)
}

/// Adds a version, a draft or one that somebody publishes at once; it does not fire.
///
/// # Errors
/// Those of the store.
pub async fn add_version(
    tx: &mut Tx,
    workflow: &Workflow,
    definition: &Definition,
    new: NewVersion,
) -> Result<Version, StoreError> {
    let version = workflow.last_version + 1;
    let sql = "UPDATE main.workflows SET last_version = $3 WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND organization_id = $1 AND id = $2";
    let parameters = [
        workflow.organization.into(),
        workflow.id.into(),
        version.into(),
    ];
    tx.query(sql, &parameters).await?;
    let sql = concat!(
        "INSERT INTO main.workflow_versions {into $1} (",
        columns!(),
        ", trigger_type, trigger_feature_id) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)"
    );
    let added = Version {
        organization: workflow.organization,
        workspace: workflow.workspace,
        workflow: workflow.id,
        id: new.id,
        version,
        base_version: new.base_version,
        name: definition.name.clone(),
        is_draft: matches!(new.standing, VersionState::Draft),
        is_active: false,
        trigger_config: definition.trigger.clone(),
        graph_config: definition.graph.clone(),
        created_at: new.now,
        publisher: match new.standing {
            VersionState::Draft => None,
            VersionState::Published(publisher) => publisher,
        },
    };
    let parameters = [
        added.organization.into(),
        added.workspace.into(),
        added.workflow.into(),
        added.id.into(),
        added.version.into(),
        added.base_version.into(),
        added.name.as_str().into(),
        added.is_draft.into(),
        added.is_active.into(),
        added.trigger_config.as_str().into(),
        added.graph_config.as_str().into(),
        added.created_at.into(),
        added.publisher.into(),
        definition.kind.as_str().into(),
        definition.table.into(),
    ];
    tx.query(sql, &parameters).await?;
    file_holds::hold(tx, &added).await?;
    if !added.is_draft {
        file_holds::release_superseded(tx, &added, new.now).await?;
    }
    Ok(added)
}
/// Removes a draft; whether there was one.
///
/// # Errors
/// Those of the store.
pub async fn remove_version(
    tx: &mut Tx,
    workflow: &Workflow,
    version: Uuid,
    now: i64,
) -> Result<bool, StoreError> {
    let draft = find::by_id(tx, workflow.id, version).await?;
    if !draft.is_some_and(|draft| draft.is_draft) {
        return Ok(false);
    }
    file_holds::release_version(tx, workflow.organization, version, now).await?;
    let sql = "DELETE FROM main.workflow_versions WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND organization_id = $1 AND id = $2 AND is_draft";
    tx.query(sql, &[workflow.organization.into(), version.into()])
        .await?;
    Ok(true)
}

/// Removes an automation with its versions and runs.
///
/// # Errors
/// 409 for one that fires, unless forced.
pub async fn remove(tx: &mut Tx, row: &Workflow, force: bool, now: i64) -> Result<(), Refusal> {
    if !force && find::active(tx, row.id).await?.is_some() {
        return Err(Refusal::new(
            Code::Conflict,
            "The automation is active; force=true deletes it all the same.",
        ));
    }
    switch_off(tx, row.organization, row.id).await?;
    subscribe(
        tx,
        WorkflowKey {
            organization: row.organization,
            workflow: row.id,
        },
        now,
    )
    .await?;
    file_holds::release_all(tx, row.organization, row.id, now).await?;
    let sql = "DELETE FROM main.workflows WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND organization_id = $1 AND id = $2";
    let parameters = [row.organization.into(), row.id.into()];
    tx.query(sql, &parameters).await?;
    Ok(())
}
