//! I008, I009, I016 and I017: the parents of items.

use crate::check::facts::{Declared, Facts, Item};
use crate::definitions::ReferenceKind;
use crate::finding::catalog::{I008, I009, I016, I017};
use crate::finding::{Finding, Fix, edit, suggest};
use crate::json::{Node, write_string};
use crate::package::Tool;
use crate::package::reference::undollared;

pub(super) fn run(facts: &Facts<'_>, out: &mut Vec<Finding>) {
    for item in &facts.items {
        let expected = match item.kind {
            Some("column" | "view" | "rows") => Some("feature"),
            Some("rail") => Some("module"),
            _ => None,
        };
        match (item.node.get("parent"), expected) {
            (Some(node), expected) => named(facts, item, node, expected, out),
            (None, Some(expected)) => missing(facts, item, expected, out),
            (None, None) => {}
        }
    }
}

fn named(
    facts: &Facts<'_>,
    item: &Item<'_>,
    node: Node<'_>,
    expected: Option<&str>,
    out: &mut Vec<Finding>,
) {
    let Some(uid) = item.parent else { return };
    let Some(parent) = facts.item(uid) else {
        if !facts.uids_are_known() {
            return; // The parent may be an item whose uid is missing.
        }
        out.push(Finding::at(
            &I008,
            node,
            format!("{} is not an item's uid", suggest::short_value(node.raw())),
        ));
        return;
    };
    // Items of other kinds may hang below whatever item they name.
    let Some(expected) = expected else { return };
    // An item whose own kind is doubtful (I003, I007) says nothing about its children.
    let created = parent
        .reference
        .and_then(|r| facts.declaring_step(r))
        .and_then(|i| facts.steps[i].tool);
    let by_step = created.and_then(Tool::creates) == ReferenceKind::parse(expected);
    match parent.kind {
        Some(kind) if kind != expected && !by_step => {
            let message = format!("the parent is a {kind}, not a {expected}");
            out.push(Finding::at(&I009, node, message).related(parent.node, "the parent"));
            return;
        }
        None => return,
        Some(_) => {}
    }
    disagreement(facts, item, parent, node, out);
}

fn disagreement(
    facts: &Facts<'_>,
    item: &Item<'_>,
    parent: &Item<'_>,
    node: Node<'_>,
    out: &mut Vec<Finding>,
) {
    let Some(step) = facts.create_step(item) else {
        return;
    };
    let Some(argument) = step.tool.and_then(Tool::parent_argument) else {
        return;
    };
    let Some(value) = step.arg(argument) else {
        return;
    };
    let Some(text) = value.as_str() else { return };
    let expected_kind = if argument == "moduleId" {
        ReferenceKind::Module
    } else {
        ReferenceKind::Feature
    };
    let named = text.strip_prefix('$');
    // A wrong argument has its own finding (S009, S015, S006, X001); an emptied one names no
    // table to disagree with.
    let sound = named.is_some_and(|r| facts.kind_of(r) == Declared::Kind(expected_kind));
    if sound && named != parent.reference && parent.reference.is_some() {
        let message = format!(
            "the parent is `{}`, but the step creates it in {text}",
            parent.reference.unwrap_or_default()
        );
        out.push(Finding::at(&I017, node, message).related(value, "where the step creates it"));
    }
}

/// The table that a rows item without a parent belongs to, by its entry.
fn table_of_entry<'d>(facts: &Facts<'d>, item: &Item<'_>) -> Option<&'d str> {
    let entry = facts.payload_entry(item)?;
    entry.get_str("featureRef").map(undollared)
}

/// Whether another rows item stands, or will stand, for the table of one.
fn has_rows_twin(facts: &Facts<'_>, item: &Item<'_>, table: &str, uid: &str) -> bool {
    let mut others = facts.items.iter().filter(|other| other.node != item.node);
    item.is_rows()
        && others.any(|other| {
            let same = match other.parent {
                Some(parent) => parent == uid,
                None => table_of_entry(facts, other) == Some(table),
            };
            other.is_rows() && same
        })
}

fn missing(facts: &Facts<'_>, item: &Item<'_>, expected: &str, out: &mut Vec<Finding>) {
    let parent_ref = match item.kind {
        Some("rows") => table_of_entry(facts, item),
        _ => facts
            .create_step(item)
            .and_then(|step| step.arg_ref(step.tool?.parent_argument()?)),
    };
    let Some(parent_ref) = parent_ref else { return };
    let travels = facts
        .declaring_step(parent_ref)
        .and_then(|index| facts.steps[index].tool)
        .is_some_and(|tool| tool.creates() == ReferenceKind::parse(expected));
    if !travels {
        return;
    }
    let mut finding = Finding::at(
        &I016,
        item.node,
        format!("the item names no parent, although `{parent_ref}` travels"),
    );
    if let Some(parent) = facts.item_of_ref(parent_ref) {
        finding = finding.related(parent.node, "its parent").fix(Fix {
            title: "Add `parent`".to_owned(),
            // Of two rows items of one table (I018) one is too many.
            safe: !has_rows_twin(facts, item, parent_ref, parent.uid),
            edits: vec![edit::add_member(
                item.node,
                "parent",
                &write_string(parent.uid),
            )],
        });
    }
    out.push(finding);
}
