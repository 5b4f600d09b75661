//! Conditions: what policies and marks of statements ask about a row and about the caller.
//!
//! A condition names columns by position; its user binds names to them. It is rendered as a predicate
//! of a statement ([`statement`](super::statement)), as an expression of a PostgreSQL policy
//! ([`postgres`](super::postgres)), and evaluated on values on SQLite (`sqlite/row_security`).

use uuid::Uuid;

use crate::store::Visible;

/// A question about a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store) enum Condition {
    /// The column is one of these ids.
    In(usize, Ids),
    /// The column is an id that is none of these.
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
    /// At least one of these holds.
    Any(&'static [Condition]),
    /// All of these hold.
    All(&'static [Condition]),
}

/// Lists of ids that a caller brings along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store) enum Ids {
    /// The organizations of the caller.
    Organizations,
    /// Those of them in which every workspace is visible.
    Administered,
    /// Workspaces that name the caller as a member.
    Workspaces,
    /// Workspaces that are kept from the caller.
    Hidden,
    /// Features of which the caller sees the own rows only.
    Guarded,
}

/// Ids that a caller brings along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store) enum Id {
    /// The user, or the API key.
    Caller,
    /// The run that works for the caller, if one does.
    Run,
}

/// The visibility of templates for their organization alone.
pub(super) const ORGANIZATION_ONLY: &str = "org";
/// The other ones.
pub(in crate::store) const FOR_EVERYBODY: [&str; 2] = ["system", "public"];

impl Ids {
    /// Those of a caller.
    pub(in crate::store) fn of(self, visible: &Visible) -> &[Uuid] {
        match self {
            Ids::Organizations => &visible.organizations,
            Ids::Administered => &visible.administered,
            Ids::Workspaces => &visible.workspaces,
            Ids::Hidden => &visible.hidden,
            Ids::Guarded => &visible.guarded,
        }
    }

    /// The setting of PostgreSQL that holds them.
    pub(in crate::store) const fn setting(self) -> &'static str {
        match self {
            Ids::Organizations => "tplkit.organizations",
            Ids::Administered => "tplkit.administered",
            Ids::Workspaces => "tplkit.workspaces",
            Ids::Hidden => "tplkit.hidden",
            Ids::Guarded => "tplkit.guarded",
        }
    }
}

impl Id {
    /// That of a caller.
    pub(in crate::store) fn of(self, visible: &Visible) -> Option<Uuid> {
        match self {
            Id::Caller => Some(visible.caller),
            Id::Run => visible.run,
        }
    }

    /// The setting of PostgreSQL that holds it.
    pub(in crate::store) const fn setting(self) -> &'static str {
        match self {
            Id::Caller => "tplkit.caller",
            Id::Run => "tplkit.run",
        }
    }
}

/// The setting of PostgreSQL that is `on` for administrators of the platform.
pub(in crate::store) const PLATFORM: &str = "tplkit.platform";
