//! Upgrades a version 1 package to version 2: the plan stays, and the layers that describe its
//! contents are derived from it.
//!
//! | Layer | Comes from |
//! |---|---|
//! | `items` | the create steps and the payload entries; uids are new |
//! | `source` | the time of the plan, the version of the registry that read it; the workspace is not known |
//! | `dependencies` | nothing: a ref from outside does not describe its target |
//! | `unresolved` | required references that are empty, and link cells to tables without rows |
//! | `redacted` | nothing: cleared values leave no trace |
//!
//! In: a parsed file and a source of ids. Out: the package, and notes on everything that could not
//! be derived. It never invents a value.

use std::collections::{HashMap, HashSet};

use crate::automation::step_ids;
use crate::check::facts::{Facts, Step, StepConfigFault};
use crate::contents::halves;
use crate::context::Ids;
use crate::definitions::{Definitions, Form, Reference, ReferenceKind};
use crate::json::path::{dotted, push_dotted};
use crate::json::{Doc, Node, Object};
use crate::package::Tool;
use crate::package::format::{Type, VERSION_2_LAYERS};
use crate::package::model::{
    Action, Contents, DataClass, Item, ItemKind, Layers, ModelError, Package, PayloadEntry, Reason,
    Source, Unresolved, UnresolvedForm, UnresolvedKind,
};
use crate::package::uid::is_uid;

/// A package that was migrated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Migrated {
    /// The package, of version 2.
    pub package: Package,
    /// What could not be derived, in sentences.
    pub notes: Vec<String>,
}

/// Migrates a package of version 1; gives nothing for one that is of version 2 already.
///
/// Fails for a package that the model cannot hold: one that does not check without errors.
///
/// ```
/// use tplkit::{context::Seeded, definitions::Definitions, json::Doc, migrate};
///
/// let text = r#"{"templateVersion": 1, "plan": {"planVersion": 1,
///     "id": "u_0d9f1f5e-5ac7-4b5e-9a3f-9d5ae0cc1d10", "summary": "Nothing.",
///     "target": {"workspaceId": "$workspace"}, "externalRefs": [], "steps": [],
///     "metadata": {"source": "export", "generatedAt": "2026-03-01T09:30:00Z"}}}"#;
/// let doc = Doc::parse_package(text)?;
/// let migrated = migrate::to_version_2(&doc, Definitions::embedded(), &mut Seeded::new(1))?;
/// let package = migrated.ok_or("version 2")?.package;
/// assert!(package.manifest.layers().is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn to_version_2(
    doc: &Doc<'_>,
    definitions: &Definitions,
    ids: &mut dyn Ids,
) -> Result<Option<Migrated>, ModelError> {
    let mut package = Package::read(doc)?;
    if package.manifest.layers().is_some() {
        return Ok(None);
    }
    let (manifest, _) = halves(doc.root());
    let facts = Facts::new(doc, manifest, definitions);
    let mut migration = Migration {
        facts: &facts,
        ids,
        items: Vec::new(),
        unresolved: Vec::new(),
        notes: Vec::new(),
        by_ref: HashMap::new(),
    };
    migration.structure();
    let envelope = package.envelope.as_mut();
    if let Some(payloads) = envelope.and_then(|envelope| envelope.payloads.as_mut()) {
        migration.rows(payloads);
    }
    migration.empty_references();
    migration.outside(&package);
    let source = migration.source(&package);
    for layer in VERSION_2_LAYERS {
        if package.manifest.unknown.shift_remove(*layer).is_some() {
            let note = format!("`{layer}` was there although version 1 has none: it was replaced");
            migration.notes.push(note);
        }
    }
    package.manifest.contents = Contents::Version2(Layers {
        source,
        items: migration.items,
        dependencies: Vec::new(),
        unresolved: migration.unresolved,
        redacted: Vec::new(),
    });
    Ok(Some(Migrated {
        package,
        notes: migration.notes,
    }))
}

struct Migration<'f, 'd, 'i> {
    facts: &'f Facts<'d>,
    ids: &'i mut dyn Ids,
    items: Vec<Item>,
    unresolved: Vec<Unresolved>,
    notes: Vec<String>,
    /// Ref → uid of its item.
    by_ref: HashMap<&'d str, String>,
}

