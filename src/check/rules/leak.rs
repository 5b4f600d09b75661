//! X001 to X004 outside the rows: what a package must not contain.

use std::collections::HashSet;

use crate::check::facts::{Facts, StepPlace};
use crate::check::sensitive;
use crate::finding::catalog::{X001, X002, X003, X004};
use crate::finding::{Finding, Fix, Place, edit};
use crate::json::{Node, path};
use crate::package::format::catalog_fields;
use crate::package::uid;

pub(super) fn run(facts: &Facts<'_>, promotion: bool, out: &mut Vec<Finding>) {
    source_ids(facts, out);
    secrets(facts, out);
    for node in facts.root.descendants() {
        if let Some((kind, place)) = sensitive::secret(node) {
            out.push(Finding::new(
                &X003,
                place,
                format!("this looks like {kind}"),
            ));
        }
    }
    if !promotion {
        for (place, message) in tenant_places(facts.root) {
            out.push(Finding::new(&X004, place, message));
        }
    }
}

/// Every member or value that holds a tenant identifier, once each.
pub(crate) fn tenant_places(root: Node<'_>) -> Vec<(Place, String)> {
    root.descendants().filter_map(sensitive::tenant).collect()
}

fn source_ids(facts: &Facts<'_>, out: &mut Vec<Finding>) {
    let mut places: Vec<Node<'_>> = Vec::new();
    let steps = facts.steps.iter().chain(&facts.blueprint_steps);
    for step in steps.filter(|step| step.tool.is_some()) {
        places.extend(step.scanned_args().into_iter().flat_map(Node::descendants));
    }
    for dependency in &facts.dependencies {
        places.extend(
            dependency
                .node
                .get("identity")
                .into_iter()
                .flat_map(Node::descendants),
        );
        let used_by = dependency
            .node
            .get("usedBy")
            .into_iter()
            .flat_map(Node::elements);
        // The uids of an entry have rules of their own.
        let reported = used_by
            .flat_map(Node::members)
            .filter(|m| !matches!(m.key(), Some("uid" | "targets")));
        places.extend(reported.flat_map(Node::descendants));
    }
    for field in catalog_fields().filter(|field| field.key != "id") {
        places.extend(
            facts
                .manifest
                .get(field.key)
                .into_iter()
                .flat_map(Node::descendants),
        );
    }
    for node in places {
        if let Some(id) = node.as_str().and_then(uid::foreign_uuid) {
            let finding = Finding::at(&X001, node, format!("the id {id} of the source travels"));
            out.push(finding);
        } else if let Some(id) = node.key().and_then(uid::foreign_uuid) {
            out.push(Finding::at_key(
                &X001,
                node,
                format!("the id {id} of the source travels as a key"),
            ));
        }
    }
}

fn secrets(facts: &Facts<'_>, out: &mut Vec<Finding>) {
    // (uid, path) of fields that `redacted` names; U008 speaks about those.
    let redacted: HashSet<(&str, &str)> = facts
        .layer("redacted")
        .into_iter()
        .flat_map(Node::elements)
        .filter_map(|entry| Some((entry.get_str("uid")?, entry.get_str("path")?)))
        .collect();
    for spot in facts
        .spots
        .iter()
        .filter(|spot| spot.field.secret && !spot.node.is_empty())
    {
        let step = facts.step_at(spot.step);
        let named = step.and_then(|step| {
            let StepPlace::Plan(_) = step.place else {
                return None;
            };
            let at = path::dotted(step.args?, spot.node);
            Some(redacted.contains(&(facts.subject(step)?, at.as_str())))
        });
        if named != Some(true) {
            // Pointed at, never shown.
            let message = format!("`{}` is a secret and holds a value", spot.node.token());
            out.push(Finding::at(&X002, spot.node, message).fix(Fix {
                title: "Empty the field".to_owned(),
                safe: false,
                edits: vec![edit::replace(spot.node, "\"\"")],
            }));
        }
    }
}
