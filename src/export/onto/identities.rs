//! The uids and refs that things had, by kind, parent and technical name.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};

use super::previous::PreviousPackage;
use crate::definitions::ReferenceKind;
use crate::export::leak::{self, Leak};
use crate::json::{Object, Value};
use crate::package::Tool;
use crate::package::model::{Dependency, Step};
use crate::package::reference;
use crate::workspace::RecordKind;

/// What a thing had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::export) struct Identity {
    pub(in crate::export) uid: String,
    pub(in crate::export) reference: String,
}

/// What things are recognized by.
#[derive(Debug, PartialEq, Eq, Hash)]
struct IdentityKey {
    /// Their kind.
    kind: ReferenceKind,
    /// The ref of the parent that travels; else nothing.
    parent: String,
    /// The technical name.
    name: String,
}

/// Things of equal keys, in order.
type Pool = HashMap<IdentityKey, VecDeque<Identity>>;

/// The identities that an earlier package has to give; none without one.
#[derive(Debug, Default)]
pub(in crate::export) struct Identities<'p> {
    previous: Option<&'p PreviousPackage<'p>>,
    items: Pool,
    dependencies: Pool,
    /// uids of steps that create, by the ref that they declare.
    creating: HashMap<&'p str, &'p Step>,
    /// uids of steps that update, by what they update.
    updating: HashMap<(Tool, &'p str), &'p str>,
}

