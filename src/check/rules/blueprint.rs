//! D007: a blueprint creates its table and the identity's columns, nothing else.

use crate::check::facts::{Declared, Facts, Step, StepPlace};
use crate::definitions::ReferenceKind;
use crate::finding::Finding;
use crate::finding::catalog::D007;
use crate::json::Node;
use crate::maps::HashSet;
use crate::package::Tool;

pub(super) fn run(facts: &Facts<'_>, out: &mut Vec<Finding>) {
    for (index, dependency) in facts.dependencies.iter().enumerate() {
        // A blueprint elsewhere than on a table is D006's or D011's business.
        if dependency.kind == Some("feature")
            && let Some(list) = dependency
                .blueprint
                .and_then(|blueprint| blueprint.get("steps"))
        {
            let of_this =
                |step: &&Step<'_>| matches!(step.place, StepPlace::Blueprint(at, _) if at == index);
            let steps: Vec<&Step<'_>> = facts.blueprint_steps.iter().filter(of_this).collect();
            blueprint(facts, index, list, &steps, out);
        }
    }
}

fn blueprint(
    facts: &Facts<'_>,
    index: usize,
    list: Node<'_>,
    steps: &[&Step<'_>],
    out: &mut Vec<Finding>,
) {
    if list
        .elements()
        .next()
        .is_some_and(|first| !first.is_object())
    {
        return; // J005 speaks, and which of the others creates the table is unknown.
    }
    let unread = list.elements().any(|step| !step.is_object());
    let dependency = &facts.dependencies[index];
    let mut say = |place: Node<'_>, message: String| out.push(Finding::at(&D007, place, message));
    let Some((first, rest)) = steps.split_first() else {
        say(list, "the blueprint has no steps".to_owned());
        return;
    };
    match first.tool {
        Some(Tool::CreateFeature)
            if first.reference.is_some() && first.reference != dependency.reference =>
        {
            let expected = dependency.reference.unwrap_or_default();
            say(
                place(first, "ref"),
                format!("the blueprint's table declares another ref than `{expected}`"),
            );
        }
        // S001 speaks of a step without a tool.
        Some(Tool::CreateFeature) | None => {}
        Some(_) => say(
            place(first, "tool"),
            "the first step of a blueprint is create_feature".to_owned(),
        ),
    }
    let required: HashSet<&str> = dependency
        .columns
        .iter()
        .filter_map(|column| column.reference)
        .collect();
    let mut created = HashSet::default();
    for (position, step) in rest.iter().enumerate() {
        match step.tool {
            Some(Tool::CreateColumn) => {}
            Some(_) => {
                say(
                    place(step, "tool"),
                    "after its table, a blueprint has create_column steps only".to_owned(),
                );
                continue;
            }
            None => continue,
        }
        if let Some(reference) = step.reference {
            // A column that the identity does not name readably stands for the dependency too.
            let required = required.contains(reference)
                || (facts.outside(reference))
                    .is_some_and(|at| at.dependency == index && at.column.is_some());
            if !required {
                say(
                    place(step, "ref"),
                    format!("`{reference}` is not an identity column of the dependency"),
                );
            } else if !created.insert(reference) {
                say(
                    place(step, "ref"),
                    format!("`{reference}` is created twice"),
                );
            }
        }
        let expected = position + 1;
        if !unread
            && let Some(order) = step.arg("order")
            && order
                .as_i64()
                .is_some_and(|order| usize::try_from(order) != Ok(expected))
        {
            say(
                order,
                format!(
                    "the order of this column is {expected}, not {}",
                    order.raw()
                ),
            );
        }
        if let Some(table) = step.arg("featureId")
            && let Some(reference) = table.as_str().and_then(|text| text.strip_prefix('$'))
            && facts.kind_of(reference) == Declared::Kind(ReferenceKind::Feature)
            && Some(reference) != dependency.reference
        {
            say(
                table,
                "the column is created in another table than the blueprint's".to_owned(),
            );
        }
    }
    let unnamed =
        unread || (rest.iter()).any(|step| step.reference.is_none() || step.tool.is_none());
    for missing in dependency
        .columns
        .iter()
        .filter_map(|column| column.reference)
    {
        if !created.contains(missing) && !unnamed {
            say(list, format!("the blueprint does not create `{missing}`"));
        }
    }
}

/// The member of that key, or the step when it has none.
fn place<'d>(step: &Step<'d>, key: &str) -> Node<'d> {
    step.node.get(key).unwrap_or(step.node)
}
