//! API keys: credentials for machines. The key itself is never stored.

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::auth::Scopes;
use crate::json_schemas::UtcInstant;
use crate::paging::PageRequest;
use crate::store::{Row, StoreError, Tx};

/// A credential for machines, without its secret.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ApiKey {
    /// Id of the record.
    pub id: Uuid,
    /// The organization.
    pub organization_id: Uuid,
    /// Name for people.
    pub name: String,
    /// What it may do.
    pub scopes: Scopes,
    /// How the key begins, to recognize it.
    pub prefix: String,
    /// When it was created.
    pub created_at: UtcInstant,
    /// When it stops working; null is never.
    pub expires_at: Option<UtcInstant>,
    /// When a request last used it, give or take a minute.
    pub last_used_at: Option<UtcInstant>,
}

macro_rules! columns {
    () => {
        "id, organization_id, name, scopes, prefix, created_at, expires_at, last_used_at"
    };
}

impl ApiKey {
    fn read(row: &Row) -> Result<ApiKey, StoreError> {
        let scopes: String = row.get(3)?;
        Ok(ApiKey {
            id: row.get(0)?,
            organization_id: row.get(1)?,
            name: row.get(2)?,
            scopes: Scopes::parse(&scopes),
            prefix: row.get(4)?,
            created_at: UtcInstant(row.get(5)?),
            expires_at: row.get::<Option<i64>>(6)?.map(UtcInstant),
            last_used_at: row.get::<Option<i64>>(7)?.map(UtcInstant),
        })
    }
}

/// A key that is to be.
#[derive(Debug)]
pub struct NewApiKey {
    /// Of the record.
    pub id: Uuid,
    /// Whose it is.
    pub organization: Uuid,
    /// For people.
    pub name: String,
    /// What it may do, as words with commas between them.
    pub scopes: String,
    /// How the key begins.
    pub prefix: String,
    /// Of the key.
    pub hash: [u8; 32],
    /// When it stops working.
    pub expires_at: Option<i64>,
    /// The time.
    pub now: i64,
}

/// Writes a key down; nothing where the scope does not see the organization.
///
/// # Errors
/// Those of the store.
pub async fn insert(tx: &mut Tx, new: &NewApiKey) -> Result<Option<ApiKey>, StoreError> {
    let sql = concat!(
        "INSERT INTO main.api_keys {into $1} (organization_id, id, name, scopes, prefix, ",
        "secret_hash, expires_at, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING ",
        columns!()
    );
    let parameters = [
        new.organization.into(),
        new.id.into(),
        new.name.as_str().into(),
        new.scopes.as_str().into(),
        new.prefix.as_str().into(),
        new.hash.into(),
        new.expires_at.into(),
        new.now.into(),
    ];
    let row = tx.first(sql, &parameters).await?;
    row.as_ref().map(ApiKey::read).transpose()
}

/// A page of an organization's keys, and one more if another page follows.
///
/// # Errors
/// Those of the store.
pub async fn page(
    tx: &mut Tx,
    organization: Uuid,
    page: &PageRequest,
) -> Result<Vec<ApiKey>, StoreError> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM api_keys WHERE {tenant organization_id} AND organization_id = $1 AND id > $2 ",
        "ORDER BY id LIMIT $3"
    );
    let parameters = [
        organization.into(),
        page.from().into(),
        page.lookahead().into(),
    ];
    let rows = tx.last(sql, &parameters).await?;
    rows.iter().map(ApiKey::read).collect()
}

/// The organization of a key that the scope sees.
///
/// # Errors
/// Those of the store.
pub async fn organization_of(tx: &mut Tx, id: Uuid) -> Result<Option<Uuid>, StoreError> {
    let sql = "SELECT organization_id FROM api_keys WHERE {tenant organization_id} AND id = $1";
    let rows = tx.last(sql, &[id.into()]).await?;
    rows.first().map(|row| row.get(0)).transpose()
}

/// Revokes a key; false when it has gone meanwhile.
///
/// # Errors
/// Those of the store.
pub async fn remove(tx: &mut Tx, organization: Uuid, id: Uuid) -> Result<bool, StoreError> {
    let sql = "DELETE FROM main.api_keys \
         WHERE {tenant organization_id} AND organization_id = $1 AND id = $2 RETURNING id";
    Ok(tx
        .first(sql, &[organization.into(), id.into()])
        .await?
        .is_some())
}
