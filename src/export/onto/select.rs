//! What an earlier package selects, and what of it the workspace lacks.

use std::collections::{HashMap, HashSet};

use super::previous::PreviousPackage;
use crate::export::selection::{RowsSelection, Selection};
use crate::json::Value;
use crate::package::Tool;
use crate::package::model::{ItemKind, Step, WireWord as _};
use crate::package::reference;
use crate::workspace::{Id, Structure};

/// Something that the earlier package holds and the workspace does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingItem {
    /// `feature`, `column`, `view`, `module`, `rail` or `workflow`.
    pub kind: &'static str,
    /// Its technical name; those of columns, views and navigation entries follow their parent's.
    pub name: String,
}

/// The names of what an earlier package creates, with those of their parents.
struct PackageNames<'p> {
    kind: ItemKind,
    /// Empty when the parent does not travel, or there is none.
    parent: &'p str,
    name: &'p str,
}

impl PreviousPackage<'_> {
    /// What it holds of the workspace, and whether the config of the workspace is part of it: tables,
    /// modules and automations by name, with all that belongs to them, and rows where it has rows.
    pub(in crate::export) fn selection(&self, structure: &Structure) -> (Selection, bool) {
        let tables = self.names(Tool::CreateFeature);
        let modules = self.names(Tool::CreateModule);
        let mut automations = self.names(Tool::CreateWorkflowV2);
        let features = structure.features.iter();
        let features = features.filter(|one| tables.contains_key(one.name.as_str()));
        let features: Vec<_> = features.collect();
        let with_rows: HashSet<&str> = self.tables_with_rows().collect();
        let rows = features.iter();
        let rows = rows.filter(|one| with_rows.contains(one.name.as_str()));
        let chosen = structure.modules.iter();
        let chosen = chosen.filter(|one| modules.contains_key(one.name.as_str()));
        // Of equal names as many as there were, in order.
        let workflows = structure.automations.iter().filter(|one| {
            let left = automations.get_mut(super::identities::name_without_ids(&one.name).as_ref());
            left.is_some_and(|left| {
                let any = *left > 0;
                *left = left.saturating_sub(1);
                any
            })
        });
        let workflows: Vec<Id> = workflows.map(|one| one.id).collect();
        let steps = self.manifest.plan.steps.iter();
        let mut updates = steps.filter(|step| step.tool == Tool::UpdateWorkspace);
        let selection = Selection {
            rows: RowsSelection::Some(rows.map(|one| one.id).collect()),
            modules: Some(chosen.map(|one| one.id).collect()),
            features: Some(features.iter().map(|one| one.id).collect()),
            workflows: Some(workflows),
            ..Selection::default()
        };
        (selection, updates.next().is_some())
    }

    /// What it holds and the workspace lacks, in its order. What went with its parent is one with it.
    pub fn missing(&self, structure: &Structure) -> Vec<MissingItem> {
        let mut there = there(structure);
        let mut missing = Vec::new();
        let mut gone: HashSet<(ItemKind, &str)> = HashSet::new();
        for named in self.named() {
            let above = match named.kind {
                ItemKind::Column | ItemKind::View => ItemKind::Feature,
                _ => ItemKind::Module,
            };
            if gone.contains(&(above, named.parent)) {
                continue;
            }
            let key = (named.kind, named.parent.to_owned(), named.name.to_owned());
            match there.get_mut(&key) {
                Some(left) if *left > 0 => *left -= 1,
                _ => {
                    gone.insert((named.kind, named.name));
                    let parent = Some(named.parent).filter(|parent| !parent.is_empty());
                    let name = parent.map(|parent| format!("{parent}.{}", named.name));
                    missing.push(MissingItem {
                        kind: named.kind.word(),
                        name: name.unwrap_or_else(|| named.name.to_owned()),
                    });
                }
            }
        }
        missing
    }

    /// How often it creates what, by name.
    fn names(&self, tool: Tool) -> HashMap<&str, usize> {
        let mut names = HashMap::new();
        for step in &self.manifest.plan.steps {
            if step.tool == tool {
                *names.entry(name(step)).or_default() += 1;
            }
        }
        names
    }

    fn tables_with_rows(&self) -> impl Iterator<Item = &str> {
        let items = self.manifest.items();
        let parents = self.rows_items().filter_map(|item| item.parent.as_deref());
        let tables = parents.filter_map(move |uid| items.iter().find(|item| item.uid == uid));
        let steps = &self.manifest.plan.steps;
        let created = tables.filter_map(move |item| {
            let own = |step: &&Step| step.reference == item.reference;
            steps.iter().find(own)
        });
        created.map(name)
    }

    fn named(&self) -> Vec<PackageNames<'_>> {
        let steps = &self.manifest.plan.steps;
        let by_ref: HashMap<&str, &Step> = steps
            .iter()
            .filter_map(|step| Some((step.reference.as_deref()?, step)))
            .collect();
        let named = steps.iter().filter_map(|step| {
            let kind = kind(step.tool)?;
            let parent = step.tool.parent_argument();
            let parent = parent.and_then(|key| step.args.get(key)?.as_str());
            let parent = match parent.and_then(reference::used) {
                // A parent that the package does not carry has no name here.
                Some(parent) => name(by_ref.get(parent)?),
                None if parent.is_some() => return None,
                None => "",
            };
            Some(PackageNames {
                kind,
                parent,
                name: name(step),
            })
        });
        named.collect()
    }
}

fn kind(tool: Tool) -> Option<ItemKind> {
    Some(match tool {
        Tool::CreateFeature => ItemKind::Feature,
        Tool::CreateColumn => ItemKind::Column,
        Tool::CreateView => ItemKind::View,
        Tool::CreateWorkflowV2 => ItemKind::Workflow,
        Tool::CreateModule => ItemKind::Module,
        Tool::CreateRail => ItemKind::Rail,
        _ => return None,
    })
}

/// How often a workspace has a thing: by kind, name of the parent, and name.
fn there(structure: &Structure) -> HashMap<(ItemKind, String, String), usize> {
    let mut there = HashMap::new();
    let mut add = |kind, parent: &str, name: &str| {
        *there
            .entry((kind, parent.to_owned(), name.to_owned()))
            .or_default() += 1;
    };
    for table in &structure.features {
        add(ItemKind::Feature, "", &table.name);
        let columns = table.columns.iter();
        columns.for_each(|one| add(ItemKind::Column, &table.name, &one.name));
        let views = table.views.iter();
        views.for_each(|one| add(ItemKind::View, &table.name, &one.name));
    }
    for module in &structure.modules {
        add(ItemKind::Module, "", &module.name);
        let rails = module.rails.iter();
        rails.for_each(|one| add(ItemKind::Rail, &module.name, &one.name));
    }
    for one in &structure.automations {
        add(
            ItemKind::Workflow,
            "",
            &super::identities::name_without_ids(&one.name),
        );
    }
    there
}

fn name(step: &Step) -> &str {
    step.args
        .get("name")
        .and_then(Value::as_str)
        .unwrap_or_default()
}
