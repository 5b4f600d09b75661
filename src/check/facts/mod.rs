//! The facts about a package that rules share, computed once.
//!
//! A value of the wrong type is left out here and reported by its own rule, so every rule runs,
//! whatever the others find.

mod layers;
mod refs;
mod spots;
mod steps;
mod table;
mod tables;
mod unread;

use crate::definitions::{Definitions, ReferenceKind};
use crate::json::{Doc, Node};
use crate::maps::HashMap;
use crate::package::format::DEPENDENCY_KINDS;

pub use layers::{Dependency, IdentityColumn, Item, Unresolved};
pub use refs::{Declared, ExternalRef};
pub use spots::{StepConfigFault, StepConfigSpot};
pub use steps::{RefUse, Step, StepList as StepPlace};
pub use table::{Column, Origin, PackageTable};

/// How the manifest is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// `templateVersion` 1, or unsupported and without any layer of version 2.
    One,
    /// `templateVersion` 2, or unsupported with a layer of version 2.
    Two,
}

/// Everything known about one package.
#[derive(Debug)]
pub struct Facts<'d> {
    /// The registry.
    pub definitions: &'d Definitions,
    /// The file's outermost value.
    pub root: Node<'d>,
    /// The manifest object.
    pub manifest: Node<'d>,
    /// Whether the manifest is in an envelope.
    pub enveloped: bool,
    /// How to read it.
    pub version: Version,
    /// `templateVersion` is the integer 1 or 2.
    pub supported: bool,
    /// The plan when it is an object.
    pub plan: Option<Node<'d>>,
    /// `plan.id`.
    pub plan_id: Option<&'d str>,
    /// Items in order; empty in version 1.
    pub items: Vec<Item<'d>>,
    /// Dependencies in order; empty in version 1.
    pub dependencies: Vec<Dependency<'d>>,
    /// `unresolved` entries in order; empty in version 1.
    pub unresolved: Vec<Unresolved<'d>>,
    /// Plan steps in order.
    pub steps: Vec<Step<'d>>,
    /// Indices of the steps whose args cannot be read as far as they may hold refs.
    unread: Vec<usize>,
    /// Blueprint steps, dependency by dependency.
    pub blueprint_steps: Vec<Step<'d>>,
    /// Ref → the plan step that declares it first.
    declared: HashMap<&'d str, usize>,
    /// Ref → the dependency, or its identity column, that stands for it.
    outside: HashMap<&'d str, ExternalRef>,
    /// Declared config values that name something, are secret or hold expressions.
    pub spots: Vec<StepConfigSpot<'d>>,
    /// Structural mistakes in configs.
    pub config_faults: Vec<StepConfigFault<'d>>,
    /// Tables of the plan and of dependencies.
    pub tables: Vec<PackageTable<'d>>,
    item_by_uid: HashMap<&'d str, usize>,
    item_by_ref: HashMap<&'d str, usize>,
    /// Payload entries by the uid of their item.
    payload_entries: HashMap<&'d str, Node<'d>>,
    /// Indices of the plan steps by their [`subject`](Facts::subject).
    steps_by_subject: HashMap<&'d str, Vec<usize>>,
}

