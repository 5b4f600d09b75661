//! The steps of a plan, grouped by phase: from the step that declares a ref to the steps that use
//! it. Uses of the workspace are left out, as every step that creates something has one.

use std::collections::{BTreeMap, HashMap};

use super::build::Builder;
use super::{EdgeKind, Graph, GraphKind, Node, NodeKind};
use crate::check::facts::{Facts, Step};
use crate::package::Tool;
use crate::package::reference::WORKSPACE;

/// Where groups of steps without a phase stand: what creates a workspace comes first.
const FIRST: u8 = 0;
const ROWS: u8 = 200;
const UNKNOWN: u8 = 201;

pub(super) fn steps(facts: &Facts<'_>) -> Graph {
    let mut builder = Builder::new(facts, GraphKind::Plan);
    let outside = add_outside(facts, &mut builder);
    let phases: BTreeMap<u8, &str> = facts
        .steps
        .iter()
        .map(|step| (phase(step), group_label(step)))
        .collect();
    let groups: HashMap<u8, usize> = phases
        .into_iter()
        .map(|(phase, label)| (phase, builder.group(label, label)))
        .collect();
    let nodes: Vec<usize> = facts
        .steps
        .iter()
        .map(|step| {
            let node = Node::new(
                format!("step-{}", step.node.index()),
                NodeKind::PlanStep,
                label(facts, step),
            )
            .detail(detail(step))
            .at(step.node);
            builder.node(match groups.get(&phase(step)) {
                Some(group) => node.within(*group),
                None => node,
            })
        })
        .collect();
    let mut missing: HashMap<&str, usize> = HashMap::new();
    for (user, step) in facts.steps.iter().enumerate() {
        for reference in step.uses.iter().map(|at| at.reference) {
            if reference == WORKSPACE {
                continue;
            }
            let declared = facts.declaring_step(reference);
            let (from, kind) = match declared {
                Some(index) if index == user => continue,
                Some(index) if index < user => (nodes[index], EdgeKind::Declares),
                Some(index) => (nodes[index], EdgeKind::Late),
                None => {
                    if let Some(other) = facts.outside(reference) {
                        (outside[other.dependency], EdgeKind::Declares)
                    } else {
                        let made = missing.entry(reference).or_insert_with(|| {
                            let label = format!("${reference}");
                            let node = Node::new(reference, NodeKind::Missing, label);
                            builder.node(node.detail("declared nowhere"))
                        });
                        (*made, EdgeKind::Late)
                    }
                }
            };
            builder.edge(from, nodes[user], kind, &format!("${reference}"));
        }
    }
    builder.finish()
}

/// What the destination gives is before the first step.
fn add_outside(facts: &Facts<'_>, builder: &mut Builder) -> Vec<usize> {
    if facts.dependencies.is_empty() {
        return Vec::new();
    }
    let group = builder.group("dependencies", "dependencies");
    let dependencies = facts.dependencies.iter().map(|dependency| {
        let reference = dependency.reference.unwrap_or("dependency");
        let label = dependency.name.unwrap_or(reference);
        let detail = format!("{} ${reference}", dependency.kind.unwrap_or("unknown"));
        let node = Node::new(reference, NodeKind::Dependency, label).detail(detail);
        builder.node(node.at(dependency.node).within(group))
    });
    dependencies.collect()
}

fn phase(step: &Step<'_>) -> u8 {
    match step.tool {
        Some(Tool::CreateWorkspace) => FIRST,
        Some(tool) => tool.phase().unwrap_or(ROWS),
        None => UNKNOWN,
    }
}

fn group_label(step: &Step<'_>) -> &'static str {
    match step.tool {
        Some(tool) if tool.is_row_tool() => "rows",
        Some(tool) => tool.as_str(),
        None => "unknown tools",
    }
}

/// The label of what a step makes or changes, a column's and a view's after its table's.
fn label(facts: &Facts<'_>, step: &Step<'_>) -> String {
    let own_label = |step: &Step<'_>| step.title().map(str::to_owned);
    let by_ref = |reference: &str| {
        let declared = facts.declaring_step(reference)?;
        own_label(&facts.steps[declared])
    };
    if step.tool == Some(Tool::UpdateWorkspace) {
        return "Workspace".to_owned();
    }
    let subject = step.subject_ref();
    let own = own_label(step).or_else(|| by_ref(subject?));
    let own = own.unwrap_or_else(|| step.node.get_str("tool").unwrap_or("step").to_owned());
    let is_part = matches!(
        step.tool,
        Some(Tool::CreateColumn | Tool::CreateView | Tool::UpdateColumn | Tool::UpdateView)
    );
    let table = facts.owner_table(step).filter(|_| is_part);
    match table.and_then(by_ref) {
        Some(table) => format!("{table}: {own}"),
        None => own,
    }
}

fn detail(step: &Step<'_>) -> String {
    let number = step.node.index() + 1;
    match step.subject_ref() {
        Some(reference) => format!("step {number}: ${reference}"),
        None => format!("step {number}"),
    }
}
