//! The scope: who asks. No statement runs without it.

use std::sync::Arc;

use uuid::Uuid;

/// The roles of PostgreSQL: that of authentication, of the operator and of callers.
pub(super) const ROLES: [&str; 3] = ["tplkit_gate", "tplkit_operator", "tplkit_request"];

/// The identity under which a transaction runs, and with it what both layers let through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// Authentication: finds out who holds a credential. Sees credentials and memberships, nothing else.
    Authentication,
    /// The administrator at the machine (`admin` commands). Sees all organizations.
    Operator,
    /// A signed-in caller. Shared, because every statement and every task takes it along.
    Caller(Arc<Visible>),
}

/// What a caller may see.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Visible {
    /// The user, or the API key.
    pub caller: Uuid,
    /// Organizations that the caller belongs to.
    pub organizations: Vec<Uuid>,
    /// Those of them in which every workspace is visible.
    pub administered: Vec<Uuid>,
    /// Workspaces that name the caller as a member.
    pub workspaces: Vec<Uuid>,
    /// Workspaces of those organizations that are kept from the caller.
    pub hidden: Vec<Uuid>,
    /// Features of those organizations of which the caller sees the own rows only.
    pub guarded: Vec<Uuid>,
    /// The run that works for the caller, if one does: what it entered where rows are kept apart is seen
    /// by it alone.
    pub run: Option<Uuid>,
    /// Whether the caller is an administrator of the platform, who sees every template and decides
    /// which are for everybody.
    pub platform: bool,
}

impl Visible {
    /// The organization of which the caller sees every row, where it is the only one.
    pub(super) fn sole_organization(&self) -> Option<Uuid> {
        match *self.organizations {
            [only] if self.hidden.is_empty() && self.guarded.is_empty() => Some(only),
            _ => None,
        }
    }
}

impl From<Visible> for Scope {
    fn from(visible: Visible) -> Scope {
        Scope::Caller(Arc::new(visible))
    }
}

impl Scope {
    /// The PostgreSQL role, and the section of SQLite's row security, that this scope runs as.
    pub(super) fn role(&self) -> &'static str {
        let [authentication, operator, caller] = ROLES;
        match self {
            Scope::Authentication => authentication,
            Scope::Operator => operator,
            Scope::Caller(_) => caller,
        }
    }

    /// Whether it is that of an administrator of the platform.
    pub(super) fn is_platform(&self) -> bool {
        matches!(self, Scope::Caller(visible) if visible.platform)
    }

    /// Whether rows of that organization may be written, as the scope predicates has it.
    pub(super) fn may_write(&self, organization: Uuid) -> bool {
        match self {
            Scope::Authentication => false,
            Scope::Operator => true,
            Scope::Caller(visible) => visible.organizations.contains(&organization),
        }
    }
}

/// Which layers are on. Both do, except in tests that take one away to see that the other holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Isolation {
    /// Predicates in the statements.
    pub predicates: bool,
    /// The store's own: row-level security, or views, triggers and the authorizer.
    pub row_security: bool,
}

impl Isolation {
    /// As it has to be.
    pub const BOTH: Isolation = Isolation {
        predicates: true,
        row_security: true,
    };
}
