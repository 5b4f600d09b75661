//! I003 to I007, I010, I014 and I018: consistency of items with each other and with the plan.

use crate::check::facts::{Facts, Item, Step};
use crate::finding::catalog::{I003, I004, I005, I006, I007, I010, I014, I018};
use crate::finding::suggest::{self, Misspelt};
use crate::finding::{Finding, Fix, edit};
use crate::json::{Node, write_string};
use crate::maps::HashMap;
use crate::package::Tool;
use crate::package::format::ITEM_KINDS;
use crate::package::reference::is_declaration;

pub(super) fn run(facts: &Facts<'_>, out: &mut Vec<Finding>) {
    for item in &facts.items {
        kind(item, out);
        declared(facts, item, out);
        misplaced(item, out);
    }
    duplicates(facts, out);
    steps_without_item(facts, out);
}

fn kind(item: &Item<'_>, out: &mut Vec<Finding>) {
    let Some(node) = item.node.get("kind").filter(|_| item.kind.is_none()) else {
        return;
    };
    let message = format!("there is no item kind {}", suggest::short_value(node.raw()));
    let word = node.as_str().unwrap_or_default();
    let kinds = ITEM_KINDS.iter().copied();
    out.push(Finding::at(&I003, node, message).meant(word, kinds, Misspelt::value(node)));
}

fn declared(facts: &Facts<'_>, item: &Item<'_>, out: &mut Vec<Finding>) {
    let node = item.node.get("ref");
    if item.is_rows() {
        if let Some(node) = node {
            out.push(Finding::at(&I005, node, "rows have no ref").fix(Fix {
                title: "Remove `ref`".to_owned(),
                safe: true,
                edits: vec![edit::remove_member(node)],
            }));
        }
        return;
    }
    let Some(node) = node else {
        if item.kind.is_some() {
            out.push(Finding::at(&I004, item.node, "the item names no ref"));
        }
        return;
    };
    let Some(reference) = item.reference else {
        return;
    };
    match facts.declaring_step(reference) {
        None if !facts.steps_are_readable() => {}
        None if !is_declaration(reference) => {} // I015 speaks.
        None => {
            let message = format!("no plan step declares {}", write_string(reference));
            let place = Misspelt::value(node);
            let meant = free_refs(facts, item);
            out.push(Finding::at(&I006, node, message).meant(reference, meant, place));
        }
        Some(index) => {
            let step = &facts.steps[index];
            let (Some(kind), Some(tool)) = (item.kind, step.tool) else {
                return;
            };
            if tool.creates() != item.created_kind() {
                let place = item.node.get("kind").unwrap_or(node);
                let message = format!("the item is a {kind}, but its step is {}", tool.as_str());
                out.push(
                    Finding::at(&I007, place, message)
                        .related(step.node, "the step that declares the ref"),
                );
            }
        }
    }
}

/// The refs that an item could name: declared as its kind, and of no item.
fn free_refs<'d>(facts: &Facts<'d>, item: &Item<'_>) -> impl Iterator<Item = &'d str> {
    let kind = item.created_kind();
    let fits = move |step: &&Step<'d>| kind.is_none() || step.tool.and_then(Tool::creates) == kind;
    let declared = facts.steps.iter().filter(fits);
    declared
        .filter_map(|step| step.reference)
        .filter(move |reference| facts.item_of_ref(reference).is_none())
}

fn misplaced(item: &Item<'_>, out: &mut Vec<Finding>) {
    let Some(kind) = item.kind else { return };
    let owners = [
        ("count", "rows"),
        ("dataClass", "rows"),
        ("stepIds", "workflow"),
    ];
    for (key, owner) in owners.into_iter().filter(|(_, owner)| *owner != kind) {
        if let Some(node) = item.node.get(key) {
            let message = format!("`{key}` belongs to {owner} items, this is a {kind}");
            out.push(Finding::at(&I010, node, message).fix(Fix {
                title: format!("Remove `{key}`"),
                safe: true,
                edits: vec![edit::remove_member(node)],
            }));
        }
    }
}

fn duplicates(facts: &Facts<'_>, out: &mut Vec<Finding>) {
    let mut refs: HashMap<&str, Node<'_>> = HashMap::default();
    let mut tables: HashMap<&str, Node<'_>> = HashMap::default();
    for item in &facts.items {
        if let (Some(reference), Some(node)) = (item.reference, item.node.get("ref")) {
            match refs.get(reference) {
                Some(first) => out.push(
                    Finding::at(
                        &I018,
                        node,
                        format!("another item has the ref `{reference}`"),
                    )
                    .related(*first, "the other item"),
                ),
                None => {
                    refs.insert(reference, node);
                }
            }
        }
        if let (true, Some(parent), Some(node)) =
            (item.is_rows(), item.parent, item.node.get("parent"))
        {
            match tables.get(parent) {
                Some(first) => out.push(
                    Finding::at(&I018, node, "another rows item stands for this table")
                        .related(*first, "the other item"),
                ),
                None => {
                    tables.insert(parent, node);
                }
            }
        }
    }
}

fn steps_without_item(facts: &Facts<'_>, out: &mut Vec<Finding>) {
    if facts.layer("items").is_none() {
        return;
    }
    // An item without ref (I004) surely means a step of its kind: one mistake, one finding.
    let mut nameless: Vec<&Item<'_>> = facts
        .items
        .iter()
        .filter(|item| !item.is_rows() && item.reference.is_none())
        .collect();
    let mut unmatched: Vec<&Step<'_>> = facts
        .steps
        .iter()
        .filter(|step| step.tool.is_some_and(|tool| tool.creates().is_some()))
        .filter(|step| {
            step.reference
                .is_some_and(|reference| facts.item_of_ref(reference).is_none())
        })
        .collect();
    for same_label in [true, false] {
        nameless.retain(|item| {
            let means = |step: &&Step<'_>| {
                let kind =
                    item.kind.is_none() || step.tool.and_then(Tool::creates) == item.created_kind();
                kind && (!same_label || step.arg_str("label") == item.node.get_str("label"))
            };
            let found = unmatched.iter().position(means);
            if let Some(found) = found {
                unmatched.remove(found);
            }
            found.is_none()
        });
    }
    for step in unmatched {
        let place = step.node.get("ref").unwrap_or(step.node);
        out.push(Finding::at(
            &I014,
            place,
            format!("no item names `{}`", step.reference.unwrap_or_default()),
        ));
    }
}
