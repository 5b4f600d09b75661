//! Sessions: families of token pairs. A refresh replaces one pair by the next; reusing an old
//! refresh token ends the family, except in a race. Signing out ends it too, and a new password
//! ends all other families of the user.

use uuid::Uuid;

use super::secret::{Secret, hash};
use crate::context::Context;
use crate::store::{Scope, Store, StoreError, Tx, Value};

const SECOND: i64 = 1_000_000;
/// How long an access token holds, in seconds.
pub const ACCESS_SECONDS: i64 = 3600;
const ACCESS: i64 = ACCESS_SECONDS * SECOND;
const REFRESH: i64 = 30 * 24 * 3600 * SECOND;
/// Within this time after its rotation, a refresh token that comes again lost a race.
const RACE: i64 = 10 * SECOND;

/// A pair of tokens.
#[derive(Debug)]
pub struct Tokens {
    /// For the `Authorization` header.
    pub access: Secret,
    /// For the next pair.
    pub refresh: Secret,
}

/// What is written of a new pair.
#[derive(Clone, Copy)]
struct NewTokenPair {
    id: Uuid,
    access: [u8; 32],
    refresh: [u8; 32],
    now: i64,
}

/// A pair that is written, with the family and the user that it belongs to.
struct NewSession {
    pair: NewTokenPair,
    family: Uuid,
    user: Uuid,
}

impl Tokens {
    fn mint(context: &Context) -> (Tokens, NewTokenPair) {
        let tokens = Tokens {
            access: Secret::token("tpa_"),
            refresh: Secret::token("tpr_"),
        };
        let pair = NewTokenPair {
            id: context.id(),
            access: hash(tokens.access.reveal()),
            refresh: hash(tokens.refresh.reveal()),
            now: context.now(),
        };
        (tokens, pair)
    }
}

/// The stored hash of the password behind an address, and whose it is.
///
/// # Errors
/// Those of the store.
pub async fn user_by_email(
    store: &Store,
    email: String,
) -> Result<Option<(Uuid, String)>, StoreError> {
    store
        .read(&Scope::Authentication, email, |tx, email| {
            Box::pin(find_user(tx, email))
        })
        .await
}

async fn find_user(tx: &mut Tx, email: &str) -> Result<Option<(Uuid, String)>, StoreError> {
    let sql = "SELECT id, password_hash FROM users WHERE email = $1";
    let rows = tx.last(sql, &[email.into()]).await?;
    let user = rows.first().map(|row| Ok((row.get(0)?, row.get(1)?)));
    user.transpose()
}

/// Begins a family for a user whose password was verified.
///
/// # Errors
/// Those of the store.
pub async fn sign_in(store: &Store, context: &Context, user: Uuid) -> Result<Tokens, StoreError> {
    let (tokens, pair) = Tokens::mint(context);
    let new = NewSession {
        pair,
        family: context.id(),
        user,
    };
    store
        .write(&Scope::Authentication, new, |tx, new| {
            Box::pin(insert(tx, new))
        })
        .await?;
    Ok(tokens)
}

async fn insert(tx: &mut Tx, new: &NewSession) -> Result<(), StoreError> {
    let pair = &new.pair;
    let sql = "INSERT INTO main.sessions (id, family_id, user_id, access_hash, access_expires_at, \
         refresh_hash, refresh_expires_at, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    let parameters: [Value; 8] = [
        pair.id.into(),
        new.family.into(),
        new.user.into(),
        pair.access.into(),
        (pair.now + ACCESS).into(),
        pair.refresh.into(),
        (pair.now + REFRESH).into(),
        pair.now.into(),
    ];
    tx.query(sql, &parameters).await.map(drop)
}

/// The next pair of a family, or nothing: the token is unknown, expired, revoked or used up.
///
/// # Errors
/// Those of the store.
pub async fn refresh(
    store: &Store,
    context: &Context,
    token: &str,
) -> Result<Option<Tokens>, StoreError> {
    let (tokens, pair) = Tokens::mint(context);
    let rotated = store
        .write(
            &Scope::Authentication,
            (pair, hash(token)),
            |tx, (pair, token)| Box::pin(rotate(tx, *pair, *token)),
        )
        .await?;
    Ok(rotated.then_some(tokens))
}

