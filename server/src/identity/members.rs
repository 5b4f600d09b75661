//! Members: people and their roles in an organization.
//!
//! Whoever changes who belongs to an organization holds its record until the transaction ends, so seats and owners can
//! be counted.

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::auth::{Role, user_by_email};
use crate::json_schemas::UtcInstant;
use crate::paging::PageRequest;
use crate::refusal::{Code, Refusal};
use crate::store::{Row, Scope, Store, StoreError, Tx};

/// A person who belongs to an organization.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Member {
    /// The user.
    pub user_id: Uuid,
    /// E-mail address.
    pub email: String,
    /// In this organization.
    #[schemars(with = "Role")]
    pub role: String,
    /// When the person became a member.
    pub created_at: UtcInstant,
}

impl Member {
    fn read(row: &Row) -> Result<Member, StoreError> {
        Ok(Member {
            user_id: row.get(0)?,
            email: row.get(1)?,
            role: row.get(2)?,
            created_at: UtcInstant(row.get(3)?),
        })
    }
}

/// Which membership.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemberKey {
    /// Where.
    pub organization: Uuid,
    /// Whose.
    pub user: Uuid,
}

/// A page of an organization's members, and one more if another page follows.
///
/// # Errors
/// Those of the store.
pub async fn page(
    tx: &mut Tx,
    organization: Uuid,
    page: &PageRequest,
) -> Result<Vec<Member>, StoreError> {
    let sql = "SELECT user_id, email, role, created_at FROM memberships \
         WHERE {tenant organization_id} AND organization_id = $1 AND user_id > $2 \
         ORDER BY user_id LIMIT $3";
    let parameters = [
        organization.into(),
        page.from().into(),
        page.lookahead().into(),
    ];
    let rows = tx.last(sql, &parameters).await?;
    rows.iter().map(Member::read).collect()
}

/// The member, if there is one that the scope sees.
///
/// # Errors
/// Those of the store.
pub async fn find(tx: &mut Tx, key: MemberKey) -> Result<Option<Member>, StoreError> {
    let sql = "SELECT user_id, email, role, created_at FROM memberships \
         WHERE {tenant organization_id} AND organization_id = $1 AND user_id = $2";
    let row = tx
        .first(sql, &[key.organization.into(), key.user.into()])
        .await?;
    row.as_ref().map(Member::read).transpose()
}

/// Whether somebody belongs to an organization.
///
/// # Errors
/// Those of the store.
pub async fn is_member(tx: &mut Tx, organization: Uuid, user: Uuid) -> Result<bool, StoreError> {
    let sql = "SELECT user_id FROM memberships WHERE {tenant organization_id} \
         AND organization_id = $1 AND user_id = $2";
    let parameters = [organization.into(), user.into()];
    Ok(tx.first(sql, &parameters).await?.is_some())
}

/// A membership that is to be, of somebody who is known.
#[derive(Debug)]
pub struct NewMember {
    /// Where and whose.
    pub key: MemberKey,
    /// Trimmed and lower-cased.
    pub email: String,
    /// As what.
    pub role: Role,
    /// The time.
    pub now: i64,
}

/// A membership that is to be.
#[derive(Debug)]
pub struct Add {
    /// Where.
    pub organization: Uuid,
    /// Whose, trimmed and lower-cased.
    pub email: String,
    /// As what.
    pub role: Role,
    /// The time.
    pub now: i64,
}

impl Add {
    /// Finds the user whom it concerns. Addresses are nobody's business but the operator's; the members see who was
    /// found. `own_role` is that of who asks.
    ///
    /// # Errors
    /// 403 where owners are concerned, 422 for an unknown address.
    pub async fn resolve(self, store: &Store, own_role: Role) -> Result<NewMember, Refusal> {
        may_give(self.role, own_role)?;
        let Some((user, _)) = user_by_email(store, self.email.clone()).await? else {
            return Err(Refusal::fault("email", "no user has this address"));
        };
        Ok(NewMember {
            key: MemberKey {
                organization: self.organization,
                user,
            },
            email: self.email,
            role: self.role,
            now: self.now,
        })
    }
}

/// Makes a user a member. `own_role` is that of who asks for it.
///
/// # Errors
/// 422 for an unknown address, 409 for one who is a member already or when no seat is left, 404 for
/// an organization outside the scope.
pub async fn add(
    store: &Store,
    scope: &Scope,
    add: Add,
    own_role: Role,
) -> Result<Member, Refusal> {
    let new = add.resolve(store, own_role).await?;
    store
        .write(scope, new, |tx, new| Box::pin(insert(tx, new)))
        .await
}

/// Whether somebody of that role may give another one: only owners make owners.
///
/// # Errors
/// 403.
pub fn may_give(role: Role, own_role: Role) -> Result<(), Refusal> {
    if role == Role::Owner && own_role < Role::Owner {
        return Err(owners_only());
    }
    Ok(())
}

/// Whether somebody of that role may change a member: only owners change owners.
///
/// # Errors
/// 403.
pub fn may_change(member: &Member, own_role: Role) -> Result<(), Refusal> {
    if Role::parse(&member.role) == Some(Role::Owner) && own_role < Role::Owner {
        return Err(owners_only());
    }
    Ok(())
}

fn owners_only() -> Refusal {
    Refusal::forbidden("Only owners make, change and remove owners.")
}

