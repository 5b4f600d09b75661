//! Writes the automations of a job: versions, and the active one.

use tplkit::json::{Object, Value as Json};
use tplkit::workspace::{AnyRecord, Automation, Id, RecordKind};

use super::UnitError;
use super::error::{missing, refused};
use super::file_holds::keep_attached;
use super::unit_transaction::UnitContext;
use crate::automation::find::{self, Workflow};
use crate::automation::{
    Definition, NewVersion, NewWorkflow, Version, VersionState, add_version, create as begin,
    launch, publish as release, remove as drop, remove_version,
};
use crate::refusal::Code;
use crate::store::Tx;

/// Creates an automation with its first version: a draft, or one in force that does not fire.
pub(super) async fn create(
    tx: &mut Tx,
    here: &UnitContext,
    new: &Automation,
) -> Result<(), UnitError> {
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
    let standing = if new.draft {
        VersionState::Draft
    } else {
        VersionState::Published(here.creator)
    };
    let version = NewVersion {
        id: here.context.id(),
        standing,
        base_version: None,
        now: here.now,
    };
    begin(tx, workflow, &definition, version).await?;
    Ok(())
}

/// The automation and its version in force; nothing when this workspace has no such automation. Others
/// wait until the transaction ends.
async fn lock_version(
    tx: &mut Tx,
    here: &UnitContext,
    workflow: Id,
) -> Result<Option<(Workflow, Version)>, UnitError> {
    let row = match find::lock(tx, workflow).await {
        Ok(row) if row.workspace == here.workspace => row,
        Ok(_) => return Ok(None),
        Err(refusal) if refusal.code == Code::NotFound => return Ok(None),
        Err(refusal) => return Err(refusal.into()),
    };
    let version = find::in_force(tx, workflow).await?;
    Ok(version.map(|version| (row, version)))
}

/// The same of one whose subscriptions are about to change, and before it the tables that it watches.
async fn lock_with_tables(
    tx: &mut Tx,
    here: &UnitContext,
    workflow: Id,
) -> Result<Option<(Workflow, Version)>, UnitError> {
    find::lock_tables(tx, here.organization, workflow).await?;
    lock_version(tx, here, workflow).await
}

/// Both configs of the version in force.
pub(super) async fn config(
    tx: &mut Tx,
    here: &UnitContext,
    workflow: Id,
) -> Result<Option<Json>, UnitError> {
    let locked = lock_version(tx, here, workflow).await?;
    Ok(locked.map(|(_, version)| both(workflow, &version)))
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
        draft: version.is_draft,
        has_draft: false,
    };
    known.config()
}

/// Adds a version with these configs, in force where the one before was.
pub(super) async fn configure(
    tx: &mut Tx,
    here: &UnitContext,
    workflow: Id,
    config: &Json,
) -> Result<(), UnitError> {
    let locked = lock_version(tx, here, workflow).await?;
    let (row, before) = locked.ok_or_else(|| missing(RecordKind::Workflow, workflow))?;
    let name = before.name.clone();
    version(tx, here, &row, &before, name, config).await
}

/// Changes what differs between two forms of an automation: a version, in force where the one before was.
pub(super) async fn amend(
    tx: &mut Tx,
    here: &UnitContext,
    from: &AnyRecord,
    to: &AnyRecord,
) -> Result<(), UnitError> {
    let (row, before, next) = next(tx, here, from, to).await?;
    version(tx, here, &row, &before, next.name, &next.config).await
}

/// The same as a draft: what is in force goes on.
pub(super) async fn begin_draft(
    tx: &mut Tx,
    here: &UnitContext,
    version: Id,
    from: &AnyRecord,
    to: &AnyRecord,
) -> Result<(), UnitError> {
    let (row, before, next) = next(tx, here, from, to).await?;
    keep_attached(tx, here, row.id).await?;
    let definition = definition(here, next.name, &next.config);
    let draft = NewVersion {
        id: version,
        standing: VersionState::Draft,
        base_version: base_version(&before),
        now: here.now,
    };
    add_version(tx, &row, &definition, draft).await?;
    Ok(())
}

/// What a version begins on that comes after the one in force. A draft is in force where nothing was published: who
/// publishes a draft asks for the version that was published when it was begun.
fn base_version(in_force: &Version) -> Option<i64> {
    (!in_force.is_draft).then_some(in_force.version)
}

/// A draft of an automation. Both ids have one type, so their names keep them apart.
#[derive(Debug, Clone, Copy)]
pub(super) struct DraftId {
    pub(super) workflow: Id,
    pub(super) version: Id,
}

/// Publishes a draft, where no other version was published since it was begun. It fires where the one before
/// did. One that somebody has published is left as it is.
pub(super) async fn publish_draft(
    tx: &mut Tx,
    here: &UnitContext,
    draft: DraftId,
) -> Result<(), UnitError> {
    let gone = || Err(missing(RecordKind::Workflow, draft.workflow));
    let locked = lock_with_tables(tx, here, draft.workflow).await?;
    if locked.is_none() {
        return gone();
    }
    match find::by_id(tx, draft.workflow, draft.version).await? {
        Some(version) if version.is_draft => {
            keep_attached(tx, here, draft.workflow).await?;
            release(tx, version, here.creator, here.now).await?;
            Ok(())
        }
        Some(_) => Ok(()),
        None => gone(),
    }
}

