//! Creates, changes and removes connections.
//!
//! A secret is encrypted before it reaches the store, and bound to the name of its connection. It
//! belongs to one server: a new address on another server needs the secret again.

use url::Url;
use uuid::Uuid;

use super::{
    Connection, ConnectionKind, ConnectionRecord, SetConnection, no_key, no_organization, origin,
    private_fault, timers,
};
use crate::automation::encryption;
use crate::automation::names::name_fault;
use crate::json_schemas::UtcInstant;
use crate::refusal::{Code, Fault, Refusal};
use crate::secret_key::SecretKey;
use crate::store::{Row, Scope, Store, StoreError, Tx, Value};

/// A record, ready to be written.
#[derive(Debug)]
pub struct PreparedSecret {
    set: SetConnection,
    sealed: Option<Vec<u8>>,
}

impl PreparedSecret {
    /// Encrypts what is secret of it.
    ///
    /// # Errors
    /// 503 for a secret without a key to encrypt it with.
    pub fn new(key: Option<&SecretKey>, mut set: SetConnection) -> Result<PreparedSecret, Refusal> {
        take_password(&mut set.url, &mut set.secret);
        let secret = set.secret.take().filter(|secret| !secret.is_empty());
        let sealed = secret
            .map(|secret| sealed_for(key, set.organization, &set.name, &secret))
            .transpose()?;
        Ok(PreparedSecret { set, sealed })
    }

    fn parameters(&self, target: Uuid) -> [Value; 8] {
        let set = &self.set;
        [
            set.organization.into(),
            set.id.into(),
            set.name.as_str().into(),
            set.kind.as_str().into(),
            set.url.as_str().into(),
            bytes(self.sealed.as_ref()),
            set.now.into(),
            target.into(),
        ]
    }
}

fn bytes(sealed: Option<&Vec<u8>>) -> Value {
    sealed.cloned().map_or(Value::Null, Value::Bytes)
}

fn sealed_for(
    key: Option<&SecretKey>,
    organization: Uuid,
    name: &str,
    secret: &str,
) -> Result<Vec<u8>, Refusal> {
    Ok(encryption::encrypt(
        key.ok_or_else(no_key)?,
        organization,
        name,
        secret,
    ))
}

/// A password in the address is a secret like any other.
fn take_password(url: &mut String, secret: &mut Option<String>) {
    let Ok(mut parsed) = Url::parse(url) else {
        return;
    };
    if let Some(password) = parsed.password().map(str::to_owned) {
        let decoded = percent_encoding::percent_decode_str(&password).decode_utf8_lossy();
        secret.get_or_insert_with(|| decoded.into_owned());
        if parsed.set_password(None).is_ok() {
            *url = parsed.to_string();
        }
    }
}

/// Creates a connection as the administrator at the machine, or replaces the one of that name.
///
/// # Errors
/// What makes no sense, a secret without a key to encrypt it with, an organization that is not there.
pub async fn set_connection(
    store: &Store,
    key: Option<&SecretKey>,
    set: SetConnection,
) -> Result<Connection, Refusal> {
    if let Some(why) = name_fault(&set.name) {
        return Err(Refusal::fault("name", why));
    }
    if let Some(why) = set.kind.fault(&set.url) {
        return Err(Refusal::fault("url", why));
    }
    let prepared = PreparedSecret::new(key, set)?;
    store
        .write(&Scope::Operator, prepared, |tx, prepared| {
            Box::pin(upsert(tx, prepared))
        })
        .await
}

