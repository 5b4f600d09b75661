//! The items of a package as a tree, for outlines and breadcrumbs.

use std::ops::Range;

use super::Package;
use crate::json::Node;

/// A thing in a package, with what belongs to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// Its label; never empty.
    pub name: String,
    /// Its ref, or the tool of a step.
    pub detail: String,
    /// The kind of item (`feature`, `column`, …), or `step`.
    pub kind: String,
    /// Bytes of its entry.
    pub span: Range<usize>,
    /// Bytes of its label, inside of the entry.
    pub name_span: Range<usize>,
    /// What belongs to it.
    pub children: Vec<Symbol>,
}

/// The items under their parents; the steps of the plan where there are no items.
pub fn symbols(package: &Package<'_>) -> Vec<Symbol> {
    let facts = &package.facts;
    if facts.items.is_empty() {
        return facts.steps.iter().map(|step| of_step(step.node)).collect();
    }
    let items: Vec<Node<'_>> = facts.items.iter().map(|item| item.node).collect();
    let parents: Vec<Option<usize>> = items.iter().map(|item| parent(&items, *item)).collect();
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); items.len()];
    let mut roots = Vec::new();
    for (index, above) in parents.iter().enumerate() {
        let mut chain = std::iter::successors(*above, |above| parents[*above]);
        match above {
            // A chain longer than the list runs in a circle.
            Some(above) if chain.nth(items.len()).is_none() => children[*above].push(index),
            _ => roots.push(index),
        }
    }
    roots
        .into_iter()
        .map(|root| tree(&items, &children, root))
        .collect()
}

fn parent(items: &[Node<'_>], item: Node<'_>) -> Option<usize> {
    let uid = item.get_str("parent")?;
    items
        .iter()
        .position(|other| other.get_str("uid") == Some(uid))
}

fn tree(items: &[Node<'_>], children: &[Vec<usize>], index: usize) -> Symbol {
    let node = items[index];
    let detail = node.get_str("ref").or(node.get_str("dataClass"));
    let inside = children[index].iter();
    Symbol {
        name: name(node.get_str("label"), node.get_str("ref"), "unnamed item"),
        detail: detail.unwrap_or_default().to_owned(),
        kind: node.get_str("kind").unwrap_or_default().to_owned(),
        span: node.span(),
        name_span: node.get("label").unwrap_or(node).span(),
        children: inside.map(|child| tree(items, children, *child)).collect(),
    }
}

fn of_step(node: Node<'_>) -> Symbol {
    let args = node.get("args");
    let label = args.and_then(|args| args.get("label").or(args.get("name")));
    Symbol {
        name: name(
            label.and_then(Node::as_str),
            node.get_str("ref"),
            node.get_str("tool").unwrap_or("step"),
        ),
        detail: node.get_str("tool").unwrap_or_default().to_owned(),
        kind: "step".to_owned(),
        span: node.span(),
        name_span: label.unwrap_or(node).span(),
        children: Vec::new(),
    }
}

fn name(label: Option<&str>, reference: Option<&str>, other: &str) -> String {
    let filled = |text: &&str| !text.trim().is_empty();
    let name = label.filter(filled).or(reference.filter(filled));
    name.unwrap_or(other).to_owned()
}
