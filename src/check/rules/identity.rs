//! I001, I002 and I015: uids and the grammar of declared refs.

use std::borrow::Cow;

use crate::check::facts::{Facts, Step};
use crate::finding::catalog::{I001, I002, I015};
use crate::finding::{Finding, suggest};
use crate::json::{Node, write_string};
use crate::maps::HashMap;
use crate::package::reference::{is_declaration, prefix, undollared};
use crate::package::uid;

pub(super) fn run(facts: &Facts<'_>, out: &mut Vec<Finding>) {
    let mut entries: Vec<Node<'_>> = facts
        .items
        .iter()
        .filter_map(|i| i.node.get("uid"))
        .collect();
    entries.extend(facts.dependencies.iter().filter_map(|d| d.node.get("uid")));
    let all_steps = || facts.steps.iter().chain(&facts.blueprint_steps);
    let steps: Vec<Node<'_>> = all_steps()
        .filter_map(|step| step.node.get("uid"))
        .collect();
    let columns = facts
        .dependencies
        .iter()
        .flat_map(|d| &d.columns)
        .filter_map(|c| c.node.get("uid"));
    let plan_id = facts.plan.and_then(|plan| plan.get("id"));
    for node in entries
        .iter()
        .chain(&steps)
        .copied()
        .chain(columns)
        .chain(plan_id)
    {
        if !node.as_str().is_some_and(uid::is_uid) {
            let message = format!("{} is not a uid", suggest::short_value(node.raw()));
            out.push(Finding::at(&I001, node, message));
        }
    }
    duplicates(&entries, out);
    duplicates(&steps, out);
    refs(facts, out);
}

fn duplicates(uids: &[Node<'_>], out: &mut Vec<Finding>) {
    let mut seen: HashMap<Cow<'_, str>, Node<'_>> = HashMap::default();
    seen.reserve(uids.len());
    for node in uids {
        let Some(uid) = node.as_str() else { continue };
        // Hex digits compare in either case: a uid is a UUID, not a text.
        let text = if uid.bytes().any(|byte| byte.is_ascii_uppercase()) {
            Cow::Owned(uid.to_ascii_lowercase())
        } else {
            Cow::Borrowed(uid)
        };
        match seen.get(&text) {
            Some(first) => {
                let message = format!("the uid {} appears twice", write_string(uid));
                out.push(Finding::at(&I002, *node, message).related(*first, "first here"));
            }
            None => {
                seen.insert(text, *node);
            }
        }
    }
}

fn refs(facts: &Facts<'_>, out: &mut Vec<Finding>) {
    for step in &facts.steps {
        step_ref(step, out);
    }
    for item in facts.items.iter().filter(|item| !item.is_rows()) {
        let declared = item
            .reference
            .is_some_and(|r| facts.declaring_step(r).is_some());
        if let Some(node) = item.node.get("ref").filter(|_| !declared) {
            grammar(node, out);
        }
    }
    for dependency in &facts.dependencies {
        if let Some(node) = dependency.node.get("ref") {
            grammar(node, out);
        }
        for node in dependency
            .columns
            .iter()
            .filter_map(|column| column.node.get("ref"))
        {
            if let Some(reference) = grammar(node, out)
                && prefix(reference) != "c"
            {
                let message = format!(
                    "{} stands for a column; its ref begins with `c_`",
                    write_string(reference)
                );
                out.push(Finding::at(&I015, node, message));
            }
        }
    }
}

fn step_ref(step: &Step<'_>, out: &mut Vec<Finding>) {
    let (Some(node), Some(tool)) = (step.node.get("ref"), step.tool) else {
        return;
    };
    if !tool.is_create() {
        return;
    }
    let Some(reference) = grammar(node, out) else {
        return;
    };
    let letter = Some(prefix(reference));
    if let Some(expected) = tool.letter().filter(|expected| letter != Some(expected)) {
        let message = format!(
            "{} is declared by {}; its ref begins with `{expected}_`",
            write_string(reference),
            tool.as_str()
        );
        out.push(Finding::at(&I015, node, message));
    }
}

/// The declaration, without the dollar that the canonical form drops, when it is inside the grammar; says so when not.
fn grammar<'d>(node: Node<'d>, out: &mut Vec<Finding>) -> Option<&'d str> {
    let reference = undollared(node.as_str()?);
    if is_declaration(reference) {
        return Some(reference);
    }
    out.push(Finding::at(
        &I015,
        node,
        format!("{} is not a ref", suggest::short_value(node.raw())),
    ));
    None
}
