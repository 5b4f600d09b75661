//! What could not be carried over, and what was cleared.

use super::fields::{self, Fields, Read};
use super::tree::{Members, Tree};
use super::{Action, ModelError, Reason, UnresolvedForm};
use crate::definitions::ReferenceKind;
use crate::json::{Node, Object};

/// A value that could not be carried over: one entry per field, one per column of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unresolved {
    /// uid of the item, or the plan's id for the workspace.
    pub uid: String,
    /// Dotted path inside the args of the item's step; `rows[].data.<column>` for cells.
    pub path: String,
    /// What it referred to.
    pub kind: UnresolvedKind,
    /// How the field names things.
    pub form: UnresolvedForm,
    /// Label of the target at the source.
    pub source_label: Option<String>,
    /// Why.
    pub reason: Reason,
    /// What was done.
    pub action: Action,
    /// Rows only: how many are covered.
    pub count: Option<u64>,
    /// Members that the format does not have.
    pub unknown: Object,
}

/// What a value that was not carried over referred to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnresolvedKind {
    /// An entity.
    Reference(ReferenceKind),
    /// Rows of a table, from its cells.
    Rows,
}

/// A secret that was cleared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redacted {
    /// uid of the item, or the plan's id for the workspace.
    pub uid: String,
    /// Dotted path inside the args of the item's step.
    pub path: String,
    /// Why it was cleared.
    pub reason: String,
    /// Members that the format does not have.
    pub unknown: Object,
}

impl UnresolvedKind {
    /// The word in a package.
    pub fn as_str(self) -> &'static str {
        match self {
            UnresolvedKind::Reference(kind) => kind.as_str(),
            UnresolvedKind::Rows => "rows",
        }
    }

    fn read(node: Node<'_>) -> Read<UnresolvedKind> {
        let word = node.as_str().unwrap_or_default();
        if word == "rows" {
            return Ok(UnresolvedKind::Rows);
        }
        let kind = ReferenceKind::parse(word).map(UnresolvedKind::Reference);
        kind.ok_or_else(|| ModelError::wrong(node, "a kind of reference, or rows"))
    }
}

impl Unresolved {
    pub(super) fn read(node: Node<'_>) -> Read<Unresolved> {
        let mut fields = Fields::of(node)?;
        Ok(Unresolved {
            uid: fields.required("uid", fields::text)?,
            path: fields.required("path", fields::text)?,
            kind: fields.required("kind", UnresolvedKind::read)?,
            form: fields.required("form", fields::word)?,
            source_label: fields.optional("sourceLabel", fields::text)?,
            reason: fields.required("reason", fields::word)?,
            action: fields.required("action", fields::word)?,
            count: fields.optional("count", fields::count)?,
            unknown: fields.unknown()?,
        })
    }

    pub(super) fn tree(&self) -> Tree<'_> {
        Members::with(&self.unknown)
            .text("uid", &self.uid)
            .text("path", &self.path)
            .text("kind", self.kind.as_str())
            .field("form", Tree::word(self.form))
            .optional_text("sourceLabel", self.source_label.as_ref())
            .field("reason", Tree::word(self.reason))
            .field("action", Tree::word(self.action))
            .optional("count", self.count, Tree::count)
            .object()
    }
}

impl Redacted {
    pub(super) fn read(node: Node<'_>) -> Read<Redacted> {
        let mut fields = Fields::of(node)?;
        Ok(Redacted {
            uid: fields.required("uid", fields::text)?,
            path: fields.required("path", fields::text)?,
            reason: fields.required("reason", fields::text)?,
            unknown: fields.unknown()?,
        })
    }

    pub(super) fn tree(&self) -> Tree<'_> {
        Members::with(&self.unknown)
            .text("uid", &self.uid)
            .text("path", &self.path)
            .text("reason", &self.reason)
            .object()
    }
}
