//! Users: people who can sign in. No route creates them; an administrator does.

use serde::Serialize;
use uuid::Uuid;

use crate::context::rfc3339;
use crate::http::problem::{Code, Problem};
use crate::store::{Scope, Store, StoreError, Tx};

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
    pub created_at: String,
}

/// A user who is to be.
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
pub async fn create(store: &Store, new: New) -> Result<User, Problem> {
    store
        .write(&Scope::Operator, new, |tx, new| Box::pin(insert(tx, new)))
        .await
}

async fn insert(tx: &mut Tx, new: &New) -> Result<User, Problem> {
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
            created_at: rfc3339(new.now),
        }),
        Err(StoreError::Unique { constraint }) if constraint == "users_email" => Err(Problem::new(
            Code::Conflict,
            "There is a user with this address already.",
        )),
        Err(error) => Err(error.into()),
    }
}
