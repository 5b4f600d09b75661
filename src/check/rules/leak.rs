//! X001 to X004 outside the rows: what a package must not contain.

use std::ops::Range;

use crate::check::facts::{Facts, StepConfigFault, StepPlace};
use crate::check::sensitive;
use crate::finding::catalog::{X001, X002, X003, X004};
use crate::finding::{Finding, Fix, Place, edit};
use crate::json::{Node, path};
use crate::maps::HashSet;
use crate::package::format::catalog_fields;
use crate::package::uid;

pub(super) fn run(facts: &Facts<'_>, promotion: bool, out: &mut Vec<Finding>) {
    source_ids(facts, out);
    secrets(facts, out);
    let suspects = suspects(facts.root);
    for node in &suspects {
        if let Some((kind, place)) = sensitive::secret(*node) {
            out.push(Finding::new(
                &X003,
                place,
                format!("this looks like {kind}"),
            ));
        }
    }
    if !promotion {
        for (place, message) in suspects.into_iter().filter_map(sensitive::tenant) {
            out.push(Finding::new(&X004, place, message));
        }
    }
}

/// Every member or value that holds a tenant identifier, once each.
pub(crate) fn tenant_places(root: Node<'_>) -> Vec<(Place, String)> {
    suspects(root)
        .into_iter()
        .filter_map(sensitive::tenant)
        .collect()
}

/// The values whose key or text may hold a tenant identifier or a secret: nearly always none, which one search over
/// the whole text finds out. It cannot see through `\u`, so escaped texts are all suspect. Shadowed members are among
/// them: they travel, whatever readers make of them.
fn suspects(root: Node<'_>) -> Vec<Node<'_>> {
    let text = root.text();
    let pieces = || root.read_spans().map(|span| (span.start, &text[span]));
    let finds = pieces().flat_map(|(start, piece)| {
        let finds = sensitive::patterns().find_iter(piece);
        finds.map(move |find| start + find.start())
    });
    let finds: Vec<usize> = finds.collect();
    let hides = |(_, piece): (_, &str)| memchr::memmem::find(piece.as_bytes(), b"\\u").is_some();
    if finds.is_empty() && !pieces().any(hides) {
        return Vec::new();
    }
    let is_found = |span: Range<usize>| {
        let next = finds.partition_point(|find| *find < span.start);
        finds.get(next).is_some_and(|find| *find < span.end)
    };
    let is_suspect = |node: &Node<'_>| {
        node.is_escaped()
            || is_found(node.key_span())
            || (node.as_str().is_some() && is_found(node.span()))
    };
    root.all_nodes().filter(is_suspect).collect()
}

fn source_ids(facts: &Facts<'_>, out: &mut Vec<Finding>) {
    let steps = facts.steps.iter().chain(&facts.blueprint_steps);
    for step in steps.filter(|step| step.tool.is_some()) {
        step.scanned_args().for_each(|arg| foreign_ids(arg, out));
    }
    for dependency in &facts.dependencies {
        if let Some(identity) = dependency.node.get("identity") {
            foreign_ids(identity, out);
        }
        let used_by = dependency
            .node
            .get("usedBy")
            .into_iter()
            .flat_map(Node::elements);
        // The uids of an entry have rules of their own.
        let reported = used_by
            .flat_map(Node::members)
            .filter(|m| !matches!(m.key(), Some("uid" | "targets")));
        reported.for_each(|member| foreign_ids(member, out));
    }
    for field in catalog_fields().filter(|field| field.key != "id") {
        if let Some(value) = facts.manifest.get(field.key) {
            foreign_ids(value, out);
        }
    }
}

/// X001 for a value and everything inside it.
fn foreign_ids(value: Node<'_>, out: &mut Vec<Finding>) {
    for node in value.descendants() {
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
    for (place, node) in entered_secrets(facts) {
        let step = facts.step_at(place);
        let named = step.and_then(|step| {
            let StepPlace::Plan(_) = step.place else {
                return None;
            };
            let at = path::dotted(step.args?, node);
            Some(redacted.contains(&(facts.subject(step)?, at.as_str())))
        });
        if named != Some(true) {
            // Pointed at, never shown.
            let message = format!("`{}` is a secret and holds a value", node.token());
            out.push(Finding::at(&X002, node, message).fix(Fix {
                title: "Empty the field".to_owned(),
                safe: false,
                edits: vec![edit::replace(node, "\"\"")],
            }));
        }
    }
}

/// The values in fields for secrets that are not empty: a number or a list gives away as much as a text.
fn entered_secrets<'d>(facts: &Facts<'d>) -> impl Iterator<Item = (StepPlace, Node<'d>)> {
    let texts = facts.spots.iter().filter(|spot| spot.field.secret);
    let texts = texts.map(|spot| (spot.step, spot.node));
    let others = facts.config_faults.iter().filter_map(|fault| match fault {
        StepConfigFault::Wrong {
            step, node, field, ..
        } if field.secret => Some((*step, *node)),
        _ => None,
    });
    texts.chain(others).filter(|(_, node)| !node.is_empty())
}
