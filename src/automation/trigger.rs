//! Validates the trigger, and lists what it gives to the steps (A001, A002, A019).

use super::issue::Issue;
use super::validation_context::{Site, ValidationContext, short_text};
use super::{config, graph_shape};
use crate::finding::Finding;
use crate::finding::catalog::{A001, A002, A003, A019};
use crate::finding::suggest::Misspelt;
use crate::json::Node;
use crate::package::format::{GRAPH_STEP, TRIGGER_CONFIG};

/// Checks the trigger.
pub(super) fn check(case: &ValidationContext<'_, '_, '_>, issues: &mut Vec<Issue>) {
    let Some(node) = case.trigger.node else {
        return;
    };
    let site = Site::Trigger(node);
    let Some(declared) = case.trigger.declared else {
        let issue = no_trigger(case, node);
        // What makes it a step is one mistake; anything beyond that is another.
        let shapes = if issue.rule() == &A019 {
            &[&TRIGGER_CONFIG, &GRAPH_STEP][..]
        } else {
            &[&TRIGGER_CONFIG]
        };
        issues.push(issue);
        graph_shape::unknown_fields(case, site, node, shapes, issues);
        return;
    };
    graph_shape::unknown_fields(case, site, node, &[&TRIGGER_CONFIG], issues);
    match node.get("config") {
        Some(written) if !written.is_object() => {
            let message = format!(
                "`config` of the trigger is {} and not an object",
                written.type_name()
            );
            issues.push(case.issue(site, written, None, Finding::at(&A003, written, message)));
        }
        Some(written) => {
            config::check(case, site, &A003, &case.trigger.reading, issues);
            let name = node.get_str("type").unwrap_or_default();
            config::check_needs(case, site, &A003, name, written, &declared.config, issues);
            config::check_trigger(case, node, name, written, issues);
        }
        None => config::check_absent(case, site, &A003, node, &declared.config, issues),
    }
}

/// Says what is in place of a trigger: nothing, a step, or something unheard of.
fn no_trigger<'d>(case: &ValidationContext<'_, 'd, '_>, node: Node<'d>) -> Issue {
    let definitions = case.definitions;
    let triggers = || definitions.triggers.keys().map(String::as_str);
    let written = node.get("type");
    let name = written.and_then(Node::as_str);
    let site = Site::Trigger(node);
    let (absent, finding) = if let (Some(name), Some(kind)) = (
        name.filter(|name| definitions.steps.contains_key(*name)),
        written,
    ) {
        (
            None,
            Finding::at(&A019, kind, format!("`{name}` is a step and not a trigger")),
        )
    } else if let Some(key) = node.get_str("key") {
        let mut finding = Finding::at(
            &A019,
            node,
            format!("the trigger is written like a step, with the key `{key}`"),
        );
        if definitions.triggers.contains_key(key) {
            finding = finding.help(format!("`{key}` is a trigger: write it as `type`."));
        }
        (Some("type"), finding)
    } else if written.is_none_or(|kind| kind.is_null() || name == Some("")) {
        let place = written.unwrap_or(node);
        let state = if written.is_some() {
            "is empty"
        } else {
            "is missing"
        };
        let finding = Finding::at(&A001, place, format!("the `type` of the trigger {state}"));
        (
            written.is_none().then_some("type"),
            finding.meant_or_known("", triggers(), Misspelt::value(place)),
        )
    } else {
        let kind = written.unwrap_or(node);
        let finding = Finding::at(
            &A002,
            kind,
            format!("{} is not a trigger", short_text(kind)),
        );
        let name = name.unwrap_or_default();
        let finding = finding.meant_or_known(name, triggers(), Misspelt::value(kind));
        (None, finding)
    };
    let place = if absent.is_some() {
        node
    } else {
        written.unwrap_or(node)
    };
    case.issue(site, place, absent, finding)
}
