//! Chooses the file of each entry of a package.

use std::collections::HashMap;

use super::name::{self, Names};
use super::{Index, Section, index::Entry};
use crate::definitions::ReferenceKind;
use crate::json::Node;
use crate::package::Tool;
use crate::package::model::{ItemKind, WireWord as _};
use crate::package::reference::{self, undollared};

/// A file of the layout, before it is written.
#[derive(Debug, Default)]
pub(super) struct LayoutFile<'d> {
    pub(super) name: String,
    pub(super) item: Option<Node<'d>>,
    pub(super) dependency: Option<Node<'d>>,
    pub(super) payload: Option<Node<'d>>,
    pub(super) unresolved: Vec<Node<'d>>,
    pub(super) redacted: Vec<Node<'d>>,
    pub(super) steps: Vec<Node<'d>>,
}

/// The lists of a package that are taken apart; one that is absent, or no list, stays whole.
#[derive(Debug, Default)]
pub(super) struct Lists<'d> {
    pub(super) found: Vec<(Section, Node<'d>)>,
    pub(super) plan_id: Option<&'d str>,
}

impl<'d> Lists<'d> {
    fn elements(&self, section: Section) -> impl Iterator<Item = Node<'d>> + use<'d> {
        let list = self.found.iter().find(|(known, _)| *known == section);
        let list = list.map(|(_, list)| *list);
        list.into_iter().flat_map(Node::elements)
    }
}

/// Files by what they are about.
#[derive(Debug, Default)]
pub(super) struct LayoutFiles<'d> {
    pub(super) all: Vec<LayoutFile<'d>>,
    pub(super) index: Index,
    names: Names,
    by_ref: HashMap<&'d str, usize>,
    rows_by_ref: HashMap<&'d str, usize>,
    by_uid: HashMap<&'d str, usize>,
    shared_file: HashMap<&'static str, usize>,
}

impl<'d> LayoutFiles<'d> {
    /// Sends every entry of the lists to its file.
    pub(super) fn assign(lists: &Lists<'d>) -> LayoutFiles<'d> {
        let mut units = LayoutFiles::default();
        // What is created gives the names; everything else goes where they are.
        let items: Vec<usize> = units.items(lists);
        let dependencies: Vec<usize> = lists
            .elements(Section::Dependencies)
            .map(|dependency| units.dependency(dependency))
            .collect();
        for step in lists.elements(Section::Steps) {
            units.created(step);
        }
        let payloads: Vec<usize> = lists
            .elements(Section::Payloads)
            .map(|payload| units.payload(payload))
            .collect();
        for (section, _) in &lists.found {
            let entries = match section {
                Section::Items => units.entries(&items),
                Section::Dependencies => units.entries(&dependencies),
                Section::Payloads => units.payload_entries(&payloads),
                Section::Steps => units.entries_of(lists, *section, LayoutFiles::step),
                Section::Unresolved | Section::Redacted => {
                    units.entries_of(lists, *section, |units, entry| {
                        units.about(entry, lists.plan_id)
                    })
                }
            };
            units.index.lists.push((*section, entries));
        }
        units
    }

    fn add(&mut self, name: String) -> usize {
        self.all.push(LayoutFile {
            name,
            ..LayoutFile::default()
        });
        self.all.len() - 1
    }

    fn give(&mut self, folder: &str, text: &str) -> usize {
        let name = self.names.give(folder, text);
        self.add(name)
    }

    /// One of the two files that are next to the folders.
    fn shared_file(&mut self, name: &'static str) -> usize {
        if let Some(unit) = self.shared_file.get(name) {
            return *unit;
        }
        let unit = self.add(name.to_owned());
        self.shared_file.insert(name, unit);
        unit
    }

    fn items(&mut self, lists: &Lists<'d>) -> Vec<usize> {
        let by_uid: HashMap<&str, Node<'d>> = lists
            .elements(Section::Items)
            .filter_map(|item| Some((item.get_str("uid")?, item)))
            .collect();
        // A rows item without a parent stands for the table of its entry.
        let tables: HashMap<&str, &'d str> = lists
            .elements(Section::Payloads)
            .filter_map(|entry| {
                let table = undollared(entry.get_str("featureRef")?);
                Some((entry.get_str("itemUid")?, table))
            })
            .collect();
        let table_of = |item: Node<'d>| {
            let parent = item.get_str("parent").and_then(|uid| by_uid.get(uid));
            let parent = parent.and_then(|parent| parent.get_str("ref"));
            parent
                .map(undollared)
                .or_else(|| item.get_str("uid").and_then(|uid| tables.get(uid).copied()))
        };
        lists
            .elements(Section::Items)
            .map(|item| {
                let is_rows = item.get_str("kind") == Some(ItemKind::Rows.word());
                let table = is_rows.then(|| table_of(item)).flatten();
                self.item(item, table)
            })
            .collect()
    }

    fn item(&mut self, item: Node<'d>, table: Option<&'d str>) -> usize {
        let folder = name::folder(item.get_str("kind").unwrap_or_default());
        let reference = item.get_str("ref").map(undollared);
        let named = table.or(reference).map(name::tail);
        let unit = self.give(folder, named.unwrap_or_else(|| unnamed(item)));
        self.all[unit].item = Some(item);
        if let Some(reference) = reference {
            self.by_ref.entry(reference).or_insert(unit);
        }
        if let Some(table) = table {
            self.rows_by_ref.entry(table).or_insert(unit);
        }
        if let Some(uid) = item.get_str("uid") {
            self.by_uid.entry(uid).or_insert(unit);
        }
        unit
    }

