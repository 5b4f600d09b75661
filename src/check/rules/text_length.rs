//! M008: labels and descriptions that no server stores.

use crate::check::facts::{Facts, Version};
use crate::finding::Finding;
use crate::finding::catalog::M008;
use crate::json::Node;
use crate::package::size::{MOST_DESCRIPTION, MOST_LABEL};

pub(super) fn run(facts: &Facts<'_>, out: &mut Vec<Finding>) {
    let manifest = facts.manifest;
    bound(manifest, "label", MOST_LABEL, out);
    bound(manifest, "description", MOST_DESCRIPTION, out);
    for step in facts.steps.iter().chain(&facts.blueprint_steps) {
        if let Some(args) = step.node.get("args") {
            bound(args, "label", MOST_LABEL, out);
        }
    }
    // In version 1 these layers are unknown fields, and nothing in them is read.
    if facts.version != Version::Two {
        return;
    }
    let list = |key| manifest.get(key).into_iter().flat_map(Node::elements);
    for item in list("items") {
        bound(item, "label", MOST_LABEL, out);
    }
    for identity in list("dependencies").filter_map(|dependency| dependency.get("identity")) {
        bound(identity, "label", MOST_LABEL, out);
        let columns = identity.get("columns").into_iter();
        for column in columns.flat_map(Node::elements) {
            bound(column, "label", MOST_LABEL, out);
        }
    }
}

/// Reports a text of that key that has more characters than `most`.
fn bound(holder: Node<'_>, key: &str, most: usize, out: &mut Vec<Finding>) {
    let Some(value) = holder.get(key) else { return };
    // A text has no more characters than bytes.
    let Some(text) = value.as_str().filter(|text| text.len() > most) else {
        return;
    };
    let length = text.chars().count();
    if length > most {
        let message = format!("the {key} has {length} characters; at most {most} can be stored");
        out.push(Finding::at(&M008, value, message));
    }
}
