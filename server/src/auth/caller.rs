//! The caller of a request, read anew for each: who loses a membership loses everything with it.

use std::sync::{Arc, OnceLock};

use uuid::Uuid;

use super::secret::{API_KEY_PREFIX, hash, organization};
use crate::context::Context;
use crate::store::{Check, Row, Scope, Store, StoreError, Tx, Visible};

/// How often the last use of a key is written down, in microseconds.
const NOTE_EVERY: i64 = 60_000_000;

/// What a member of an organization may do; each includes the ones before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
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
    /// The word in answers and in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::Viewer => "viewer",
            Role::Editor => "editor",
            Role::Admin => "admin",
            Role::Owner => "owner",
        }
    }

    /// The role of that word.
    pub fn parse(word: &str) -> Option<Role> {
        [Role::Viewer, Role::Editor, Role::Admin, Role::Owner]
            .into_iter()
            .find(|role| role.as_str() == word)
    }
}

/// What an API key is good for. None includes another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

/// The scopes of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scopes(Vec<KeyScope>);

impl Scopes {
    /// Some scopes, if a key may have them: at least one, and `structure` only with `write`.
    pub fn of(words: &[&str]) -> Option<Scopes> {
        let known = |word: &&str| KeyScope::ALL.iter().any(|scope| scope.as_str() == *word);
        let scopes = KeyScope::ALL
            .iter()
            .filter(|scope| words.contains(&scope.as_str()));
        let scopes = Scopes(scopes.copied().collect());
        let lonely = scopes.has(KeyScope::Structure) && !scopes.has(KeyScope::Write);
        (!scopes.0.is_empty() && !lonely && words.iter().all(known)).then_some(scopes)
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

/// Who asks, and where they belong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Of the user or the key.
    pub id: Uuid,
    /// Which of the two.
    pub identity: Identity,
    /// The organizations, ascending, with the role in each.
    pub organizations: Vec<(Uuid, Role)>,
    workspaces: Vec<Uuid>,
    hidden: Vec<Uuid>,
    guarded: Vec<Uuid>,
    /// Whether it is an administrator of the platform: sees every template and promotes to `system`,
    /// nothing more.
    pub platform: bool,
}

impl Caller {
    /// The role in an organization, if the caller belongs to it.
    pub fn role_in(&self, organization: Uuid) -> Option<Role> {
        let found = self
            .organizations
            .iter()
            .find(|(id, _)| *id == organization);
        found.map(|(_, role)| *role)
    }

    /// As whom the store is asked.
    pub fn scope(&self) -> Scope {
        let all = self.organizations.iter();
        let administered = all.clone().filter(|(_, role)| *role >= Role::Admin);
        Scope::Caller(Visible {
            caller: self.id,
            organizations: all.map(|(id, _)| *id).collect(),
            administered: administered.map(|(id, _)| *id).collect(),
            workspaces: self.workspaces.clone(),
            hidden: self.hidden.clone(),
            guarded: self.guarded.clone(),
            platform: self.platform,
        })
    }

    /// As whom the store is asked when the model changes. Whether a table is empty or a value stands
    /// in it twice is so for everybody, hence no rows are kept from the caller; and who closes a
    /// workspace does not lose it on the way.
    pub fn scope_of_model(&self, workspace: Option<Uuid>) -> Scope {
        let Scope::Caller(mut visible) = self.scope() else {
            return self.scope();
        };
        visible.guarded.clear();
        let seen = |id: &Uuid| !self.hidden.contains(id);
        visible.workspaces.extend(workspace.filter(seen));
        Scope::Caller(visible)
    }

    /// Whether it is a key.
    pub fn is_key(&self) -> bool {
        matches!(self.identity, Identity::ApiKey { .. })
    }
}

/// Finds out who holds a credential.
///
/// # Errors
/// Those of the store.
pub async fn identify(
    store: &Store,
    context: &Context,
    credential: &str,
) -> Result<Option<Caller>, StoreError> {
    let Some(presented) = Presented::read(credential, context.now()) else {
        return Ok(None);
    };
    let (Some(organization), now) = (presented.organization, presented.now) else {
        return store
            .read(&Scope::Gate, presented, |tx, session| {
                Box::pin(find_session(tx, session))
            })
            .await;
    };
    let found = store
        .read(&Scope::Gate, presented, |tx, key| {
            Box::pin(find_key(tx, key))
        })
        .await?;
    let Some((caller, noted)) = found else {
        return Ok(None);
    };
    if noted.is_none_or(|noted| now - noted > NOTE_EVERY) {
        let noted = store
            .write(&Scope::Gate, (organization, caller.id, now), |tx, input| {
                Box::pin(note_use(tx, input))
            })
            .await;
        if let Err(error) = noted {
            // Knowing when is worth less than the request.
            tracing::warn!(%error, "the use of a key was not noted");
        }
    }
    Ok(Some(caller))
}

/// A credential as the store knows it.
#[derive(Debug, Clone)]
pub(crate) struct Presented {
    pub(super) hash: [u8; 32],
    /// Of a key.
    organization: Option<Uuid>,
    pub(super) now: i64,
}

impl Presented {
    /// `None` for what cannot be a credential.
    pub(crate) fn read(credential: &str, now: i64) -> Option<Presented> {
        let organization = if credential.starts_with(API_KEY_PREFIX) {
            Some(organization(credential)?)
        } else {
            None
        };
        Some(Presented {
            hash: hash(credential),
            organization,
            now,
        })
    }

