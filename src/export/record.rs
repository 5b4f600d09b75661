//! The exported records: the args of their create steps before references are rewritten.

use std::collections::{HashMap, HashSet};

use super::error::Fault;
use super::leak;
use super::onto::{self, Identities, Identity};
use super::order::topological;
use super::read::{self, FoundReference, ReferenceAction};
use super::selection::SelectedRecords;
use super::step_ids;
use super::taken_refs::{TakenRefs, tail_of};
use super::verdict::{ReferenceTarget, Referrer};
use super::workspace_index::WorkspaceIndex;
use crate::context::Ids;
use crate::definitions::Definitions;
use crate::json::{Object, SyntaxError, Value};
use crate::package::Tool;
use crate::package::configs::Declared;
use crate::package::name;
use crate::workspace::{Feature, Id, RecordKind, Structure};

/// A record that travels.
pub(super) struct Record<'s> {
    pub(super) kind: RecordKind,
    /// uid of its item.
    pub(super) uid: String,
    pub(super) reference: String,
    /// The record that it belongs to, when that travels too.
    pub(super) parent: Option<usize>,
    /// Label of the one that it belongs to, when that stays behind.
    pub(super) parent_behind: Option<&'s str>,
    /// The args of its create step with the ids of the source, its parent left out.
    pub(super) args: Object,
    /// What in the args is to change.
    pub(super) found: Vec<FoundReference<'s>>,
    /// Automations only.
    pub(super) step_ids: Option<Vec<String>>,
}

/// All records in the order of the phases, and the workspace itself.
pub(super) struct Records<'s> {
    pub(super) list: Vec<Record<'s>>,
    pub(super) workspace: WorkspaceStep<'s>,
    pub(super) known: WorkspaceIndex<'s>,
    pub(super) names: TakenRefs,
}

/// The step that writes the config of the workspace.
pub(super) struct WorkspaceStep<'s> {
    /// Args of `update_workspace` with the ids of the source.
    pub(super) args: Object,
    /// What in the args is to change.
    pub(super) found: Vec<FoundReference<'s>>,
}

/// What a record is made of, while refs and uids are handed out.
struct RecordDraft<'s> {
    kind: RecordKind,
    id: Id,
    parent: Option<(Id, &'s str)>,
    owner: Option<&'s Feature>,
    declared: Declared<'s>,
    /// What the ref is made of.
    tail: String,
    args: Object,
}

/// Reads the records and everything that they refer to.
pub(super) fn read<'s>(
    structure: &'s Structure,
    chosen: &SelectedRecords<'s>,
    definitions: &Definitions,
    identities: &mut Identities<'_>,
    ids: &mut dyn Ids,
) -> Result<Records<'s>, Fault> {
    let drafts = drafts(chosen);
    let unfit: Vec<String> = drafts.iter().filter_map(unfit_name).collect();
    if !unfit.is_empty() {
        return Err(Fault::UnfitNames(unfit));
    }
    let travelling: HashMap<Id, usize> = drafts.iter().map(|one| one.id).zip(0..).collect();
    let known = WorkspaceIndex::new(structure, travelling, definitions);
    let mut names = TakenRefs::reserved(identities.declared());
    let mut automations = if namesakes(&drafts) {
        automations_in_order(&drafts, &known, definitions, identities)?
    } else {
        HashMap::new()
    };
    let mut list: Vec<Record<'s>> = Vec::with_capacity(drafts.len());
    for (at, draft) in drafts.into_iter().enumerate() {
        let parent = draft
            .parent
            .and_then(|(id, _)| known.travelling.get(&id).copied());
        let (letter, otherwise) = letter(draft.kind);
        let own = name::derive(&draft.tail, otherwise);
        // A view of a table that stays behind is called after it all the same.
        let table = match parent.and_then(|parent| list.get(parent)) {
            Some(parent) => Some(tail_of(&parent.reference).to_owned()),
            None => draft
                .owner
                .map(|owner| name::derive(&owner.name, "feature")),
        };
        let tail = match (draft.kind, table) {
            (RecordKind::Column | RecordKind::View, Some(table)) => format!("{table}_{own}"),
            _ => own,
        };
        let known_as = automations.remove(&at).unwrap_or_else(|| {
            let parent = parent.and_then(|parent| list.get(parent));
            let parent = parent.map(|parent| parent.reference.as_str());
            identities.record(draft.kind, parent, &onto::name_without_ids(&draft.tail))
        });
        let mut args = draft.args;
        let deep = |error: SyntaxError| Fault::TooDeep {
            what: draft.tail.clone(),
            error,
        };
        let step_ids = match draft.kind {
            RecordKind::Workflow => {
                let before = known_as.as_ref();
                let before = before.and_then(|one| identities.args(&one.reference));
                Some(step_ids::complete(&mut args, before, definitions, ids).map_err(deep)?)
            }
            _ => None,
        };
        let place = Referrer {
            owner: draft.owner,
            workspace: false,
        };
        let tool = create_tool(draft.kind);
        let found = read::read(&known, definitions, tool, draft.declared, place, &args);
        let (uid, reference) = match known_as {
            Some(known) => (known.uid, known.reference),
            None => (ids.uid(), names.mint(letter, &tail)),
        };
        list.push(Record {
            kind: draft.kind,
            uid,
            reference,
            parent,
            parent_behind: draft
                .parent
                .filter(|_| parent.is_none())
                .map(|(_, label)| label),
            found: found.map_err(deep)?,
            args,
            step_ids,
        });
    }
    let workspace = &structure.workspace;
    let args = Object::from([("config".to_owned(), workspace.config.clone().into())]);
    let place = Referrer {
        owner: None,
        workspace: true,
    };
    let tool = Tool::UpdateWorkspace;
    let found = read::read(&known, definitions, tool, Declared::Other, place, &args);
    let found = found.map_err(|error| Fault::TooDeep {
        what: workspace.name.clone(),
        error,
    })?;
    Ok(Records {
        list,
        workspace: WorkspaceStep { args, found },
        known,
        names,
    })
}

