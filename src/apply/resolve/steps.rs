//! The steps to carry out: blueprints of created dependencies first, then the plan.

use std::collections::HashMap;

use super::dependency_decision::DependencyDecision;
use crate::check::Checked;
use crate::json::{Object, Value};
use crate::package::Tool;
use crate::package::model::Step;
use crate::package::reference::{WORKSPACE, used};

/// One step, with what reports call it by.
#[derive(Debug, Clone, Copy)]
pub(super) struct StepWork<'p> {
    pub(super) step: &'p Step,
    /// Position among the create steps: where its id comes from.
    pub(super) ordinal: Option<u32>,
    /// uid of the item (of a blueprint: of the dependency; of the workspace: of the plan).
    pub(super) uid: &'p str,
    /// Whether it stands in a blueprint: its record is created or bound, never updated.
    pub(super) blueprint: bool,
}

/// All steps, in order.
#[derive(Debug)]
pub(super) struct Steps<'p> {
    pub(super) all: Vec<StepWork<'p>>,
    /// How many of them create: rows take their ids after them.
    pub(super) creating: u32,
    /// Create steps by their ref.
    declared: HashMap<&'p str, &'p Step>,
}

impl<'p> Steps<'p> {
    pub(super) fn of(
        package: &'p Checked<'_>,
        decisions: &[(usize, DependencyDecision<'p>)],
    ) -> Steps<'p> {
        let manifest = &package.manifest;
        let items: HashMap<&str, &str> = manifest
            .items()
            .iter()
            .filter_map(|item| Some((item.reference.as_deref()?, item.uid.as_str())))
            .collect();
        let mut steps = Steps {
            all: Vec::new(),
            creating: 0,
            declared: HashMap::new(),
        };
        let dependencies = manifest
            .layers()
            .map_or(&[][..], |layers| &layers.dependencies);
        for (index, decision) in decisions {
            let (DependencyDecision::Import, Some(dependency)) =
                (decision, dependencies.get(*index))
            else {
                continue;
            };
            for step in dependency.blueprint.iter().flat_map(|print| &print.steps) {
                steps.add(step, &dependency.uid, true);
            }
        }
        for step in &manifest.plan.steps {
            let subject = subject(step);
            let item = subject.and_then(|subject| items.get(subject).copied());
            let uid = match subject {
                Some(WORKSPACE) => &manifest.plan.id,
                _ => item.unwrap_or(&step.uid),
            };
            steps.add(step, uid, false);
        }
        steps
    }

    fn add(&mut self, step: &'p Step, uid: &'p str, blueprint: bool) {
        let ordinal = step.tool.is_create().then_some(self.creating);
        if let (true, Some(reference)) = (step.tool.is_create(), &step.reference) {
            self.declared.insert(reference, step);
        }
        self.creating += u32::from(step.tool.is_create());
        self.all.push(StepWork {
            step,
            ordinal,
            uid,
            blueprint,
        });
    }

    /// The step that creates what a ref stands for.
    pub(super) fn creating(&self, reference: &str) -> Option<&'p Step> {
        self.declared.get(reference).copied()
    }
}

/// The ref of what a step creates or changes.
pub(super) fn subject(step: &Step) -> Option<&str> {
    match step.tool.target_argument() {
        Some(argument) => used_in(&step.args, argument),
        None => step.reference.as_deref(),
    }
}

/// The ref that an argument uses.
pub(super) fn used_in<'a>(args: &'a Object, argument: &str) -> Option<&'a str> {
    args.get(argument).and_then(Value::as_str).and_then(used)
}

/// The text of an argument.
pub(super) fn text_in<'a>(args: &'a Object, argument: &str) -> &'a str {
    args.get(argument)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// The name of what a step creates. An automation without one has the tail of its ref: nothing else names it, and stores
/// take no empty name.
pub(super) fn name_in(step: &Step) -> &str {
    let name = text_in(&step.args, "name");
    if !name.is_empty() || step.tool != Tool::CreateWorkflowV2 {
        return name;
    }
    let reference = step.reference.as_deref().unwrap_or_default();
    let tail = reference.split_once('_').map(|(_, tail)| tail);
    tail.unwrap_or(reference)
}

/// Every ref that the args of a step use: whole strings and map keys. Row data is data.
pub(super) fn uses<'a>(step: &'a Step, report: &mut dyn FnMut(&'a str)) {
    for (key, value) in &step.args {
        if step.tool.is_row_tool() && matches!(key.as_str(), "data" | "rows") {
            continue;
        }
        used(key).into_iter().for_each(&mut *report);
        uses_in(value, report);
    }
}

/// Every ref that a value uses.
pub(super) fn uses_in<'a>(value: &'a Value, report: &mut dyn FnMut(&'a str)) {
    match value {
        Value::String(text) => used(text).into_iter().for_each(report),
        Value::List(elements) => elements.iter().for_each(|element| uses_in(element, report)),
        Value::Object(members) => {
            for (key, value) in members {
                used(key).into_iter().for_each(&mut *report);
                uses_in(value, report);
            }
        }
        _ => {}
    }
}