    fn dependency(&mut self, dependency: Node<'d>) -> usize {
        // The whole ref: `connection_erp` and `f_erp` are in one folder.
        let reference = dependency.get_str("ref").map(undollared);
        let unit = self.give(
            name::DEPENDENCIES,
            reference.unwrap_or_else(|| unnamed(dependency)),
        );
        self.all[unit].dependency = Some(dependency);
        unit
    }

    /// Makes a file for what a step creates, unless an item has one (version 1 has no items).
    fn created(&mut self, step: Node<'d>) {
        let tool = step.get_str("tool").and_then(Tool::parse);
        let (Some(kind), Some(reference)) = (tool.and_then(Tool::creates), step.get_str("ref"))
        else {
            return;
        };
        let reference = undollared(reference);
        if !self.by_ref.contains_key(reference) {
            let kind = match kind {
                ReferenceKind::WorkflowV2 => ItemKind::Workflow.word(),
                kind => kind.as_str(),
            };
            let unit = self.give(name::folder(kind), name::tail(reference));
            self.by_ref.insert(reference, unit);
        }
    }

    fn payload(&mut self, payload: Node<'d>) -> usize {
        let item = payload
            .get_str("itemUid")
            .and_then(|uid| self.by_uid.get(uid));
        let item = item.filter(|unit| self.all[**unit].name.starts_with("rows/"));
        let table = payload.get_str("featureRef").map(undollared);
        let by_table = table.and_then(|table| self.rows_by_ref.get(table));
        let free = |unit: &&usize| self.all[**unit].payload.is_none();
        let unit = match item.filter(free).or(by_table.filter(free)) {
            Some(unit) => *unit,
            None => self.give(
                name::ROWS,
                table.map_or_else(|| unnamed(payload), name::tail),
            ),
        };
        self.all[unit].payload = Some(payload);
        if let Some(table) = table {
            self.rows_by_ref.entry(table).or_insert(unit);
        }
        unit
    }

    /// The file of a step.
    fn step(&mut self, step: Node<'d>) -> usize {
        let known = |units: &LayoutFiles<'d>, reference: &str| units.by_ref.get(reference).copied();
        let tool = step.get_str("tool").and_then(Tool::parse);
        let argument = |key| {
            let target = step.get("args")?.get_str(key)?;
            reference::used(target)
        };
        let unit = match tool {
            Some(Tool::CreateWorkspace | Tool::UpdateWorkspace) => {
                Some(self.shared_file(name::WORKSPACE_FILE))
            }
            Some(tool) if tool.is_row_tool() => {
                argument("featureId").map(|table| self.rows_of(table))
            }
            tool => {
                let target = tool.and_then(Tool::target_argument).and_then(argument);
                let reference = step.get_str("ref").map(undollared).or(target);
                reference.and_then(|reference| known(self, reference))
            }
        };
        let unit = unit.unwrap_or_else(|| self.shared_file(name::OTHER_FILE));
        self.all[unit].steps.push(step);
        unit
    }

    /// The file of a table's rows, for steps that write some.
    fn rows_of(&mut self, table: &'d str) -> usize {
        if let Some(unit) = self.rows_by_ref.get(table) {
            return *unit;
        }
        let unit = self.give(name::ROWS, name::tail(table));
        self.rows_by_ref.insert(table, unit);
        unit
    }

    /// The file of an unresolved or redacted entry.
    fn about(&mut self, entry: Node<'d>, plan_id: Option<&str>) -> usize {
        let uid = entry.get_str("uid");
        let item = uid.and_then(|uid| self.by_uid.get(uid).copied());
        item.unwrap_or_else(|| {
            let plan = uid.is_some() && uid == plan_id;
            self.shared_file(if plan {
                name::WORKSPACE_FILE
            } else {
                name::OTHER_FILE
            })
        })
    }

    fn entries_of(
        &mut self,
        lists: &Lists<'d>,
        section: Section,
        file: impl Fn(&mut LayoutFiles<'d>, Node<'d>) -> usize,
    ) -> Vec<Entry> {
        let units: Vec<usize> = lists
            .elements(section)
            .map(|element| {
                let unit = file(self, element);
                match section {
                    Section::Unresolved => self.all[unit].unresolved.push(element),
                    Section::Redacted => self.all[unit].redacted.push(element),
                    _ => {}
                }
                unit
            })
            .collect();
        self.entries(&units)
    }

    fn entries(&self, units: &[usize]) -> Vec<Entry> {
        let entry = |unit: &usize| Entry {
            name: self.all[*unit].name.clone(),
            line: 0,
        };
        units.iter().map(entry).collect()
    }

    /// Payloads are named by the file of their rows, when they have rows.
    fn payload_entries(&self, units: &[usize]) -> Vec<Entry> {
        let mut entries = self.entries(units);
        for (entry, unit) in entries.iter_mut().zip(units) {
            if self.all[*unit].rows().is_some() {
                entry.name.push('l');
            }
        }
        entries
    }
}

impl<'d> LayoutFile<'d> {
    /// The rows that go to a file of their own.
    pub(super) fn rows(&self) -> Option<Node<'d>> {
        let rows = self.payload?.get("rows")?;
        rows.is_array().then_some(rows)
    }
}

/// What tells an entry apart that has no ref; without an uid either, only its place does.
fn unnamed(entry: Node<'_>) -> &str {
    entry.get_str("uid").unwrap_or_default()
}
