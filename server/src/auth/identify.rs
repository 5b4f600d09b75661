//! Identifies the holder of a credential, anew for each request, so a lost membership takes effect
//! at once.

use uuid::Uuid;

use super::caller::{Caller, Identity, OrganizationRole, Role, Scopes};
use super::caller_statements::{KEY, PERSON, SESSION};
use super::distributed_queries;
use super::secret::{API_KEY_PREFIX, hash, organization};
use super::visibility::Restrictions;
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
    let restricted = distributed_queries::restricted(&caller);
    rows.extend(
        tx.each(distributed_queries::RESTRICTIONS, &restricted)
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
