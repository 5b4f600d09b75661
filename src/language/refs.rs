//! Every place that names a ref, and what a rename has to follow.

use std::ops::Range;

use super::Package;
use crate::check::facts::Step;
use crate::json::{Doc, JsonKind, Node};
use crate::package::reference::{undollared, used};

/// What a place does with a ref.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Declares it: a step, a dependency, an identity column, a step of a blueprint.
    Declared,
    /// Names it without a dollar: an item, `externalRefs`, `featureRef` of a payload entry.
    Named,
    /// Uses it in args, as a value or as a key.
    Used,
    /// Has it as a key in a path of `usedBy`, `unresolved` or `redacted`.
    Path,
    /// Links to a row of it: `featureRef` in the `refs` of a row.
    Link,
}

/// One place that names a ref.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention {
    /// Bytes of the name, without dollar and quotes.
    pub span: Range<usize>,
    /// Bytes of what it is written in: the string with its quotes, or the segment of a path.
    pub token: Range<usize>,
    /// What the place does with it.
    pub role: Role,
    /// Whether the span holds the dollar, too, because the name is written with escapes.
    pub(super) dollar: bool,
}

/// Every place that names `name` (without dollar), in order, each once.
pub fn mentions(package: &Package<'_>, name: &str) -> Vec<Mention> {
    let mut found = Vec::new();
    each(package, &Links::Of(name), &mut |other, mention| {
        if other == name {
            found.push(mention);
        }
    });
    found.sort_by_key(|mention| (mention.span.start, mention.span.end));
    found.dedup_by(|a, b| a.span == b.span);
    found
}

/// The ref that is named at a byte, with the place.
pub fn ref_at(package: &Package<'_>, offset: usize) -> Option<(String, Mention)> {
    let mut found: Option<(String, Mention)> = None;
    each(package, &Links::At(offset), &mut |name, mention| {
        let token = &mention.token;
        if found.is_none() && token.start <= offset && offset <= token.end {
            found = Some((name.to_owned(), mention));
        }
    });
    found
}

/// Every ref that is declared or named, once, in order of name.
pub(super) fn all_refs(package: &Package<'_>) -> Vec<String> {
    let mut known = Vec::new();
    each(package, &Links::None, &mut |name, mention| {
        if matches!(mention.role, Role::Declared | Role::Named) {
            known.push(name.to_owned());
        }
    });
    known.sort();
    known.dedup();
    known
}

/// Which links of rows are looked for: reading rows takes longer than all the rest.
pub(super) enum Links<'n> {
    /// None.
    None,
    /// Those to the table of that ref.
    Of(&'n str),
    /// Those in the list of rows around a byte.
    At(usize),
}

type MentionVisitor<'r> = &'r mut dyn FnMut(&str, Mention);

/// Reports every place that names a ref, part by part.
pub(super) fn each(package: &Package<'_>, links: &Links<'_>, report: MentionVisitor<'_>) {
    let facts = &package.facts;
    for step in facts.steps.iter().chain(&facts.blueprint_steps) {
        each_of_step(step, report);
    }
    let target = facts.plan.and_then(|plan| plan.get("target"));
    if let Some(node) = target.and_then(|target| target.get("workspaceId"))
        && let Some(name) = node.as_str().and_then(used)
    {
        report(name, mention(node.text(), node.span(), name, Role::Used));
    }
    for dependency in &facts.dependencies {
        declaration(dependency.node.get("ref"), Role::Declared, report);
        for column in &dependency.columns {
            declaration(column.node.get("ref"), Role::Declared, report);
        }
        let used_by = dependency.node.get("usedBy");
        used_by
            .into_iter()
            .flat_map(Node::elements)
            .for_each(|entry| path(entry, report));
    }
    for item in &facts.items {
        declaration(item.node.get("ref"), Role::Named, report);
    }
    let plan = facts.plan;
    let external = plan.and_then(|plan| plan.get("externalRefs"));
    for node in external.into_iter().flat_map(Node::elements) {
        declaration(Some(node), Role::Named, report);
    }
    for key in ["unresolved", "redacted"] {
        let entries = facts.layer(key).into_iter().flat_map(Node::elements);
        for entry in entries {
            declaration(entry.get("ref"), Role::Named, report);
            path(entry, report);
        }
    }
    let payloads = facts.payloads().into_iter().flat_map(Node::elements);
    for entry in payloads {
        declaration(entry.get("featureRef"), Role::Named, report);
        if let Some(rows) = entry.get("rows") {
            row_links(rows, links, report);
        }
    }
}

