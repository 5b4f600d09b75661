//! Checks an invariant of every export: each ref is declared once, before it is used.

use std::collections::HashSet;

use super::error::Fault;
use crate::json::{Object, Value};
use crate::package::model::Plan;
use crate::package::reference::{WORKSPACE, used};

/// Looks at the steps of a plan.
pub(super) fn check(plan: &Plan) -> Result<(), Fault> {
    let broken = |text: String| Err(Fault::Broken(text));
    let outside: HashSet<&str> = plan.external_refs.iter().map(String::as_str).collect();
    if outside.len() != plan.external_refs.len() {
        return broken("`externalRefs` repeats a ref".to_owned());
    }
    let mut declared: HashSet<&str> = HashSet::new();
    for step in &plan.steps {
        // A record may refer to itself in the step that creates it.
        if let Some(reference) = &step.reference
            && (outside.contains(reference.as_str()) || !declared.insert(reference))
        {
            return broken(format!("`{reference}` is declared twice"));
        }
        for name in uses(&step.args) {
            if name != WORKSPACE && !declared.contains(name) && !outside.contains(name) {
                return broken(format!("`{name}` is used and not declared by then"));
            }
        }
    }
    Ok(())
}

/// The refs that the steps use and none of them declares, in order of their first use.
pub(super) fn outside<'p>(
    steps: impl Iterator<Item = (Option<&'p str>, &'p Object)>,
) -> Vec<String> {
    let mut declared = HashSet::new();
    let mut found: Vec<String> = Vec::new();
    let mut seen = HashSet::new();
    for (reference, args) in steps {
        declared.extend(reference);
        for name in uses(args) {
            if name != WORKSPACE && !declared.contains(name) && seen.insert(name) {
                found.push(name.to_owned());
            }
        }
    }
    found
}

/// The refs that args use, in order of appearance; the keys of the args themselves are none.
fn uses(args: &Object) -> Vec<&str> {
    let mut found = Vec::new();
    args.values().for_each(|value| collect(value, &mut found));
    found
}

fn collect<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => found.extend(used(text)),
        Value::List(elements) => elements.iter().for_each(|element| collect(element, found)),
        Value::Object(members) => {
            for (key, member) in members {
                found.extend(used(key));
                collect(member, found);
            }
        }
        _ => {}
    }
}
