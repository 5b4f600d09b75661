//! A statement for a store, with its properties.

use std::sync::OnceLock;

use super::scope_ids::{Id, Ids};
use super::{Value, Visible};

/// A statement in the words of one store.
#[derive(Debug)]
pub(super) struct Statement {
    pub(super) text: String,
    /// The table that is written.
    pub(super) writes: Option<&'static str>,
    /// Parameters that the scope adds behind the given ones, in order.
    pub(super) added: Vec<ScopeParameter>,
    /// Position of the parameter that has to be an organization of the scope.
    pub(super) into: Option<usize>,
    /// Position of the parameter that has to be the caller.
    pub(super) own: Option<usize>,
    /// Whether it will be asked again in the same words, so that preparing it pays.
    pub(super) keeps_plan: bool,
    /// Whether a plan that was made for any parameters would be a bad one for some.
    pub(super) anew: bool,
    /// After how many bytes its response may end, before all rows are read.
    pub(super) most: Option<usize>,
    /// On PostgreSQL, this as the first question of a transaction, which sets the scope along with it, for
    /// each way to begin one.
    pub(super) entries: [OnceLock<String>; 6],
}

/// What of a scope a statement takes as a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScopeParameter {
    /// A list of ids.
    List(Ids),
    /// An id.
    Id(Id),
    /// The only organization of a caller, or the one whose queues are looked at.
    Organization,
}

impl ScopeParameter {
    /// What it is for a caller.
    pub(super) fn value(self, visible: &Visible) -> Value {
        match self {
            ScopeParameter::List(ids) => Value::Ids(ids.of(visible).to_vec()),
            ScopeParameter::Id(id) => id.of(visible).into(),
            ScopeParameter::Organization => visible.organizations.first().copied().into(),
        }
    }
}

impl Statement {
    /// One of that text; what it writes, and what the scope adds to it, is not said yet.
    pub(super) fn of(text: String) -> Statement {
        Statement {
            text,
            writes: None,
            added: Vec::new(),
            into: None,
            own: None,
            keeps_plan: true,
            anew: false,
            most: None,
            entries: Default::default(),
        }
    }

    /// The number of the parameter that the scope adds behind so many given ones, the same each time.
    pub(super) fn parameter(&mut self, given: usize, added: ScopeParameter) -> usize {
        let known = self.added.iter().position(|known| *known == added);
        let position = known.unwrap_or_else(|| {
            self.added.push(added);
            self.added.len() - 1
        });
        given + position + 1
    }
}
