//! The dependencies: what the package uses and does not carry.

use std::collections::HashMap;

use super::leak;
use super::onto::Identities;
use super::taken_refs::{TakenRefs, tail_of};
use super::workspace_index::SourceRecord;
use crate::context::Ids;
use crate::definitions::{Definitions, ReferenceKind};
use crate::json::Object;
use crate::package::model::{
    Blueprint, Dependency, DependencyForm, Identity, IdentityColumn, Proposal, Step, UsedBy,
};
use crate::package::{Tool, name};
use crate::workspace::{Automation, Channel, Column, Feature, Id, Module, Named, Rail, View};

/// Something that stays behind.
#[derive(Debug, Clone)]
pub(super) enum External<'s> {
    Feature(&'s Feature),
    View(&'s Feature, &'s View),
    Module(&'s Module),
    Rail(&'s Rail),
    Automation(&'s Automation),
    Earlier(&'s Named),
    Channel(&'s Channel),
    /// By its name.
    Connection(String),
    /// By its name, with its label.
    TimerProfile(String, Option<String>),
}

/// Why a field names something.
#[derive(Debug, Clone)]
pub(super) struct Cause {
    /// What the field is for.
    pub(super) reason: String,
    /// Whether the field is optional and has a default.
    pub(super) dispensable: bool,
    /// Whether it names things by id.
    pub(super) by_id: bool,
}

impl<'s> External<'s> {
    /// What it is when a dependency can stand for it by its ref.
    pub(super) fn of(thing: SourceRecord<'s>) -> Option<External<'s>> {
        Some(match thing {
            SourceRecord::Feature(one) => External::Feature(one),
            SourceRecord::View(table, one) => External::View(table, one),
            SourceRecord::Module(one) => External::Module(one),
            SourceRecord::Rail(one) => External::Rail(one),
            SourceRecord::Automation(one) => External::Automation(one),
            SourceRecord::Earlier(one) => External::Earlier(one),
            SourceRecord::Channel(one) => External::Channel(one),
            SourceRecord::Workspace | SourceRecord::Column(..) | SourceRecord::TimerProfile(_) => {
                return None;
            }
        })
    }

    fn kind(&self) -> ReferenceKind {
        match self {
            External::Feature(_) => ReferenceKind::Feature,
            External::View(..) => ReferenceKind::View,
            External::Module(_) => ReferenceKind::Module,
            External::Rail(_) => ReferenceKind::Rail,
            External::Automation(_) => ReferenceKind::WorkflowV2,
            External::Earlier(_) => ReferenceKind::Workflow,
            External::Channel(_) => ReferenceKind::Channel,
            External::Connection(_) => ReferenceKind::Connection,
            External::TimerProfile(..) => ReferenceKind::TimerProfile,
        }
    }

    fn key(&self) -> (ReferenceKind, String) {
        let id: Option<Id> = match self {
            External::Feature(one) => Some(one.id),
            External::View(_, one) => Some(one.id),
            External::Module(one) => Some(one.id),
            External::Rail(one) => Some(one.id),
            External::Automation(one) => Some(one.id),
            External::Earlier(one) => Some(one.id),
            External::Channel(one) => Some(one.id),
            External::Connection(_) | External::TimerProfile(..) => None,
        };
        let key = id.map_or_else(|| self.name().to_owned(), |id| id.to_string());
        (self.kind(), key)
    }

    fn name(&self) -> &str {
        match self {
            External::Feature(one) => &one.name,
            External::View(_, one) => &one.name,
            External::Module(one) => &one.name,
            External::Rail(one) => &one.name,
            External::Automation(one) => &one.name,
            External::Earlier(one) => &one.name,
            External::Channel(one) => one.name.as_deref().unwrap_or_default(),
            External::Connection(name) | External::TimerProfile(name, _) => name,
        }
    }

    fn label(&self) -> Option<&str> {
        match self {
            External::Feature(one) => Some(&one.label),
            External::View(_, one) => Some(&one.label),
            External::Module(one) => Some(&one.label),
            External::Rail(one) => Some(&one.label),
            External::Automation(one) => Some(&one.name),
            External::Earlier(one) => one.label.as_deref(),
            External::Channel(one) => one.label.as_deref(),
            External::Connection(_) => None,
            External::TimerProfile(_, label) => label.as_deref(),
        }
    }

    fn is_named(&self) -> bool {
        matches!(self, External::Connection(_) | External::TimerProfile(..))
    }

    /// The start of the ref, and what it is called when its name has no letter.
    fn prefix(&self) -> (&'static str, &'static str) {
        match self {
            External::Feature(_) => ("f", "feature"),
            External::View(..) => ("v", "view"),
            External::Module(_) => ("m", "module"),
            External::Rail(_) => ("r", "rail"),
            External::Automation(_) | External::Earlier(_) => ("w", "workflow"),
            External::Channel(_) => ("m", "channel"),
            External::Connection(_) => ("connection", "connection"),
            External::TimerProfile(..) => ("timerprofile", "timer"),
        }
    }
}

/// A dependency while its uses are gathered.
struct Pending<'s> {
    outside: External<'s>,
    uid: String,
    reference: String,
    columns: Vec<(&'s Column, IdentityColumn)>,
    uses: Vec<(UsedBy, Cause)>,
}

/// All dependencies, in order of their first use.
pub(super) struct Externals<'s, 'i, 'p> {
    names: TakenRefs,
    identities: &'i mut Identities<'p>,
    ids: &'i mut dyn Ids,
    list: Vec<Pending<'s>>,
    by_key: HashMap<(ReferenceKind, String), usize>,
}

impl<'s, 'i, 'p> Externals<'s, 'i, 'p> {
    pub(super) fn new(
        names: TakenRefs,
        identities: &'i mut Identities<'p>,
        ids: &'i mut dyn Ids,
    ) -> Externals<'s, 'i, 'p> {
        Externals {
            names,
            identities,
            ids,
            list: Vec::new(),
            by_key: HashMap::new(),
        }
    }

    /// The uid of the step that creates a ref.
    pub(super) fn create_step(&mut self, reference: &str) -> String {
        let known = self.identities.create_step(reference);
        known.unwrap_or_else(|| self.ids.uid())
    }

    /// The uid of the step that updates a ref.
    pub(super) fn update_step(&mut self, tool: Tool, reference: &str) -> String {
        let known = self.identities.update_step(tool, reference);
        known.unwrap_or_else(|| self.ids.uid())
    }

    fn index(&mut self, outside: &External<'s>) -> usize {
        let key = outside.key();
        if let Some(index) = self.by_key.get(&key) {
            return *index;
        }
        let (prefix, otherwise) = outside.prefix();
        let tail = match outside {
            External::View(table, view) => format!("{}_{}", table.name, view.name),
            other => other.name().to_owned(),
        };
        let label = label_or(outside.name(), otherwise);
        let (uid, reference) =
            if let Some(known) = self.identities.dependency(outside.kind(), &label) {
                (known.uid, known.reference)
            } else {
                let reference = self.names.mint(prefix, &name::derive(&tail, otherwise));
                (self.ids.uid(), reference)
            };
        let index = self.list.len();
        self.list.push(Pending {
            outside: outside.clone(),
            uid,
            reference,
            columns: Vec::new(),
            uses: Vec::new(),
        });
        self.by_key.insert(key, index);
        index
    }

    /// Notes a use by an item at a path; gives the ref of the dependency.
    pub(super) fn used(
        &mut self,
        outside: &External<'s>,
        item: &str,
        path: &str,
        cause: Cause,
    ) -> String {
        let index = self.index(outside);
        self.note(index, item, path, cause);
        self.list[index].reference.clone()
    }

    /// Notes a use of a column of a table; gives the ref of the column.
    pub(super) fn column_used(
        &mut self,
        table: &'s Feature,
        column: &'s Column,
        item: &str,
        path: &str,
        cause: Cause,
    ) -> String {
        let index = self.index(&External::Feature(table));
        self.note(index, item, path, cause);
        let known = self.list[index].columns.iter();
        if let Some((_, known)) = known.into_iter().find(|(one, _)| one.id == column.id) {
            return known.reference.clone();
        }
        let label = label_or(&column.name, "column");
        let table = &self.list[index].reference;
        let (uid, reference) = if let Some(known) = self.identities.column(table, &label) {
            (known.uid, known.reference)
        } else {
            let tail = name::derive(&column.name, "column");
            let tail = format!("{}_{tail}", tail_of(table));
            (self.ids.uid(), self.names.mint("c", &tail))
        };
        let identity = IdentityColumn {
            uid,
            reference: reference.clone(),
            name: label,
            label: leak::label(&column.label).unwrap_or_default(),
            column_type: column.column_type.clone(),
            default_component: column.default_component.clone(),
            unknown: Object::new(),
        };
        self.list[index].columns.push((column, identity));
        reference
    }

    fn note(&mut self, index: usize, item: &str, path: &str, cause: Cause) {
        let pending = &mut self.list[index];
        let entry = UsedBy {
            uid: item.to_owned(),
            targets: pending.uid.clone(),
            path: path.to_owned(),
            reason: cause.reason.clone(),
            unknown: Object::new(),
        };
        pending.uses.push((entry, cause));
    }

    /// The dependencies as the package declares them.
    pub(super) fn finish(self, definitions: &Definitions) -> Vec<Dependency> {
        let Externals {
            ids,
            list,
            identities,
            ..
        } = self;
        let mut step = |reference: &str| {
            let known = identities.create_step(reference);
            known.unwrap_or_else(|| ids.uid())
        };
        list.into_iter()
            .map(|pending| pending.finish(definitions, &mut step))
            .collect()
    }
}

impl Pending<'_> {
    /// `uid` gives the uid of the step that creates a ref.
    fn finish(self, definitions: &Definitions, uid: &mut dyn FnMut(&str) -> String) -> Dependency {
        let heaviest = self.uses.iter().find(|(_, cause)| cause.by_id);
        let heaviest = heaviest.or(self.uses.first());
        let description = heaviest.map(|(_, cause)| cause.reason.clone());
        let channel = matches!(self.outside, External::Channel(_));
        let creatable = |(column, _): &(&Column, IdentityColumn)| is_creatable(definitions, column);
        let blueprint = match self.outside {
            External::Feature(_) if self.columns.iter().all(creatable) => Some(self.blueprint(uid)),
            _ => None,
        };
        let identity = Identity {
            name: label_or(self.outside.name(), self.outside.prefix().1),
            label: self.outside.label().and_then(leak::label),
            columns: Some(self.columns.into_iter().map(|(_, column)| column).collect()),
            unknown: Object::new(),
        };
        Dependency {
            kind: self.outside.kind(),
            form: if self.outside.is_named() {
                DependencyForm::Name
            } else {
                DependencyForm::Uuid
            },
            required: channel || !self.uses.iter().all(|(_, cause)| cause.dispensable),
            proposal: if blueprint.is_some() {
                Proposal::Import
            } else {
                Proposal::Map
            },
            description: description.unwrap_or_default(),
            identity,
            used_by: self.uses.into_iter().map(|(entry, _)| entry).collect(),
            blueprint,
            uid: self.uid,
            reference: self.reference,
            unknown: Object::new(),
        }
    }

    fn blueprint(&self, uid: &mut dyn FnMut(&str) -> String) -> Blueprint {
        let mut step = |tool, reference: &str, args: &[(&str, crate::json::Value)]| Step {
            uid: uid(reference),
            tool,
            reference: Some(reference.to_owned()),
            args: args
                .iter()
                .map(|(key, value)| ((*key).to_owned(), value.clone()))
                .collect(),
            unknown: Object::new(),
        };
        let name = label_or(self.outside.name(), "feature");
        let label = self.outside.label().and_then(leak::label);
        let table = [
            ("workspaceId", "$workspace".into()),
            ("name", name.into()),
            ("label", label.unwrap_or_default().into()),
        ];
        let mut steps = vec![step(Tool::CreateFeature, &self.reference, &table)];
        for (order, (_, column)) in (1i64..).zip(&self.columns) {
            let args = [
                ("featureId", format!("${}", self.reference).into()),
                ("name", column.name.as_str().into()),
                ("label", column.label.as_str().into()),
                ("type", column.column_type.as_str().into()),
                ("defaultComponent", column.default_component.as_str().into()),
                ("order", order.into()),
            ];
            steps.push(step(Tool::CreateColumn, &column.reference, &args));
        }
        Blueprint {
            steps,
            unknown: Object::new(),
        }
    }
}

/// Whether a column can be created from its identity, which has no config.
fn is_creatable(definitions: &Definitions, column: &Column) -> bool {
    let fields = definitions.column_fields(&column.column_type, &column.default_component);
    let fits = definitions
        .column_types
        .get(&column.column_type)
        .is_some_and(|known| known.components.contains(&column.default_component));
    // A sequence without its config would mint UUIDs.
    fits && !column.is_sequence()
        && fields.is_some_and(|fields| fields.iter().all(|(_, field)| !field.is_required()))
}

/// A name as the package may show it.
fn label_or(name: &str, otherwise: &str) -> String {
    match leak::of(name) {
        None => name.to_owned(),
        Some(_) => self::name::derive(&leak::without_ids(name), otherwise),
    }
}
