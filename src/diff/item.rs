//! The items of a package under names that do not depend on uids, refs or positions.

use std::collections::{BTreeMap, HashMap};

use super::ThingKind;
use super::flat::{Fields, Flattener, below};
use super::names::Names;
use crate::contents::halves;
use crate::definitions::ReferenceKind;
use crate::json::{Node, write_string};
use crate::package::Tool;
use crate::package::reference::{self, undollared};

/// Something that two packages can have both.
#[derive(Debug, Default)]
pub(super) struct ComparedItem {
    pub(super) kind: ThingKind,
    pub(super) name: String,
    pub(super) label: Option<String>,
    pub(super) fields: Fields,
    /// Ids of automation steps in their order, by the list they stand in.
    pub(super) orders: BTreeMap<String, Vec<String>>,
}

impl ComparedItem {
    pub(super) fn key(&self) -> (ThingKind, &str) {
        (self.kind, &self.name)
    }
}

/// One of the two packages.
#[derive(Debug)]
pub(super) struct Side<'d> {
    pub(super) names: Names<'d>,
    pub(super) items: Vec<ComparedItem>,
    /// Payload entries by name of their table.
    pub(super) payloads: Vec<(String, Node<'d>)>,
    seen: HashMap<(ThingKind, String), usize>,
}

