//! S016, S020 and S021: technical names and positions.

use crate::check::facts::{Facts, Step, StepPlace};
use crate::finding::catalog::{S016, S020, S021};
use crate::finding::{Finding, Fix, edit, suggest};
use crate::json::Node;
use crate::maps::HashMap;
use crate::package::{Tool, name};

pub(super) fn run(facts: &Facts<'_>, out: &mut Vec<Finding>) {
    for step in facts.steps.iter().chain(&facts.blueprint_steps) {
        let named = matches!(
            step.tool,
            Some(
                Tool::CreateFeature
                    | Tool::CreateColumn
                    | Tool::CreateView
                    | Tool::CreateModule
                    | Tool::CreateRail
            )
        );
        if let Some(node) = step.arg("name").filter(|_| named)
            && let Some(fault) = node.as_str().and_then(name::fault)
        {
            let message = format!(
                "{} is not a technical name: {fault}",
                suggest::short_value(node.raw())
            );
            out.push(Finding::at(&S021, node, message));
        }
    }
    duplicate_names(facts, out);
    orders(facts, out);
}

fn duplicate_names(facts: &Facts<'_>, out: &mut Vec<Finding>) {
    type Key<'d> = (Tool, Option<usize>, &'d str, &'d str);
    let mut seen: HashMap<Key<'_>, Node<'_>> = HashMap::default();
    for step in facts.steps.iter().chain(&facts.blueprint_steps) {
        let Some((tool, parent)) = parent_of(step) else {
            continue;
        };
        let Some((node, name)) = step
            .arg("name")
            .and_then(|node| Some((node, node.as_str()?)))
        else {
            continue;
        };
        let blueprint = match step.place {
            StepPlace::Plan(_) => None,
            StepPlace::Blueprint(dependency, _) => Some(dependency),
        };
        match seen.get(&(tool, blueprint, parent, name)) {
            Some(first) => {
                let message = format!(
                    "{} is the name of another {}",
                    suggest::short_value(node.raw()),
                    what(tool)
                );
                out.push(Finding::at(&S020, node, message).related(*first, "the other one"));
            }
            None => {
                seen.insert((tool, blueprint, parent, name), node);
            }
        }
    }
}

/// The tool and the ref of the parent within which its names are unique.
fn parent_of<'d>(step: &Step<'d>) -> Option<(Tool, &'d str)> {
    match step.tool? {
        tool @ (Tool::CreateFeature | Tool::CreateModule) => Some((tool, "")),
        // An emptied parent could be any: nothing can be said.
        tool @ (Tool::CreateColumn | Tool::CreateView | Tool::CreateRail) => {
            Some((tool, step.arg_ref(tool.parent_argument()?)?))
        }
        _ => None,
    }
}

fn what(tool: Tool) -> &'static str {
    match tool {
        Tool::CreateColumn => "column of this table",
        Tool::CreateView => "view of this table",
        Tool::CreateRail => "rail of this module",
        Tool::CreateModule => "module",
        _ => "table",
    }
}

fn orders(facts: &Facts<'_>, out: &mut Vec<Finding>) {
    let mut seen: HashMap<(&str, i64), Node<'_>> = HashMap::default();
    for step in facts
        .steps
        .iter()
        .filter(|step| step.tool == Some(Tool::CreateColumn))
    {
        let (Some(table), Some(node)) = (step.arg_ref("featureId"), step.arg("order")) else {
            continue;
        };
        let Some(order) = node.as_i64() else { continue };
        match seen.get(&(table, order)) {
            Some(first) => {
                let message = format!("another column of the table has order {order}");
                out.push(
                    Finding::at(&S016, node, message)
                        .related(*first, "the other column")
                        .fix(renumber(facts, table)),
                );
            }
            None => {
                seen.insert((table, order), node);
            }
        }
    }
}

/// Numbers the columns of a table 1, 2, 3 in the order in which they are shown today.
fn renumber(facts: &Facts<'_>, table: &str) -> Fix {
    let columns = facts.steps.iter().filter(|step| {
        step.tool == Some(Tool::CreateColumn) && step.arg_ref("featureId") == Some(table)
    });
    let mut orders: Vec<(i64, Node<'_>)> = columns
        .filter_map(|step| step.arg("order"))
        .filter_map(|node| Some((node.as_i64()?, node)))
        .collect();
    orders.sort_by_key(|(order, _)| *order);
    let edits = orders
        .iter()
        .enumerate()
        .map(|(index, (_, node))| edit::replace(*node, (index + 1).to_string()))
        .collect();
    Fix {
        title: "Number the columns of the table".to_owned(),
        safe: true,
        edits,
    }
}
