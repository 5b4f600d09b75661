//! The scope: who asks. No statement runs without it.

use std::sync::Arc;

use uuid::Uuid;

use crate::ids::{FeatureKey, TableKey};

/// The roles of PostgreSQL: that of authentication, of the operator and of callers.
pub(super) const ROLES: [&str; 3] = ["tplkit_gate", "tplkit_operator", "tplkit_request"];

/// The identity under which a transaction runs, and with it what both layers let through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// Authentication: finds out who holds a credential. Sees credentials and memberships, nothing else.
    Authentication,
    /// The administrator at the machine (`admin` commands). Sees all organizations.
    Operator,
    /// The same where queues of a distributed database are looked at: of them, those of one organization alone.
    OperatorOf(Uuid),
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
    /// Features of those organizations of which the caller sees the own rows only: what statements go by.
    /// [`Visible::guarding`] fills both lists.
    pub guarded: Vec<Uuid>,
    /// The same with the workspaces in which they lie, ascending: what [`Visible::only`] goes by.
    pub guarded_in: Vec<FeatureKey>,
    /// The run that works for the caller, if one does: what it entered where rows are kept apart is seen
    /// by it alone.
    pub run: Option<Uuid>,
    /// Whether the caller is an administrator of the platform, who sees every template and decides
    /// which are for everybody.
    pub platform: bool,
    /// The one table that this is about, where it is about one. Then no other workspace is visible, and
    /// `hidden` is empty: what is kept from the caller need not be listed.
    pub only: Option<OneTable>,
}

/// The table that a scope is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OneTable {
    /// The workspace that it lies in.
    pub workspace: Uuid,
    /// The table, where all of its rows are visible: of rows, no others are.
    pub feature: Option<Uuid>,
}

impl Visible {
    /// The same caller as one who sees only the own rows of these features, each with its workspace.
    #[must_use]
    pub fn guarding(mut self, mut features: Vec<FeatureKey>) -> Visible {
        features.sort_unstable();
        self.guarded = features.iter().map(|key| key.feature).collect();
        self.guarded.sort_unstable();
        self.guarded_in = features;
        self
    }

    /// The same caller as one who is about a table, without what does not concern it. `None` where the
    /// table is not visible.
    #[must_use]
    pub fn only(&self, table: TableKey) -> Option<Visible> {
        let among = |ids: &[Uuid], id: Uuid| ids.contains(&id).then_some(id);
        let organization = among(&self.organizations, table.organization)?;
        if among(&self.hidden, table.workspace).is_some() {
            return None;
        }
        let guarded = self.guarded_in(table.workspace).to_vec();
        let is_guarded = guarded.iter().any(|key| key.feature == table.feature);
        let about = Visible {
            caller: self.caller,
            organizations: vec![organization],
            administered: among(&self.administered, organization)
                .into_iter()
                .collect(),
            workspaces: among(&self.workspaces, table.workspace)
                .into_iter()
                .collect(),
            run: self.run,
            platform: self.platform,
            only: Some(OneTable {
                workspace: table.workspace,
                feature: (!is_guarded).then_some(table.feature),
            }),
            ..Visible::default()
        };
        Some(about.guarding(guarded))
    }

    /// The guarded features of a workspace.
    pub(crate) fn guarded_in(&self, workspace: Uuid) -> &[FeatureKey] {
        let of = |bound: fn(&Uuid, &Uuid) -> bool| {
            let all = &self.guarded_in;
            all.partition_point(|key| bound(&key.workspace, &workspace))
        };
        &self.guarded_in[of(|id, of| id < of)..of(|id, of| id <= of)]
    }

    /// Whether the caller sees every row of the only organization, or of the one table that this is about.
    pub(super) fn is_whole(&self) -> bool {
        let nothing_kept = match self.only {
            Some(only) => only.feature.is_some(),
            None => self.hidden.is_empty() && self.guarded.is_empty(),
        };
        nothing_kept && self.organizations.len() == 1
    }

    /// The organization of which the caller sees every row, or every row of the one table.
    pub(super) fn sole_organization(&self) -> Option<Uuid> {
        let only = self.organizations.first().copied();
        only.filter(|_| self.is_whole())
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
            Scope::Operator | Scope::OperatorOf(_) => operator,
            Scope::Caller(_) => caller,
        }
    }

    /// Whether it is a caller who sees every row of the only organization, or of the one table that this is about.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self, Scope::Caller(visible) if visible.is_whole())
    }

    /// Whether rows of that organization may be written, as the scope predicates has it.
    pub(super) fn may_write(&self, organization: Uuid) -> bool {
        match self {
            Scope::Authentication => false,
            Scope::Operator => true,
            Scope::OperatorOf(own) => *own == organization,
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