impl<'d> Side<'d> {
    /// Reads a file's root, leniently: what cannot be understood is compared as it is, or not.
    pub(super) fn read(root: Node<'d>) -> Side<'d> {
        let (manifest, payloads) = halves(root);
        let mut side = Side {
            names: Names::read(manifest),
            items: Vec::new(),
            payloads: Vec::new(),
            seen: HashMap::new(),
        };
        side.catalog(root, manifest);
        side.steps(manifest);
        side.rows(manifest, payloads);
        for dependency in elements(manifest.get("dependencies")) {
            side.dependency(dependency);
        }
        for (kind, list) in [
            (ThingKind::Unresolved, "unresolved"),
            (ThingKind::Redacted, "redacted"),
        ] {
            for entry in elements(manifest.get(list)) {
                side.entry(kind, entry);
            }
        }
        side
    }

    /// Adds an item; a name that is there already gets a number.
    fn add(&mut self, mut item: ComparedItem) {
        let count = self.seen.entry((item.kind, item.name.clone())).or_default();
        *count += 1;
        if *count > 1 {
            item.name = format!("{} #{count}", item.name);
        }
        self.items.push(item);
    }

    fn catalog(&mut self, root: Node<'d>, manifest: Node<'d>) {
        let mut flat = Flattener::new(&self.names);
        let layers = [
            "items",
            "dependencies",
            "unresolved",
            "redacted",
            "source",
            "plan",
        ];
        // What an editor validates the file with is not content.
        let taken = [&layers[..], &["variables", "$schema"]].concat();
        flat.members("", Some(manifest), &taken);
        for variable in elements(manifest.get("variables")) {
            let key = variable.get_str("key").unwrap_or_default();
            let path = below("variables", key);
            flat.members(&path, Some(variable), &["key"]);
        }
        // Times say when, not what.
        flat.members("source", manifest.get("source"), &["generatedAt"]);
        let plan = manifest.get("plan");
        let derived = ["id", "steps", "externalRefs", "metadata"];
        flat.members("plan", plan, &derived);
        let metadata = plan.and_then(|plan| plan.get("metadata"));
        flat.members("plan.metadata", metadata, &["generatedAt"]);
        if manifest != root {
            flat.members("file", Some(root), &["$schema", "manifest", "payloads"]);
        }
        let item = ComparedItem {
            kind: ThingKind::Catalog,
            fields: flat.fields,
            ..ComparedItem::default()
        };
        self.add(item);
    }

    fn steps(&mut self, manifest: Node<'d>) {
        let steps: Vec<Node<'d>> =
            elements(manifest.get("plan").and_then(|plan| plan.get("steps"))).collect();
        let mut updates: HashMap<&str, Node<'d>> = HashMap::new();
        for step in &steps {
            if let (Some(target), Some(config)) = (update_target(*step), config(*step)) {
                // The last one stays.
                updates.insert(target, config);
            }
        }
        let labels: HashMap<&str, &str> = elements(manifest.get("items"))
            .filter_map(|item| Some((undollared(item.get_str("ref")?), item.get_str("label")?)))
            .collect();
        for step in steps {
            match step.get_str("tool").and_then(Tool::parse) {
                Some(tool) if tool.creates().is_some() => {
                    let reference = step.get_str("ref").map(undollared).unwrap_or_default();
                    let config = updates.get(reference).copied().or(config(step));
                    self.created(step, tool, config, labels.get(reference).copied());
                }
                Some(Tool::UpdateWorkspace) => self.workspace(step),
                Some(_)
                    if update_target(step).is_some_and(|one| self.names.name(one).is_some()) => {}
                _ => self.other(step),
            }
        }
    }

    fn created(
        &mut self,
        step: Node<'d>,
        tool: Tool,
        config: Option<Node<'d>>,
        item_label: Option<&str>,
    ) {
        let kind = kind_of(tool);
        let args = step.get("args");
        let reference = step.get_str("ref").map(undollared).unwrap_or_default();
        let name = self.names.name(reference).unwrap_or_default().to_owned();
        let label = args.and_then(|args| args.get_str("label"));
        let mut flat = Flattener::new(&self.names);
        let taken = [
            "workspaceId",
            "featureId",
            "moduleId",
            "name",
            "config",
            "triggerConfig",
            "graphConfig",
        ];
        flat.members("", args, &taken);
        flat.members("", Some(step), &["uid", "tool", "ref", "args"]);
        if let Some(item_label) = item_label.filter(|one| Some(*one) != label) {
            flat.fields
                .insert("item label".to_owned(), write_string(item_label));
        }
        match config {
            // A view's config is a list of one; the list says nothing.
            Some(list) if kind == ThingKind::View && list.elements().count() == 1 => {
                flat.members("config", list.at(0), &[]);
            }
            Some(config) => flat.value("config", config),
            None => {}
        }
        if let Some(trigger) = args.and_then(|args| args.get("triggerConfig")) {
            flat.value("trigger", trigger);
        }
        let graph = args.and_then(|args| args.get("graphConfig"));
        flat.members("graph", graph, &["steps"]);
        let (fields, mut lists) = (flat.fields, flat.steps);
        lists.extend(
            graph
                .and_then(|graph| graph.get("steps"))
                .map(|list| ("steps".to_owned(), list)),
        );
        let mut item = ComparedItem {
            kind,
            name: name.clone(),
            label: label.map(str::to_owned),
            fields,
            orders: BTreeMap::new(),
        };
        let mut steps = Vec::new();
        for (path, list) in lists {
            self.graph(&name, &path, list, &mut item, &mut steps);
        }
        self.add(item);
        for step in steps {
            self.add(step);
        }
    }

    /// The steps of a list of an automation, and of the branches inside them.
    fn graph(
        &self,
        workflow: &str,
        list: &str,
        steps: Node<'d>,
        item: &mut ComparedItem,
        found: &mut Vec<ComparedItem>,
    ) {
        let mut order = Vec::new();
        for (index, step) in steps.elements().enumerate() {
            let key = step.get_str("key").unwrap_or_default();
            let id = step
                .get_str("id")
                .map_or_else(|| format!("{list}[{index}]"), str::to_owned);
            let mut flat = Flattener::new(&self.names);
            flat.members("", Some(step), &["id"]);
            flat.fields
                .insert("stands in".to_owned(), write_string(list));
            let (fields, branches) = (flat.fields, flat.steps);
            found.push(ComparedItem {
                kind: ThingKind::Step,
                name: format!("{workflow} {id}"),
                label: Some(step.get_str("name").unwrap_or(key).to_owned()),
                fields,
                orders: BTreeMap::new(),
            });
            for (path, branch) in branches {
                self.graph(workflow, &format!("{id}.{path}"), branch, item, found);
            }
            order.push(id);
        }
        item.orders.insert(format!("order of {list}"), order);
    }

    fn workspace(&mut self, step: Node<'d>) {
        let mut flat = Flattener::new(&self.names);
        if let Some(config) = config(step) {
            flat.value("config", config);
        }
        let fields = flat.fields;
        self.add(ComparedItem {
            kind: ThingKind::Workspace,
            name: "workspace".to_owned(),
            fields,
            ..ComparedItem::default()
        });
    }

    fn other(&mut self, step: Node<'d>) {
        let tool = step.get_str("tool").unwrap_or("step");
        let table = step.get("args").and_then(|args| args.get_str("featureId"));
        let table = table.map(|table| format!(" {}", self.names.normal(table)));
        let mut flat = Flattener::new(&self.names);
        flat.members("", Some(step), &["uid", "ref"]);
        let fields = flat.fields;
        self.add(ComparedItem {
            kind: ThingKind::Other,
            name: format!("{tool}{}", table.unwrap_or_default()),
            fields,
            ..ComparedItem::default()
        });
    }

    fn rows(&mut self, manifest: Node<'d>, payloads: Option<Node<'d>>) {
        let items =
            || elements(manifest.get("items")).filter(|item| item.get_str("kind") == Some("rows"));
        let mut with_payload = Vec::new();
        for payload in elements(payloads) {
            let table = payload
                .get_str("featureRef")
                .map(undollared)
                .unwrap_or_default();
            let name = self.names.name(table).unwrap_or(table).to_owned();
            let mut flat = Flattener::new(&self.names);
            flat.members("", Some(payload), &["featureRef", "itemUid", "rows"]);
            let uid = payload.get_str("itemUid");
            let item = items().find(|item| item.get_str("uid") == uid);
            with_payload.extend(item.and(uid));
            flat.members("item", item, &["uid", "kind", "parent", "count"]);
            let fields = flat.fields;
            self.payloads.push((name.clone(), payload));
            self.add(ComparedItem {
                kind: ThingKind::Rows,
                name,
                fields,
                ..ComparedItem::default()
            });
        }
        for item in items().filter(|item| {
            item.get_str("uid")
                .is_none_or(|uid| !with_payload.contains(&uid))
        }) {
            let subject = item.get_str("uid").map(|uid| self.names.subject(uid));
            let name = subject.unwrap_or_default();
            let name = name.strip_prefix("rows ").unwrap_or(name).to_owned();
            let mut flat = Flattener::new(&self.names);
            flat.members("item", Some(item), &["uid", "kind", "parent"]);
            let fields = flat.fields;
            self.add(ComparedItem {
                kind: ThingKind::Rows,
                name,
                fields,
                ..ComparedItem::default()
            });
        }
    }

    fn dependency(&mut self, dependency: Node<'d>) {
        let identity = dependency.get("identity");
        let kind = dependency.get_str("kind").unwrap_or_default();
        let name = identity.and_then(|identity| identity.get_str("name"));
        let name = format!("{kind} {}", name.unwrap_or_default());
        let mut flat = Flattener::new(&self.names);
        flat.members(
            "",
            Some(dependency),
            &["uid", "kind", "ref", "identity", "usedBy", "blueprint"],
        );
        flat.members("", identity, &["name", "columns"]);
        for column in elements(identity.and_then(|identity| identity.get("columns"))) {
            let path = below("columns", column.get_str("name").unwrap_or_default());
            flat.members(&path, Some(column), &["uid", "ref", "name"]);
        }
        for used in elements(dependency.get("usedBy")) {
            let item = self.names.subject(used.get_str("uid").unwrap_or_default());
            let path = self
                .names
                .normal_path(used.get_str("path").unwrap_or_default());
            let reason = write_string(used.get_str("reason").unwrap_or_default());
            flat.fields
                .insert(format!("used by {item} at {path}"), reason);
        }
        let blueprint = dependency
            .get("blueprint")
            .and_then(|blueprint| blueprint.get("steps"));
        for step in elements(blueprint) {
            let args = step.get("args");
            let own = args
                .and_then(|args| args.get_str("name"))
                .unwrap_or_default();
            let path = below("blueprint", own);
            flat.members(&path, args, &["workspaceId", "featureId", "name"]);
        }
        let fields = flat.fields;
        let label = identity.and_then(|identity| identity.get_str("label"));
        self.add(ComparedItem {
            kind: ThingKind::Dependency,
            name,
            label: label.map(str::to_owned),
            fields,
            ..ComparedItem::default()
        });
    }

    fn entry(&mut self, kind: ThingKind, entry: Node<'d>) {
        let subject = self.names.subject(entry.get_str("uid").unwrap_or_default());
        let path = self
            .names
            .normal_path(entry.get_str("path").unwrap_or_default());
        let name = format!("{subject} {path}");
        let mut flat = Flattener::new(&self.names);
        flat.members("", Some(entry), &["uid", "path"]);
        let fields = flat.fields;
        self.add(ComparedItem {
            kind,
            name,
            fields,
            ..ComparedItem::default()
        });
    }
}

fn elements(list: Option<Node<'_>>) -> impl Iterator<Item = Node<'_>> {
    list.into_iter().flat_map(Node::elements)
}

fn config(step: Node<'_>) -> Option<Node<'_>> {
    step.get("args")?.get("config")
}

/// The ref that an update step changes; the workspace has an item of its own.
fn update_target(step: Node<'_>) -> Option<&str> {
    let tool = step.get_str("tool").and_then(Tool::parse)?;
    let target = step.get("args")?.get_str(tool.target_argument()?)?;
    reference::used(target).filter(|name| *name != reference::WORKSPACE)
}

fn kind_of(tool: Tool) -> ThingKind {
    match tool.creates() {
        Some(ReferenceKind::Feature) => ThingKind::Feature,
        Some(ReferenceKind::Column) => ThingKind::Column,
        Some(ReferenceKind::View) => ThingKind::View,
        Some(ReferenceKind::Module) => ThingKind::Module,
        Some(ReferenceKind::Rail) => ThingKind::Rail,
        Some(ReferenceKind::WorkflowV2) => ThingKind::Workflow,
        _ => ThingKind::Other,
    }
}