    /// The check that the credential still belongs to this caller, with the same rights. What is
    /// found instead is written down.
    pub(crate) fn check(self, caller: Caller, found: Arc<OnceLock<Option<Caller>>>) -> Check {
        let read = move |rows: &[Row]| match self.organization {
            None => read_session(rows),
            Some(organization) => Ok(read_key(organization, rows)?.map(|(caller, _)| caller)),
        };
        let (source, parameters) = match self.organization {
            None => (SESSION, vec![self.hash.into(), self.now.into()]),
            Some(organization) => {
                let parameters = [organization.into(), self.hash.into(), self.now.into()];
                (KEY, parameters.to_vec())
            }
        };
        Check {
            source,
            parameters,
            holds: Arc::new(move |rows| {
                let now = read(rows)?;
                let holds = now.as_ref() == Some(&caller);
                let _ = found.set(now);
                Ok(holds)
            }),
        }
    }
}

/// Everything about the holder of a session in one statement, so that PostgreSQL answers in one round
/// trip. The first column tells the parts apart.
const SESSION: &str = "SELECT part, id, name FROM (WITH \
     s AS MATERIALIZED (SELECT u.id, u.email FROM sessions s JOIN users u ON u.id = s.user_id \
     WHERE s.access_hash = $1 AND s.access_expires_at > $2 AND s.revoked_at IS NULL), \
     m AS MATERIALIZED (SELECT organization_id, user_id, role FROM memberships \
     WHERE user_id = (SELECT id FROM s)) \
     SELECT CAST(0 AS bigint) AS part, id, email AS name FROM s \
     UNION ALL SELECT 1, organization_id, role FROM m \
     UNION ALL SELECT 2, w.workspace_id, m.role FROM m JOIN workspace_members w \
     ON w.organization_id = m.organization_id AND w.user_id = m.user_id \
     UNION ALL SELECT 3, w.id, m.role FROM m \
     JOIN workspaces w ON w.organization_id = m.organization_id AND w.access = 'members' \
     WHERE m.role IN ('editor', 'viewer') AND NOT EXISTS (SELECT 1 FROM workspace_members l \
     WHERE l.organization_id = w.organization_id AND l.workspace_id = w.id AND l.user_id = m.user_id) \
     UNION ALL SELECT 4, f.id, m.role FROM m \
     JOIN features f ON f.organization_id = m.organization_id AND f.own_rows \
     WHERE m.role IN ('editor', 'viewer') \
     UNION ALL SELECT 5, u.id, u.email FROM s JOIN users u ON u.id = s.id AND u.platform_admin) AS known";

const KEY: &str = "SELECT id, scopes, last_used_at FROM api_keys WHERE organization_id = $1 \
     AND secret_hash = $2 AND (expires_at IS NULL OR expires_at > $3)";

async fn find_session(tx: &mut Tx, session: &Presented) -> Result<Option<Caller>, StoreError> {
    let rows = tx
        .last(SESSION, &[session.hash.into(), session.now.into()])
        .await?;
    read_session(&rows)
}

fn read_session(rows: &[Row]) -> Result<Option<Caller>, StoreError> {
    let mut user = None;
    let mut organizations = Vec::new();
    let (mut workspaces, mut hidden, mut guarded) = (Vec::new(), Vec::new(), Vec::new());
    let mut platform = false;
    for row in rows {
        let (id, text): (Uuid, String) = (row.get(1)?, row.get(2)?);
        match row.get::<i64>(0)? {
            0 => user = Some((id, text)),
            1 => organizations.extend(Role::parse(&text).map(|role| (id, role))),
            2 => workspaces.push(id),
            3 => hidden.push(id),
            4 => guarded.push(id),
            _ => platform = true,
        }
    }
    // The statement promises no order.
    organizations.sort_unstable();
    for ids in [&mut workspaces, &mut hidden, &mut guarded] {
        ids.sort_unstable();
    }
    Ok(user.map(|(id, email)| Caller {
        id,
        identity: Identity::User { email },
        organizations,
        workspaces,
        hidden,
        guarded,
        platform,
    }))
}

/// The key as a caller, and when its use was last noted.
async fn find_key(
    tx: &mut Tx,
    key: &Presented,
) -> Result<Option<(Caller, Option<i64>)>, StoreError> {
    let Some(organization) = key.organization else {
        return Ok(None);
    };
    let parameters = [organization.into(), key.hash.into(), key.now.into()];
    let rows = tx.last(KEY, &parameters).await?;
    read_key(organization, &rows)
}

fn read_key(organization: Uuid, rows: &[Row]) -> Result<Option<(Caller, Option<i64>)>, StoreError> {
    let Some(row) = rows.first() else {
        return Ok(None);
    };
    let stored: String = row.get(1)?;
    let caller = Caller {
        id: row.get(0)?,
        identity: Identity::ApiKey {
            scopes: Scopes::parse(&stored),
        },
        // A key acts as an administrator, cut down by its scopes.
        organizations: vec![(organization, Role::Admin)],
        workspaces: Vec::new(),
        hidden: Vec::new(),
        guarded: Vec::new(),
        platform: false,
    };
    Ok(Some((caller, row.get(2)?)))
}

async fn note_use(
    tx: &mut Tx,
    (organization, key, now): &(Uuid, Uuid, i64),
) -> Result<(), StoreError> {
    let sql = "UPDATE main.api_keys SET last_used_at = $3 WHERE organization_id = $1 AND id = $2";
    let parameters = [(*organization).into(), (*key).into(), (*now).into()];
    tx.query(sql, &parameters).await.map(drop)
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
