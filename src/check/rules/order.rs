//! S001 to S003, S007, S008, S014 and S019: the steps of a plan as a sequence.

use crate::check::facts::{Declared, Facts, Step, StepConfigFault};
use crate::check::rules::reference::goes_by_name;
use crate::finding::catalog::{S001, S002, S003, S007, S008, S014, S019};
use crate::finding::suggest::{self, Misspelt};
use crate::finding::{Finding, Fix, edit};
use crate::package::Tool;

pub(super) fn run(facts: &Facts<'_>, out: &mut Vec<Finding>) {
    for step in facts.steps.iter().chain(&facts.blueprint_steps) {
        tool(step, out);
        own_ref(step, out);
    }
    phases(facts, out);
    exported(facts, out);
    needless(facts, out);
    summary(facts, out);
}

fn tool(step: &Step<'_>, out: &mut Vec<Finding>) {
    let Some(node) = step.node.get("tool").filter(|_| step.tool.is_none()) else {
        return;
    };
    let Some(word) = node.as_str() else {
        return; // J005 speaks.
    };
    let message = format!("there is no tool {}", suggest::short_value(node.raw()));
    let tools = Tool::ALL.map(Tool::as_str);
    out.push(Finding::at(&S001, node, message).meant(word, tools, Misspelt::value(node)));
}

fn own_ref(step: &Step<'_>, out: &mut Vec<Finding>) {
    let Some(tool) = step.tool else { return };
    match step.node.get("ref") {
        None if tool.is_create() => {
            out.push(Finding::at(
                &S002,
                step.node,
                format!("{} declares no ref", tool.as_str()),
            ));
        }
        Some(node) if !tool.is_create() => {
            out.push(
                Finding::at(&S003, node, format!("{} declares nothing", tool.as_str())).fix(Fix {
                    title: "Remove `ref`".to_owned(),
                    safe: true,
                    edits: vec![edit::remove_member(node)],
                }),
            );
        }
        _ => {}
    }
}

fn phases(facts: &Facts<'_>, out: &mut Vec<Finding>) {
    let mut latest: Option<(u8, &Step<'_>)> = None;
    let mut fix = reorder(facts);
    for step in &facts.steps {
        let Some((tool, phase)) = step.tool.and_then(|tool| Some((tool, tool.phase()?))) else {
            continue;
        };
        match latest {
            Some((reached, before)) if phase < reached => {
                let other = before.tool.map_or("", Tool::as_str);
                let mut finding = Finding::at(
                    &S007,
                    step.node,
                    format!("{} comes after {other}", tool.as_str()),
                )
                .related(before.node, format!("this {other} belongs after it"));
                finding.fix = fix.take();
                out.push(finding);
            }
            _ => latest = Some((phase, step)),
        }
    }
}

/// Sorts the steps by phase when that is surely what was meant: every step has a phase.
fn reorder(facts: &Facts<'_>) -> Option<Fix> {
    let mut keyed = Vec::new();
    for step in &facts.steps {
        keyed.push((step.tool?.phase()?, step.node));
    }
    let slots: Vec<_> = keyed.iter().map(|(_, node)| *node).collect();
    keyed.sort_by_key(|(phase, _)| *phase);
    let moved = slots
        .iter()
        .zip(&keyed)
        .filter(|(slot, (_, node))| *slot != node);
    let edits = moved
        .map(|(slot, (_, node))| edit::replace(*slot, node.raw()))
        .collect();
    Some(Fix {
        title: "Sort the steps by phase".to_owned(),
        safe: true,
        edits,
    })
}

fn exported(facts: &Facts<'_>, out: &mut Vec<Finding>) {
    let metadata = facts.plan.and_then(|plan| plan.get("metadata"));
    let Some(source) = metadata.and_then(|metadata| metadata.get("source")) else {
        return;
    };
    if source.as_str() != Some("export") {
        return;
    }
    for step in &facts.steps {
        if let (Some(tool), Some(node)) = (step.tool, step.node.get("tool"))
            && (tool.is_row_tool() || tool == Tool::CreateWorkspace)
        {
            let message = format!("an exported plan has no {} step", tool.as_str());
            out.push(
                Finding::at(&S008, node, message).related(source, "the plan says it was exported"),
            );
        }
    }
}

fn needless(facts: &Facts<'_>, out: &mut Vec<Finding>) {
    for (index, step) in facts.steps.iter().enumerate() {
        // The workspace is created by no step of a package: its config travels by this one alone.
        let tool = step.tool.filter(|tool| *tool != Tool::UpdateWorkspace);
        if tool.and_then(Tool::target_argument).is_none() {
            continue;
        }
        let shaped = step.arg("config").is_some_and(|config| match step.tool {
            Some(Tool::UpdateView) => config.is_array() && config.len() == 1,
            _ => config.is_object(),
        });
        if !shaped {
            continue; // S009 or S010 speaks.
        }
        let created = step
            .subject_ref()
            .and_then(|reference| facts.declaring_step(reference));
        if carries_later_ref(facts, index, step) {
            continue;
        }
        // What is in the place of a ref surely meant something declared later.
        if !names_wrongly(facts, step) {
            let name = step.tool.map_or("", Tool::as_str);
            let mut finding = Finding::at(
                &S014,
                step.node,
                format!("this {name} carries nothing that was declared later"),
            );
            if let Some(created) = created {
                finding = finding.related(
                    facts.steps[created].node,
                    "the config belongs into this step",
                );
            }
            out.push(finding);
        }
    }
}

/// Whether an update step of the plan, the one at an index, carries a ref that was declared after what it changes.
pub(super) fn carries_later_ref(facts: &Facts<'_>, index: usize, step: &Step<'_>) -> bool {
    let target = step.tool.and_then(Tool::target_argument);
    let created = step
        .subject_ref()
        .and_then(|reference| facts.declaring_step(reference));
    let mut uses = step.uses.iter().filter(|at| at.node.key() != target);
    uses.any(|at| {
        facts.declaring_step(at.reference).is_some_and(|declared| {
            declared != index && created.is_none_or(|created| declared > created)
        })
    })
}

/// Whether a field of the step that names something holds what is no ref (S009, X001), or a ref to
/// the wrong thing (S015, S006).
fn names_wrongly(facts: &Facts<'_>, step: &Step<'_>) -> bool {
    let place = step.node.span();
    let unread = facts.config_faults.iter().any(|fault| {
        matches!(fault, StepConfigFault::Wrong { node, field, .. }
            if field.is_reference() && place.contains(&node.span().start))
    });
    let mut spots = facts.spots.iter().filter(|spot| spot.step == step.place);
    unread
        || spots.any(|spot| {
            let Some((reference, text)) = spot.reference.zip(spot.node.as_str()) else {
                return false;
            };
            match text.strip_prefix('$') {
                Some(name) => facts.kind_of(name) != Declared::Kind(reference.kind),
                None => !text.is_empty() && !goes_by_name(reference),
            }
        })
}

fn summary(facts: &Facts<'_>, out: &mut Vec<Finding>) {
    let Some(plan) = facts.plan else { return };
    match plan.get("summary") {
        None => out.push(Finding::at(&S019, plan, "the plan has no summary")),
        Some(node) if node.as_str().is_some_and(str::is_empty) => {
            out.push(Finding::at(&S019, node, "the summary is empty"));
        }
        Some(_) => {}
    }
}
