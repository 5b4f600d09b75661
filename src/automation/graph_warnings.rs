//! Warnings about the whole graph: no steps (A004), branches without steps (A012), automations that
//! deliver nothing (A013).

use super::declared_values::holds_steps;
use super::graph::Step;
use super::issue::Issue;
use super::validation_context::ValidationContext;
use crate::definitions::ConfigFault;
use crate::finding::Finding;
use crate::finding::catalog::{A004, A012, A013};
use crate::json::Node;

/// Checks the list of steps as a whole and every branching step.
pub(super) fn check<'d>(
    case: &ValidationContext<'_, 'd, '_>,
    list: Node<'d>,
    issues: &mut Vec<Issue>,
) {
    let steps = case.graph.steps();
    if steps.is_empty() {
        issues.push(Issue::of_graph(Finding::at(
            &A004,
            list,
            "the automation has no steps",
        )));
        return;
    }
    // A step of an unknown key may deliver.
    if steps
        .iter()
        .all(|step| step.declared.is_some_and(|declared| !declared.delivers))
    {
        let mut known = case
            .definitions
            .steps
            .iter()
            .filter(|(_, step)| step.delivers)
            .map(|(key, _)| key.as_str())
            .collect::<Vec<_>>();
        known.truncate(8);
        let finding = Finding::at(&A013, list, "no step writes, sends or calls anything");
        issues.push(Issue::of_graph(finding.help(format!(
            "Add a step that delivers: `{}`.",
            known.join("`, `")
        ))));
    }
    for (position, step) in steps.iter().enumerate().filter(|(_, step)| all_empty(step)) {
        let place = step.config.unwrap_or(step.node);
        let message = format!(
            "`{}` has no steps in any branch",
            step.key.unwrap_or_default()
        );
        issues.push(case.step_issue(position, Finding::at(&A012, place, message)));
    }
}

/// Whether the step has branches to fill, and all of them are empty. Branches that are missing
/// where they are required, or are not lists, have a finding already.
fn all_empty(step: &Step<'_, '_>) -> bool {
    let Some(declared) = step.declared.filter(|_| step.config.is_some()) else {
        return false;
    };
    let spoilt = || {
        step.reading.faults.iter().any(|fault| match fault {
            ConfigFault::UnknownKey { .. } => false,
            ConfigFault::Missing { field, .. } => holds_steps(field),
            // An element that is not an object stands where a route belongs.
            ConfigFault::Wrong { spot } => holds_steps(spot.field),
        })
    };
    step.reading
        .branches
        .iter()
        .all(|branch| branch.node.is_empty())
        && declared.config.values().any(holds_steps)
        && !spoilt()
}