async fn upsert(tx: &mut Tx, prepared: &PreparedSecret) -> Result<Connection, Refusal> {
    let set = &prepared.set;
    let sql = "SELECT url, target_id FROM connections WHERE {tenant organization_id} \
         AND organization_id = $1 AND name = $2 {lock}";
    let of = [set.organization.into(), set.name.as_str().into()];
    let target = match tx.first(sql, &of).await? {
        Some(row) => target(&row.get::<String>(0)?, &set.url, row.get(1)?, set.id),
        None => set.id,
    };
    let sql = "INSERT INTO main.connections {into $1} \
         (organization_id, id, name, kind, url, secret, created_at, updated_at, target_id) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $8) ON CONFLICT (organization_id, name) DO UPDATE \
         SET kind = excluded.kind, url = excluded.url, secret = excluded.secret, \
         updated_at = excluded.updated_at, target_id = excluded.target_id RETURNING id, created_at";
    let row = match tx.first(sql, &prepared.parameters(target)).await {
        Err(StoreError::Reference) => return Err(no_organization()),
        row => row?,
    };
    let row = row.ok_or_else(no_organization)?;
    let id = row.get(0)?;
    if set.kind == ConnectionKind::Timer {
        timers::renew(tx, set.organization, &set.name, id, set.now).await?;
    }
    Ok(Connection {
        id,
        organization_id: set.organization,
        name: set.name.clone(),
        kind: set.kind,
        url: set.url.clone(),
        has_secret: prepared.sealed.is_some(),
        created_at: UtcInstant(row.get(1)?),
        updated_at: UtcInstant(set.now),
    })
}

/// Adds a connection.
///
/// # Errors
/// 409 for a name that is taken, an organization that is not there.
pub async fn insert(tx: &mut Tx, prepared: &PreparedSecret) -> Result<ConnectionRecord, Refusal> {
    let sql = "INSERT INTO main.connections {into $1} \
         (organization_id, id, name, kind, url, secret, created_at, updated_at, target_id) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $8)";
    let set = &prepared.set;
    match tx.query(sql, &prepared.parameters(set.id)).await {
        Ok(_) => {}
        Err(StoreError::Reference) => return Err(no_organization()),
        Err(error) => return Err(repeated(error, &set.name)),
    }
    let record = ConnectionRecord {
        id: set.id,
        organization_id: set.organization,
        name: set.name.clone(),
        kind: set.kind,
        created_at: UtcInstant(set.now),
    };
    renew_timers(tx, &record, &record.name, set.now).await?;
    Ok(record)
}

/// By what the server behind a connection is known: another one is known by another id.
fn target(before: &str, now: &str, known: Option<Uuid>, fresh: Uuid) -> Uuid {
    known
        .filter(|_| origin(before) == origin(now))
        .unwrap_or(fresh)
}

fn repeated(error: StoreError, name: &str) -> Refusal {
    match error {
        StoreError::Unique { .. } => Refusal::new(
            Code::Conflict,
            format!("The organization has a connection {name} already."),
        ),
        error => error.into(),
    }
}

/// What is to be changed of a connection.
#[derive(Debug)]
pub struct Change {
    /// Whose it is.
    pub organization: Uuid,
    /// Of the record.
    pub id: Uuid,
    /// Another name.
    pub name: Option<String>,
    /// Another address.
    pub url: Option<String>,
    /// Another secret; an empty one takes it away.
    pub secret: Option<String>,
    /// Encrypts secrets.
    pub key: Option<SecretKey>,
    /// Whether its address may lead into a private network.
    pub allow_private: bool,
    /// By which another server behind it is known.
    pub fresh: Uuid,
    /// The time.
    pub now: i64,
}

/// A connection as it is kept.
struct StoredSecret {
    record: ConnectionRecord,
    url: String,
    sealed: Option<Vec<u8>>,
    target: Option<Uuid>,
}

impl StoredSecret {
    fn read(row: &Row) -> Result<StoredSecret, StoreError> {
        Ok(StoredSecret {
            record: ConnectionRecord::read(row)?,
            url: row.get(5)?,
            sealed: row.get(6)?,
            target: row.get(7)?,
        })
    }
}

/// Changes a connection, for a caller who was found to be an administrator of the organization. Its secret may
/// have to be encrypted again, and only the operator reads secrets: so this runs as the operator.
///
/// # Errors
/// 404 when it has gone meanwhile, 409 for a name that is taken, 422 for an address that its kind does not
/// take, that leads into a private network, or to another server with the secret of this one, 503 for a secret
/// without a key.
pub async fn update(store: &Store, change: Change) -> Result<ConnectionRecord, Refusal> {
    store
        .write(&Scope::Operator, change, |tx, change| {
            Box::pin(write_changes(tx, change))
        })
        .await
}