fn each_of_step(step: &Step<'_>, report: MentionVisitor<'_>) {
    declaration(step.node.get("ref"), Role::Declared, report);
    for at in &step.uses {
        let token = if at.is_key {
            at.node.key_span()
        } else {
            at.node.span()
        };
        report(
            at.reference,
            mention(at.node.text(), token, at.reference, Role::Used),
        );
    }
}

/// A ref written without a dollar, or with the one that readers tolerate.
fn declaration(node: Option<Node<'_>>, role: Role, report: MentionVisitor<'_>) {
    if let Some((node, text)) = node.and_then(|node| Some((node, node.as_str()?))) {
        let name = undollared(text);
        report(name, mention(node.text(), node.span(), name, role));
    }
}

/// Where the name is inside of a string.
fn mention(text: &str, token: Range<usize>, name: &str, role: Role) -> Mention {
    let inside = token.start + 1..token.end.saturating_sub(1).max(token.start + 1);
    let raw = text.get(inside.clone()).unwrap_or_default();
    let bare = raw.strip_prefix('$').unwrap_or(raw);
    if bare == name {
        return Mention {
            span: inside.end - bare.len()..inside.end,
            token,
            role,
            dollar: false,
        };
    }
    // It is written with escapes: whoever renames it writes all of the string.
    Mention {
        span: inside,
        token,
        role,
        dollar: role == Role::Used,
    }
}

/// The keys in the path of an entry that are uses of refs.
fn path(entry: Node<'_>, report: MentionVisitor<'_>) {
    let Some(node) = entry.get("path") else {
        return;
    };
    let Some(decoded) = node.as_str() else { return };
    let inside = node.span().start + 1..node.span().end - 1;
    let raw = &node.text()[inside.clone()];
    // No ref needs an escape: a path that has one names its keys next to it.
    let mut at = inside.start;
    for segment in raw.split('.') {
        let span = at..at + segment.len();
        at = span.end + 1;
        let name = segment.strip_prefix('$').filter(|name| !name.is_empty());
        // A dot that belongs to a key is written `\.`, and in JSON the backslash is doubled.
        let divided =
            raw != decoded && (segment.ends_with('\\') || follows_escape(raw, &span, &inside));
        if let Some(name) = name.filter(|_| !divided) {
            let mention = Mention {
                span: span.start + 1..span.end,
                token: span,
                role: Role::Path,
                dollar: false,
            };
            report(name, mention);
        }
    }
}

fn follows_escape(raw: &str, span: &Range<usize>, inside: &Range<usize>) -> bool {
    let before = &raw[..span.start - inside.start];
    before
        .strip_suffix('.')
        .is_some_and(|before| before.ends_with('\\'))
}

/// The links of rows.
fn row_links(rows: Node<'_>, links: &Links<'_>, report: MentionVisitor<'_>) {
    let span = rows.span();
    let raw = rows.raw();
    let wanted = match links {
        Links::None => false,
        // A name that is written with an escape is found in the tree alone.
        Links::Of(name) => raw.contains(name) || raw.contains("\\u"),
        Links::At(offset) => span.start <= *offset && *offset <= span.end,
    };
    if !wanted || !matches!(rows.kind(), JsonKind::Rows | JsonKind::Array) {
        return;
    }
    let Ok(doc) = Doc::parse(raw) else { return };
    for row in doc.root().elements() {
        let cells = row.get("refs").into_iter().flat_map(Node::members);
        for cell in cells {
            link(cell, span.start, report);
        }
    }
}

fn link(cell: Node<'_>, shift: usize, report: MentionVisitor<'_>) {
    declaration(cell.get("featureRef"), Role::Link, &mut |name, mention| {
        let moved = |span: Range<usize>| span.start + shift..span.end + shift;
        let mention = Mention {
            span: moved(mention.span),
            token: moved(mention.token),
            ..mention
        };
        report(name, mention);
    });
    let rows = cell.get("rows").into_iter().flat_map(Node::elements);
    for inner in rows {
        link(inner, shift, report);
    }
}
