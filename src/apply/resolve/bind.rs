//! Binds every create step to a record: a new one, one of an earlier job, or none.

use indexmap::IndexMap;

use super::bindings::{Binding, Bindings, Cause, Record};
use super::counterparts::{Counterpart, Counterparts};
use super::earlier_records::EarlierJobs;
use super::names::unique_names;
use super::steps::{StepWork, Steps, name_in, text_in, used_in};
use crate::apply::Minter;
use crate::definitions::ReferenceKind;
use crate::package::Tool;
use crate::package::model::UnresolvedForm;
use crate::package::reference::WORKSPACE;
use crate::workspace::{Id, RecordKind, Structure};

/// What becomes of a create step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Disposition<'p> {
    /// It is carried out.
    Fresh,
    /// An earlier job carried it out; or this one, before it was interrupted.
    Bound { unfinished: bool },
    /// People took away what an earlier job made, and an upgrade leaves it away.
    Away,
    /// Its parent stands for nothing, so that it has no place to be. No cause: the package itself
    /// leaves the parent empty.
    LeftOut(Option<Cause<'p>>),
}

/// What a create step makes.
pub(super) fn kind_of(tool: Tool) -> Option<RecordKind> {
    Some(match tool {
        Tool::CreateWorkspace => RecordKind::Workspace,
        Tool::CreateFeature => RecordKind::Feature,
        Tool::CreateColumn => RecordKind::Column,
        Tool::CreateView => RecordKind::View,
        Tool::CreateWorkflowV2 => RecordKind::Workflow,
        Tool::CreateModule => RecordKind::Module,
        Tool::CreateRail => RecordKind::Rail,
        _ => return None,
    })
}

/// What an update step changes.
pub(super) fn target_kind(tool: Tool) -> Option<RecordKind> {
    Some(match tool {
        Tool::UpdateWorkspace => RecordKind::Workspace,
        Tool::UpdateFeature => RecordKind::Feature,
        Tool::UpdateColumn => RecordKind::Column,
        Tool::UpdateView => RecordKind::View,
        Tool::UpdateModule => RecordKind::Module,
        _ => return None,
    })
}

/// New records with their refs, by kind and parent: their names must differ.
type Siblings<'p> = IndexMap<(RecordKind, Option<Id>), Vec<(&'p str, Record)>>;

/// Binds the workspace.
pub(super) fn bind_workspace(destination: &Structure, bindings: &mut Bindings<'_>) {
    let workspace = Record {
        kind: RecordKind::Workspace,
        id: destination.workspace.id,
        name: destination.workspace.name.clone(),
        parent: None,
        fresh: false,
        anew: false,
        gone: false,
    };
    let by_id = (ReferenceKind::Module, UnresolvedForm::Uuid);
    bindings.bind(WORKSPACE, by_id, Binding::Record(workspace));
}

/// Binds the refs of all create steps; gives the disposition of each by ref.
pub(super) fn bind<'p>(
    steps: &Steps<'p>,
    destination: &Structure,
    earlier: &EarlierJobs<'_>,
    minter: &Minter,
    pairs: Option<&Counterparts>,
    bindings: &mut Bindings<'p>,
) -> IndexMap<&'p str, Disposition<'p>> {
    bind_workspace(destination, bindings);
    let mut dispositions = IndexMap::new();
    let mut siblings: Siblings<'p> = IndexMap::new();
    for work in &steps.all {
        let (Some(kind), Some(reference)) = (kind_of(work.step.tool), &work.step.reference) else {
            continue;
        };
        let named = named(work.step.tool);
        let parent = match parent(work, bindings) {
            Ok(parent) => parent,
            Err(cause) => {
                dispositions.insert(reference.as_str(), Disposition::LeftOut(cause));
                let cause = cause.unwrap_or(Cause::LeftOut);
                bindings.bind(reference, named, Binding::Nothing(cause));
                continue;
            }
        };
        let bound = |made: Option<(Id, String, bool)>| {
            let (id, name, unfinished) = made?;
            let record = Record {
                kind,
                id,
                name,
                parent,
                fresh: false,
                anew: false,
                gone: false,
            };
            Some((Disposition::Bound { unfinished }, record))
        };
        let fresh = |anew| {
            let record = Record {
                kind,
                id: minter.id(ordinal(work, steps, earlier)),
                name: name_in(work.step).to_owned(),
                parent,
                fresh: true,
                anew,
                gone: false,
            };
            (Disposition::Fresh, record)
        };
        let away = |id, name: &str| {
            let record = Record {
                gone: true,
                fresh: false,
                id,
                name: name.to_owned(),
                ..fresh(false).1
            };
            (Disposition::Away, record)
        };
        let made = || earlier.made(reference, kind, parent, destination);
        let (disposition, record) = match pairs.filter(|_| !work.blueprint) {
            None => bound(made().map(|(made, name)| (made.id, name, made.unfinished)))
                .unwrap_or_else(|| fresh(earlier.once(reference, kind).is_some())),
            Some(pairs) => match pairs.counterpart(reference) {
                Counterpart::New => fresh(false),
                Counterpart::Recreated(_) => fresh(true),
                Counterpart::Present(record) | Counterpart::Adopted(record) => {
                    let own =
                        made().is_some_and(|(made, _)| made.id == record.id && made.unfinished);
                    let known = (record.id, record.name.clone(), own);
                    bound(Some(known)).unwrap_or_else(|| fresh(false))
                }
                Counterpart::Removed(record) => away(record.id, &record.name),
                // It is known by the id that it would have.
                Counterpart::LeftOut => {
                    let id = minter.id(ordinal(work, steps, earlier));
                    away(id, text_in(&work.step.args, "name"))
                }
            },
        };
        dispositions.insert(reference.as_str(), disposition);
        bindings.bind(reference, named, Binding::Record(record.clone()));
        // The name of an automation is free text.
        if disposition == Disposition::Fresh && kind != RecordKind::Workflow {
            let list = siblings.entry((kind, parent)).or_default();
            list.push((reference, record));
        }
    }
    for ((kind, parent), list) in siblings {
        let mut taken = taken(destination, kind, parent);
        taken.extend(reserved(kind, &list, steps));
        let free = |name: &&str| !taken.iter().any(|taken| taken == name);
        // What comes back is called what it was called: configs and cells know it by that name.
        let once = |reference| Some(earlier.once(reference, kind)?.name).filter(free);
        let wanted: Vec<&str> = list
            .iter()
            .map(|(reference, record)| once(reference).unwrap_or(&record.name))
            .collect();
        let chosen = unique_names(&wanted, taken.clone());
        for ((reference, record), name) in list.iter().zip(chosen) {
            let named = bindings.declared(reference);
            let record = Record {
                name,
                ..record.clone()
            };
            bindings.bind(reference, named, Binding::Record(record));
        }
    }
    dispositions
}

