//! Conditions: what policies and marks of statements ask about a row and about the caller.
//!
//! A condition names columns by position; its user binds names to them. It is rendered as a predicate
//! of a statement ([`statement`](super::statement)), as an expression of a PostgreSQL policy
//! ([`postgres`](super::postgres)), and evaluated on values on SQLite (`sqlite/row_security`).

use crate::store::scope_ids::{Id, Ids};

/// A question about a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store) enum Condition {
    /// The column is one of these ids.
    In(usize, Ids),
    /// The column is an id that is none of these. A scope that is about one table has no list of what is
    /// hidden, so there that holds of nothing.
    NotIn(usize, Ids),
    /// The column is this id.
    Is(usize, Id),
    /// The column is this word.
    Word(usize, &'static str),
    /// The column is the visibility of a template, and that is for everybody.
    ForEverybody(usize),
    /// The column is true.
    Flag(usize),
    /// Who asks is an administrator of the platform.
    Platform,
    /// Where the scope is about one such id, the column is that id; otherwise the other condition holds.
    Only(usize, Id, &'static Condition),
    /// At least one of these holds.
    Any(&'static [Condition]),
    /// All of these hold.
    All(&'static [Condition]),
}

/// The visibility of templates for their organization alone.
pub(super) const ORGANIZATION_ONLY: &str = "org";
/// The other ones.
pub(in crate::store) const FOR_EVERYBODY: [&str; 2] = ["system", "public"];

/// The setting of PostgreSQL that is `on` for administrators of the platform.
pub(in crate::store) const PLATFORM: &str = "tplkit.platform";