impl<'d> Migration<'_, 'd, '_> {
    /// One item per create step.
    fn structure(&mut self) {
        let facts = self.facts;
        for step in &facts.steps {
            let kind = step.tool.and_then(Tool::creates).and_then(item_kind);
            let (Some(kind), Some(reference)) = (kind, step.reference) else {
                continue;
            };
            let uid = self.ids.uid();
            self.by_ref.entry(reference).or_insert_with(|| uid.clone());
            let title = step.title();
            self.items.push(Item {
                step_ids: (kind == ItemKind::Workflow).then(|| self.step_ids(step)),
                ..item(uid, kind, title.unwrap_or(reference), Some(reference))
            });
        }
        // Parents may be created later in a plan that is out of order.
        for item in &mut self.items {
            let step = item
                .reference
                .as_deref()
                .and_then(|one| facts.declaring_step(one));
            let step = step.map(|index| &facts.steps[index]);
            let parent = step.and_then(|step| step.arg_ref(step.tool?.parent_argument()?));
            item.parent = parent.and_then(|parent| self.by_ref.get(parent).cloned());
        }
    }

    fn step_ids(&self, step: &Step<'d>) -> Vec<String> {
        let steps = step.arg("graphConfig").and_then(|graph| graph.get("steps"));
        let ids = steps.map(|steps| step_ids(self.facts.definitions, steps));
        let ids = ids.into_iter().flatten().filter_map(Node::as_str);
        ids.map(str::to_owned).collect()
    }

    /// One item per payload entry, after that of its table.
    fn rows(&mut self, payloads: &mut [PayloadEntry]) {
        let tables: HashSet<String> = payloads.iter().map(|one| one.feature_ref.clone()).collect();
        let mut taken: HashSet<String> = HashSet::new();
        for entry in payloads {
            if !is_uid(&entry.item_uid) || !taken.insert(entry.item_uid.clone()) {
                entry.item_uid = self.ids.uid();
                taken.insert(entry.item_uid.clone());
            }
            let parent = self.by_ref.get(entry.feature_ref.as_str()).cloned();
            let table = self
                .items
                .iter()
                .position(|item| Some(&item.uid) == parent.as_ref());
            let label = table.map_or(entry.feature_ref.clone(), |at| self.items[at].label.clone());
            if parent.is_none() {
                self.notes.push(format!(
                    "rows of `{}`: the plan creates no such table, so the rows have no parent",
                    entry.feature_ref
                ));
            }
            let rows = Item {
                parent,
                count: Some(u64::try_from(entry.rows.len()).unwrap_or(u64::MAX)),
                data_class: Some(self.data_class(&entry.feature_ref)),
                ..item(entry.item_uid.clone(), ItemKind::Rows, &label, None)
            };
            self.items.push(rows);
            self.links(entry, &tables);
        }
    }

    /// Whether another table links to it.
    fn data_class(&self, table: &str) -> DataClass {
        let others = self
            .facts
            .tables
            .iter()
            .filter(|other| other.reference != table);
        let mut columns = others.flat_map(|other| &other.columns);
        if columns.any(|column| column.is_link() && column.linked_table() == Some(table)) {
            DataClass::Reference
        } else {
            DataClass::Transactional
        }
    }

    /// Cells that link to a table whose rows do not travel are reported, one entry per column.
    fn links(&mut self, entry: &PayloadEntry, with_rows: &HashSet<String>) {
        let facts = self.facts;
        let Some(table) = facts.table(&entry.feature_ref) else {
            return;
        };
        for column in table.columns.iter().filter(|column| column.is_link()) {
            let Some(target) = column.linked_table() else {
                continue;
            };
            if with_rows.contains(target) || facts.declaring_step(target).is_none() {
                continue;
            }
            let filled = entry.rows.iter().filter(|row| {
                use crate::json::Value;
                let cell = row.data.get(column.name);
                cell.is_some_and(|cell| match cell {
                    Value::Null => false,
                    Value::String(text) => !text.is_empty(),
                    Value::List(list) => !list.is_empty(),
                    _ => true,
                })
            });
            let count = filled.count();
            if count > 0 {
                self.unresolved.push(Unresolved {
                    count: Some(u64::try_from(count).unwrap_or(u64::MAX)),
                    ..unresolved(
                        entry.item_uid.clone(),
                        format!("rows[].data.{}", column.name),
                        UnresolvedKind::Rows,
                        Reason::TargetWithoutRows,
                        Action::Kept,
                    )
                });
            }
        }
    }