/// Keeps others from changing who belongs to an organization until the transaction ends. Gives the number of seats.
async fn lock(tx: &mut Tx, organization: Uuid) -> Result<Option<i64>, Refusal> {
    if tx.is_distributed() {
        // The worker lets its record go before others see the membership, which the coordinator has.
        let sql = "SELECT CAST(pg_advisory_xact_lock(uuid_hash_extended($1, 0)) AS text) {into $1}";
        tx.query(sql, &[organization.into()]).await?;
    }
    let sql = "SELECT seats FROM organizations WHERE {tenant id} AND id = $1 {lock}";
    let row = tx.first(sql, &[organization.into()]).await?;
    Ok(row.ok_or_else(Refusal::not_found)?.get(0)?)
}

/// Writes a membership down.
///
/// # Errors
/// 409 for one who is a member already or when no seat is left, 404 for an organization outside the scope.
pub async fn insert(tx: &mut Tx, new: &NewMember) -> Result<Member, Refusal> {
    let MemberKey { organization, user } = new.key;
    let seats = lock(tx, organization).await?;
    if find(tx, new.key).await?.is_some() {
        return Err(Refusal::new(
            Code::Conflict,
            "This person is a member already.",
        ));
    }
    if let Some(seats) = seats {
        let sql = "SELECT count(*) FROM memberships WHERE {tenant organization_id} AND organization_id = $1";
        let row = tx.first(sql, &[organization.into()]).await?;
        let taken: i64 = row.map_or(Ok(0), |row| row.get(0))?;
        if taken >= seats {
            return Err(Refusal::new(
                Code::NoSeatsAvailable,
                "The organization has no seat left.",
            ));
        }
    }
    let sql = "INSERT INTO main.memberships {into $1} (organization_id, user_id, email, role, created_at) \
         VALUES ($1, $2, $3, $4, $5) RETURNING user_id, email, role, created_at";
    let parameters = [
        organization.into(),
        user.into(),
        new.email.as_str().into(),
        new.role.as_str().into(),
        new.now.into(),
    ];
    let row = tx.first(sql, &parameters).await?;
    Ok(Member::read(&row.ok_or_else(Refusal::not_found)?)?)
}

/// Locks a membership that may become `role`, or end where that is nothing: that of an owner by owners alone, and the
/// last owner stays one.
async fn changeable(
    tx: &mut Tx,
    key: MemberKey,
    role: Option<Role>,
    own_role: Role,
) -> Result<(), Refusal> {
    lock(tx, key.organization).await?;
    let member = find(tx, key).await?.ok_or_else(Refusal::not_found)?;
    may_change(&member, own_role)?;
    if Role::parse(&member.role) == Some(Role::Owner) {
        let sql = "SELECT count(*) FROM memberships \
             WHERE {tenant organization_id} AND organization_id = $1 AND role = 'owner'";
        let row = tx.first(sql, &[key.organization.into()]).await?;
        let owners: i64 = row.map_or(Ok(0), |row| row.get(0))?;
        if owners == 1 && role != Some(Role::Owner) {
            return Err(Refusal::new(Code::Conflict, "The last owner stays."));
        }
    }
    Ok(())
}

/// Gives a member another role. `own_role` is that of who asks for it.
///
/// # Errors
/// 404 for users who are not members, 403 and 409 where owners are concerned.
pub async fn set_role(
    tx: &mut Tx,
    key: MemberKey,
    role: Role,
    own_role: Role,
) -> Result<Member, Refusal> {
    changeable(tx, key, Some(role), own_role).await?;
    let sql = "UPDATE main.memberships SET role = $3 \
         WHERE {tenant organization_id} AND organization_id = $1 AND user_id = $2 \
         RETURNING user_id, email, role, created_at";
    let parameters = [
        key.organization.into(),
        key.user.into(),
        role.as_str().into(),
    ];
    let row = tx.first(sql, &parameters).await?;
    Ok(Member::read(&row.ok_or_else(Refusal::not_found)?)?)
}

/// Ends a membership. `own_role` is that of who asks for it.
///
/// # Errors
/// 404 for users who are not members, 403 and 409 where owners are concerned.
pub async fn remove(tx: &mut Tx, key: MemberKey, own_role: Role) -> Result<(), Refusal> {
    changeable(tx, key, None, own_role).await?;
    let sql = "DELETE FROM main.memberships \
         WHERE {tenant organization_id} AND organization_id = $1 AND user_id = $2";
    let parameters = [key.organization.into(), key.user.into()];
    tx.query(sql, &parameters).await?;
    // A foreign key does so where both lie on one machine. Whoever lists the person meanwhile holds the membership.
    let sql = "DELETE FROM main.workspace_members \
         WHERE {tenant organization_id} AND organization_id = $1 AND user_id = $2";
    tx.query(sql, &parameters).await?;
    Ok(())
}

/// Ends the membership of the user with that email, as owners of the organization may.
///
/// # Errors
/// 404 for users who do not exist or are not members, 409 for the last owner.
pub async fn remove_by_email(
    store: &Store,
    organization: Uuid,
    email: String,
) -> Result<(), Refusal> {
    let none = || {
        let detail = format!("There is no member {email} in an organization {organization}.");
        Refusal::new(Code::NotFound, detail)
    };
    let user = user_by_email(store, email.clone()).await?;
    let (user, _) = user.ok_or_else(none)?;
    let key = MemberKey { organization, user };
    let removed = store
        .write(&Scope::Operator, key, |tx, key| {
            Box::pin(remove(tx, *key, Role::Owner))
        })
        .await;
    removed.map_err(|refusal: Refusal| match refusal.code {
        Code::NotFound => none(),
        _ => refusal,
    })
}
