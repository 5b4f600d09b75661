//! S004, S005, S009, S015 and S022: refs in steps, and what they stand for.

use crate::check::facts::{Declared, Facts, Step, StepConfigSpot, StepPlace};
use crate::definitions::{Form, Reference, ReferenceKind};
use crate::finding::Finding;
use crate::finding::catalog::{S004, S005, S009, S015, S022};
use crate::finding::suggest::{self, Misspelt};
use crate::json::Node;
use crate::maps::HashMap;
use crate::package::reference::{WORKSPACE, is_declaration};
use crate::package::{Tool, uid};

pub(super) fn run(facts: &Facts<'_>, out: &mut Vec<Finding>) {
    declared_twice(facts, out);
    used_before(facts, out);
    for spot in &facts.spots {
        config_reference(facts, spot, out);
    }
}

fn declared_twice(facts: &Facts<'_>, out: &mut Vec<Finding>) {
    let mut seen: HashMap<&str, Node<'_>> = HashMap::default();
    for step in facts
        .steps
        .iter()
        .filter(|step| step.tool.is_none_or(Tool::is_create))
    {
        let (Some(reference), Some(node)) = (step.reference, step.node.get("ref")) else {
            continue;
        };
        match seen.get(reference) {
            Some(first) => {
                let finding = Finding::at(&S004, node, format!("`{reference}` is declared twice"));
                out.push(finding.related(*first, "first here"));
            }
            None => {
                seen.insert(reference, node);
            }
        }
    }
}

fn used_before(facts: &Facts<'_>, out: &mut Vec<Finding>) {
    for (index, step) in facts.steps.iter().enumerate() {
        if step.tool.is_none() {
            continue; // S001 speaks.
        }
        for at in &step.uses {
            let Some(declared) = facts
                .declaring_step(at.reference)
                .filter(|declared| *declared > index)
            else {
                continue;
            };
            let declaring = &facts.steps[declared];
            let message = format!("`${}` is used before it is declared", at.reference);
            let finding = if at.is_key {
                Finding::at_key(&S005, at.node, message)
            } else {
                Finding::at(&S005, at.node, message)
            };
            out.push(finding.related(declaring.node, "declared only here"));
        }
    }
}

/// What a string in a place that needs a ref turned out to be.
pub(super) enum NamedForm<'t> {
    /// A ref, without dollar.
    Ref(&'t str),
    /// Empty.
    Empty,
    /// A UUID, which X001 reports.
    Id,
    /// Something else.
    Other,
}

/// Reads a string where a ref is required.
pub(super) fn named<'t>(facts: &Facts<'_>, text: &'t str) -> NamedForm<'t> {
    if text.is_empty() {
        return NamedForm::Empty;
    }
    if let Some(reference) = text.strip_prefix('$')
        && reference != WORKSPACE
        && (is_declaration(reference) || facts.kind_of(reference) != Declared::Nothing)
    {
        return NamedForm::Ref(reference);
    }
    if uid::foreign_uuid(text).is_some() {
        NamedForm::Id
    } else {
        NamedForm::Other
    }
}

/// S015: the ref stands for something of another kind than is required.
pub(super) fn wrong_kind(
    facts: &Facts<'_>,
    node: Node<'_>,
    reference: &str,
    expected: ReferenceKind,
    out: &mut Vec<Finding>,
) -> bool {
    let actual = match facts.kind_of(reference) {
        Declared::Kind(kind) if kind == expected => return false,
        Declared::Kind(kind) => kind.as_str(),
        Declared::Workspace => "workspace",
        Declared::Unknown | Declared::Nothing => return true,
    };
    let message = format!(
        "`${reference}` is a {actual}; a {} belongs here",
        expected.as_str()
    );
    let mut finding = Finding::at(&S015, node, message);
    if let Some(step) = facts.declaring_step(reference) {
        finding = finding.related(facts.steps[step].node, "declared here");
    }
    out.push(finding);
    true
}

fn config_reference(facts: &Facts<'_>, spot: &StepConfigSpot<'_>, out: &mut Vec<Finding>) {
    let (Some(declared), Some(text)) = (spot.reference, spot.node.as_str()) else {
        return;
    };
    let node = spot.node;
    if !declared.kind.travels() {
        if !text.is_empty() && uid::foreign_uuid(text).is_none() {
            let message = format!(
                "a {} cannot travel, and {} is none",
                declared.kind.as_str(),
                suggest::short_value(node.raw())
            );
            out.push(
                Finding::at(&S009, node, message)
                    .help("Empty the field and name it in `unresolved`."),
            );
        }
        return;
    }
    match named(facts, text) {
        NamedForm::Empty | NamedForm::Id => {}
        NamedForm::Ref(reference) => {
            if !wrong_kind(facts, node, reference, declared.kind, out)
                && declared.kind == ReferenceKind::Column
            {
                table_agrees(facts, spot, reference, out);
            }
        }
        NamedForm::Other => {
            if !goes_by_name(declared) {
                no_ref(facts, node, declared.kind, out);
            }
        }
    }
}

/// Whether a name may stand for what is named: names of organization-level things stay names;
/// columns of the envelope too.
pub(super) fn goes_by_name(declared: &Reference) -> bool {
    match declared.form {
        Form::Uuid => false,
        Form::UuidOrName => true,
        Form::Name => {
            declared.kind != ReferenceKind::Column || declared.of.as_deref() == Some("$envelope")
        }
    }
}

/// S009: a string that is not a ref where one is required.
pub(super) fn no_ref(
    facts: &Facts<'_>,
    node: Node<'_>,
    expected: ReferenceKind,
    out: &mut Vec<Finding>,
) {
    let message = format!(
        "a {} ref belongs here, {} is none",
        expected.as_str(),
        suggest::short_value(node.raw())
    );
    let wanted = node.as_str().unwrap_or_default().trim_start_matches('$');
    let declared = facts
        .steps
        .iter()
        .filter(|step| step.tool.and_then(Tool::creates) == Some(expected));
    let declared = declared.filter_map(|step| step.reference);
    let place = Misspelt::value(node).reference();
    out.push(Finding::at(&S009, node, message).meant(wanted, declared, place));
}

/// S022: a column must be one of the table that `of` names.
fn table_agrees(
    facts: &Facts<'_>,
    spot: &StepConfigSpot<'_>,
    column: &str,
    out: &mut Vec<Finding>,
) {
    let of = spot.reference.and_then(|reference| reference.of.as_deref());
    let expected = match of {
        None | Some("$envelope") => return,
        Some("$feature") => step_of(facts, spot.step).and_then(|step| facts.owner_table(step)),
        Some(sibling) => spot
            .named_by(sibling)
            .and_then(Node::as_str)
            .and_then(|text| text.strip_prefix('$')),
    };
    let Some(expected) =
        expected.filter(|table| facts.kind_of(table) == Declared::Kind(ReferenceKind::Feature))
    else {
        return;
    };
    let Some(actual) = facts
        .table_of_column(column)
        .filter(|actual| *actual != expected)
    else {
        return;
    };
    if facts.kind_of(actual) != Declared::Kind(ReferenceKind::Feature) {
        return;
    }
    let message = format!("`${column}` is a column of `{actual}`, not of `{expected}`");
    let mut finding = Finding::at(&S022, spot.node, message);
    if let Some(step) = facts.declaring_step(column) {
        finding = finding.related(facts.steps[step].node, "the column is created here");
    }
    out.push(finding);
}

fn step_of<'f, 'd>(facts: &'f Facts<'d>, place: StepPlace) -> Option<&'f Step<'d>> {
    facts.step_at(place)
}