async fn rotate(tx: &mut Tx, pair: NewTokenPair, token: [u8; 32]) -> Result<bool, StoreError> {
    // Of many at once one finds the token unrotated; the others wait for it and find none.
    let rotate = "UPDATE main.sessions SET rotated_at = $2 WHERE refresh_hash = $1 \
         AND rotated_at IS NULL AND revoked_at IS NULL AND refresh_expires_at > $2 \
         RETURNING family_id, user_id";
    if let Some(row) = tx.first(rotate, &[token.into(), pair.now.into()]).await? {
        let next = NewSession {
            pair,
            family: row.get(0)?,
            user: row.get(1)?,
        };
        insert(tx, &next).await?;
        return Ok(true);
    }
    let known = "SELECT family_id, rotated_at FROM sessions WHERE refresh_hash = $1";
    if let Some(row) = tx.first(known, &[token.into()]).await? {
        let rotated: Option<i64> = row.get(1)?;
        if rotated.is_some_and(|rotated| pair.now - rotated > RACE) {
            revoke(tx, row.get(0)?, pair.now).await?;
        }
    }
    Ok(false)
}

async fn revoke(tx: &mut Tx, family: Uuid, now: i64) -> Result<(), StoreError> {
    let sql = "UPDATE main.sessions SET revoked_at = $2 \
         WHERE family_id = $1 AND revoked_at IS NULL";
    tx.query(sql, &[family.into(), now.into()]).await.map(drop)
}

/// Ends the family of a refresh token, whether or not it is the newest of it. There may be none.
///
/// # Errors
/// Those of the store.
pub async fn sign_out(store: &Store, token: &str, now: i64) -> Result<(), StoreError> {
    store
        .write(
            &Scope::Authentication,
            (hash(token), now),
            |tx, (token, now)| Box::pin(end_family(tx, *token, *now)),
        )
        .await
}

async fn end_family(tx: &mut Tx, token: [u8; 32], now: i64) -> Result<(), StoreError> {
    let sql = "SELECT family_id FROM sessions WHERE refresh_hash = $1";
    match tx.first(sql, &[token.into()]).await? {
        Some(row) => revoke(tx, row.get(0)?, now).await,
        None => Ok(()),
    }
}

/// A password that takes the place of another one.
#[derive(Debug)]
pub struct NewPassword {
    /// Whose it is.
    pub user: Uuid,
    /// The stored hash that it replaces, when another one means that somebody was quicker.
    pub before: Option<String>,
    /// As [`hash_password`](super::hash_password) made it.
    pub hash: String,
    /// The hash of the access token whose family goes on.
    pub except: Option<[u8; 32]>,
    /// The time.
    pub now: i64,
}

/// Replaces a password and ends the sessions of its user. Says whether it was done.
///
/// # Errors
/// Those of the store.
pub async fn set_password(store: &Store, new: NewPassword) -> Result<bool, StoreError> {
    store
        .write(&Scope::Authentication, new, |tx, new| {
            Box::pin(replace(tx, new))
        })
        .await
}

async fn replace(tx: &mut Tx, new: &NewPassword) -> Result<bool, StoreError> {
    let sql = "UPDATE main.users SET password_hash = $2 \
         WHERE id = $1 AND password_hash = coalesce($3, password_hash) RETURNING id";
    let parameters = [
        new.user.into(),
        new.hash.as_str().into(),
        new.before.clone().into(),
    ];
    if tx.first(sql, &parameters).await?.is_none() {
        return Ok(false);
    }
    let mut stays = Uuid::nil();
    if let Some(access) = new.except {
        let sql = "SELECT family_id FROM sessions WHERE access_hash = $1";
        let row = tx.first(sql, &[access.into()]).await?;
        stays = row.map_or(Ok(stays), |row| row.get(0))?;
    }
    let sql = "UPDATE main.sessions SET revoked_at = $3 \
         WHERE user_id = $1 AND family_id <> $2 AND revoked_at IS NULL";
    let parameters = [new.user.into(), stays.into(), new.now.into()];
    tx.query(sql, &parameters).await?;
    Ok(true)
}
