//! Drafts of automations: versions that are not in force.
//!
//! Of an automation that was never published the newest draft is in force, so that one takes the place of
//! what the structure says; of every other one the draft waits next to it.

use super::State;
use super::records::{missing, refused};
use super::state::DraftVersion;
use super::update::{update, write};
use crate::problem::Code;
use crate::workspace::{AnyRecord, Automation, Id, RecordKind, Refused};

/// Adds a draft that begins from what is in force.
pub(super) fn begin(
    state: &mut State,
    version: Id,
    from: &AnyRecord,
    to: AnyRecord,
) -> Result<(), Refused> {
    let base = in_force(state, from.id)?;
    if !base.is_as(from, &to) {
        let message = format!("the automation {:?} has changed", base.name);
        return Err(refused(Code::Conflict, message));
    }
    let record = base.clone().with(from, to);
    if automation(state, from.id)?.draft {
        write(&mut state.structure, record.clone());
    }
    state.drafts.insert(version, DraftVersion { base, record });
    Ok(())
}

/// Whether an automation has drafts.
pub(super) fn exist(state: &State, workflow: Id) -> bool {
    let mut drafts = state.drafts.values();
    drafts.any(|draft| draft.record.id == workflow)
}

/// Refuses an automation with a draft next to a published version.
pub(super) fn check_none(state: &State, seen: &AnyRecord) -> Result<(), Refused> {
    let mut automations = state.structure.automations.iter();
    let is_published = automations.any(|found| found.id == seen.id && !found.draft);
    if is_published && exist(state, seen.id) {
        let message = format!("the automation {:?} has a draft", seen.name);
        return Err(refused(Code::Conflict, message));
    }
    Ok(())
}

/// Puts a draft in force, where what it began from still is.
pub(super) fn publish(state: &mut State, workflow: Id, version: Id) -> Result<(), Refused> {
    let stands = in_force(state, workflow)?;
    let Some(draft) = state.drafts.get(&version).cloned() else {
        return Ok(());
    };
    let fresh = automation(state, workflow)?.draft;
    if !fresh && stands != draft.base {
        let message = format!("another version of {:?} is in force by now", stands.name);
        return Err(refused(Code::DraftStale, message));
    }
    write(&mut state.structure, draft.record);
    state.drafts.remove(&version);
    automation(state, workflow)?.draft = false;
    Ok(())
}

/// Takes a draft away; changes the automation where it is none any more.
pub(super) fn remove(
    state: &mut State,
    workflow: Id,
    version: Id,
    published: Option<[AnyRecord; 2]>,
) -> Result<(), Refused> {
    let Ok(stands) = in_force(state, workflow) else {
        return Ok(());
    };
    if let Some(draft) = state.drafts.remove(&version) {
        if automation(state, workflow)?.draft && stands == draft.record {
            write(&mut state.structure, draft.base);
        }
        return Ok(());
    }
    match published {
        Some([from, to]) => update(&mut state.structure, &from, to),
        None => Ok(()),
    }
}

fn in_force(state: &State, workflow: Id) -> Result<AnyRecord, Refused> {
    let kind = RecordKind::Workflow;
    let found = AnyRecord::find(&state.structure, kind, workflow);
    found.ok_or_else(|| missing(kind, workflow))
}

fn automation(state: &mut State, workflow: Id) -> Result<&mut Automation, Refused> {
    let mut automations = state.structure.automations.iter_mut();
    let found = automations.find(|found| found.id == workflow);
    found.ok_or_else(|| missing(RecordKind::Workflow, workflow))
}
