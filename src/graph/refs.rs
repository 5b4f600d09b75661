//! What refers to what: one node per table, view, module, rail, automation and dependency. A
//! column is part of its table; what its config names makes edges of the table.

use std::collections::HashMap;

use super::build::Builder;
use super::{EdgeKind, Graph, GraphKind, Node, NodeKind};
use crate::check::facts::{Dependency, Facts, RefUse, Step, StepPlace};
use crate::finding::render::counted;
use crate::json::{Node as Json, path};
use crate::package::Tool;
use crate::package::reference::WORKSPACE;

/// Everything that travels and everything it needs.
pub(super) fn references(facts: &Facts<'_>) -> Graph {
    let mut reading = GraphReader::new(facts, GraphKind::Refs);
    reading.read_uses();
    reading.builder.finish()
}

/// The dependencies and what uses them: that part of the references.
pub(super) fn dependencies(facts: &Facts<'_>) -> Graph {
    let mut reading = GraphReader::new(facts, GraphKind::Deps);
    reading.read_uses();
    let whole = reading.builder.finish();
    let is_dependency = |at: usize| whole.nodes[at].kind == NodeKind::Dependency;
    let edges = || whole.edges.iter().filter(|edge| is_dependency(edge.to));
    let mut places: Vec<Option<usize>> = vec![None; whole.nodes.len()];
    let mut nodes = Vec::new();
    for (at, node) in whole.nodes.iter().enumerate() {
        if is_dependency(at) || edges().any(|edge| edge.from == at) {
            places[at] = Some(nodes.len());
            nodes.push(node.clone());
        }
    }
    let moved = edges().filter_map(|edge| {
        let mut edge = edge.clone();
        (edge.from, edge.to) = (places[edge.from]?, places[edge.to]?);
        Some(edge)
    });
    Graph {
        edges: moved.collect(),
        nodes,
        ..whole.clone()
    }
}

struct GraphReader<'f, 'd> {
    facts: &'f Facts<'d>,
    builder: Builder,
    /// Ref → its node.
    nodes: HashMap<&'d str, usize>,
    /// The nodes of the dependencies, in their order.
    dependencies: Vec<usize>,
    /// The workspace, once something is said about it.
    workspace: Option<usize>,
}

impl<'f, 'd> GraphReader<'f, 'd> {
    fn new(facts: &'f Facts<'d>, kind: GraphKind) -> GraphReader<'f, 'd> {
        let mut reading = GraphReader {
            facts,
            builder: Builder::new(facts, kind),
            nodes: HashMap::new(),
            dependencies: Vec::new(),
            workspace: None,
        };
        for step in &facts.steps {
            reading.add_step(step);
        }
        reading.add_dependencies();
        reading
    }

    fn add_step(&mut self, step: &Step<'d>) {
        let Some((kind, reference)) = step.tool.and_then(node_kind).zip(step.reference) else {
            return;
        };
        if self.nodes.contains_key(reference) {
            return; // S004 speaks.
        }
        let title = step.title();
        let node = Node::new(reference, kind, title.unwrap_or(reference))
            .detail(self.detail(step, kind))
            .at(step.node);
        let at = self.builder.node(node);
        self.nodes.insert(reference, at);
    }

    fn detail(&self, step: &Step<'d>, kind: NodeKind) -> String {
        let definitions = self.facts.definitions;
        match kind {
            NodeKind::Table => {
                let table = step.reference.and_then(|name| self.facts.table(name));
                let columns = table.map_or(0, |table| table.columns.len());
                format!("table, {}", counted(columns, "column"))
            }
            NodeKind::View => {
                let name = step.arg_str("type").unwrap_or_default();
                let kind = definitions.view_types.get(name);
                format!(
                    "view, {}",
                    kind.map_or(name, |kind| &kind.label).to_lowercase()
                )
            }
            NodeKind::Automation => {
                let trigger = step.arg("triggerConfig");
                let name = trigger
                    .and_then(|it| it.get_str("type"))
                    .unwrap_or_default();
                let kind = definitions.triggers.get(name);
                let label = kind.map_or(name, |kind| &kind.label).to_lowercase();
                format!("automation, {label}")
            }
            other => other.as_str().to_owned(),
        }
    }