async fn write_changes(tx: &mut Tx, change: &Change) -> Result<ConnectionRecord, Refusal> {
    let sql = "SELECT id, organization_id, name, kind, created_at, url, secret, target_id \
         FROM connections \
         WHERE {tenant organization_id} AND organization_id = $1 AND id = $2 {lock}";
    let of = [change.organization.into(), change.id.into()];
    let row = tx.first(sql, &of).await?;
    let kept = StoredSecret::read(&row.ok_or_else(Refusal::not_found)?)?;
    let (mut url, mut secret) = (change.url.clone(), change.secret.clone());
    if let Some(url) = &mut url {
        let private = private_fault(url).filter(|_| !change.allow_private);
        if let Some(why) = kept.record.kind.fault(url).or(private) {
            return Err(Refusal::fault("url", why));
        }
        take_password(url, &mut secret);
    }
    let name = change.name.as_ref().unwrap_or(&kept.record.name);
    let url = url.unwrap_or_else(|| kept.url.clone());
    let renamed = *name != kept.record.name;
    if !renamed && url == kept.url && secret.is_none() {
        return Ok(kept.record);
    }
    let sealed = match secret {
        Some(secret) if secret.is_empty() => None,
        Some(secret) => {
            let key = change.key.as_ref();
            Some(sealed_for(key, change.organization, name, &secret)?)
        }
        None => carried(change.key.as_ref(), &kept, name, &url)?,
    };
    let target = target(&kept.url, &url, kept.target, change.fresh);
    let sql = "UPDATE main.connections \
         SET name = $3, url = $4, secret = $5, updated_at = $6, target_id = $7 \
         WHERE {tenant organization_id} AND organization_id = $1 AND id = $2";
    let parameters = [
        change.organization.into(),
        change.id.into(),
        name.as_str().into(),
        url.as_str().into(),
        bytes(sealed.as_ref()),
        change.now.into(),
        target.into(),
    ];
    let updated = tx.query(sql, &parameters).await;
    updated.map_err(|error| repeated(error, name))?;
    if renamed {
        // Who names it as it was called waits for nothing now, and gets that in the response.
        renew_timers(tx, &kept.record, &kept.record.name, change.now).await?;
    }
    renew_timers(tx, &kept.record, name, change.now).await?;
    Ok(ConnectionRecord {
        name: name.clone(),
        ..kept.record
    })
}

/// The secret of a connection under a new name or at a new address, when it was not sent along.
fn carried(
    key: Option<&SecretKey>,
    kept: &StoredSecret,
    name: &str,
    url: &str,
) -> Result<Option<Vec<u8>>, Refusal> {
    let Some(sealed) = &kept.sealed else {
        return Ok(None);
    };
    if origin(url) != origin(&kept.url) {
        return Err(secret_required(
            "is required: the address leads to another server, and the secret was entered for the one before",
        ));
    }
    let record = &kept.record;
    if name == record.name {
        return Ok(Some(sealed.clone()));
    }
    let key = key.ok_or_else(no_key)?;
    let organization = record.organization_id;
    let opened = encryption::decrypt(key, organization, &record.name, sealed).ok_or_else(|| {
        secret_required("is required: it was encrypted with another TPLKIT_SECRET_KEY")
    })?;
    Ok(Some(encryption::encrypt(key, organization, name, &opened)))
}

fn secret_required(why: &str) -> Refusal {
    let fault = Fault {
        path: "secret".to_owned(),
        code: Code::SecretRequired.as_str(),
        message: why.to_owned(),
    };
    Refusal::invalid_with(Code::SecretRequired, vec![fault])
}

/// Removes a connection, whatever uses it.
///
/// # Errors
/// 404 when it has gone meanwhile.
pub async fn remove(tx: &mut Tx, record: &ConnectionRecord, now: i64) -> Result<(), Refusal> {
    let sql = "DELETE FROM main.connections WHERE {tenant organization_id} \
         AND organization_id = $1 AND id = $2 RETURNING id";
    let of = [record.organization_id.into(), record.id.into()];
    if tx.first(sql, &of).await?.is_none() {
        return Err(Refusal::not_found());
    }
    Ok(renew_timers(tx, record, &record.name, now).await?)
}

/// Automations that wait for a timer under that name wait for what it says now.
async fn renew_timers(
    tx: &mut Tx,
    record: &ConnectionRecord,
    name: &str,
    now: i64,
) -> Result<(), StoreError> {
    if record.kind == ConnectionKind::Timer {
        timers::renew(tx, record.organization_id, name, record.id, now).await?;
    }
    Ok(())
}
