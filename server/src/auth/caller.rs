//! The caller of a request: identity, roles, scopes and visibility.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::ids::{TableKey, WorkspaceKey};
use crate::refusal::Refusal;
use crate::store::{Scope, Visible};

/// What a member may do, from least to most; each role includes the ones before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Reads.
    Viewer,
    /// Writes rows, structure and automations.
    Editor,
    /// Manages the organization, members, keys, templates.
    Admin,
    /// Manages owners.
    Owner,
}

impl Role {
    /// The word in responses and in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::Viewer => "viewer",
            Role::Editor => "editor",
            Role::Admin => "admin",
            Role::Owner => "owner",
        }
    }

    /// The words of all roles, as refusals list them.
    pub const WORDS: &str = "owner, admin, editor, viewer";

    /// The role of that word.
    pub fn parse(word: &str) -> Option<Role> {
        [Role::Viewer, Role::Editor, Role::Admin, Role::Owner]
            .into_iter()
            .find(|role| role.as_str() == word)
    }
}

/// What an API key is good for. None includes another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum KeyScope {
    /// Safe methods, export, validation of automations.
    Read,
    /// Rows, the organization, runs.
    Write,
    /// The model.
    Structure,
}

impl KeyScope {
    /// All of them, in the order in which they are written.
    pub const ALL: [KeyScope; 3] = [KeyScope::Read, KeyScope::Write, KeyScope::Structure];

    /// The word in bodies and in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            KeyScope::Read => "read",
            KeyScope::Write => "write",
            KeyScope::Structure => "structure",
        }
    }
}

/// What an API key may do. Each scope grants only its own; `structure` needs `write`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Scopes(#[schemars(length(min = 1))] Vec<KeyScope>);

impl Scopes {
    /// Some scopes, if a key may have them: at least one, and `structure` only with `write`.
    pub fn of(words: &[&str]) -> Option<Scopes> {
        let known = |word: &&str| KeyScope::ALL.iter().any(|scope| scope.as_str() == *word);
        let scopes = KeyScope::ALL
            .iter()
            .filter(|scope| words.contains(&scope.as_str()));
        let scopes = Scopes(scopes.copied().collect());
        let structure_only = scopes.has(KeyScope::Structure) && !scopes.has(KeyScope::Write);
        (!scopes.0.is_empty() && !structure_only && words.iter().all(known)).then_some(scopes)
    }

    /// Reads what is stored.
    pub fn parse(stored: &str) -> Scopes {
        let words: Vec<&str> = stored.split(',').collect();
        Scopes::of(&words).unwrap_or(Scopes(Vec::new()))
    }

    /// Whether a scope is among them.
    pub fn has(&self, scope: KeyScope) -> bool {
        self.0.contains(&scope)
    }

    /// Their words.
    pub fn words(&self) -> Vec<&'static str> {
        self.0.iter().map(|scope| scope.as_str()).collect()
    }
}

/// What kind of caller it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identity {
    /// A person with a session.
    User {
        /// Of the person.
        email: String,
    },
    /// A machine with a key.
    ApiKey {
        /// What the key is good for.
        scopes: Scopes,
    },
}

/// A caller, and the least role that what is asked takes.
#[derive(Debug, Clone, Copy)]
pub struct Actor<'c> {
    /// Who asks.
    pub caller: &'c Caller,
    /// The least role in the organization concerned.
    pub least: Role,
}

impl Actor<'_> {
    /// The role in the organization of a record that was found.
    ///
    /// # Errors
    /// 404 for strangers, 403 for a role that does not suffice.
    pub fn enter(self, organization: Uuid) -> Result<Role, Refusal> {
        self.caller.enter(self.least, organization)
    }
}

/// The role of a caller in an organization.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct OrganizationRole {
    /// The organization.
    pub organization: Uuid,
    /// The role in it.
    pub role: Role,
}

/// The caller and their organizations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Of the user or the key.
    pub id: Uuid,
    /// Which of the two.
    pub identity: Identity,
    /// The organizations, ascending, with the role in each.
    pub organizations: Vec<OrganizationRole>,
    visible: Arc<Visible>,
}

impl Caller {
    /// Somebody with these roles. What is `visible` by them is filled in.
    pub(super) fn new(
        identity: Identity,
        organizations: Vec<OrganizationRole>,
        visible: Visible,
    ) -> Caller {
        let all = organizations.iter();
        let administered = all.clone().filter(|one| one.role >= Role::Admin);
        let visible = Visible {
            organizations: all.map(|one| one.organization).collect(),
            administered: administered.map(|one| one.organization).collect(),
            ..visible
        };
        Caller {
            id: visible.caller,
            identity,
            organizations,
            visible: Arc::new(visible),
        }
    }