    fn add_dependencies(&mut self) {
        for dependency in &self.facts.dependencies {
            let at = self.builder.node(outside(dependency));
            self.dependencies.push(at);
        }
    }

    fn read_uses(&mut self) {
        let facts = self.facts;
        for step in facts.steps.iter().chain(&facts.blueprint_steps) {
            for at in &step.uses {
                self.add_use(step, at);
            }
        }
        for spot in &facts.spots {
            if let (Some(reference), Some(name)) = (spot.reference, spot.node.as_str())
                && let Some(step) = facts.step_at(spot.step)
                && let Some(to) = self.named(reference.kind.as_str(), name)
                && let Some(from) = self.owner(step)
            {
                let label = label(facts, step, spot.node);
                self.builder.edge(from, to, EdgeKind::Uses, &label);
            }
        }
    }

    fn add_use(&mut self, step: &Step<'d>, at: &RefUse<'d>) {
        let reference = at.reference;
        if reference == WORKSPACE {
            return; // Everything stands in it: that shows nothing.
        }
        let argument = at.node.key().filter(|_| at.node.parent() == step.args);
        let tool = step.tool;
        if argument.is_some() && argument == tool.and_then(Tool::target_argument) {
            return; // What the step changes is the owner itself.
        }
        let is_parent = argument.is_some() && argument == tool.and_then(Tool::parent_argument);
        let Some(from) = self.owner(step) else { return };
        let to = self.target(reference);
        match tool {
            _ if from == to => {
                let is_link = matches!(tool, Some(Tool::CreateColumn | Tool::UpdateColumn));
                // A table that names a column of its own refers to nothing else.
                let itself = !is_parent && self.nodes.get(reference) == Some(&to);
                if itself {
                    let kind = if is_link {
                        EdgeKind::Links
                    } else {
                        EdgeKind::Uses
                    };
                    self.builder
                        .edge(from, to, kind, &label(self.facts, step, at.node));
                }
            }
            Some(Tool::CreateRail) if is_parent => {
                self.builder.edge(to, from, EdgeKind::Holds, "");
            }
            Some(Tool::CreateView) if is_parent => {
                self.builder.edge(from, to, EdgeKind::Shows, "");
            }
            _ => {
                let kind = self.use_kind(step, from, to);
                // A view that names columns of its table does no more than show it.
                let label = if kind == EdgeKind::Shows {
                    String::new()
                } else {
                    label(self.facts, step, at.node)
                };
                self.builder.edge(from, to, kind, &label);
            }
        }
    }

    fn use_kind(&self, step: &Step<'d>, from: usize, to: usize) -> EdgeKind {
        let is_table = |at: usize| {
            let outside = self.dependencies.iter().position(|other| *other == at);
            match outside {
                Some(index) => self.facts.dependencies[index].kind == Some("feature"),
                None => self.builder.kind(at) == NodeKind::Table,
            }
        };
        match step.tool {
            Some(Tool::CreateColumn | Tool::UpdateColumn) if is_table(from) && is_table(to) => {
                EdgeKind::Links
            }
            Some(Tool::CreateView | Tool::UpdateView)
                if self
                    .facts
                    .owner_table(step)
                    .and_then(|table| self.nodes.get(table))
                    == Some(&to) =>
            {
                EdgeKind::Shows
            }
            _ => EdgeKind::Uses,
        }
    }

    /// The node that a step is about.
    fn owner(&mut self, step: &Step<'d>) -> Option<usize> {
        if let StepPlace::Blueprint(dependency, _) = step.place {
            return self.dependencies.get(dependency).copied();
        }
        if step.tool == Some(Tool::UpdateWorkspace) {
            return Some(self.workspace());
        }
        self.node_of(step.subject_ref()?)
    }

    /// The node of a ref, a column's being its table's.
    fn node_of(&self, reference: &str) -> Option<usize> {
        let facts = self.facts;
        let own = |reference: &str| self.nodes.get(reference).copied();
        own(reference)
            .or_else(|| own(facts.table_of_column(reference)?))
            .or_else(|| {
                let outside = facts.outside(reference)?;
                self.dependencies.get(outside.dependency).copied()
            })
    }

