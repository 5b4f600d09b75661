//! Configs against their declarations: A003 for the trigger, A016 for steps.
//!
//! Required fields, types, and fields that a chosen mode needs; over the API also what
//! references look like and keys that do not exist.

use super::cron;
use super::declared_values::ConfigReading;
use super::environment::{OF_EVERY_ROW, Setting, is_technical_name, is_use};
use super::issue::Issue;
use super::run::Schedule;
use super::validation_context::{Site, ValidationContext, short_text};
use crate::definitions::{
    ConfigFault, DeclaredValue, Field, FieldType, Fields, Form, ReferenceKind,
};
use crate::finding::catalog::{A003, S018};
use crate::finding::suggest::{Misspelt, short_text as short};
use crate::finding::{Finding, Rule};
use crate::json::Node;
use crate::package::uid::is_uuid;

const FEATURE_READ: &str = "feature.read";

/// Fields that the definitions call optional and a choice makes necessary.
struct ConditionalField {
    /// Trigger type or step key.
    of: &'static str,
    /// The object inside the config in which chooser and field stand; empty for the config.
    inside: &'static str,
    /// The field that chooses, and what it chooses.
    chooser: (&'static str, &'static str),
    /// What is then needed.
    field: &'static str,
}

const fn need(
    of: &'static str,
    inside: &'static str,
    by: &'static str,
    choice: &'static str,
    field: &'static str,
) -> ConditionalField {
    ConditionalField {
        of,
        inside,
        chooser: (by, choice),
        field,
    }
}

const NEEDS: [ConditionalField; 14] = [
    need("cron", "", "mode", "daily", "atTime"),
    need("cron", "", "mode", "weekly", "atTime"),
    need("cron", "", "mode", "weekly", "dayOfWeek"),
    need("cron", "", "mode", "monthly", "atTime"),
    need("cron", "", "mode", "monthly", "dayOfMonth"),
    need("cron", "", "mode", "expression", "expression"),
    need("cron", "", "mode", "profile", "timerProfile"),
    need("ifElse", "condition", "subject", "var", "var"),
    need("ifElse", "condition", "subject", "record", "column"),
    need("ifElse", "condition", "subject", "expression", "expression"),
    need("feature.write", "", "mode", "update", "matchColumn"),
    need("feature.write", "", "mode", "upsert", "matchColumn"),
    need("notify", "", "scopeType", "channel", "scopeId"),
    need("notify", "", "scopeType", "user", "scopeId"),
];

/// Checks the values of a config, whatever it belongs to.
pub(super) fn check<'d>(
    case: &ValidationContext<'_, 'd, '_>,
    site: Site<'d>,
    rule: &'static Rule,
    reading: &ConfigReading<'d, '_>,
    issues: &mut Vec<Issue>,
) {
    for fault in &reading.faults {
        issues.extend(check_fault(case, site, rule, fault));
    }
    for spot in &reading.references {
        issues.extend(check_reference(case, site, rule, spot));
    }
}

fn check_fault<'d>(
    case: &ValidationContext<'_, 'd, '_>,
    site: Site<'d>,
    rule: &'static Rule,
    fault: &ConfigFault<'d, '_>,
) -> Option<Issue> {
    match fault {
        ConfigFault::UnknownKey { member, known } => {
            let member = *member;
            // In a package the plan rules say so.
            (case.setting() == Setting::Rest).then(|| {
                let key = member.key().unwrap_or_default();
                let known = known.iter().map(|(name, _)| *name);
                let finding =
                    Finding::at_key(&S018, member, format!("`{key}` is not a setting here"))
                        .meant_or_known(key, known, Misspelt::key(member));
                case.issue(site, member, None, finding)
            })
        }
        &ConfigFault::Missing { object, key, field } => {
            if field.is_reference() && case.environment.excused(object, &[key]) {
                return None;
            }
            let finding = with_purpose(
                Finding::at(rule, object, format!("`{key}` is missing")),
                key,
                field,
            );
            Some(case.issue(site, object, Some(key), finding))
        }
        &ConfigFault::Wrong { spot } => {
            // In a package X002 or U008 speaks of a secret that is there, whatever its type.
            let secret = spot.field.secret && !spot.node.is_empty();
            if secret && case.setting() == Setting::Package {
                return None;
            }
            let message = format!(
                "{} is {}, not {}",
                name(spot.node),
                short_text(spot.node),
                spot.field.expected()
            );
            let mut finding = Finding::at(rule, spot.node, message);
            if let (FieldType::Enum, Some(text)) = (spot.field.kind, spot.node.as_str()) {
                let values = spot.field.values.iter().map(String::as_str);
                finding = finding.meant(text, values, Misspelt::value(spot.node));
            }
            Some(case.issue(site, spot.node, None, finding))
        }
    }
}

