//! S009 to S013, S017 and S018: arguments and configs of steps.

use crate::check::facts::{Facts, Step, StepConfigFault, StepPlace};
use crate::check::rules::order::carries_later_ref;
use crate::check::rules::reference::{NamedForm, named, no_ref, wrong_kind};
use crate::check::rules::shape;
use crate::definitions::ReferenceKind;
use crate::finding::catalog::{S009, S010, S011, S012, S013, S017, S018};
use crate::finding::suggest::{self, Misspelt};
use crate::finding::{Finding, Fix, edit};
use crate::json::{Node, path};
use crate::package::format::{Field, Presence, Shape, Type};
use crate::package::{Tool, uid};

pub(super) fn run(facts: &Facts<'_>, out: &mut Vec<Finding>) {
    for step in facts.steps.iter().chain(&facts.blueprint_steps) {
        if let (Some(tool), Some(args)) = (step.tool, step.args) {
            arguments(facts, step, tool, args, out);
            types(facts, step, tool, out);
        }
    }
    target(facts, out);
    identity_types(facts, out);
    for fault in &facts.config_faults {
        config_fault(fault, out);
    }
}

/// `plan.target.workspaceId`.
fn target(facts: &Facts<'_>, out: &mut Vec<Finding>) {
    let target = facts.plan.and_then(|plan| plan.get("target"));
    if let Some(node) = target.and_then(|target| target.get("workspaceId"))
        && node.as_str() != Some("$workspace")
    {
        out.push(not_the_workspace(node));
    }
}

fn not_the_workspace(node: Node<'_>) -> Finding {
    let message = format!(
        "`workspaceId` is always \"$workspace\", not {}",
        suggest::short_value(node.raw())
    );
    Finding::at(&S009, node, message)
        .help("Write \"$workspace\".")
        .fix(Fix {
            title: "Write \"$workspace\"".to_owned(),
            safe: false,
            edits: vec![edit::replace(node, "\"$workspace\"")],
        })
}

fn arguments(
    facts: &Facts<'_>,
    step: &Step<'_>,
    tool: Tool,
    args: Node<'_>,
    out: &mut Vec<Finding>,
) {
    let shape = tool.args();
    for member in args.members() {
        let key = member.key().unwrap_or_default();
        if tool == Tool::CreateWorkflowV2 && matches!(key, "isActive" | "is_active") {
            out.push(
                Finding::at(&S012, member, format!("`{key}` does not travel")).fix(Fix {
                    title: format!("Remove `{key}`"),
                    safe: true,
                    edits: vec![edit::remove_member(member)],
                }),
            );
            continue;
        }
        match shape.field(key) {
            Some(field) => argument(facts, step, member, field, out),
            None => shape::unknown(member, shape, out),
        }
    }
    for field in shape
        .fields
        .iter()
        .filter(|field| field.need == Presence::Required && args.get(field.key).is_none())
    {
        missing(facts, step, args, field, out);
    }
}

fn missing(
    facts: &Facts<'_>,
    step: &Step<'_>,
    args: Node<'_>,
    field: &Field,
    out: &mut Vec<Finding>,
) {
    let tool = step.tool.map_or("", Tool::as_str);
    match field.ty {
        Type::Use(_) if in_plan(step) && facts.excused(step, field.key) => {}
        Type::ListOfOneConfig(_) => {
            let mut finding = Finding::at(&S010, args, format!("{tool} lacks `config`"));
            // An update of nothing would be needless (S014).
            finding.fix = (step.tool == Some(Tool::CreateView)).then(|| Fix {
                title: "Add an empty config".to_owned(),
                safe: true,
                edits: vec![edit::add_member(args, "config", "[{}]")],
            });
            out.push(finding);
        }
        Type::True => {
            let finding = Finding::at(&S011, args, "the automation does not say `isDraft`");
            out.push(finding.fix(Fix {
                title: "Add `isDraft`".to_owned(),
                safe: true,
                edits: vec![edit::add_member(args, field.key, "true")],
            }));
        }
        _ => out.push(Finding::at(
            &S009,
            args,
            format!("{tool} lacks `{}`", field.key),
        )),
    }
}

fn in_plan(step: &Step<'_>) -> bool {
    matches!(step.place, StepPlace::Plan(_))
}