    /// The node of a ref that is used, made up when nothing declares it.
    fn target(&mut self, reference: &'d str) -> usize {
        if let Some(known) = self.node_of(reference) {
            return known;
        }
        let node = Node::new(reference, NodeKind::Missing, format!("${reference}"));
        let node = node.detail("declared nowhere");
        let at = self.builder.node(node);
        self.nodes.insert(reference, at);
        at
    }

    /// The dependency that is written by its name.
    fn named(&self, kind: &str, name: &str) -> Option<usize> {
        let at = self.facts.dependencies.iter().position(|dependency| {
            dependency.form == Some("name")
                && dependency.kind == Some(kind)
                && dependency.name == Some(name)
        })?;
        self.dependencies.get(at).copied()
    }

    fn workspace(&mut self) -> usize {
        let source = self.facts.manifest.get("source");
        let name = source.and_then(|source| source.get_str("workspaceName"));
        let builder = &mut self.builder;
        *self.workspace.get_or_insert_with(|| {
            let label = name.filter(|name| !name.is_empty()).unwrap_or("Workspace");
            let node = Node::new(WORKSPACE, NodeKind::Workspace, label);
            builder.node(node.detail("the workspace applied to"))
        })
    }
}

/// What the destination has to have, as a node.
pub(super) fn outside(dependency: &Dependency<'_>) -> Node {
    let reference = dependency.reference.unwrap_or("dependency");
    let identity = dependency.node.get("identity");
    let label = identity
        .and_then(|identity| identity.get_str("label"))
        .filter(|label| !label.is_empty())
        .or(dependency.name)
        .unwrap_or(reference);
    let required = dependency.node.get("required").and_then(Json::as_bool);
    let need = if required == Some(false) {
        "optional"
    } else {
        "required"
    };
    let detail = format!("{} outside, {need}", dependency.kind.unwrap_or("unknown"));
    let node = Node::new(reference, NodeKind::Dependency, label).detail(detail);
    node.at(dependency.node)
}

/// What the step's thing is shown as; a column is part of its table.
fn node_kind(tool: Tool) -> Option<NodeKind> {
    Some(match tool {
        Tool::CreateWorkspace => NodeKind::Workspace,
        Tool::CreateModule => NodeKind::Module,
        Tool::CreateRail => NodeKind::Rail,
        Tool::CreateFeature => NodeKind::Table,
        Tool::CreateView => NodeKind::View,
        Tool::CreateWorkflowV2 => NodeKind::Automation,
        _ => return None,
    })
}

/// By what a step uses something: the column, the step or trigger of an automation, the config key.
fn label<'d>(facts: &Facts<'d>, step: &Step<'d>, at: Json<'d>) -> String {
    match step.tool {
        Some(Tool::CreateColumn) => step.arg_str("name").unwrap_or_default().to_owned(),
        Some(Tool::UpdateColumn) => step
            .arg_ref("columnId")
            .and_then(|column| facts.declaring_step(column))
            .and_then(|index| facts.steps[index].arg_str("name"))
            .unwrap_or_default()
            .to_owned(),
        Some(Tool::CreateWorkflowV2) => {
            let around = std::iter::successors(Some(at), |node| node.parent());
            let mut inside = around.take_while(|node| Some(*node) != step.args);
            let of = inside.find_map(|node| {
                let is_step = node.parent().is_some_and(Json::is_array);
                let key = if is_step { "key" } else { "type" };
                let known = |word: &&str| {
                    let definitions = facts.definitions;
                    definitions.steps.contains_key(*word)
                        || definitions.triggers.contains_key(*word)
                };
                node.get_str(key).filter(known)
            });
            of.unwrap_or("graphConfig").to_owned()
        }
        _ => {
            let whole = step.args.map(|args| path::dotted(args, at));
            let mut segments = path::split_dotted(whole.as_deref().unwrap_or_default());
            segments.retain(|segment| segment.parse::<usize>().is_err() && segment != "config");
            segments.pop().unwrap_or_default()
        }
    }
}