    /// Version 1 excuses every empty reference; version 2 wants each to be named.
    fn empty_references(&mut self) {
        let facts = self.facts;
        let before = self.unresolved.len();
        for step in &facts.steps {
            let (Some(tool), Some(args)) = (step.tool, step.args) else {
                continue;
            };
            for field in tool.args().fields {
                let value = args.get(field.key);
                let empty = value.is_none_or(|value| value.as_str() == Some(""));
                if let (Type::Use(kind), true) = (field.ty, empty) {
                    self.emptied(step, field.key.to_owned(), kind, UnresolvedForm::Uuid);
                }
            }
            let spots = facts.spots.iter().filter(|spot| spot.step == step.place);
            // Other configs may leave a reference empty: an update can complete them.
            for spot in spots.filter(|spot| spot.automation && spot.field.is_required()) {
                if let (Some(reference), Some("")) = (spot.reference, spot.node.as_str()) {
                    let path = dotted(args, spot.node);
                    self.emptied(step, path, reference.kind, form(reference));
                }
            }
        }
        self.absent_references();
        let found = self.unresolved.len() - before;
        if found > 0 {
            self.notes.push(format!(
                "{found} empty references are listed in `unresolved` with the reason `{}`: what they referred to is not known",
                Reason::NoRefMinted.as_str()
            ));
        }
    }

    /// In automations a required reference can be absent altogether.
    fn absent_references(&mut self) {
        let facts = self.facts;
        for fault in &facts.config_faults {
            let StepConfigFault::Missing {
                object,
                key,
                field,
                automation: true,
            } = fault
            else {
                continue;
            };
            let reference = field.reference_with(|sibling| object.get_str(sibling));
            let inside = |args: &Node<'_>| {
                let (args, object) = (args.span(), object.span());
                args.start <= object.start && object.end <= args.end
            };
            let holds = |step: &&Step<'_>| step.args.as_ref().is_some_and(inside);
            let step = facts.steps.iter().find(holds);
            if let (Some(reference), Some(step)) = (reference, step)
                && let Some(args) = step.args
            {
                let mut path = dotted(args, *object);
                push_dotted(&mut path, key);
                self.emptied(step, path, reference.kind, form(reference));
            }
        }
    }

    fn emptied(
        &mut self,
        step: &Step<'d>,
        path: String,
        kind: ReferenceKind,
        form: UnresolvedForm,
    ) {
        let subject = match step.tool {
            Some(Tool::UpdateWorkspace) => self.facts.plan_id,
            _ => step
                .subject_ref()
                .and_then(|one| self.by_ref.get(one))
                .map(String::as_str),
        };
        let Some(uid) = subject.map(str::to_owned) else {
            return;
        };
        let known = |entry: &Unresolved| entry.uid == uid && entry.path == path;
        if !self.unresolved.iter().any(known) {
            let entry = unresolved(
                uid,
                path,
                UnresolvedKind::Reference(kind),
                Reason::NoRefMinted,
                Action::Emptied,
            );
            self.unresolved.push(Unresolved { form, ..entry });
        }
    }

    /// Refs from outside stand for something that only its exporter knew.
    fn outside(&mut self, package: &Package) {
        for reference in &package.manifest.plan.external_refs {
            self.notes.push(format!(
                "`{reference}` comes from outside and nothing says what it is: write the entry of `dependencies` that stands for it"
            ));
        }
    }

    fn source(&mut self, package: &Package) -> Source {
        let metadata = &package.manifest.plan.metadata;
        self.notes
            .push("the source workspace is not known: `source.workspaceName` is empty".to_owned());
        self.notes.push(format!(
            "the definitions of the source are not known: `source.definitionsVersion` is that of the registry used here, {}",
            self.facts.definitions.version
        ));
        Source {
            workspace_name: String::new(),
            generated_at: metadata.generated_at.clone(),
            definitions_version: self.facts.definitions.version.clone(),
        }
    }
}

fn item_kind(kind: ReferenceKind) -> Option<ItemKind> {
    Some(match kind {
        ReferenceKind::Feature => ItemKind::Feature,
        ReferenceKind::Column => ItemKind::Column,
        ReferenceKind::View => ItemKind::View,
        ReferenceKind::Module => ItemKind::Module,
        ReferenceKind::Rail => ItemKind::Rail,
        ReferenceKind::WorkflowV2 => ItemKind::Workflow,
        _ => return None,
    })
}

fn form(reference: &Reference) -> UnresolvedForm {
    match reference.form {
        Form::Uuid => UnresolvedForm::Uuid,
        Form::Name => UnresolvedForm::Name,
        Form::UuidOrName => UnresolvedForm::UuidOrName,
    }
}

fn item(uid: String, kind: ItemKind, label: &str, reference: Option<&str>) -> Item {
    Item {
        uid,
        kind,
        reference: reference.map(str::to_owned),
        label: label.to_owned(),
        parent: None,
        count: None,
        data_class: None,
        step_ids: None,
        unknown: Object::new(),
    }
}

fn unresolved(
    uid: String,
    path: String,
    kind: UnresolvedKind,
    reason: Reason,
    action: Action,
) -> Unresolved {
    Unresolved {
        uid,
        path,
        kind,
        form: UnresolvedForm::Uuid,
        source_label: None,
        reason,
        action,
        count: None,
        unknown: Object::new(),
    }
}
