//! Where an identity or a ref is declared, and every place that names it.

use std::ops::Range;

use super::Package;
use super::cursor;
use super::refs::{Role, mentions, ref_at};
use crate::json::{Doc, JsonKind, Node};
use crate::package::uid::is_uid;

impl<'d> Package<'d> {
    /// The uid that a byte is in.
    pub(super) fn uid_at(&self, offset: usize) -> Option<(&'d str, Range<usize>)> {
        let cursor = cursor::find(self.doc, offset)?;
        if cursor.is_key {
            return None;
        }
        if let Some(text) = cursor.node.as_str().filter(|text| is_uid(text)) {
            return Some((text, cursor.node.span()));
        }
        // Rows are not in the tree.
        if !matches!(cursor.node.kind(), JsonKind::Rows) {
            return None;
        }
        let (raw, from) = (cursor.node.raw(), cursor.node.span().start);
        let at = offset.checked_sub(from)?;
        let start = raw.get(..at)?.rfind('"')?;
        let len = raw.get(start + 1..)?.find('"')?;
        let text = raw.get(start + 1..start + 1 + len)?;
        is_uid(text).then(|| (text, from + start..from + start + len + 2))
    }

    /// The entry of `items`, `dependencies` or their columns that has that uid.
    pub(super) fn entry(&self, uid: &str) -> Option<Node<'d>> {
        let facts = &self.facts;
        let items = facts.items.iter().map(|item| item.node);
        let outside = facts.dependencies.iter().flat_map(|dependency| {
            let columns = dependency.columns.iter().map(|column| column.node);
            std::iter::once(dependency.node).chain(columns)
        });
        items
            .chain(outside)
            .find(|node| node.get_str("uid") == Some(uid))
    }

    /// Every string of the package that is this uid.
    fn uids(&self, uid: &str) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        for node in self.doc.all_nodes() {
            if node.as_str() == Some(uid) {
                found.push(node.span());
            } else if matches!(node.kind(), JsonKind::Rows) && node.raw().contains(uid) {
                let Ok(rows) = Doc::parse(node.raw()) else {
                    continue;
                };
                let shift = node.span().start;
                let inside = rows.all_nodes().filter(|node| node.as_str() == Some(uid));
                found.extend(inside.map(|node| node.span().start + shift..node.span().end + shift));
            }
        }
        found
    }
}

/// Where what is named at a byte is declared.
pub fn definition(package: &Package<'_>, offset: usize) -> Option<Range<usize>> {
    if let Some((name, here)) = ref_at(package, offset) {
        let facts = &package.facts;
        let step = facts.declaring_step(&name).map(|index| &facts.steps[index]);
        let declared = step.and_then(|step| step.node.get("ref"));
        if let Some(node) = declared {
            return Some(node.span());
        }
        let mut all = mentions(package, &name).into_iter();
        let first = all.find(|mention| mention.role == Role::Declared);
        return first.or(Some(here)).map(|mention| mention.token);
    }
    let (uid, here) = package.uid_at(offset)?;
    let declared = package.entry(uid).and_then(|node| node.get("uid"));
    if let Some(node) = declared {
        return Some(node.span());
    }
    // A row: the place where its uid is a row's own.
    let own = package.uids(uid).into_iter().find(|span| {
        let before = package.text()[..span.start].trim_end();
        let before = before.strip_suffix(':').unwrap_or(before).trim_end();
        before.ends_with("\"uid\"")
    });
    own.or(Some(here))
}

/// Every place that names what is named at a byte, each once; without `declared` only those that
/// do not declare it.
pub fn references(package: &Package<'_>, offset: usize, declared: bool) -> Vec<Range<usize>> {
    if let Some((name, _)) = ref_at(package, offset) {
        let wanted = mentions(package, &name).into_iter();
        let wanted = wanted.filter(|mention| declared || mention.role != Role::Declared);
        return wanted.map(|mention| mention.span).collect();
    }
    let Some((uid, _)) = package.uid_at(offset) else {
        return Vec::new();
    };
    let own = package.entry(uid).and_then(|node| node.get("uid"));
    let own = own.map(Node::span);
    let all = package.uids(uid).into_iter();
    all.filter(|span| declared || Some(span) != own.as_ref())
        .collect()
}
