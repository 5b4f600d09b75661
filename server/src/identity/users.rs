//! Users: people who can sign in. No request creates them; the `admin` command creates and lists them
//! and resets passwords.

use serde::Serialize;
use uuid::Uuid;

use crate::auth::{NewPassword, set_password, user_by_email};
use crate::json_schemas::UtcInstant;
use crate::refusal::{Code, Refusal};
use crate::store::{Row, Scope, Store, StoreError, Tx};

/// A user as an administrator sees it.
#[derive(Debug, Serialize)]
pub struct User {
    /// Of the record.
    pub id: Uuid,
    /// Trimmed and lower-cased.
    pub email: String,
    /// Whether this is an administrator of the platform.
    pub platform_admin: bool,
    /// When it was created.
    pub created_at: UtcInstant,
}

/// A new user.
#[derive(Debug)]
pub struct New {
    /// Of the record.
    pub id: Uuid,
    /// Trimmed and lower-cased.
    pub email: String,
    /// As [`hash_password`](crate::auth::hash_password) made it.
    pub password_hash: String,
    /// Whether this is an administrator of the platform.
    pub platform_admin: bool,
    /// The time.
    pub now: i64,
}

/// Creates a user.
///
/// # Errors
/// A conflict when the address is taken.
pub async fn create(store: &Store, new: New) -> Result<User, Refusal> {
    store
        .write(&Scope::Operator, new, |tx, new| Box::pin(insert(tx, new)))
        .await
}

async fn insert(tx: &mut Tx, new: &New) -> Result<User, Refusal> {
    let sql = "INSERT INTO main.users (id, email, password_hash, platform_admin, created_at) \
         VALUES ($1, $2, $3, $4, $5)";
    let parameters = [
        new.id.into(),
        new.email.as_str().into(),
        new.password_hash.as_str().into(),
        new.platform_admin.into(),
        new.now.into(),
    ];
    match tx.query(sql, &parameters).await {
        Ok(_) => Ok(User {
            id: new.id,
            email: new.email.clone(),
            platform_admin: new.platform_admin,
            created_at: UtcInstant(new.now),
        }),
        Err(StoreError::Unique { constraint }) if constraint == "users_email" => Err(Refusal::new(
            Code::Conflict,
            "There is a user with this address already.",
        )),
        Err(error) => Err(error.into()),
    }
}

/// A user with what they are a member of.
#[derive(Debug, Serialize)]
pub struct UserView {
    /// Of the record.
    pub id: Uuid,
    /// Trimmed and lower-cased.
    pub email: String,
    /// Whether this is an administrator of the platform.
    pub platform_admin: bool,
    /// In which organizations, as what.
    pub organizations: Vec<Membership>,
}

/// What somebody is in an organization.
#[derive(Debug, Serialize)]
pub struct Membership {
    /// Of the organization.
    pub id: Uuid,
    /// Of the organization.
    pub label: String,
    /// `owner`, `admin`, `editor` or `viewer`.
    pub role: String,
}

/// All users in the order of their addresses, or the members of an organization.
///
/// # Errors
/// 404 for an organization that is not there.
pub async fn list(store: &Store, organization: Option<Uuid>) -> Result<Vec<UserView>, Refusal> {
    store
        .snapshot(&Scope::Operator, organization, |tx, organization| {
            Box::pin(select(tx, *organization))
        })
        .await
}

/// The user with that address.
///
/// # Errors
/// 404 when there is none.
pub async fn find(store: &Store, email: String) -> Result<UserView, Refusal> {
    let all = list(store, None).await?;
    let found = all.into_iter().find(|user| user.email == email);
    found.ok_or_else(|| unknown(&email))
}

fn unknown(email: &str) -> Refusal {
    let detail = format!("There is no user with the address {email}.");
    Refusal::new(Code::NotFound, detail)
}

async fn select(tx: &mut Tx, organization: Option<Uuid>) -> Result<Vec<UserView>, Refusal> {
    if let Some(organization) = organization {
        let sql = "SELECT id FROM organizations WHERE {tenant id} AND id = $1";
        if tx.first(sql, &[organization.into()]).await?.is_none() {
            let detail = format!("There is no organization {organization} in this store.");
            return Err(Refusal::new(Code::NotFound, detail));
        }
    }
    let sql = "SELECT u.id, u.email, u.platform_admin, m.organization_id, o.label, m.role \
         FROM users u LEFT JOIN memberships m ON m.user_id = u.id \
         LEFT JOIN organizations o ON o.id = m.organization_id \
         ORDER BY u.email, m.organization_id {across operator}";
    let mut users: Vec<UserView> = Vec::new();
    for row in tx.query(sql, &[]).await? {
        let user = UserView::read(&row)?;
        match users.last_mut() {
            Some(last) if last.id == user.id => last.organizations.extend(user.organizations),
            _ => users.push(user),
        }
    }
    if let Some(organization) = organization {
        let of_it = |membership: &Membership| membership.id == organization;
        users.retain(|user| user.organizations.iter().any(of_it));
    }
    Ok(users)
}

impl UserView {
    /// Reads a user with at most one membership.
    fn read(row: &Row) -> Result<UserView, StoreError> {
        let membership = match row.get::<Option<Uuid>>(3)? {
            Some(id) => Some(Membership {
                id,
                label: row.get(4)?,
                role: row.get(5)?,
            }),
            None => None,
        };
        Ok(UserView {
            id: row.get(0)?,
            email: row.get(1)?,
            platform_admin: row.get(2)?,
            organizations: membership.into_iter().collect(),
        })
    }
}

/// Gives a user another password and ends their sessions.
///
/// # Errors
/// 404 for an unknown address.
pub async fn reset_password(
    store: &Store,
    email: String,
    hash: String,
    now: i64,
) -> Result<UserView, Refusal> {
    let user = user_by_email(store, email.clone()).await?;
    let Some((user, _)) = user else {
        return Err(unknown(&email));
    };
    let new = NewPassword {
        user,
        before: None,
        hash,
        except: None,
        now,
    };
    set_password(store, new).await?;
    find(store, email).await
}
