//! `between` in the filter of a read takes two values in order (A016).

use super::issue::Issue;
use super::run::compare::{compare, digits};
use super::tokens::{Piece, lone_token, pieces};
use super::validation_context::{Site, ValidationContext, short_text};
use crate::finding::Finding;
use crate::finding::catalog::A016;
use crate::json::{Node, Value};

const NEEDED: &str = "`between` takes a list of two values, the smaller one first";

/// Checks the rules of a read.
pub(super) fn check<'d>(
    case: &ValidationContext<'_, 'd, '_>,
    site: Site<'d>,
    config: Node<'d>,
    issues: &mut Vec<Issue>,
) {
    let rules = config
        .get("filterGroup")
        .and_then(|group| group.get("rules"));
    let Some(rules) = rules.filter(|rules| rules.is_array()) else {
        return;
    };
    for rule in rules.elements() {
        if !rule.is_object() || rule.get_str("operator") != Some("between") {
            continue;
        }
        let Some(value) = rule.get("value") else {
            let finding = Finding::at(&A016, rule, format!("`value` is missing: {NEEDED}"));
            issues.push(case.issue(site, rule, Some("value"), finding));
            continue;
        };
        if let Some(message) = fault(value) {
            let finding = Finding::at(&A016, value, message);
            issues.push(case.issue(site, value, None, finding));
        }
    }
}

/// What is wrong with the value of a `between`, as far as can be known before a run.
fn fault(value: Node<'_>) -> Option<String> {
    if value
        .as_str()
        .is_some_and(|text| lone_token(text).is_some())
    {
        // It may yield such a list.
        return None;
    }
    let bounds: Vec<Node<'_>> = if value.is_array() {
        value.elements().collect()
    } else {
        Vec::new()
    };
    let [low, high] = bounds[..] else {
        return Some(format!("`value` is {}: {NEEDED}", short_text(value)));
    };
    let low_value = bound(low);
    let high_value = bound(high);
    for (node, value) in [(low, &low_value), (high, &high_value)] {
        if value.is_none() {
            return Some(format!(
                "{} is nothing to compare with: {NEEDED}",
                short_text(node)
            ));
        }
    }
    let (low_value, high_value) = low_value.zip(high_value)?;
    let known = !holds_token(low) && !holds_token(high);
    let alike = digits(&low_value).is_some() == digits(&high_value).is_some();
    let swapped = known && alike && compare(&low_value, &high_value).is_gt();
    swapped.then(|| {
        format!(
            "{} is more than {}: {NEEDED}",
            short_text(low),
            short_text(high)
        )
    })
}

/// A number, or a text that is not empty.
fn bound(node: Node<'_>) -> Option<Value> {
    let value = Value::read(node).ok()?;
    let good = match &value {
        Value::Number(_) => true,
        Value::String(text) => !text.is_empty(),
        _ => false,
    };
    good.then_some(value)
}

fn holds_token(node: Node<'_>) -> bool {
    let text = node.as_str().unwrap_or_default();
    pieces(text).any(|piece| !matches!(piece, Piece::Text(_)))
}
