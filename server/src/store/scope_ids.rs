//! The ids that a scope brings along: those that statements take as parameters, and row security as settings.

use uuid::Uuid;

use super::Visible;

/// Lists of ids that a caller brings along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ids {
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
pub(super) enum Id {
    /// The user, or the API key.
    Caller,
    /// The run that works for the caller, if one does.
    Run,
    /// The one workspace that the scope is about, if it is about one.
    OnlyWorkspace,
    /// The one table of which every row is visible, if the scope is about one.
    OnlyFeature,
}

impl Ids {
    /// Those of a caller.
    pub(super) fn of(self, visible: &Visible) -> &[Uuid] {
        match self {
            Ids::Organizations => &visible.organizations,
            Ids::Administered => &visible.administered,
            Ids::Workspaces => &visible.workspaces,
            Ids::Hidden => &visible.hidden,
            Ids::Guarded => &visible.guarded,
        }
    }

    /// The same, to be changed.
    pub(super) fn of_mut(self, visible: &mut Visible) -> &mut Vec<Uuid> {
        match self {
            Ids::Organizations => &mut visible.organizations,
            Ids::Administered => &mut visible.administered,
            Ids::Workspaces => &mut visible.workspaces,
            Ids::Hidden => &mut visible.hidden,
            Ids::Guarded => &mut visible.guarded,
        }
    }

    /// The setting of PostgreSQL that holds them.
    pub(super) const fn setting(self) -> &'static str {
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
    pub(super) fn of(self, visible: &Visible) -> Option<Uuid> {
        match self {
            Id::Caller => Some(visible.caller),
            Id::Run => visible.run,
            Id::OnlyWorkspace => visible.only.map(|only| only.workspace),
            Id::OnlyFeature => visible.only.and_then(|only| only.feature),
        }
    }

    /// The setting of PostgreSQL that holds it.
    pub(super) const fn setting(self) -> &'static str {
        match self {
            Id::Caller => "tplkit.caller",
            Id::Run => "tplkit.run",
            Id::OnlyWorkspace => "tplkit.only_workspace",
            Id::OnlyFeature => "tplkit.only_feature",
        }
    }
}