impl<'d> Facts<'d> {
    /// Reads a document whose `manifest` object has been found.
    pub fn new(doc: &'d Doc<'d>, manifest: Node<'d>, definitions: &'d Definitions) -> Facts<'d> {
        let version_node = manifest.get("templateVersion");
        let supported = version_node.is_some_and(|node| matches!(node.raw(), "1" | "2"));
        let layered = crate::package::format::VERSION_2_LAYERS
            .iter()
            .any(|layer| *layer != "plan" && manifest.get(layer).is_some());
        let version = match version_node.map(Node::raw) {
            Some("2") => Version::Two,
            Some("1") => Version::One,
            _ if layered => Version::Two,
            _ => Version::One,
        };
        let plan = manifest.get("plan").filter(|plan| plan.is_object());
        let mut facts = Facts {
            definitions,
            root: doc.root(),
            manifest,
            enveloped: manifest != doc.root(),
            version,
            supported,
            plan,
            plan_id: plan.and_then(|plan| plan.get_str("id")),
            items: Vec::new(),
            dependencies: Vec::new(),
            unresolved: Vec::new(),
            steps: Vec::new(),
            unread: Vec::new(),
            blueprint_steps: Vec::new(),
            declared: HashMap::default(),
            outside: HashMap::default(),
            spots: Vec::new(),
            config_faults: Vec::new(),
            tables: Vec::new(),
            item_by_uid: HashMap::default(),
            item_by_ref: HashMap::default(),
            payload_entries: HashMap::default(),
            steps_by_subject: HashMap::default(),
        };
        facts.read_layers();
        facts.read_steps();
        facts.read_spots();
        facts.tables = facts.read_tables();
        facts
    }

    /// The `payloads` value of the envelope.
    pub fn payloads(&self) -> Option<Node<'d>> {
        if self.enveloped {
            self.root.get("payloads")
        } else {
            None
        }
    }

    /// A layer of the manifest, when it is a list; version 1 has none.
    pub fn layer(&self, key: &str) -> Option<Node<'d>> {
        let layer = self.manifest.get(key).filter(|layer| layer.is_array());
        if self.version == Version::Two {
            layer
        } else {
            None
        }
    }

    /// The first item of that uid.
    pub fn item(&self, uid: &str) -> Option<&Item<'d>> {
        self.item_by_uid.get(uid).map(|index| &self.items[*index])
    }

    /// The first item of that ref.
    pub fn item_of_ref(&self, reference: &str) -> Option<&Item<'d>> {
        self.item_by_ref
            .get(reference)
            .map(|index| &self.items[*index])
    }

    /// The first payload entry of an item.
    pub fn payload_entry(&self, item: &Item<'_>) -> Option<Node<'d>> {
        self.payload_entries.get(item.uid).copied()
    }

    /// The plan step that creates an item, when item and step agree on the kind.
    pub fn create_step(&self, item: &Item<'_>) -> Option<&Step<'d>> {
        let step = &self.steps[self.declaring_step(item.reference?)?];
        let agree = item.kind.is_some() && step.tool?.creates() == item.created_kind();
        agree.then_some(step)
    }

    /// Whether the plan's steps are a list of objects, so that what none of them declares is
    /// declared nowhere.
    pub fn steps_are_readable(&self) -> bool {
        let steps = self.plan.and_then(|plan| plan.get("steps"));
        steps.is_some_and(|steps| steps.is_array() && steps.elements().all(Node::is_object))
    }

    /// Whether every item has a uid, so that an unknown uid is known to be wrong.
    pub fn uids_are_known(&self) -> bool {
        self.layer("items").is_some() && self.items.iter().all(|item| !item.uid.is_empty())
    }

    /// Whether it is known of every dependency which refs it stands for: it says so itself, or its
    /// `usedBy` says where to look.
    pub fn outside_is_known(&self) -> bool {
        self.dependencies.iter().all(|dependency| {
            let users = || dependency.node.get("usedBy").filter(|list| list.is_array());
            (dependency.reference.is_some() && dependency.columns_known)
                || users().is_some_and(|list| list.elements().all(Node::is_object))
        })
    }

    /// The table of that ref (without dollar).
    pub fn table(&self, reference: &str) -> Option<&PackageTable<'d>> {
        self.tables
            .iter()
            .find(|table| table.reference == reference)
    }

    /// The uid under which `unresolved`, `redacted` and `usedBy` speak of what a step makes or
    /// changes: its item's, or the plan's for the workspace.
    pub fn subject(&self, step: &Step<'d>) -> Option<&'d str> {
        if step.tool == Some(crate::package::Tool::UpdateWorkspace) {
            return self.plan_id;
        }
        self.item_of_ref(step.subject_ref()?).map(|item| item.uid)
    }

    /// The plan steps that create or change what `uid` stands for.
    pub fn steps_of(&self, uid: &str) -> Vec<&Step<'d>> {
        let found = self.steps_by_subject.get(uid).into_iter().flatten();
        found.map(|index| &self.steps[*index]).collect()
    }

    /// Whether an `unresolved` entry of the step's subject names that path, or nothing can be
    /// known about it (version 1, layer missing).
    pub fn excused(&self, step: &Step<'d>, path: &str) -> bool {
        if self.layer("unresolved").is_none() || self.layer("items").is_none() {
            return true;
        }
        let Some(subject) = self.subject(step) else {
            return false;
        };
        let speaks = |uid: Option<&str>| uid.is_some_and(|uid| self.speaks_of(uid, subject));
        self.unresolved
            .iter()
            .any(|entry| entry.path == Some(path) && speaks(entry.uid))
    }

    /// What a ref (without dollar) stands for.
    pub fn kind_of(&self, reference: &str) -> Declared {
        if let Some(step) = self.declared.get(reference) {
            return match self.steps[*step].tool {
                Some(tool) => tool.creates().map_or(Declared::Workspace, Declared::Kind),
                None => Declared::Unknown,
            };
        }
        match self.outside.get(reference) {
            Some(ExternalRef {
                column: Some(_), ..
            }) => Declared::Kind(ReferenceKind::Column),
            Some(outside) => self.dependencies[outside.dependency]
                .kind
                .filter(|kind| DEPENDENCY_KINDS.contains(kind))
                .and_then(ReferenceKind::parse)
                .map_or(Declared::Unknown, Declared::Kind),
            None if reference == crate::package::reference::WORKSPACE => Declared::Workspace,
            None => Declared::Nothing,
        }
    }

    /// Index of the plan step that declares the ref first.
    pub fn declaring_step(&self, reference: &str) -> Option<usize> {
        self.declared.get(reference).copied()
    }

    /// The dependency that stands for the ref, itself or by an identity column.
    pub fn outside(&self, reference: &str) -> Option<ExternalRef> {
        self.outside.get(reference).copied()
    }
}