/// Whether automations have equal names.
fn namesakes(drafts: &[RecordDraft<'_>]) -> bool {
    let automations = drafts.iter().filter(|one| one.kind == RecordKind::Workflow);
    let mut names = HashSet::new();
    automations
        .into_iter()
        .any(|one| !names.insert(onto::name_without_ids(&one.tail)))
}

/// What automations had, by draft. Of equal names they are the same in the order of the plan, which is
/// not that of the workspace: what is referred to comes first.
fn automations_in_order<'s>(
    drafts: &[RecordDraft<'s>],
    known: &WorkspaceIndex<'s>,
    definitions: &Definitions,
    identities: &mut Identities<'_>,
) -> Result<HashMap<usize, Option<Identity>>, Fault> {
    let is_automation = |draft: &RecordDraft<'_>| draft.kind == RecordKind::Workflow;
    let first = drafts.iter().position(is_automation).unwrap_or_default();
    let automations = drafts.iter().filter(|draft| is_automation(draft));
    let place = Referrer {
        owner: None,
        workspace: false,
    };
    let mut needs: Vec<Vec<usize>> = Vec::new();
    for (node, draft) in automations.clone().enumerate() {
        let tool = Tool::CreateWorkflowV2;
        let found = read::read(
            known,
            definitions,
            tool,
            Declared::Other,
            place,
            &draft.args,
        );
        let found = found.map_err(|error| Fault::TooDeep {
            what: draft.tail.clone(),
            error,
        })?;
        let others =
            targets(&found).filter(|target| drafts.get(*target).is_some_and(is_automation));
        let others = others.map(|target| target - first);
        needs.push(others.filter(|other| *other != node).collect());
    }
    let order = topological(needs.len(), |node| needs[node].clone());
    let named = order.into_iter().map(|node| {
        let name = drafts
            .get(first + node)
            .map(|draft| onto::name_without_ids(&draft.tail));
        let name = name.unwrap_or_default();
        let known = identities.record(RecordKind::Workflow, None, &name);
        (first + node, known)
    });
    Ok(named.collect())
}

/// The records that found references lead to.
pub(super) fn targets(found: &[FoundReference<'_>]) -> impl Iterator<Item = usize> {
    found.iter().filter_map(|found| match &found.what {
        ReferenceAction::Use {
            target: ReferenceTarget::Record(target),
            ..
        } => Some(*target),
        _ => None,
    })
}

fn letter(kind: RecordKind) -> (&'static str, &'static str) {
    match kind {
        RecordKind::Feature => ("f", "feature"),
        RecordKind::Column => ("c", "column"),
        RecordKind::View => ("v", "view"),
        RecordKind::Module => ("m", "module"),
        RecordKind::Rail => ("r", "rail"),
        RecordKind::Workflow | RecordKind::Workspace => ("w", "workflow"),
    }
}

pub(super) fn create_tool(kind: RecordKind) -> Tool {
    match kind {
        RecordKind::Workspace => Tool::CreateWorkspace,
        RecordKind::Feature => Tool::CreateFeature,
        RecordKind::Column => Tool::CreateColumn,
        RecordKind::View => Tool::CreateView,
        RecordKind::Workflow => Tool::CreateWorkflowV2,
        RecordKind::Module => Tool::CreateModule,
        RecordKind::Rail => Tool::CreateRail,
    }
}

/// A technical name is a key of rows and tokens: it travels as it is or not at all.
fn unfit_name(draft: &RecordDraft<'_>) -> Option<String> {
    let name = draft.args.get("name").and_then(Value::as_str)?;
    (draft.kind != RecordKind::Workflow && leak::of(name).is_some())
        .then(|| format!("{} {name:?}", draft.kind.as_str()))
}

fn args<const N: usize>(name: &str, label: &str, rest: [(&str, Value); N]) -> Object {
    let own = [("name", name.into()), ("label", label.into())];
    own.into_iter()
        .chain(rest)
        .map(|(key, value)| (key.to_owned(), value))
        .collect()
}

/// One per record, by phase, in the order of the workspace.
fn drafts<'s>(chosen: &SelectedRecords<'s>) -> Vec<RecordDraft<'s>> {
    let mut drafts = Vec::new();
    for table in &chosen.features {
        drafts.push(RecordDraft {
            kind: RecordKind::Feature,
            id: table.id,
            parent: None,
            owner: Some(table),
            declared: Declared::Other,
            tail: table.name.clone(),
            args: args(
                &table.name,
                &table.label,
                [("config", table.config.clone().into())],
            ),
        });
    }
    for table in &chosen.features {
        let orders = orders(table);
        for (column, order) in table.columns.iter().zip(orders) {
            let component = column.default_component.as_str();
            let rest = [
                ("type", column.column_type.as_str().into()),
                ("defaultComponent", component.into()),
                ("order", order.into()),
                ("config", column.config.clone().into()),
            ];
            drafts.push(RecordDraft {
                kind: RecordKind::Column,
                id: column.id,
                parent: Some((table.id, &table.label)),
                owner: Some(table),
                declared: Declared::Column(&column.column_type, Some(component)),
                tail: column.name.clone(),
                args: args(&column.name, &column.label, rest),
            });
        }
    }
    for (table, view) in &chosen.views {
        let rest = [
            ("type", view.view_type.as_str().into()),
            ("config", Value::List(vec![view.config.clone().into()])),
        ];
        drafts.push(RecordDraft {
            kind: RecordKind::View,
            id: view.id,
            parent: Some((table.id, &table.label)),
            owner: Some(table),
            declared: Declared::View(&view.view_type),
            tail: view.name.clone(),
            args: args(&view.name, &view.label, rest),
        });
    }
    for one in &chosen.automations {
        let rest = [
            ("triggerConfig", one.trigger_config.clone().into()),
            ("graphConfig", one.graph_config.clone().into()),
            ("isDraft", true.into()),
        ];
        let mut args = args(&one.name, &one.name, rest);
        if one.active {
            args.insert("published".to_owned(), true.into());
        }
        drafts.push(RecordDraft {
            kind: RecordKind::Workflow,
            id: one.id,
            parent: None,
            owner: None,
            declared: Declared::Other,
            tail: one.name.clone(),
            args,
        });
    }
    for module in &chosen.modules {
        let rest = [
            ("order", module.order.into()),
            ("config", module.config.clone().into()),
        ];
        let mut args = args(&module.name, &module.label, rest);
        if let Some(icon) = &module.icon {
            args.insert("icon".to_owned(), icon.as_str().into());
        }
        drafts.push(RecordDraft {
            kind: RecordKind::Module,
            id: module.id,
            parent: None,
            owner: None,
            declared: Declared::Other,
            tail: module.name.clone(),
            args,
        });
    }
    for (module, rail) in &chosen.rails {
        let config = rail.config.iter().cloned().map(Value::Object);
        let rest = [
            ("order", rail.order.into()),
            ("config", Value::List(config.collect())),
        ];
        drafts.push(RecordDraft {
            kind: RecordKind::Rail,
            id: rail.id,
            parent: Some((module.id, &module.label)),
            owner: None,
            declared: Declared::Other,
            tail: rail.name.clone(),
            args: args(&rail.name, &rail.label, rest),
        });
    }
    drafts
}

/// Positions of the columns; counted anew where two share one.
fn orders(table: &Feature) -> Vec<i64> {
    let orders: Vec<i64> = table.columns.iter().map(|column| column.order).collect();
    if orders.windows(2).all(|pair| pair[0] < pair[1]) {
        orders
    } else {
        (1..).take(orders.len()).collect()
    }
}
