//! Writes the automations of a job: versions, and the active one.

use tplkit::json::{Object, Value as Json};
use tplkit::workspace::{Automation, Id, RecordKind, Thing};

use super::Stopped;
use super::error::{missing, refused};
use super::unit::Here;
use crate::automation::find::{self, Workflow};
use crate::automation::{
    Definition, NewVersion, NewWorkflow, Standing, Version, add_version, create as begin, launch,
    remove as drop,
};
use crate::refusal::Code;
use crate::store::Tx;

/// Creates an automation with its first version, a draft.
pub(super) async fn create(tx: &mut Tx, here: &Here, new: &Automation) -> Result<(), Stopped> {
    let (trigger, graph) = (new.trigger_config.clone(), new.graph_config.clone());
    let definition = Definition::new(
        new.name.clone(),
        &trigger.into(),
        &graph.into(),
        &here.context,
    );
    let workflow = NewWorkflow {
        organization: here.organization,
        workspace: here.workspace,
        id: new.id,
    };
    let draft = NewVersion {
        id: here.context.id(),
        standing: Standing::Draft,
        base_version: None,
        now: here.now,
    };
    begin(tx, workflow, &definition, draft).await?;
    Ok(())
}

/// The automation and its version in force; nothing when this workspace has no such automation. Others
/// wait until the transaction ends.
async fn held(
    tx: &mut Tx,
    here: &Here,
    workflow: Id,
) -> Result<Option<(Workflow, Version)>, Stopped> {
    let row = match find::lock(tx, workflow).await {
        Ok(row) if row.workspace == here.workspace => row,
        Ok(_) => return Ok(None),
        Err(problem) if problem.code == Code::NotFound => return Ok(None),
        Err(problem) => return Err(problem.into()),
    };
    let version = find::in_force(tx, workflow).await?;
    Ok(version.map(|version| (row, version)))
}

/// Both configs of the version in force.
pub(super) async fn config(
    tx: &mut Tx,
    here: &Here,
    workflow: Id,
) -> Result<Option<Json>, Stopped> {
    let held = held(tx, here, workflow).await?;
    Ok(held.map(|(_, version)| both(workflow, &version)))
}

/// Both configs of a version.
fn both(workflow: Id, version: &Version) -> Json {
    let part = |text: &str| match Json::parse(text) {
        Ok(Json::Object(part)) => part,
        _ => Object::new(),
    };
    let known = Automation {
        id: workflow,
        name: String::new(),
        trigger_config: part(&version.trigger_config),
        graph_config: part(&version.graph_config),
        active: version.is_active,
    };
    known.config()
}

/// Adds a version with these configs, in force where the one before was.
pub(super) async fn configure(
    tx: &mut Tx,
    here: &Here,
    workflow: Id,
    config: &Json,
) -> Result<(), Stopped> {
    let held = held(tx, here, workflow).await?;
    let (row, before) = held.ok_or_else(|| missing(RecordKind::Workflow, workflow))?;
    let name = before.name.clone();
    version(tx, here, (&row, &before), name, config).await
}

/// Changes what differs between two forms of an automation: a version, in force where the one before was.
pub(super) async fn amend(
    tx: &mut Tx,
    here: &Here,
    from: &Thing,
    to: &Thing,
) -> Result<(), Stopped> {
    let held = held(tx, here, from.id).await?;
    let (row, before) = held.ok_or_else(|| missing(RecordKind::Workflow, from.id))?;
    let known = Thing {
        name: before.name.clone(),
        config: both(from.id, &before),
        ..from.clone()
    };
    if !known.is_as(from, to) {
        let reported = format!("the automation {:?} is not what it was", before.name);
        return Err(refused(Code::Conflict, reported).into());
    }
    let next = known.with(from, to.clone());
    version(tx, here, (&row, &before), next.name, &next.config).await
}

async fn version(
    tx: &mut Tx,
    here: &Here,
    (row, before): (&Workflow, &Version),
    name: String,
    config: &Json,
) -> Result<(), Stopped> {
    let part = |key: &str| match config.get(key) {
        Some(part @ Json::Object(_)) => part.clone(),
        _ => Object::new().into(),
    };
    let (trigger, graph) = (part("triggerConfig"), part("graphConfig"));
    let definition = Definition::new(name, &trigger, &graph, &here.context);
    let standing = if before.is_draft {
        Standing::Draft
    } else {
        Standing::Published(here.creator)
    };
    let new = NewVersion {
        id: here.context.id(),
        standing,
        base_version: Some(before.version),
        now: here.now,
    };
    add_version(tx, row, &definition, new).await?;
    if before.is_active {
        launch(tx, row, here.creator, here.now).await?;
    }
    Ok(())
}

/// Publishes the newest version and makes it the one that fires.
pub(super) async fn publish(tx: &mut Tx, here: &Here, workflow: Id) -> Result<(), Stopped> {
    let held = held(tx, here, workflow).await?;
    let (row, _) = held.ok_or_else(|| missing(RecordKind::Workflow, workflow))?;
    Ok(launch(tx, &row, here.creator, here.now).await?)
}

/// Takes an automation away with all its versions; one that is gone is no error.
pub(super) async fn remove(tx: &mut Tx, here: &Here, workflow: Id) -> Result<(), Stopped> {
    match held(tx, here, workflow).await? {
        Some((row, _)) => Ok(drop(tx, &row, true, here.now).await?),
        None => Ok(()),
    }
}