impl<'p> Identities<'p> {
    /// Those of a package.
    pub(in crate::export) fn of(previous: Option<&'p PreviousPackage<'p>>) -> Identities<'p> {
        let Some(previous) = previous else {
            return Identities::default();
        };
        let mut identities = Identities {
            previous: Some(previous),
            ..Identities::default()
        };
        for step in &previous.manifest.plan.steps {
            identities.step(previous, step);
        }
        for dependency in previous.manifest.dependencies() {
            identities.dependency_of(dependency);
        }
        identities
    }

    fn step(&mut self, previous: &'p PreviousPackage<'p>, step: &'p Step) {
        if let Some(target) = step.tool.target_argument() {
            let target = step.args.get(target).and_then(Value::as_str);
            if let Some(target) = target.and_then(reference::used) {
                self.updating.insert((step.tool, target), &step.uid);
            }
        }
        let (Some(kind), Some(declared)) = (step.tool.creates(), &step.reference) else {
            return;
        };
        self.creating.insert(declared, step);
        let Some(item) = previous.item(declared) else {
            return;
        };
        let parent = step.tool.parent_argument();
        let parent = parent.and_then(|key| step.args.get(key)?.as_str());
        let parent = parent.and_then(reference::used).unwrap_or_default();
        let name = step.args.get("name").and_then(Value::as_str);
        let key = IdentityKey {
            kind,
            parent: parent.to_owned(),
            name: name.unwrap_or_default().to_owned(),
        };
        self.items.entry(key).or_default().push_back(Identity {
            uid: item.uid.clone(),
            reference: declared.clone(),
        });
    }

    fn dependency_of(&mut self, dependency: &'p Dependency) {
        let key = IdentityKey {
            kind: dependency.kind,
            parent: String::new(),
            name: dependency.identity.name.clone(),
        };
        let own = Identity {
            uid: dependency.uid.clone(),
            reference: dependency.reference.clone(),
        };
        self.dependencies.entry(key).or_default().push_back(own);
        for column in dependency.identity.columns.iter().flatten() {
            let key = IdentityKey {
                kind: ReferenceKind::Column,
                parent: dependency.reference.clone(),
                name: column.name.clone(),
            };
            let own = Identity {
                uid: column.uid.clone(),
                reference: column.reference.clone(),
            };
            self.dependencies.entry(key).or_default().push_back(own);
        }
        let steps = dependency.blueprint.iter().flat_map(|one| &one.steps);
        for step in steps {
            if let Some(declared) = &step.reference {
                self.creating.insert(declared, step);
            }
        }
    }

    /// What a record had that travels in its own right. `parent` is the ref of its parent, if that travels.
    pub(in crate::export) fn record(
        &mut self,
        kind: RecordKind,
        parent: Option<&str>,
        name: &str,
    ) -> Option<Identity> {
        let kind = reference_kind(kind)?;
        let key = IdentityKey {
            kind,
            parent: parent.unwrap_or_default().to_owned(),
            name: name.to_owned(),
        };
        let own = self.items.get_mut(&key).and_then(VecDeque::pop_front);
        own.or_else(|| {
            // What was a dependency and travels now is still the same thing, as far as its name says
            // all of it.
            let named = !matches!(kind, ReferenceKind::View | ReferenceKind::Rail);
            let others = self.dependencies.get_mut(&key).filter(|_| named);
            others.and_then(VecDeque::pop_front)
        })
    }

    /// What a dependency had.
    pub(in crate::export) fn dependency(
        &mut self,
        kind: ReferenceKind,
        name: &str,
    ) -> Option<Identity> {
        self.outside_workspace(&IdentityKey {
            kind,
            parent: String::new(),
            name: name.to_owned(),
        })
    }

    /// What a column of a dependency had; `table` is the ref of the dependency.
    pub(in crate::export) fn column(&mut self, table: &str, name: &str) -> Option<Identity> {
        self.outside_workspace(&IdentityKey {
            kind: ReferenceKind::Column,
            parent: table.to_owned(),
            name: name.to_owned(),
        })
    }

    fn outside_workspace(&mut self, key: &IdentityKey) -> Option<Identity> {
        let own = self.dependencies.get_mut(key);
        own.and_then(VecDeque::pop_front).or_else(|| {
            let named = !matches!(key.kind, ReferenceKind::View | ReferenceKind::Rail);
            let items = self.items.get_mut(key).filter(|_| named);
            items.and_then(VecDeque::pop_front)
        })
    }

    /// The uid of the step that creates a ref.
    pub(in crate::export) fn create_step(&self, reference: &str) -> Option<String> {
        self.creating.get(reference).map(|step| step.uid.clone())
    }

    /// The args of the step that creates a ref.
    pub(in crate::export) fn args(&self, reference: &str) -> Option<&'p Object> {
        self.creating.get(reference).map(|step| &step.args)
    }

    /// The uid of the step that updates a ref.
    pub(in crate::export) fn update_step(&self, tool: Tool, reference: &str) -> Option<String> {
        let uid = self.updating.get(&(tool, reference));
        uid.map(|uid| (*uid).to_owned())
    }

    /// The uid of the rows item of a table.
    pub(in crate::export) fn rows_item(&self, table: &str) -> Option<String> {
        let previous = self.previous?;
        let table = &previous.item(table)?.uid;
        let mut items = previous.rows_items();
        let item = items.find(|item| item.parent.as_ref() == Some(table))?;
        Some(item.uid.clone())
    }

    /// Every ref that the package declares: no other thing gets one of them.
    pub(in crate::export) fn declared(&self) -> HashSet<String> {
        let Some(previous) = self.previous else {
            return HashSet::new();
        };
        let steps = self
            .creating
            .keys()
            .map(|reference| (*reference).to_owned());
        let dependencies = previous.manifest.dependencies().iter();
        let outside = dependencies.flat_map(|dependency| {
            let columns = dependency.identity.columns.iter().flatten();
            let columns = columns.map(|column| column.reference.clone());
            std::iter::once(dependency.reference.clone()).chain(columns)
        });
        let used = previous.manifest.plan.external_refs.iter().cloned();
        steps.chain(outside).chain(used).collect()
    }
}

fn reference_kind(kind: RecordKind) -> Option<ReferenceKind> {
    Some(match kind {
        RecordKind::Workspace => return None,
        RecordKind::Feature => ReferenceKind::Feature,
        RecordKind::Column => ReferenceKind::Column,
        RecordKind::View => ReferenceKind::View,
        RecordKind::Workflow => ReferenceKind::WorkflowV2,
        RecordKind::Module => ReferenceKind::Module,
        RecordKind::Rail => ReferenceKind::Rail,
    })
}

/// The name of an automation as a package has it: it is free text, and ids are cut out of it.
pub(in crate::export) fn name_without_ids(name: &str) -> Cow<'_, str> {
    match leak::of(name) {
        None => Cow::Borrowed(name),
        Some(Leak::Inside(rest)) => Cow::Owned(rest),
        Some(Leak::Id | Leak::ReadsAsRef(_)) => Cow::Borrowed(""),
    }
}