/// Where the id of a new record comes from. A job that goes on does not give what it creates anew
/// the id of what somebody took away: its ledger would say of both that they were written. It
/// counts down from the end, where no row is.
fn ordinal(work: &StepWork<'_>, steps: &Steps<'_>, earlier: &EarlierJobs<'_>) -> u32 {
    let ordinal = work.ordinal.unwrap_or_default();
    match earlier.attempts.checked_sub(1) {
        None => ordinal,
        Some(before) => u32::MAX
            .saturating_sub(before.saturating_mul(steps.creating))
            .saturating_sub(ordinal),
    }
}

/// What a ref of a create step names.
pub(super) fn named(tool: Tool) -> (ReferenceKind, UnresolvedForm) {
    match tool.creates() {
        Some(ReferenceKind::Column) => (ReferenceKind::Column, UnresolvedForm::Name),
        kind => (kind.unwrap_or(ReferenceKind::Module), UnresolvedForm::Uuid),
    }
}

/// The record that a step creates in; none for records directly in the workspace.
pub(super) fn parent<'p>(
    work: &StepWork<'p>,
    bindings: &Bindings<'p>,
) -> Result<Option<Id>, Option<Cause<'p>>> {
    let Some(argument) = work.step.tool.parent_argument() else {
        return Ok(None);
    };
    let reference = used_in(&work.step.args, argument).ok_or(None)?;
    match bindings.of(reference) {
        Binding::Record(record) => Ok(Some(record.id)),
        Binding::Nothing(cause) => Err(Some(*cause)),
        Binding::Outside(_) | Binding::Name(_) => Err(Some(Cause::LeftOut)),
    }
}

/// Names that siblings have already.
fn taken(destination: &Structure, kind: RecordKind, parent: Option<Id>) -> Vec<String> {
    let feature = || parent.and_then(|id| destination.feature(id));
    let module = || {
        destination
            .modules
            .iter()
            .find(|module| Some(module.id) == parent)
    };
    match kind {
        RecordKind::Workspace => vec![destination.workspace.name.clone()],
        RecordKind::Feature => names(&destination.features, |found| &found.name),
        RecordKind::Module => names(&destination.modules, |found| &found.name),
        RecordKind::Column => {
            feature().map_or(Vec::new(), |f| names(&f.columns, |found| &found.name))
        }
        RecordKind::View => feature().map_or(Vec::new(), |f| names(&f.views, |found| &found.name)),
        RecordKind::Rail => module().map_or(Vec::new(), |m| names(&m.rails, |found| &found.name)),
        RecordKind::Workflow => Vec::new(),
    }
}

/// Names that no new column may have: those of what every row has, and `id` where it is no identity (`rest` 3.5).
fn reserved(kind: RecordKind, list: &[(&str, Record)], steps: &Steps<'_>) -> Vec<String> {
    if kind != RecordKind::Column {
        return Vec::new();
    }
    let is_identity = |reference: &str| {
        let step = steps.creating(reference);
        step.is_some_and(|step| text_in(&step.args, "defaultComponent") == "id")
    };
    let mut columns = list.iter();
    let id = columns.any(|(reference, record)| record.name == "id" && !is_identity(reference));
    let names = ["created_at", "updated_at"].into_iter();
    names.chain(id.then_some("id")).map(str::to_owned).collect()
}

fn names<T>(list: &[T], name: impl Fn(&T) -> &String) -> Vec<String> {
    list.iter().map(|found| name(found).clone()).collect()
}
