//! Opens a connection for a step: its address and its decrypted secret.

use std::collections::{BTreeSet, HashMap};

use uuid::Uuid;

use super::ConnectionKind;
use crate::automation::encryption;
use crate::secret_key::SecretKey;
use crate::store::{Row, Scope, Store, StoreError, Tx, Value};

/// A connection as a step uses it.
#[derive(Clone)]
pub struct OpenConnection {
    /// Where to.
    pub url: String,
    /// What goes with it.
    pub secret: Option<String>,
    /// By which the server behind it is known; another one is known by another id.
    pub target: Option<Uuid>,
}

impl std::fmt::Debug for OpenConnection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OpenConnection(…)")
    }
}

/// The connection of that name and kind, its secret decrypted; or why it cannot be used.
///
/// # Errors
/// Those of the store.
pub async fn open(
    store: &Store,
    key: Option<&SecretKey>,
    organization: Uuid,
    name: &str,
    kind: ConnectionKind,
) -> Result<Result<OpenConnection, String>, StoreError> {
    let input = (organization, name.to_owned());
    let found: Option<StoredConnection> = store
        .read(&Scope::Operator, input, |tx, (organization, name)| {
            Box::pin(stored(tx, *organization, name))
        })
        .await?;
    Ok(match found {
        Some(found) => found.open(key, organization, name, kind),
        None => Err(missing(name)),
    })
}

/// Why a connection that is not there cannot be used.
fn missing(name: &str) -> String {
    format!("the organization has no connection `{name}`")
}

/// A connection as it is kept.
#[derive(Clone)]
pub(in crate::automation) struct StoredConnection {
    kind: String,
    url: String,
    sealed: Option<Vec<u8>>,
    target: Uuid,
}

impl StoredConnection {
    /// The connection as one of that kind, its secret decrypted; or why it cannot be used.
    pub(in crate::automation) fn open(
        &self,
        key: Option<&SecretKey>,
        organization: Uuid,
        name: &str,
        kind: ConnectionKind,
    ) -> Result<OpenConnection, String> {
        if self.kind != kind.as_str() {
            return Err(format!(
                "the connection `{name}` is of kind {}, and {} is needed",
                self.kind,
                kind.as_str()
            ));
        }
        let secret = match (&self.sealed, key) {
            (None, _) => None,
            (Some(sealed), Some(key)) => {
                let opened = encryption::decrypt(key, organization, name, sealed);
                Some(opened.ok_or_else(|| {
                    format!(
                        "the secret of the connection `{name}` was encrypted with another TPLKIT_SECRET_KEY: set the connection again"
                    )
                })?)
            }
            (Some(_), None) => {
                return Err(format!(
                    "the connection `{name}` has a secret, and this process has no TPLKIT_SECRET_KEY"
                ));
            }
        };
        Ok(OpenConnection {
            url: self.url.clone(),
            secret,
            target: Some(self.target),
        })
    }
}

/// The connection of that name, as it is kept.
///
/// # Errors
/// Those of the store.
pub(in crate::automation) async fn stored(
    tx: &mut Tx,
    organization: Uuid,
    name: &str,
) -> Result<Option<StoredConnection>, StoreError> {
    let sql = "SELECT kind, url, secret, coalesce(target_id, id) FROM connections WHERE {tenant organization_id} \
         AND organization_id = $1 AND name = $2";
    let row = tx.first(sql, &[organization.into(), name.into()]).await?;
    let read = |row: Row| {
        Ok(StoredConnection {
            kind: row.get(0)?,
            url: row.get(1)?,
            sealed: row.get(2)?,
            target: row.get(3)?,
        })
    };
    row.map(read).transpose()
}

/// By which the servers behind connections of these names are known, as far as there are such connections.
///
/// # Errors
/// Those of the store.
pub(in crate::automation) async fn targets(
    tx: &mut Tx,
    organization: Uuid,
    names: BTreeSet<String>,
) -> Result<HashMap<String, Uuid>, StoreError> {
    if names.is_empty() {
        return Ok(HashMap::new());
    }
    let sql = "SELECT name, coalesce(target_id, id) FROM connections \
         WHERE {tenant organization_id} AND organization_id = $1 AND {any name $2}";
    let names = Value::Texts(names.into_iter().collect());
    let rows = tx.query(sql, &[organization.into(), names]).await?;
    rows.iter()
        .map(|row| Ok((row.get(0)?, row.get(1)?)))
        .collect()
}

/// The address of a timer, by its name or its id.
///
/// # Errors
/// Those of the store.
pub async fn timer(
    tx: &mut Tx,
    organization: Uuid,
    name: &str,
) -> Result<Option<String>, StoreError> {
    let sql = "SELECT url FROM connections WHERE {tenant organization_id} \
         AND organization_id = $1 AND kind = 'timer' AND (name = $2 OR id = $3)";
    let id = crate::ids::uuid(name);
    let parameters = [
        organization.into(),
        name.into(),
        id.unwrap_or_default().into(),
    ];
    let row = tx.first(sql, &parameters).await?;
    row.map(|row| row.get(0)).transpose()
}