fn argument(
    facts: &Facts<'_>,
    step: &Step<'_>,
    node: Node<'_>,
    field: &Field,
    out: &mut Vec<Finding>,
) {
    let key = field.key;
    let mut wrong = |place: Node<'_>, expected: &str| {
        let message = format!(
            "`{key}` takes {expected}, not {}",
            suggest::short_value(place.raw())
        );
        out.push(Finding::at(&S009, place, message));
    };
    match &field.ty {
        Type::Workspace => {
            let text = node.as_str();
            // A UUID is X001's.
            if text != Some("$workspace") && text.and_then(uid::foreign_uuid).is_none() {
                out.push(not_the_workspace(node));
            }
        }
        Type::Use(kind) => match node.as_str() {
            Some(text) => required_ref(facts, step, node, text, *kind, out),
            None => wrong(node, "a ref"),
        },
        Type::Text | Type::Name if node.as_str().is_none() => wrong(node, "a string"),
        Type::Integer if node.as_i64().is_none() => wrong(node, shape::integer(node)),
        Type::Flag if node.as_bool().is_none() => wrong(node, "true or false"),
        Type::True if node.as_bool() != Some(true) => not_true(node, key, out),
        Type::Config(_) | Type::Data | Type::Object(_) if !node.is_object() => {
            wrong(node, "an object");
        }
        Type::ListOfOneConfig(_) => view_config(facts, step, node, out),
        Type::ListOfConfigs(_) if !node.is_array() => wrong(node, "a list of objects"),
        Type::ListOfConfigs(_) => {
            for element in node.elements().filter(|element| !element.is_object()) {
                wrong(element, "a list of objects");
            }
        }
        Type::Object(_) if !node.is_object() => wrong(node, "an object"),
        Type::List(Type::Object(shape)) => rows(node, shape, out),
        // What is left is right, or trigger and graph, which are checked as an automation.
        _ => {}
    }
}

fn required_ref(
    facts: &Facts<'_>,
    step: &Step<'_>,
    node: Node<'_>,
    text: &str,
    kind: ReferenceKind,
    out: &mut Vec<Finding>,
) {
    match named(facts, text) {
        NamedForm::Id => {}
        NamedForm::Ref(reference) => {
            wrong_kind(facts, node, reference, kind, out);
        }
        NamedForm::Empty => {
            let at = step
                .args
                .map(|args| path::dotted(args, node))
                .unwrap_or_default();
            if !in_plan(step) || !facts.excused(step, &at) {
                let message = format!("`{at}` is empty and no `unresolved` entry says why");
                out.push(Finding::at(&S009, node, message));
            }
        }
        NamedForm::Other => no_ref(facts, node, kind, out),
    }
}

fn not_true(node: Node<'_>, key: &str, out: &mut Vec<Finding>) {
    let fix = |title: &str, edit| Fix {
        title: title.to_owned(),
        safe: true,
        edits: vec![edit],
    };
    out.push(if key == "published" {
        let message = format!(
            "`published` is true or absent, not {}",
            suggest::short_value(node.raw())
        );
        Finding::at(&S013, node, message).fix(fix("Remove `published`", edit::remove_member(node)))
    } else {
        let message = format!(
            "`{key}` is always true, not {}",
            suggest::short_value(node.raw())
        );
        Finding::at(&S011, node, message).fix(fix("Write true", edit::replace(node, "true")))
    });
}

fn view_config(facts: &Facts<'_>, step: &Step<'_>, node: Node<'_>, out: &mut Vec<Finding>) {
    let objects = node
        .elements()
        .filter(|element| element.is_object())
        .count();
    if matches!(node.kind(), crate::json::JsonKind::Array) && node.len() == 1 && objects == 1 {
        return;
    }
    let creates = step.tool == Some(Tool::CreateView);
    let (message, fixed) = if node.is_object() {
        (
            "the config is an object, not a list of one".to_owned(),
            Some(format!("[{}]", node.raw())),
        )
    } else if node.is_array() && node.is_empty() {
        (
            "the config is an empty list".to_owned(),
            // An update of nothing would be needless (S014).
            creates.then(|| "[{}]".to_owned()),
        )
    } else if node.is_array() && node.len() > 1 {
        (format!("the config is a list of {}", node.len()), None)
    } else {
        (
            format!(
                "the config is {}, not a list of one object",
                suggest::short_value(node.raw())
            ),
            None,
        )
    };
    let mut finding = Finding::at(&S010, node, message);
    finding.fix = fixed.map(|text| Fix {
        title: "Make it a list of one object".to_owned(),
        safe: creates || is_needed(facts, step),
        edits: vec![edit::replace(node, text)],
    });
    out.push(finding);
}

/// Whether an update stays one that is needed once its config has the right shape (S014).
fn is_needed(facts: &Facts<'_>, step: &Step<'_>) -> bool {
    let index = facts.steps.iter().position(|one| one.place == step.place);
    index.is_some_and(|index| carries_later_ref(facts, index, step))
}

