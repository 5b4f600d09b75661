//! A001 to A019: the automation validator on every automation that the plan creates.

use crate::automation::{Automation, PackageEnvironment, validate};
use crate::check::facts::{Declared, Facts};
use crate::definitions::ReferenceKind;
use crate::finding::Finding;
use crate::package::Tool;
use crate::package::reference::undollared;

/// Checks trigger and graph of each `create_workflow_v2` step.
pub(super) fn run(facts: &Facts<'_>, out: &mut Vec<Finding>) {
    let is_table = |value: &str| match facts.kind_of(undollared(value)) {
        Declared::Kind(kind) => Some(kind == ReferenceKind::Feature),
        Declared::Workspace | Declared::Nothing => Some(false),
        Declared::Unknown => None,
    };
    for step in &facts.steps {
        let Some(args) = step
            .args
            .filter(|_| step.tool == Some(Tool::CreateWorkflowV2))
        else {
            continue;
        };
        let unresolved = |path: &str| facts.excused(step, path);
        let around = PackageEnvironment::new(args, step.reference, &unresolved, &is_table);
        let issues = validate(facts.definitions, &Automation::of_args(args), &around);
        out.extend(issues.into_iter().map(|issue| issue.finding));
    }
}
