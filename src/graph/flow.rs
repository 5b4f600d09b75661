//! Automations: a group each, from the trigger through the steps and their branches to the end.
//!
//! Branches are wherever the registry declares a list of steps; no step is known by name.

use super::build::Builder;
use super::{EdgeKind, Graph, GraphKind, Node, NodeKind};
use crate::automation;
use crate::check::facts::{Facts, Step};
use crate::definitions::{FieldType, Fields};
use crate::json::{JsonKind, Node as Json};
use crate::package::Tool;

pub(super) fn automations(facts: &Facts<'_>) -> Graph {
    let mut builder = Builder::new(facts, GraphKind::Automations);
    let is_automation = |step: &&Step<'_>| step.tool == Some(Tool::CreateWorkflowV2);
    for step in facts.steps.iter().filter(is_automation) {
        add(facts, step, &mut builder);
    }
    builder.finish()
}

/// Characters of one value of a config in the detail of a step.
const MAX_VALUE_CHARS: usize = 60;

/// A way on: the node that it leaves and the branch that it takes.
type Exit = (usize, String);

struct Flow<'f, 'd> {
    facts: &'f Facts<'d>,
    graph: &'f automation::Graph<'d, 'f>,
    builder: &'f mut Builder,
    /// What ids of nodes begin with.
    name: &'f str,
    group: usize,
}

fn add<'d>(facts: &Facts<'d>, step: &Step<'d>, builder: &mut Builder) {
    let name = match step.reference {
        Some(reference) => reference.to_owned(),
        None => format!("step-{}", step.node.index()),
    };
    let title = step.title();
    let group = builder.group(&name, title.unwrap_or(&name));
    let trigger = trigger_node(facts, step, &name);
    let trigger = builder.node(trigger.within(group));
    let mut exits = vec![(trigger, String::new())];
    let list = step.arg("graphConfig").and_then(|graph| graph.get("steps"));
    if let Some(list) = list {
        let graph = automation::Graph::read(facts.definitions, list);
        let mut flow = Flow {
            facts,
            graph: &graph,
            builder,
            name: &name,
            group,
        };
        exits = flow.list(list, None, exits);
    }
    let end = Node::new(format!("{name}/end"), NodeKind::End, "end");
    let end = builder.node(end.within(group));
    for (from, branch) in exits {
        builder.edge(from, end, EdgeKind::Next, &branch);
    }
}

fn trigger_node<'d>(facts: &Facts<'d>, step: &Step<'d>, name: &str) -> Node {
    let id = format!("{name}/trigger");
    let Some(trigger) = step.arg("triggerConfig") else {
        return Node::new(id, NodeKind::Trigger, "no trigger");
    };
    let word = trigger.get_str("type").unwrap_or("no trigger");
    let declared = facts.definitions.triggers.get(word);
    let label = declared.map_or(word, |trigger| &trigger.label);
    let config = trigger.get("config");
    let about = config
        .map(|config| brief(facts, config, declared.map(|trigger| &trigger.config)))
        .unwrap_or_default();
    Node::new(id, NodeKind::Trigger, label)
        .detail(about)
        .at(trigger)
}

impl<'d> Flow<'_, 'd> {
    /// Adds the steps of one list after `exits`; gives the ways on after its last.
    fn list(&mut self, list: Json<'d>, parent: Option<usize>, mut exits: Vec<Exit>) -> Vec<Exit> {
        let graph = self.graph;
        let steps = graph
            .steps()
            .iter()
            .enumerate()
            .filter(|(_, step)| step.parent() == parent && step.node.parent() == Some(list));
        for (position, step) in steps {
            let node = self.builder.node(self.node(position, step));
            for (from, branch) in exits.drain(..) {
                self.builder.edge(from, node, EdgeKind::Next, &branch);
            }
            exits = self.branches(position, step, node);
        }
        exits
    }

    /// The ways on after a step: out of each of its branches, and past those that are empty.
    fn branches(
        &mut self,
        position: usize,
        step: &automation::Step<'d, '_>,
        node: usize,
    ) -> Vec<Exit> {
        let mut exits = Vec::new();
        for branch in branches(step) {
            let entry = vec![(node, branch_name(step, branch))];
            exits.extend(self.list(branch, Some(position), entry));
        }
        for absent in absent_branches(step) {
            exits.push((node, absent.to_owned()));
        }
        if exits.is_empty() {
            exits.push((node, String::new()));
        }
        exits
    }

    fn node(&self, position: usize, step: &automation::Step<'d, '_>) -> Node {
        let key = step.key.unwrap_or("no key");
        let own = step.node.get_str("name").filter(|name| !name.is_empty());
        let what = step.declared.map_or(key, |declared| &declared.label);
        let about = step.config.map(|config| {
            brief(
                self.facts,
                config,
                step.declared.map(|declared| &declared.config),
            )
        });
        let about = about.unwrap_or_default();
        let detail = match (own, about.is_empty()) {
            (Some(_), true) => what.to_owned(),
            (Some(_), false) => format!("{what}: {about}"),
            (None, _) => about,
        };
        let forks = step.branches().next().is_some();
        let kind = if forks {
            NodeKind::Fork
        } else {
            NodeKind::Step
        };
        let id = format!("{}/{}", self.name, self.graph.path(position));
        Node::new(id, kind, own.unwrap_or(what))
            .detail(detail)
            .at(step.node)
            .within(self.group)
    }
}