fn check_reference<'d>(
    case: &ValidationContext<'_, 'd, '_>,
    site: Site<'d>,
    rule: &'static Rule,
    spot: &DeclaredValue<'d, '_>,
) -> Option<Issue> {
    let text = spot.node.as_str()?;
    if text.is_empty() {
        let key = spot.node.key()?;
        if !spot.required || case.environment.excused(spot.owner, &[key]) {
            return None;
        }
        let finding = Finding::at(rule, spot.node, format!("`{key}` is empty"));
        return Some(case.issue(
            site,
            spot.node,
            None,
            with_purpose(finding, key, spot.field),
        ));
    }
    if case.setting() == Setting::Package {
        return None;
    }
    let refused = |message: String| Finding::at(rule, spot.node, message);
    let finding = refusal(case, site, spot, text, refused)?;
    Some(case.issue(site, spot.node, None, finding))
}

/// Why a value cannot be the reference over the API, as what `refused` makes of a message, with what to do
/// about it.
fn refusal(
    case: &ValidationContext<'_, '_, '_>,
    site: Site<'_>,
    spot: &DeclaredValue<'_, '_>,
    text: &str,
    refused: impl Fn(String) -> Finding,
) -> Option<Finding> {
    let reference = spot.reference()?;
    let name = name(spot.node);
    let value = short(text);
    if reference.form == Form::Uuid && !is_uuid(text) {
        let help = if is_use(text) {
            "Refs belong to packages; here the thing is named by its UUID."
        } else {
            "Write its UUID, with hyphens."
        };
        return Some(refused(format!("{name} is `{value}`, which is not a UUID")).help(help));
    }
    if reference.kind == ReferenceKind::Column {
        if !is_technical_name(text) {
            return Some(refused(format!(
                "{name} is `{value}`, which is not a technical name of a column"
            )));
        }
        let table = reference
            .of
            .as_deref()
            .and_then(|of| sibling(spot.owner, of))?;
        let columns = case.environment.columns(table)?;
        let every = OF_EVERY_ROW.contains(&text) && reads(case, site);
        if every || columns.iter().any(|column| column == text) {
            return None;
        }
        let finding = refused(format!("the table has no column `{value}`"));
        let columns = columns.iter().map(String::as_str);
        return Some(finding.meant_or_known(text, columns, Misspelt::value(spot.node)));
    }
    // That it runs itself is the one mistake (A014), whether it is kept yet or not.
    let itself = reference.kind == ReferenceKind::WorkflowV2 && case.is_own(text);
    let missing = !itself && case.environment.exists(reference.kind, text) == Some(false);
    missing.then(|| {
        refused(format!(
            "{name}: there is no {} `{value}` here",
            reference.kind.as_str()
        ))
    })
}

/// Whether the columns that a config names are only read.
fn reads(case: &ValidationContext<'_, '_, '_>, site: Site<'_>) -> bool {
    match site {
        Site::Step(position) => case.graph.steps()[position].key == Some(FEATURE_READ),
        _ => false,
    }
}

/// The text under `key` in the object or the nearest object around it.
fn sibling<'d>(owner: Node<'d>, key: &str) -> Option<&'d str> {
    std::iter::successors(Some(owner), |node| node.parent()).find_map(|node| node.get_str(key))
}

/// Whether what is chosen in an object of a config makes a field of it necessary. `of` is a trigger type or step key,
/// `inside` the key of the object, empty for the config itself.
pub(crate) fn is_needed(of: &str, inside: &str, object: Node<'_>, field: &str) -> bool {
    let mut needs = NEEDS.iter();
    needs.any(|need| {
        let (by, choice) = need.chooser;
        (need.of, need.inside, need.field) == (of, inside, field)
            && object.get_str(by) == Some(choice)
    })
}

/// The fields that a choice makes necessary. `of` and `inside` are those of [`is_needed`].
pub(crate) fn needed_fields(
    of: &str,
    inside: &str,
    chooser: &str,
    choice: &str,
) -> impl Iterator<Item = &'static str> {
    let needs = NEEDS.iter().filter(move |need| {
        (need.of, need.inside, need.chooser) == (of, inside, (chooser, choice))
    });
    needs.map(|need| need.field)
}

