//! What an expression can read at a place of an automation: what stands earlier, in no other branch.

use std::ops::Range;

use super::Package;
use super::completion::{Completion, CompletionKind, Completions};
use crate::definitions::Step;
use crate::json::{Node, write_string};

/// Proposals inside of `{{`, when the value takes expressions. `typed` is the string at the cursor, up to it.
pub(super) fn complete<'d>(
    package: &Package<'d>,
    node: Node<'d>,
    text: &str,
    typed: &Range<usize>,
) -> Option<Completions> {
    node.as_str()?;
    let before = text.get(typed.clone())?;
    let open = before.rfind("{{")?;
    if before[open + 2..].contains("}}") || !takes_expressions(package, node) {
        return None;
    }
    let (from, offset) = (typed.start + open + 2, typed.end);
    let rest = text.get(offset..)?;
    let inside = rest.find(['}', '"', '\n', '{']).unwrap_or(rest.len());
    let closed = rest[inside..].starts_with("}}");
    // Where nothing closes it, what follows is text and stays.
    let is_path = |character: char| character.is_alphanumeric() || "_.-".contains(character);
    let word = if closed {
        inside
    } else {
        let end = rest.find(|character| !is_path(character));
        end.unwrap_or(rest.len())
    };
    let end = if closed { "" } else { "}}" };
    let items = paths(package, node).into_iter().map(|(path, detail)| {
        let json = write_string(&path);
        Completion {
            text: format!("{}{end}", &json[1..json.len() - 1]),
            filter: path.clone(),
            label: path,
            detail,
            documentation: None,
            kind: CompletionKind::Expression,
        }
    });
    Some(Completions {
        replace: from..offset + word,
        items: items.collect(),
    })
}

/// Whether the value, or what it is part of, is resolved when a run reads it.
fn takes_expressions<'d>(package: &Package<'d>, node: Node<'d>) -> bool {
    let mut around = std::iter::successors(Some(node), |node| node.parent());
    let field = around.find_map(|node| package.field(node));
    field.is_some_and(|field| field.expression)
}

/// The paths that can be read there, nearest steps first, each with what it is.
fn paths<'d>(package: &Package<'d>, node: Node<'d>) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut records: Option<&str> = None;
    let mut brings = false;
    let around = std::iter::successors(Some(node), |node| node.parent());
    let mut automation = None;
    for step in around {
        if step.key() == Some("graphConfig") {
            automation = step.parent();
        }
        if !package.is_graph_step(step) {
            continue;
        }
        let Some(list) = step.parent() else { break };
        let earlier: Vec<Node<'d>> = list.elements().take(step.index()).collect();
        for other in earlier.into_iter().rev() {
            let known = other.get_str("key");
            let known = known.and_then(|key| package.facts.definitions.steps.get(key));
            if let Some(known) = known {
                outputs(other, known, &mut found);
                if known.brings_records && !brings {
                    brings = true;
                    records = table(other);
                }
            }
        }
    }
    let trigger = automation.and_then(|args| args.get("triggerConfig"));
    let declared = trigger
        .and_then(|trigger| trigger.get_str("type"))
        .and_then(|name| package.facts.definitions.triggers.get(name));
    let fired = trigger.and_then(table);
    if declared.is_some_and(|trigger| trigger.trigger_row) {
        columns(
            package,
            fired,
            "vars.trigger.",
            "row that fired",
            &mut found,
        );
    }
    if !brings && declared.is_some_and(|trigger| trigger.brings_records) {
        brings = true;
        records = fired;
    }
    if brings {
        columns(package, records, "record.", "current record", &mut found);
    }
    found.push(("sys.now".to_owned(), "date and time of the run".to_owned()));
    found.push(("sys.today".to_owned(), "date of the run".to_owned()));
    found
}

/// What a step leaves for later ones.
fn outputs(step: Node<'_>, known: &Step, found: &mut Vec<(String, String)>) {
    let name = step.get_str("name").unwrap_or(&known.label);
    if let Some(id) = step.get_str("id") {
        for output in &known.outputs {
            found.push((format!("vars.steps.{id}.{output}"), name.to_owned()));
        }
    }
    let setting = known.sets_variable.as_deref();
    let variable = setting.and_then(|setting| step.get("config")?.get_str(setting));
    if let Some(variable) = variable.filter(|variable| !variable.is_empty()) {
        found.push((format!("vars.{variable}"), name.to_owned()));
    }
}

/// The ref of the table that the settings of a step or trigger name.
fn table(step: Node<'_>) -> Option<&str> {
    let config = step.get("config")?;
    let named = config
        .get_str("featureId")
        .or_else(|| config.get_str("targetFeatureId"));
    named?.strip_prefix('$')
}

fn columns(
    package: &Package<'_>,
    table: Option<&str>,
    prefix: &str,
    what: &str,
    found: &mut Vec<(String, String)>,
) {
    let table = table.and_then(|table| package.facts.table(table));
    for column in table.into_iter().flat_map(|table| &table.columns) {
        found.push((format!("{prefix}{}", column.name), what.to_owned()));
    }
}