/// The branches of a step in the order in which they are declared: files may order keys otherwise.
fn branches<'d>(step: &automation::Step<'d, '_>) -> Vec<Json<'d>> {
    let place = |branch: &Json<'d>| {
        let around = std::iter::successors(Some(*branch), |node| node.parent());
        let top = around.take_while(|node| Some(*node) != step.config).last();
        let key = top.and_then(Json::key).unwrap_or_default();
        let declared = step.declared.and_then(|step| step.config.get_index_of(key));
        declared.unwrap_or(usize::MAX)
    };
    let mut branches: Vec<Json<'d>> = step.branches().collect();
    branches.sort_by_key(place);
    branches
}

/// The name of a branch: the key that holds it, or what its own object is distinguished by, which is
/// declared first.
fn branch_name<'d>(step: &automation::Step<'d, '_>, branch: Json<'d>) -> String {
    let object = branch.parent();
    let list = object.and_then(Json::parent).filter(|list| list.is_array());
    let (Some(object), Some(list)) = (object, list) else {
        return branch.key().unwrap_or_default().to_owned();
    };
    let fields = step
        .declared
        .and_then(|step| step.config.get(list.key()?))
        .and_then(|field| field.items.as_ref()?.fields.as_ref());
    let mut names = fields.into_iter().flat_map(|fields| fields.keys());
    names
        .find_map(|name| object.get(name).filter(|node| *node != branch))
        .map_or_else(|| object.index().to_string(), short_text)
}

/// A scalar as people read it.
fn short_text(node: Json<'_>) -> String {
    node.as_str().unwrap_or(node.raw()).to_owned()
}

/// The branches that a step may have and does not: the run passes them by.
fn absent_branches<'f>(step: &automation::Step<'_, 'f>) -> impl Iterator<Item = &'f str> {
    let declared = step.declared.into_iter().flat_map(|step| &step.config);
    let (config, forks) = (step.config, step.branches().next().is_some());
    declared
        .filter(move |(key, field)| {
            let absent = config.is_none_or(|config| config.get(key).is_none());
            forks && field.kind == FieldType::Steps && absent
        })
        .map(|(key, _)| key.as_str())
}

/// What a config is about, in a few words: what it names, else its choices and texts.
fn brief(facts: &Facts<'_>, config: Json<'_>, fields: Option<&Fields>) -> String {
    // In order of declaration, as what matters most is declared first. A picture is passed on: a
    // secret that should have been cleared must not be in it.
    let shown = fields.into_iter().flatten();
    let shown = shown.filter(|(_, field)| !field.secret);
    let mut words: Vec<String> = Vec::new();
    for member in shown.filter_map(|(key, _)| config.get(key)) {
        if words.len() == 3 {
            break;
        }
        let word = match member.kind() {
            JsonKind::String(text) => match text.strip_prefix('$') {
                Some(reference) => name(facts, reference),
                None => text.to_string(),
            },
            JsonKind::Array if member.elements().all(|part| part.as_str().is_some()) => {
                let parts = member.elements().filter_map(Json::as_str);
                let parts = parts.map(|part| match part.strip_prefix('$') {
                    Some(reference) => name(facts, reference),
                    None => part.to_owned(),
                });
                parts.collect::<Vec<_>>().join(", ")
            }
            JsonKind::Number => member.raw().to_owned(),
            _ => continue,
        };
        let word = word.split_whitespace().collect::<Vec<_>>().join(" ");
        match word.char_indices().nth(MAX_VALUE_CHARS) {
            _ if word.is_empty() => {}
            Some((end, _)) => words.push(format!("{}…", &word[..end])),
            None => words.push(word),
        }
    }
    words.join(" · ")
}

/// The name for people of what a ref stands for.
fn name(facts: &Facts<'_>, reference: &str) -> String {
    facts
        .name_of(reference)
        .map_or_else(|| format!("${reference}"), str::to_owned)
}