/// `rows` of a row step: each an object with the fields of its shape.
fn rows(node: Node<'_>, shape: &'static Shape, out: &mut Vec<Finding>) {
    if !node.is_array() {
        out.push(Finding::at(
            &S009,
            node,
            format!("`rows` takes a list, not {}", node.type_name()),
        ));
        return;
    }
    for row in node.elements() {
        if !row.is_object() {
            out.push(Finding::at(
                &S009,
                row,
                format!("a row is an object, not {}", row.type_name()),
            ));
            continue;
        }
        shape::unknown_fields(row, shape, out);
        for field in shape.fields {
            match (row.get(field.key), &field.ty) {
                (None, _) => out.push(Finding::at(
                    &S009,
                    row,
                    format!("the row lacks `{}`", field.key),
                )),
                (Some(value), Type::Data) if !value.is_object() => {
                    out.push(Finding::at(&S009, value, "`data` takes an object"));
                }
                (Some(value), Type::Text) if value.as_str().is_none() => {
                    out.push(Finding::at(
                        &S009,
                        value,
                        format!("`{}` takes a string", field.key),
                    ));
                }
                _ => {}
            }
        }
    }
}

fn types(facts: &Facts<'_>, step: &Step<'_>, tool: Tool, out: &mut Vec<Finding>) {
    let definitions = facts.definitions;
    match tool {
        Tool::CreateColumn => {
            column_type(facts, step.arg("type"), step.arg("defaultComponent"), out);
        }
        Tool::CreateView => {
            if let Some(node) = step.arg("type")
                && let Some(name) = node
                    .as_str()
                    .filter(|name| !definitions.view_types.contains_key(*name))
            {
                out.push(unknown_type(
                    node,
                    "view type",
                    name,
                    definitions.view_types.keys(),
                ));
            }
        }
        _ => {}
    }
}

fn identity_types(facts: &Facts<'_>, out: &mut Vec<Finding>) {
    for column in facts
        .dependencies
        .iter()
        .flat_map(|dependency| &dependency.columns)
    {
        column_type(
            facts,
            column.node.get("type"),
            column.node.get("defaultComponent"),
            out,
        );
    }
}

fn column_type(
    facts: &Facts<'_>,
    kind: Option<Node<'_>>,
    component: Option<Node<'_>>,
    out: &mut Vec<Finding>,
) {
    let definitions = facts.definitions;
    let name = kind.and_then(Node::as_str);
    let known = name.and_then(|name| definitions.column_types.get(name));
    if let (Some(node), Some(name), None) = (kind, name, known) {
        out.push(unknown_type(
            node,
            "column type",
            name,
            definitions.column_types.keys(),
        ));
    }
    let Some((node, name)) = component.and_then(|node| Some((node, node.as_str()?))) else {
        return;
    };
    if !definitions
        .components
        .iter()
        .any(|component| component == name)
    {
        out.push(unknown_type(
            node,
            "component",
            name,
            &definitions.components,
        ));
    } else if let Some(kind) =
        known.filter(|kind| !kind.components.iter().any(|component| component == name))
    {
        let message = format!("the component `{name}` does not show a column of this type");
        out.push(
            Finding::at(&S017, node, message)
                .help(format!("Use {}.", kind.components.join(" or "))),
        );
    }
}

fn unknown_type<'n>(
    node: Node<'_>,
    what: &str,
    name: &str,
    known: impl IntoIterator<Item = &'n String> + Clone,
) -> Finding {
    let message = format!("there is no {what} `{}`", suggest::short_text(name));
    let known: Vec<&str> = known.into_iter().map(String::as_str).collect();
    Finding::at(&S017, node, message).meant_or_known(name, known, Misspelt::value(node))
}

fn config_fault(fault: &StepConfigFault<'_>, out: &mut Vec<Finding>) {
    match fault {
        StepConfigFault::UnknownKey { member, known } => {
            let key = member.key().unwrap_or_default();
            let message = format!("there is no config key `{}` here", suggest::short_text(key));
            let known = known.iter().map(|(name, _)| *name);
            let finding = Finding::at_key(&S018, *member, message);
            out.push(finding.meant_or_known(key, known, Misspelt::key(*member)));
        }
        // Settings of triggers and steps are checked with the automation (A003, A016); a reference
        // may be absent from any structural config, to be completed later.
        StepConfigFault::Missing {
            automation: true, ..
        }
        | StepConfigFault::Wrong {
            automation: true, ..
        } => {}
        StepConfigFault::Missing { field, .. } if field.is_reference() => {}
        // X002 or U008 speaks.
        StepConfigFault::Wrong { node, field, .. } if field.secret && !node.is_empty() => {}
        StepConfigFault::Missing { object, key, .. } => {
            out.push(Finding::at(
                &S009,
                *object,
                format!("the config lacks `{key}`"),
            ));
        }
        StepConfigFault::Wrong { node, field, .. } => {
            let expected = field.expected();
            let message = format!(
                "`{}` takes {expected}, not {}",
                node.token(),
                suggest::short_value(node.raw())
            );
            out.push(Finding::at(&S009, *node, message));
        }
    }
}
