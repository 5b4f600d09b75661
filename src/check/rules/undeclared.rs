//! S006: uses of refs that nothing declares.

use crate::check::facts::{Declared, Facts, RefUse, Step, StepPlace};
use crate::definitions::ReferenceKind;
use crate::finding::Finding;
use crate::finding::catalog::S006;
use crate::finding::suggest::Misspelt;
use crate::maps::HashSet;
use crate::package::format::Type;
use crate::package::reference::WORKSPACE;

/// Those in blueprints. What a step of the same blueprint declares is declared, wrong as it may be (D006, D007, D011).
pub(super) fn in_blueprints(facts: &Facts<'_>, out: &mut Vec<Finding>) {
    let blueprint = |step: &Step<'_>| match step.place {
        StepPlace::Blueprint(dependency, _) => Some(dependency),
        StepPlace::Plan(_) => None,
    };
    let steps = facts.blueprint_steps.iter();
    let declared: HashSet<(Option<usize>, &str)> = steps
        .filter_map(|step| Some((blueprint(step), step.reference?)))
        .collect();
    for step in &facts.blueprint_steps {
        for at in step.uses.iter().filter(|at| at.reference != WORKSPACE) {
            let known = facts.declaring_step(at.reference).is_some()
                || facts.outside(at.reference).is_some()
                || declared.contains(&(blueprint(step), at.reference));
            if !known {
                report(facts, step, at, out);
            }
        }
    }
}

/// One in a step, with the ref that was surely meant: one that the field takes.
pub(super) fn report(facts: &Facts<'_>, step: &Step<'_>, at: &RefUse<'_>, out: &mut Vec<Finding>) {
    let message = format!("nothing declares `${}`", at.reference);
    let (finding, place) = if at.is_key {
        (
            Finding::at_key(&S006, at.node, message),
            Misspelt::key(at.node),
        )
    } else {
        (
            Finding::at(&S006, at.node, message),
            Misspelt::value(at.node),
        )
    };
    let declared = facts.steps.iter().filter_map(|step| step.reference);
    let outside = facts.dependencies.iter().flat_map(|d| {
        d.reference
            .into_iter()
            .chain(d.columns.iter().filter_map(|column| column.reference))
    });
    let expected = expected_kind(facts, step, at);
    let fits = |reference: &&str| {
        expected.is_none_or(|kind| facts.kind_of(reference) == Declared::Kind(kind))
    };
    let meant = declared.chain(outside).filter(fits);
    out.push(finding.meant(at.reference, meant, place.reference()));
}

/// The kind of thing that the field of a use takes, where the definitions or the args of the tool say so.
fn expected_kind(facts: &Facts<'_>, step: &Step<'_>, at: &RefUse<'_>) -> Option<ReferenceKind> {
    if at.is_key {
        return None;
    }
    // They stand in the order of the steps.
    let first = facts.spots.partition_point(|spot| spot.step < step.place);
    let spots = facts.spots[first..].iter();
    let reference = spots
        .take_while(|spot| spot.step == step.place)
        .filter(|spot| spot.node == at.node)
        .find_map(|spot| spot.reference);
    if let Some(reference) = reference {
        return Some(reference.kind);
    }
    let argument = at.node.key().filter(|_| at.node.parent() == step.args)?;
    match step.tool?.args().field(argument)?.ty {
        Type::Use(kind) => Some(kind),
        _ => None,
    }
}
