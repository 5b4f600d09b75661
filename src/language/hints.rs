//! Labels to show behind uids and refs, which say nothing to people.

use std::ops::Range;

use super::Package;
use super::refs::{Links, Role, each};
use crate::json::Node;
use crate::package::reference::WORKSPACE;
use crate::printable;

/// Longer labels are cut.
const MAX_LABEL_CHARS: usize = 40;

/// A label behind a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// The byte that it stands behind.
    pub at: usize,
    /// One line of text.
    pub label: String,
}

/// The labels of what is named in a part of a package by uid or ref. Where something is declared,
/// its label stands next to it already.
pub fn hints(package: &Package<'_>, part: &Range<usize>) -> Vec<Hint> {
    let mut hints = Vec::new();
    let facts = &package.facts;
    let mut hint = |at: usize, label: Option<&str>| {
        let label = label.filter(|label| !label.is_empty());
        if let Some(label) = label.filter(|_| part.start <= at && at <= part.end) {
            hints.push(Hint {
                at,
                label: short(label),
            });
        }
    };
    each(package, &Links::None, &mut |name, mention| {
        let shown = matches!(mention.role, Role::Used | Role::Named);
        if shown && name != WORKSPACE {
            hint(mention.token.end, facts.name_of(name));
        }
    });
    for node in uids(package) {
        let entry = node.as_str().and_then(|uid| package.entry(uid));
        let identity = entry.and_then(|entry| entry.get("identity"));
        let label = entry.and_then(|entry| entry.get_str("label"));
        hint(
            node.span().end,
            label.or_else(|| identity?.get_str("label")),
        );
    }
    hints.sort_by_key(|hint| hint.at);
    hints.dedup_by_key(|hint| hint.at);
    hints
}

/// The uids that name something else than their own entry.
fn uids<'d>(package: &Package<'d>) -> Vec<Node<'d>> {
    let facts = &package.facts;
    let mut found: Vec<Node<'d>> = Vec::new();
    let entries = |list: Option<Node<'d>>| list.into_iter().flat_map(Node::elements);
    found.extend(
        facts
            .items
            .iter()
            .filter_map(|item| item.node.get("parent")),
    );
    for dependency in &facts.dependencies {
        for usage in entries(dependency.node.get("usedBy")) {
            found.extend(usage.get("uid"));
            found.extend(usage.get("targets"));
        }
    }
    for key in ["unresolved", "redacted"] {
        found.extend(entries(facts.layer(key)).filter_map(|entry| entry.get("uid")));
    }
    found.extend(entries(facts.payloads()).filter_map(|entry| entry.get("itemUid")));
    found
}

fn short(label: &str) -> String {
    let line = printable::line(label);
    if line.chars().count() <= MAX_LABEL_CHARS {
        return line;
    }
    let cut: String = line.chars().take(MAX_LABEL_CHARS - 1).collect();
    format!("{cut}…")
}