/// Takes a draft away; where it was published since, the automation is changed instead.
pub(super) async fn remove_draft(
    tx: &mut Tx,
    here: &UnitContext,
    draft: DraftId,
    published: Option<&[AnyRecord; 2]>,
) -> Result<(), UnitError> {
    let Some((row, _)) = lock_version(tx, here, draft.workflow).await? else {
        return Ok(());
    };
    if remove_version(tx, &row, draft.version, here.now).await? {
        return Ok(());
    }
    match published {
        Some([from, to]) => amend(tx, here, from, to).await,
        None => Ok(()),
    }
}

/// An automation with its version in force, where it does not fire; nothing when it is gone or live.
pub(super) async fn paused(
    tx: &mut Tx,
    here: &UnitContext,
    seen: &AnyRecord,
) -> Result<Option<AnyRecord>, UnitError> {
    let Some((_, version)) = lock_version(tx, here, seen.id).await? else {
        return Ok(None);
    };
    let has_draft = !version.is_draft && find::newest_draft(tx, seen.id).await?.is_some();
    if version.is_active || has_draft {
        let detail = format!("the automation {:?} is live or has a draft", version.name);
        return Err(refused(Code::Conflict, detail).into());
    }
    Ok(Some(AnyRecord {
        name: version.name.clone(),
        config: both(seen.id, &version),
        ..seen.clone()
    }))
}

/// An automation with its version in force, and what it becomes; refused when it is not what was seen.
async fn next(
    tx: &mut Tx,
    here: &UnitContext,
    from: &AnyRecord,
    to: &AnyRecord,
) -> Result<(Workflow, Version, AnyRecord), UnitError> {
    let locked = lock_version(tx, here, from.id).await?;
    let (row, before) = locked.ok_or_else(|| missing(RecordKind::Workflow, from.id))?;
    let known = AnyRecord {
        name: before.name.clone(),
        config: both(from.id, &before),
        ..from.clone()
    };
    if !known.is_as(from, to) {
        let detail = format!("the automation {:?} has changed", before.name);
        return Err(refused(Code::Conflict, detail).into());
    }
    let next = known.with(from, to.clone());
    Ok((row, before, next))
}

fn definition(here: &UnitContext, name: String, config: &Json) -> Definition {
    let part = |key: &str| match config.get(key) {
        Some(part @ Json::Object(_)) => part.clone(),
        _ => Object::new().into(),
    };
    let (trigger, graph) = (part("triggerConfig"), part("graphConfig"));
    Definition::new(name, &trigger, &graph, &here.context)
}

async fn version(
    tx: &mut Tx,
    here: &UnitContext,
    row: &Workflow,
    before: &Version,
    name: String,
    config: &Json,
) -> Result<(), UnitError> {
    keep_attached(tx, here, row.id).await?;
    let definition = definition(here, name, config);
    let standing = if before.is_draft {
        VersionState::Draft
    } else {
        VersionState::Published(here.creator)
    };
    let new = NewVersion {
        id: here.context.id(),
        standing,
        base_version: base_version(before),
        now: here.now,
    };
    let added = add_version(tx, row, &definition, new).await?;
    if before.is_active {
        launch(tx, added, here.creator, here.now).await?;
    }
    Ok(())
}

/// Publishes the version that the job wrote and makes it the one that fires. Where people have published another one
/// since, that stays as it is.
pub(super) async fn publish(
    tx: &mut Tx,
    here: &UnitContext,
    workflow: Id,
) -> Result<(), UnitError> {
    let locked = lock_with_tables(tx, here, workflow).await?;
    let (_, version) = locked.ok_or_else(|| missing(RecordKind::Workflow, workflow))?;
    // A job creates an automation with a draft that begins on nothing, and people begin theirs on what is published.
    // So what is in force is the job's own, whichever attempt wrote it, unless it was begun on another version.
    if !version.is_draft && version.base_version.is_some() {
        let detail = format!("another version of {:?} was published since", version.name);
        return Err(refused(Code::DraftStale, detail).into());
    }
    keep_attached(tx, here, workflow).await?;
    Ok(launch(tx, version, here.creator, here.now).await?)
}

/// Takes an automation away with all its versions; one that is gone is not an error.
pub(super) async fn remove(tx: &mut Tx, here: &UnitContext, workflow: Id) -> Result<(), UnitError> {
    match lock_with_tables(tx, here, workflow).await? {
        Some((row, _)) => {
            keep_attached(tx, here, workflow).await?;
            Ok(drop(tx, &row, true, here.now).await?)
        }
        None => Ok(()),
    }
}
