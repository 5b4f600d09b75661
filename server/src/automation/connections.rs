//! Connections: named addresses that automations may speak to, with their secrets.
//!
//! An administrator at the machine sets them; nobody else can, and no route shows them.

use serde::Serialize;
use url::Url;
use uuid::Uuid;

use super::{schedules, sealed};
use crate::context::rfc3339;
use crate::http::problem::{Code, Problem};
use crate::secret_key::SecretKey;
use crate::store::{Scope, Store, StoreError, Tx};

/// What a connection leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ConnectionKind {
    /// A mail server: `smtp://user@host:port?from=address`, or `smtps`.
    Smtp,
    /// The base address of an HTTP API.
    Http,
    /// The base address of an API like that of `OpenAI`: `https://host/v1?model=name`.
    Llm,
    /// A rhythm, `cron:0 8 * * 1-5`, or a while, `delay:3600`.
    Timer,
}

impl ConnectionKind {
    /// The kind of that word.
    pub fn parse(word: &str) -> Option<ConnectionKind> {
        Some(match word {
            "smtp" => ConnectionKind::Smtp,
            "http" => ConnectionKind::Http,
            "llm" => ConnectionKind::Llm,
            "timer" => ConnectionKind::Timer,
            _ => return None,
        })
    }

    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            ConnectionKind::Smtp => "smtp",
            ConnectionKind::Http => "http",
            ConnectionKind::Llm => "llm",
            ConnectionKind::Timer => "timer",
        }
    }

    /// What is wrong with an address, if anything.
    fn fault(self, text: &str) -> Option<&'static str> {
        if self == ConnectionKind::Timer {
            let good = tplkit::automation::Timer::parse(text).is_some();
            return (!good).then_some("is no timer: use cron:0 8 * * 1-5 or delay:SECONDS");
        }
        let (schemes, told): (&[&str], _) = match self {
            ConnectionKind::Smtp => (
                &["smtp", "smtps"],
                "is no address of a mail server: use smtp://user@host:port or smtps://…",
            ),
            _ => (
                &["http", "https"],
                "is no address of an API: use https://host/path",
            ),
        };
        let url = Url::parse(text).ok();
        let url = url.filter(|url| schemes.contains(&url.scheme()) && url.has_host());
        (url.is_none()).then_some(told)
    }
}

/// A connection as an administrator sees it.
#[derive(Debug, Clone, Serialize)]
pub struct Connection {
    /// Of the record.
    pub id: Uuid,
    /// Whose it is.
    pub organization_id: Uuid,
    /// By which automations name it.
    pub name: String,
    /// What it leads to.
    pub kind: ConnectionKind,
    /// Where to, without a password.
    pub url: String,
    /// Whether a secret goes with it.
    pub has_secret: bool,
    /// When it was set first.
    pub created_at: String,
    /// When it was set last.
    pub updated_at: String,
}

/// A connection that is to be.
#[derive(Debug)]
pub struct SetConnection {
    /// For a new one.
    pub id: Uuid,
    /// Whose it is.
    pub organization: Uuid,
    /// By which automations name it.
    pub name: String,
    /// What it leads to.
    pub kind: ConnectionKind,
    /// Where to.
    pub url: String,
    /// What goes with it.
    pub secret: Option<String>,
    /// The time.
    pub now: i64,
}

/// A line, ready to be written.
struct Line {
    set: SetConnection,
    sealed: Option<Vec<u8>>,
}

/// Creates a connection, or replaces the one of that name.
///
/// # Errors
/// What makes no sense, a secret without a key to encrypt it with, an organization that is not there.
pub async fn set_connection(
    store: &Store,
    key: Option<&SecretKey>,
    mut set: SetConnection,
) -> Result<Connection, Problem> {
    if let Some(why) = tplkit::package::name::fault(&set.name) {
        return Err(Problem::fault("--name", why.to_string()));
    }
    if let Some(why) = set.kind.fault(&set.url) {
        return Err(Problem::fault("--url", why));
    }
    take_password(&mut set);
    let sealed = match (&set.secret, key) {
        (None, _) => None,
        (Some(secret), Some(key)) => Some(sealed::seal(key, (set.organization, &set.name), secret)),
        (Some(_), None) => {
            let told = "is needed to encrypt the secret: 32 bytes, in base64 or hex (openssl rand -base64 32)";
            return Err(Problem::fault("TPLKIT_SECRET_KEY", told));
        }
    };
    let line = Line { set, sealed };
    store
        .write(&Scope::Operator, line, |tx, line| {
            Box::pin(upsert(tx, line))
        })
        .await
}

/// A password in the address is a secret like any other.
fn take_password(set: &mut SetConnection) {
    let Ok(mut url) = Url::parse(&set.url) else {
        return;
    };
    if let Some(password) = url.password().map(str::to_owned) {
        let decoded = percent_encoding::percent_decode_str(&password).decode_utf8_lossy();
        set.secret.get_or_insert_with(|| decoded.into_owned());
        if url.set_password(None).is_ok() {
            set.url = url.to_string();
        }
    }
}

async fn upsert(tx: &mut Tx, line: &Line) -> Result<Connection, Problem> {
    let set = &line.set;
    let sql = "INSERT INTO main.connections {into $1} \
         (organization_id, id, name, kind, url, secret, created_at, updated_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $7) ON CONFLICT (organization_id, name) DO UPDATE \
         SET kind = excluded.kind, url = excluded.url, secret = excluded.secret, \
         updated_at = excluded.updated_at RETURNING id, created_at";
    let parameters = [
        set.organization.into(),
        set.id.into(),
        set.name.as_str().into(),
        set.kind.as_str().into(),
        set.url.as_str().into(),
        line.sealed
            .clone()
            .map_or(crate::store::Value::Null, crate::store::Value::Bytes),
        set.now.into(),
    ];
    let row = match tx.first(sql, &parameters).await {
        Err(StoreError::Reference) => return Err(no_organization()),
        row => row?,
    };
    let row = row.ok_or_else(no_organization)?;
    let id: Uuid = row.get(0)?;
    if set.kind == ConnectionKind::Timer {
        schedules::renew(tx, set.organization, (&set.name, id), set.now).await?;
    }
    Ok(Connection {
        id,
        organization_id: set.organization,
        name: set.name.clone(),
        kind: set.kind,
        url: set.url.clone(),
        has_secret: line.sealed.is_some(),
        created_at: rfc3339(row.get(1)?),
        updated_at: rfc3339(set.now),
    })
}

pub(super) fn no_organization() -> Problem {
    Problem::new(Code::NotFound, "There is no organization of that id.")
}

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