    /// Whether it is an administrator of the platform: sees every template and promotes to `system`,
    /// nothing more.
    pub fn platform(&self) -> bool {
        self.visible.platform
    }

    /// The role in an organization, if the caller belongs to it.
    pub fn role_in(&self, organization: Uuid) -> Option<Role> {
        let mut all = self.organizations.iter();
        let found = all.find(|one| one.organization == organization);
        found.map(|one| one.role)
    }

    /// The role in an organization, when it is `least` or more.
    ///
    /// # Errors
    /// 404 for strangers, 403 for a role that does not suffice.
    pub fn enter(&self, least: Role, organization: Uuid) -> Result<Role, Refusal> {
        let role = self.role_in(organization).ok_or_else(Refusal::not_found)?;
        if role < least {
            return Err(Refusal::forbidden(format!(
                "This takes the role {} or more.",
                least.as_str()
            )));
        }
        Ok(role)
    }

    /// Whether the caller may apply templates to the workspaces of an organization that they see.
    pub(crate) fn may_apply(&self, organization: Uuid) -> bool {
        let in_scope = match &self.identity {
            Identity::User { .. } => true,
            Identity::ApiKey { scopes } => scopes.has(KeyScope::Structure),
        };
        let role = self.role_in(organization);
        in_scope && role.is_some_and(|role| role >= Role::Editor)
    }

    /// As whom the store is asked. Only the session of a request gives it away, for it alone knows whether the caller
    /// is confirmed.
    pub(super) fn scope(&self) -> Scope {
        Scope::Caller(self.visible.clone())
    }

    /// Whether so much may be kept from the caller, or so many organizations be theirs, that what is about one
    /// table is asked without the rest. A key, and who administers the only organization, have no rest.
    pub(crate) fn is_narrowed(&self) -> bool {
        let all_of_one = self.organizations.len() == 1 && self.administers_all();
        !self.is_key() && !all_of_one
    }

    /// As whom the store is asked about one table; nothing where the caller does not see it, or has no rest.
    pub(super) fn scope_of_table(&self, table: TableKey) -> Option<Scope> {
        if !self.is_narrowed() {
            return None;
        }
        self.visible.only(table).map(Scope::from)
    }

    /// What the caller may see.
    pub(super) fn visible(&self) -> &Visible {
        &self.visible
    }

    /// Whether the caller sees a workspace. No statement may go by it: the caller may be a remembered one.
    pub(crate) fn sees_workspace(&self, key: WorkspaceKey) -> bool {
        let visible = &self.visible;
        visible.organizations.contains(&key.organization) && visible.sees_workspace(key.workspace)
    }

    /// Whether no rows of a table, which the caller sees, are kept from them. No statement may go by it, either.
    pub(crate) fn sees_all_rows(&self, feature: Uuid) -> bool {
        !self.visible.guarded.contains(&feature)
    }

    /// As whom the store is asked when the model changes. Whether a table is empty or a value stands
    /// in it twice is so for everybody, hence no rows are kept from the caller; and who closes a
    /// workspace does not lose it on the way.
    pub(super) fn scope_of_model(&self, workspace: Option<Uuid>) -> Scope {
        let mut visible = Visible::clone(&self.visible).guarding(Vec::new());
        let seen = |id: &Uuid| self.visible.sees_workspace(*id);
        visible.workspaces.extend(workspace.filter(seen));
        visible.into()
    }

    /// Whether nothing is kept from the caller in any of the organizations.
    pub(super) fn administers_all(&self) -> bool {
        let mut roles = self.organizations.iter().map(|one| one.role);
        roles.all(|role| role >= Role::Admin)
    }

    /// Whether it is a key.
    pub fn is_key(&self) -> bool {
        matches!(self.identity, Identity::ApiKey { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::{Role, Scopes};

    #[test]
    fn structure_comes_with_write_only() {
        for (words, fine) in [
            (&["read"][..], true),
            (&["write"], true),
            (&["structure", "write"], true),
            (&["read", "structure"], false),
            (&[], false),
            (&["read", "admin"], false),
        ] {
            assert_eq!(Scopes::of(words).is_some(), fine, "{words:?}");
        }
        let scopes = Scopes::of(&["structure", "write"]).expect("fine");
        assert_eq!(Scopes::parse(&scopes.words().join(",")), scopes);
    }

    #[test]
    fn roles_include_one_another() {
        assert!(
            Role::Owner > Role::Admin && Role::Admin > Role::Editor && Role::Editor > Role::Viewer
        );
        assert_eq!(Role::parse("admin"), Some(Role::Admin));
        assert_eq!(Role::parse("Admin"), None);
    }
}
