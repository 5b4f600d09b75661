//! Connections as steps use them: the address, and the secret decrypted.

use uuid::Uuid;

use super::ConnectionKind;
use crate::automation::sealed;
use crate::secret_key::SecretKey;
use crate::store::{Scope, Store, StoreError, Tx};

/// A connection as a step uses it.
#[derive(Clone)]
pub struct Opened {
    /// Where to.
    pub url: String,
    /// What goes with it.
    pub secret: Option<String>,
}

impl std::fmt::Debug for Opened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Opened(…)")
    }
}

/// The connection of that name and kind, its secret decrypted; or why it cannot be used.
///
/// # Errors
/// Those of the store.
pub async fn open(
    store: &Store,
    key: Option<&SecretKey>,
    (organization, name): (Uuid, &str),
    kind: ConnectionKind,
) -> Result<Result<Opened, String>, StoreError> {
    let asked = (organization, name.to_owned());
    let found: Option<(String, String, Option<Vec<u8>>)> = store
        .read(&Scope::Operator, asked, |tx, (organization, name)| {
            Box::pin(select(tx, *organization, name))
        })
        .await?;
    let Some((found, url, sealed)) = found else {
        return Ok(Err(format!("the organization has no connection `{name}`")));
    };
    if found != kind.as_str() {
        return Ok(Err(format!(
            "the connection `{name}` is of kind {found}, and {} is needed",
            kind.as_str()
        )));
    }
    let secret = match (sealed, key) {
        (None, _) => None,
        (Some(sealed), Some(key)) => match sealed::open(key, (organization, name), &sealed) {
            Some(secret) => Some(secret),
            None => {
                return Ok(Err(format!(
                    "the secret of the connection `{name}` was encrypted with another TPLKIT_SECRET_KEY: set the connection again"
                )));
            }
        },
        (Some(_), None) => {
            return Ok(Err(format!(
                "the connection `{name}` has a secret, and this process has no TPLKIT_SECRET_KEY"
            )));
        }
    };
    Ok(Ok(Opened { url, secret }))
}

async fn select(
    tx: &mut Tx,
    organization: Uuid,
    name: &str,
) -> Result<Option<(String, String, Option<Vec<u8>>)>, StoreError> {
    let sql = "SELECT kind, url, secret FROM connections WHERE {tenant organization_id} \
         AND organization_id = $1 AND name = $2";
    let row = tx.first(sql, &[organization.into(), name.into()]).await?;
    row.map(|row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .transpose()
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
    let id = crate::http::query::uuid(name);
    let parameters = [
        organization.into(),
        name.into(),
        id.unwrap_or_default().into(),
    ];
    let row = tx.first(sql, &parameters).await?;
    row.map(|row| row.get(0)).transpose()
}
