//! Identifies the holder of a credential, anew for each request, so a lost membership takes effect
//! at once.

use uuid::Uuid;

use super::caller::{Caller, Identity, OrganizationRole, Role, Scopes};
use super::distributed;
use super::secret::{API_KEY_PREFIX, hash, organization};
use super::visibility::{Restrictions, visibility};
use crate::context::Context;
use crate::ids::WorkspaceKey;
use crate::store::{Row, Scope, Store, StoreError, Tx, Visible};

/// How often the last use of a key is written down, in microseconds.
const NOTE_EVERY: i64 = 60_000_000;

/// Finds out who holds a credential.
///
/// # Errors
/// Those of the store.
pub async fn identify(
    store: &Store,
    context: &Context,
    credential: &str,
) -> Result<Option<Caller>, StoreError> {
    match PresentedCredential::read(credential, context.now()) {
        Some(presented) => holder(store, presented).await,
        None => Ok(None),
    }
}

/// Finds out who holds what may be a credential.
///
/// # Errors
/// Those of the store.
pub(super) async fn holder(
    store: &Store,
    presented: PresentedCredential,
) -> Result<Option<Caller>, StoreError> {
    let (Some(organization), now) = (presented.organization, presented.now) else {
        return store
            .read(&Scope::Authentication, presented, |tx, session| {
                Box::pin(find_session(tx, session))
            })
            .await;
    };
    let found = store
        .read(&Scope::Authentication, presented, |tx, key| {
            Box::pin(find_key(tx, key))
        })
        .await?;
    let Some((caller, noted)) = found else {
        return Ok(None);
    };
    if noted.is_none_or(|noted| now - noted > NOTE_EVERY) {
        let noted = store
            .write(
                &Scope::Authentication,
                (organization, caller.id, now),
                |tx, (organization, key, now)| Box::pin(note_use(tx, *organization, *key, *now)),
            )
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
pub(super) struct PresentedCredential {
    pub(super) hash: [u8; 32],
    /// Of a key.
    pub(super) organization: Option<Uuid>,
    pub(super) now: i64,
}

impl PresentedCredential {
    /// `None` for what cannot be a credential.
    pub(super) fn read(credential: &str, now: i64) -> Option<PresentedCredential> {
        let organization = if credential.starts_with(API_KEY_PREFIX) {
            Some(organization(credential)?)
        } else {
            None
        };
        Some(PresentedCredential {
            hash: hash(credential),
            organization,
            now,
        })
    }
}

/// The words of a session's statements that ask who its holder is: `person` names it `s`, and `who` gives the parts
/// about the person.
macro_rules! session {
    (person) => {
        "s AS MATERIALIZED (SELECT u.id, u.email FROM sessions s JOIN users u ON u.id = s.user_id \
         WHERE s.access_hash = $1 AND s.access_expires_at > $2 AND s.revoked_at IS NULL), \
         m AS MATERIALIZED (SELECT organization_id, user_id, role FROM memberships \
         WHERE user_id = (SELECT id FROM s))"
    };
    (who) => {
        "SELECT CAST(0 AS bigint) AS part, id, email AS name, id AS place FROM s \
         UNION ALL SELECT 1, organization_id, role, organization_id FROM m \
         UNION ALL SELECT 5, u.id, u.email, u.id FROM s JOIN users u ON u.id = s.id AND u.platform_admin"
    };
}

/// Everything about the holder of a session in one statement, so that PostgreSQL responds in one round
/// trip. The first column tells the parts apart.
pub(super) const SESSION: &str = concat!(
    "SELECT part, id, name, place FROM (WITH ",
    session!(person),
    " ",
    session!(who),
    " UNION ALL SELECT 2, w.workspace_id, m.role, w.workspace_id FROM m JOIN workspace_members w \
     ON w.organization_id = m.organization_id AND w.user_id = m.user_id \
     UNION ALL SELECT 3, w.id, m.role, w.id FROM m \
     JOIN workspaces w ON w.organization_id = m.organization_id AND ",
    visibility!(restricted),
    " WHERE ",
    visibility!(below admin),
    " AND NOT ",
    visibility!(listed "w.organization_id", "w.id", "m.user_id"),
    " UNION ALL SELECT 4, f.id, m.role, f.workspace_id FROM m \
     JOIN features f ON f.organization_id = m.organization_id AND ",
    visibility!(guarded),
    " WHERE ",
    visibility!(below admin),
    ") AS known {across sign-in}"
);

/// The same without what is kept from the person, in a distributed database: it lies on the coordinator, and what is
/// kept from people lies with their organizations.
pub(super) const PERSON: &str = concat!(
    "SELECT part, id, name, place FROM (WITH ",
    session!(person),
    " ",
    session!(who),
    ") AS known"
);

/// Whether somebody is still a person who administers these organizations. Of who does, nothing is kept,
/// so nothing else has to be looked at; [`SESSION`] takes a store several times as long.
pub(super) const ADMINISTRATOR: &str = "SELECT u.id, u.email, \
     CASE WHEN u.platform_admin THEN CAST(1 AS bigint) ELSE CAST(0 AS bigint) END, \
     m.organization_id, m.role FROM sessions s JOIN users u ON u.id = s.user_id \
     LEFT JOIN memberships m ON m.user_id = u.id \
     WHERE s.access_hash = $1 AND s.access_expires_at > $2 AND s.revoked_at IS NULL {across sign-in}";

/// Whether somebody is still a person with that role in one organization, and what of one workspace in it is
/// kept from them: nothing else of what they may see has to be looked at, however much it is. Part 0 is
/// theirs; the others are the features of the workspace that show people their own rows only.
pub(super) const MEMBER: &str = concat!(
    "SELECT part, id, name, role, platform, listed, restricted FROM (WITH \
     m AS MATERIALIZED (SELECT u.id, u.email, u.platform_admin, m.role \
     FROM sessions s JOIN users u ON u.id = s.user_id \
     JOIN memberships m ON m.organization_id = $1 AND m.user_id = u.id \
     WHERE s.access_hash = $3 AND s.access_expires_at > $4 AND s.revoked_at IS NULL) \
     SELECT CAST(0 AS bigint) AS part, id, email AS name, role, platform_admin AS platform, ",
    visibility!(listed "$1", "$2", "m.id"),
    " AS listed, EXISTS (SELECT 1 FROM workspaces w WHERE w.organization_id = $1 AND w.id = $2 AND ",
    visibility!(restricted),
    ") AS restricted FROM m \
     UNION ALL SELECT 1, f.id, m.email, m.role, m.platform_admin, m.platform_admin, m.platform_admin \
     FROM m JOIN features f ON f.organization_id = $1 AND f.workspace_id = $2 AND ",
    visibility!(guarded),
    " WHERE ",
    visibility!(below admin),
    ") AS known"
);

pub(super) const KEY: &str = concat!(
    "SELECT id, scopes, last_used_at FROM api_keys WHERE organization_id = $1 AND secret_hash = $2 AND ",
    visibility!(valid key "$3")
);

async fn find_session(
    tx: &mut Tx,
    session: &PresentedCredential,
) -> Result<Option<Caller>, StoreError> {
    let parameters = [session.hash.into(), session.now.into()];
    if !tx.is_distributed() {
        return read_session(&tx.last(SESSION, &parameters).await?);
    }
    let mut rows = tx.query(PERSON, &parameters).await?;
    let Some(caller) = read_session(&rows)? else {
        return Ok(None);
    };
    let restricted = distributed::restricted(&caller);
    rows.extend(
        tx.each(distributed::RESTRICTIONS, &restricted)
            .await?
            .into_iter()
            .flatten(),
    );
    read_session(&rows)
}

pub(super) fn read_session(rows: &[Row]) -> Result<Option<Caller>, StoreError> {
    let mut user = None;
    let mut organizations = Vec::new();
    let mut kept = Restrictions::default();
    let mut platform = false;
    for row in rows {
        let (id, text): (Uuid, String) = (row.get(1)?, row.get(2)?);
        match row.get::<i64>(0)? {
            0 => user = Some((id, text)),
            1 => organizations.extend(Role::parse(&text).map(|role| role_in(id, role))),
            5 => platform = true,
            part => kept.add(part, id, row.get(3)?),
        }
    }
    // The statement promises no order.
    organizations.sort_unstable();
    Ok(user.map(|(id, email)| {
        let visible = kept.of(Visible {
            caller: id,
            platform,
            ..Visible::default()
        });
        Caller::new(Identity::User { email }, organizations, visible)
    }))
}

fn role_in(organization: Uuid, role: Role) -> OrganizationRole {
    OrganizationRole { organization, role }
}

pub(super) fn is_administrator(caller: &Caller, rows: &[Row]) -> Result<bool, StoreError> {
    let Identity::User { email } = &caller.identity else {
        return Ok(false);
    };
    let mut organizations = Vec::with_capacity(rows.len());
    for row in rows {
        let (id, address): (Uuid, String) = (row.get(0)?, row.get(1)?);
        let platform = row.get::<i64>(2)? == 1;
        if id != caller.id || address != *email || platform != caller.platform() {
            return Ok(false);
        }
        let role = row.get::<Option<String>>(4)?;
        let role = role.as_deref().and_then(Role::parse);
        let member = row.get::<Option<Uuid>>(3)?.zip(role);
        organizations.extend(member.map(|(organization, role)| role_in(organization, role)));
    }
    organizations.sort_unstable();
    Ok(!rows.is_empty() && organizations == caller.organizations)
}

/// Whether the response to [`MEMBER`] is what is known of the caller, who sees the workspace.
pub(super) fn is_member(
    caller: &Caller,
    place: WorkspaceKey,
    rows: &[Row],
) -> Result<bool, StoreError> {
    let mut person = None;
    let mut guarded = Vec::new();
    let (mut listed, mut restricted) = (false, false);
    for row in rows {
        match row.get::<i64>(0)? {
            1 => guarded.push(row.get::<Uuid>(1)?),
            part => {
                listed |= row.get::<bool>(5)?;
                restricted |= row.get::<bool>(6)?;
                if part == 0 {
                    person = Some(row);
                }
            }
        }
    }
    guarded.sort_unstable();
    let (Identity::User { email }, Some(row)) = (&caller.identity, person) else {
        return Ok(false);
    };
    let visible = caller.visible();
    let role = Role::parse(&row.get::<String>(3)?);
    let below = role.is_some_and(|role| role < Role::Admin);
    let hidden = restricted && below && !listed;
    let same = row.get::<Uuid>(1)? == caller.id
        && row.get::<String>(2)? == *email
        && row.get::<bool>(4)? == caller.platform()
        && role == caller.role_in(place.organization)
        && listed == visible.workspaces.contains(&place.workspace)
        && hidden == visible.hidden.contains(&place.workspace);
    let known = visible.guarded_in(place.workspace).iter();
    Ok(same && guarded.iter().eq(known.map(|key| &key.feature)))
}

/// The key as a caller, and when its use was last noted.
async fn find_key(
    tx: &mut Tx,
    key: &PresentedCredential,
) -> Result<Option<(Caller, Option<i64>)>, StoreError> {
    let Some(organization) = key.organization else {
        return Ok(None);
    };
    let parameters = [organization.into(), key.hash.into(), key.now.into()];
    let rows = tx.last(KEY, &parameters).await?;
    read_key(organization, &rows)
}

pub(super) fn read_key(
    organization: Uuid,
    rows: &[Row],
) -> Result<Option<(Caller, Option<i64>)>, StoreError> {
    let Some(row) = rows.first() else {
        return Ok(None);
    };
    let stored: String = row.get(1)?;
    let identity = Identity::ApiKey {
        scopes: Scopes::parse(&stored),
    };
    let visible = Visible {
        caller: row.get(0)?,
        ..Visible::default()
    };
    // A key acts as an administrator, cut down by its scopes.
    let organizations = vec![role_in(organization, Role::Admin)];
    let caller = Caller::new(identity, organizations, visible);
    Ok(Some((caller, row.get(2)?)))
}

async fn note_use(tx: &mut Tx, organization: Uuid, key: Uuid, now: i64) -> Result<(), StoreError> {
    let sql = "UPDATE main.api_keys SET last_used_at = $3 WHERE organization_id = $1 AND id = $2";
    let parameters = [organization.into(), key.into(), now.into()];
    tx.query(sql, &parameters).await.map(drop)
}
