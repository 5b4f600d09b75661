//! Everything that the source has, by id.

use std::collections::{HashMap, HashSet};

use crate::automation::secret_names;
use crate::definitions::{Definitions, ReferenceKind};
use crate::workspace::{
    Automation, Channel, Column, Feature, Id, Module, Named, Rail, Structure, View,
};

/// A record of the source, or one of its organization.
#[derive(Debug, Clone, Copy)]
pub(super) enum SourceRecord<'s> {
    Workspace,
    Feature(&'s Feature),
    Column(&'s Column),
    View(&'s Feature, &'s View),
    Module(&'s Module),
    Rail(&'s Rail),
    Automation(&'s Automation),
    /// An automation of the earlier format.
    Earlier(&'s Named),
    Channel(&'s Channel),
    TimerProfile(&'s Named),
}

impl<'s> SourceRecord<'s> {
    /// How references call it; nothing refers to a workspace.
    pub(super) fn kind(self) -> Option<ReferenceKind> {
        Some(match self {
            SourceRecord::Workspace => return None,
            SourceRecord::Feature(_) => ReferenceKind::Feature,
            SourceRecord::Column(..) => ReferenceKind::Column,
            SourceRecord::View(..) => ReferenceKind::View,
            SourceRecord::Module(_) => ReferenceKind::Module,
            SourceRecord::Rail(_) => ReferenceKind::Rail,
            SourceRecord::Automation(_) => ReferenceKind::WorkflowV2,
            SourceRecord::Earlier(_) => ReferenceKind::Workflow,
            SourceRecord::Channel(_) => ReferenceKind::Channel,
            SourceRecord::TimerProfile(_) => ReferenceKind::TimerProfile,
        })
    }

    /// Its label, when there is one.
    pub(super) fn label(self) -> Option<&'s str> {
        match self {
            SourceRecord::Workspace => None,
            SourceRecord::Feature(one) => Some(&one.label),
            SourceRecord::Column(one) => Some(&one.label),
            SourceRecord::View(_, one) => Some(&one.label),
            SourceRecord::Module(one) => Some(&one.label),
            SourceRecord::Rail(one) => Some(&one.label),
            SourceRecord::Automation(one) => Some(&one.name),
            SourceRecord::Earlier(one) | SourceRecord::TimerProfile(one) => {
                Some(one.label.as_ref().unwrap_or(&one.name))
            }
            SourceRecord::Channel(one) => one.label.as_deref().or(one.name.as_deref()),
        }
    }
}

/// The source with its records by id, and which of them travel.
pub(super) struct WorkspaceIndex<'s> {
    pub(super) structure: &'s Structure,
    things: HashMap<Id, SourceRecord<'s>>,
    /// By id: the record that travels.
    pub(super) travelling: HashMap<Id, usize>,
    /// What secrets are called, as [`secret_names::plain`] spells it.
    pub(super) secrets: HashSet<String>,
}

impl<'s> WorkspaceIndex<'s> {
    pub(super) fn new(
        structure: &'s Structure,
        travelling: HashMap<Id, usize>,
        definitions: &Definitions,
    ) -> WorkspaceIndex<'s> {
        let mut things = HashMap::new();
        things.insert(structure.workspace.id, SourceRecord::Workspace);
        for table in structure.features.iter().chain(&structure.shared) {
            things.insert(table.id, SourceRecord::Feature(table));
            let columns = table.columns.iter();
            things.extend(columns.map(|one| (one.id, SourceRecord::Column(one))));
            let views = table.views.iter();
            things.extend(views.map(|one| (one.id, SourceRecord::View(table, one))));
        }
        for module in &structure.modules {
            things.insert(module.id, SourceRecord::Module(module));
            let rails = module.rails.iter();
            things.extend(rails.map(|one| (one.id, SourceRecord::Rail(one))));
        }
        let automations = structure.automations.iter();
        things.extend(automations.map(|one| (one.id, SourceRecord::Automation(one))));
        let earlier = structure.earlier_automations.iter();
        things.extend(earlier.map(|one| (one.id, SourceRecord::Earlier(one))));
        let organization = &structure.organization;
        let channels = organization.channels.iter().flatten();
        things.extend(channels.map(|one| (one.id, SourceRecord::Channel(one))));
        let profiles = organization.timer_profiles.iter().flatten();
        things.extend(profiles.map(|one| (one.id, SourceRecord::TimerProfile(one))));
        WorkspaceIndex {
            structure,
            things,
            travelling,
            secrets: secret_names::names(definitions),
        }
    }

    /// What has that id.
    pub(super) fn thing(&self, id: Id) -> Option<SourceRecord<'s>> {
        self.things.get(&id).copied()
    }

    /// What has the id that `text` is.
    pub(super) fn named(&self, text: &str) -> Option<SourceRecord<'s>> {
        self.thing(Id::try_parse(text).ok()?)
    }

    /// The table that has the id that `text` is.
    pub(super) fn feature(&self, text: &str) -> Option<&'s Feature> {
        match self.named(text)? {
            SourceRecord::Feature(feature) => Some(feature),
            _ => None,
        }
    }

    /// The record that travels and has the id that `text` is.
    pub(super) fn record(&self, text: &str) -> Option<usize> {
        self.travelling.get(&Id::try_parse(text).ok()?).copied()
    }
}