/// Checks what a chosen mode or subject needs. Wrong values are reported by the declarations.
pub(super) fn check_needs<'d>(
    case: &ValidationContext<'_, 'd, '_>,
    site: Site<'d>,
    rule: &'static Rule,
    of: &str,
    config: Node<'d>,
    fields: &Fields,
    issues: &mut Vec<Issue>,
) {
    for need in NEEDS.iter().filter(|need| need.of == of) {
        let (object, fields) = if need.inside.is_empty() {
            (Some(config), Some(fields))
        } else {
            (
                config.get(need.inside),
                fields
                    .get(need.inside)
                    .and_then(|field| field.fields.as_ref()),
            )
        };
        let (by, choice) = need.chooser;
        let (Some(object), Some(field)) =
            (object, fields.and_then(|fields| fields.get(need.field)))
        else {
            continue;
        };
        let written = object.get(need.field);
        let there = written.is_some_and(|value| value.as_str() != Some(""));
        // A field of a stricter type than text is already refused when it is empty.
        let checked = written.is_some() && field.kind != FieldType::String;
        if object.get_str(by) != Some(choice) || there || checked || field.is_required() {
            continue;
        }
        if field.is_reference() && case.environment.excused(object, &[need.field]) {
            continue;
        }
        let state = if written.is_some() {
            "empty"
        } else {
            "missing"
        };
        let message = format!("`{}` is {state}, which `{by}` `{choice}` needs", need.field);
        let finding = with_purpose(
            Finding::at(rule, written.unwrap_or(object), message),
            need.field,
            field,
        );
        let mut issue = case.issue(site, object, Some(need.field), finding);
        // Where the field is there and empty, the finding points at it already.
        issue.absent = issue.absent.filter(|_| written.is_none());
        issues.push(issue);
    }
}

/// Checks an absent config: one finding for all that it would have to hold.
pub(super) fn check_absent<'d>(
    case: &ValidationContext<'_, 'd, '_>,
    site: Site<'d>,
    rule: &'static Rule,
    holder: Node<'d>,
    fields: &Fields,
    issues: &mut Vec<Issue>,
) {
    let wanted = fields.iter().filter(|(key, field)| {
        field.is_required()
            && !(field.is_reference() && case.environment.excused(holder, &["config", key]))
    });
    let wanted: Vec<&str> = wanted.map(|(key, _)| key.as_str()).collect();
    if !wanted.is_empty() {
        let message = format!("`config` with `{}` is missing", wanted.join("`, `"));
        issues.push(case.issue(
            site,
            holder,
            Some("config"),
            Finding::at(rule, holder, message),
        ));
    }
}

/// Checks what declarations cannot express about a trigger's config.
pub(super) fn check_trigger<'d>(
    case: &ValidationContext<'_, 'd, '_>,
    node: Node<'d>,
    name: &str,
    config: Node<'d>,
    issues: &mut Vec<Issue>,
) {
    if name != "cron" || config.get_str("mode") != Some("expression") {
        return;
    }
    let Some(written) = config.get("expression") else {
        return;
    };
    let text = written.as_str().filter(|text| !text.is_empty());
    let Some(text) = text else {
        return;
    };
    let finding = if let Some(fault) = cron::fault(text) {
        let message = format!("`{}` is not a cron expression: {fault}", short(text));
        Finding::at(&A003, written, message)
            .help("Write minute, hour, day of the month, month and day of the week.")
    } else if Schedule::of_fields(text).is_ok_and(|due| !due.is_ever_due()) {
        let message = format!(
            "`{}` is never due: no month has the day that it names",
            short(text)
        );
        Finding::at(&A003, written, message)
            .help("Name a day that one of its months has in most years.")
    } else {
        return;
    };
    issues.push(case.issue(Site::Trigger(node), written, None, finding));
}

fn with_purpose(finding: Finding, key: &str, field: &Field) -> Finding {
    match &field.description {
        Some(purpose) => finding.help(format!("Write `{key}`, {}. {purpose}", field.expected())),
        None => finding.help(format!("Write `{key}`, {}.", field.expected())),
    }
}

/// The name of a value: its key, or that of the list it is in.
fn name(node: Node<'_>) -> String {
    match (node.key(), node.parent().and_then(Node::key)) {
        (Some(key), _) => format!("`{key}`"),
        (None, Some(list)) => format!("an element of `{list}`"),
        _ => "the value".to_owned(),
    }
}
