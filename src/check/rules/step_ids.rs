//! I013, and J006 for an automation without `stepIds`: they are the ids of the steps of its graph.

use crate::automation;
use crate::check::facts::{Facts, Item};
use crate::finding::catalog::{I013, J006};
use crate::finding::{Finding, Fix, edit, suggest};
use crate::json::Node;
use crate::maps::{HashMap, HashSet};

pub(super) fn run(facts: &Facts<'_>, out: &mut Vec<Finding>) {
    let automations = facts.items.iter();
    for item in automations.filter(|item| item.kind == Some("workflow")) {
        let ids = graph_ids(facts, item);
        match item.node.get("stepIds") {
            None => missing(item, ids, out),
            Some(node) => differing(node, ids, out),
        }
    }
}

/// Ids of all steps of an automation's graph, branches included, in order of appearance; nothing when it has no such
/// graph.
fn graph_ids<'d>(facts: &Facts<'d>, item: &Item<'d>) -> Option<Vec<&'d str>> {
    let graph = facts.create_step(item)?.arg("graphConfig")?;
    let ids = automation::step_ids(facts.definitions, graph.get("steps")?);
    Some(ids.into_iter().filter_map(Node::as_str).collect())
}

fn missing(item: &Item<'_>, ids: Option<Vec<&str>>, out: &mut Vec<Finding>) {
    let mut finding = Finding::at(&J006, item.node, "an automation lacks `stepIds`");
    if let Some(ids) = ids {
        finding = finding.fix(Fix {
            title: "Add `stepIds`".to_owned(),
            safe: true,
            edits: vec![edit::add_member(
                item.node,
                "stepIds",
                &edit::string_list(ids),
            )],
        });
    }
    out.push(finding);
}

fn differing<'d>(node: Node<'d>, ids: Option<Vec<&'d str>>, out: &mut Vec<Finding>) {
    let Some(ids) =
        ids.filter(|_| node.elements().all(|id| id.as_str().is_some()) && node.is_array())
    else {
        return;
    };
    let listed: Vec<&str> = node.elements().filter_map(Node::as_str).collect();
    let in_graph: HashSet<&str> = ids.iter().copied().collect();
    let in_list: HashSet<&str> = listed.iter().copied().collect();
    // A step id that repeats in the graph is A006's business.
    if ids.len() != in_graph.len() {
        return;
    }
    if in_graph == in_list && in_list.len() == listed.len() {
        return;
    }
    let missing: Vec<&str> = ids
        .iter()
        .copied()
        .filter(|id| !in_list.contains(id))
        .collect();
    let extra: Vec<&str> = listed
        .iter()
        .copied()
        .filter(|id| !in_graph.contains(id))
        .collect();
    let mut parts = Vec::new();
    if !missing.is_empty() {
        parts.push(format!("missing {}", missing.join(", ")));
    }
    if !extra.is_empty() {
        parts.push(format!("no step has {}", extra.join(", ")));
    }
    if parts.is_empty() {
        parts.push("an id is listed twice".to_owned());
    }
    let message = format!(
        "`stepIds` differ from the graph: {}",
        suggest::short_text(&parts.join("; "))
    );
    out.push(Finding::at(&I013, node, message).fix(Fix {
        title: "List the ids of the graph".to_owned(),
        safe: true,
        edits: vec![edit::replace_strings(node, in_listed_order(&ids, &listed))],
    }));
}

/// The ids of the graph in the order in which they are listed; the others follow the one that they follow in the graph.
fn in_listed_order<'d>(graph: &[&'d str], listed: &[&'d str]) -> Vec<&'d str> {
    let in_list: HashSet<&str> = listed.iter().copied().collect();
    let mut kept: HashSet<&str> = HashSet::default();
    let mut following: HashMap<&str, Vec<&'d str>> = HashMap::default();
    let mut order = Vec::new();
    let mut before = None;
    for &id in graph {
        if in_list.contains(id) {
            kept.insert(id);
            before = Some(id);
        } else if let Some(before) = before {
            following.entry(before).or_default().push(id);
        } else {
            order.push(id);
        }
    }
    for &id in listed {
        // An id that is listed twice is there once.
        if kept.remove(id) {
            order.push(id);
            order.extend(following.remove(id).unwrap_or_default());
        }
    }
    order
}
