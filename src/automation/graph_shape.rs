//! The objects of the graph: malformed steps, keys and ids, and unknown fields (A005, A006, A017,
//! J005 to J007).

use super::graph::Step;
use super::issue::Issue;
use super::validation_context::{Site, ValidationContext, short_text};
use crate::finding::Finding;
use crate::finding::catalog::{A004, A005, A006, A017, J005, J007};
use crate::finding::suggest::{Misspelt, short_text as short};
use crate::json::Node;
use crate::maps::HashMap;
use crate::package::format::{GRAPH_CONFIG, GRAPH_STEP, Shape};
use crate::package::uid::is_step_id;

/// Reports the members of an object that none of the shapes has; the first says what it is.
pub(super) fn unknown_fields<'d>(
    case: &ValidationContext<'_, 'd, '_>,
    site: Site<'d>,
    object: Node<'d>,
    shapes: &[&Shape],
    issues: &mut Vec<Issue>,
) {
    let known: Vec<&str> = shapes
        .iter()
        .flat_map(|shape| shape.fields)
        .map(|field| field.key)
        .collect();
    let what = shapes.first().map_or("it", |shape| shape.name);
    for member in object.members() {
        let key = member.key().unwrap_or_default();
        if !known.contains(&key) {
            let finding = unknown_field(member, what, &known);
            issues.push(case.issue(site, member, None, finding));
        }
    }
}

/// The finding about one such member.
pub(super) fn unknown_field(member: Node<'_>, what: &str, known: &[&str]) -> Finding {
    let key = member.key().unwrap_or_default();
    let message = format!("{what} has no field `{}`", short(key));
    let finding = Finding::at_key(&J007, member, message);
    finding.meant_or_known(key, known.iter().copied(), Misspelt::key(member))
}

/// Checks the `graphConfig` object around the steps, and gives the list of steps, if it is one.
pub(super) fn check_graph<'d>(
    case: &ValidationContext<'_, 'd, '_>,
    graph: Node<'d>,
    issues: &mut Vec<Issue>,
) -> Option<Node<'d>> {
    unknown_fields(case, Site::Graph(graph), graph, &[&GRAPH_CONFIG], issues);
    let list = graph.get("steps");
    if let Some(list) = list.filter(|list| list.is_array()) {
        return Some(list);
    }
    let finding = match list {
        Some(other) => {
            let message = format!("`steps` is {} and not a list", other.type_name());
            Finding::at(&J005, other, message)
        }
        None => Finding::at(&A004, graph, "the automation has no `steps`"),
    };
    issues.push(Issue::of_graph(finding));
    None
}

/// Checks every step but its config.
pub(super) fn check_steps<'d>(case: &ValidationContext<'_, 'd, '_>, issues: &mut Vec<Issue>) {
    let mut seen: HashMap<&str, Node<'d>> = HashMap::default();
    for (position, step) in case.graph.steps().iter().enumerate() {
        let site = Site::Step(position);
        if !step.node.is_object() {
            let message = format!("a step is an object and not {}", step.node.type_name());
            issues.push(case.step_issue(position, Finding::at(&J005, step.node, message)));
            continue;
        }
        unknown_fields(case, site, step.node, &[&GRAPH_STEP], issues);
        if let Some(name) = step.node.get("name").filter(|name| name.as_str().is_none()) {
            let message = format!("the `name` of a step is text and not {}", name.type_name());
            issues.push(case.issue(site, name, None, Finding::at(&J005, name, message)));
        }
        if step.declared.is_none() {
            issues.push(case.step_issue(position, unknown_key(case, step)));
        }
        if let Some(id) = step.node.get("id") {
            let finding = bad_id(id, &mut seen);
            issues.extend(finding.map(|finding| case.issue(site, id, None, finding)));
        }
    }
}

fn unknown_key(case: &ValidationContext<'_, '_, '_>, step: &Step<'_, '_>) -> Finding {
    let keys = || case.definitions.steps.keys().map(String::as_str);
    let Some(written) = step.node.get("key") else {
        return Finding::at(&A005, step.node, "the step has no `key`");
    };
    let key = written.as_str().unwrap_or_default();
    let finding = Finding::at(
        &A005,
        written,
        format!("{} is not a step", short_text(written)),
    );
    if case.definitions.triggers.contains_key(key) {
        return finding
            .help("That is a trigger; it starts an automation and is not a step of one.");
    }
    finding.meant_or_known(key, keys(), Misspelt::value(written))
}

fn bad_id<'d>(id: Node<'d>, seen: &mut HashMap<&'d str, Node<'d>>) -> Option<Finding> {
    let Some(text) = id.as_str().filter(|text| is_step_id(text)) else {
        return Some(Finding::at(
            &A017,
            id,
            format!("{} is not a step id", short_text(id)),
        ));
    };
    if let Some(first) = seen.get(text) {
        let message = format!("another step has the id `{text}` already");
        return Some(
            Finding::at(&A006, id, message).related(*first, "the first step with this id"),
        );
    }
    seen.insert(text, id);
    None
}
