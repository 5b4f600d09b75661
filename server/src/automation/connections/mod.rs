//! Connections: named addresses that automations may call, with their secrets.
//!
//! Administrators set them, by command or over the API. No route returns an address or a secret.
//!
//! | Module | |
//! |---|---|
//! | `list` | connections as members of the organization see them |
//! | `change` | create, change, remove |
//! | `open` | use in steps |
//! | `timers` | automations whose rhythm is a named timer |

mod change;
mod list;
mod open;
mod timers;

use schemars::JsonSchema;
use serde::Serialize;
use tplkit::automation::Timer;
use url::Url;
use uuid::Uuid;

use super::private_addresses;
use crate::json_schemas::UtcInstant;
use crate::refusal::{Code, Refusal};

pub use change::{Change, PreparedSecret, insert, remove, set_connection, update};
pub use list::{ConnectionRecord, by_id, page};
pub use open::{OpenConnection, open, timer};
pub(super) use open::{StoredConnection, stored, targets};

/// What a connection leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
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
    /// All of them.
    pub const ALL: [ConnectionKind; 4] = [
        ConnectionKind::Smtp,
        ConnectionKind::Http,
        ConnectionKind::Llm,
        ConnectionKind::Timer,
    ];

    /// The kind of that word.
    pub fn parse(word: &str) -> Option<ConnectionKind> {
        let mut kinds = ConnectionKind::ALL.into_iter();
        kinds.find(|kind| kind.as_str() == word)
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
    pub fn fault(self, text: &str) -> Option<&'static str> {
        if self == ConnectionKind::Timer {
            return match Timer::parse(text) {
                None => Some("is not a timer: use cron:0 8 * * 1-5 or delay:SECONDS"),
                Some(timer) if !timer.is_ever_due() => {
                    Some("is never due: no month has the day that it names")
                }
                Some(_) => None,
            };
        }
        let (schemes, message): (&[&str], _) = match self {
            ConnectionKind::Smtp => (
                &["smtp", "smtps"],
                "is not an address of a mail server: use smtp://user@host:port or smtps://…",
            ),
            _ => (
                &["http", "https"],
                "is not an address of an API: use https://host/path",
            ),
        };
        let url = Url::parse(text).ok();
        let url = url.filter(|url| schemes.contains(&url.scheme()) && url.has_host());
        (url.is_none()).then_some(message)
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
    pub created_at: UtcInstant,
    /// When it was set last.
    pub updated_at: UtcInstant,
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

/// What is wrong with an address where none may lead into a private network, if anything.
pub fn private_fault(url: &str) -> Option<&'static str> {
    private_addresses::fault(url)
}

/// 503 for a secret that nothing could encrypt.
pub(super) fn no_key() -> Refusal {
    let detail = "The secret cannot be encrypted: start the server with TPLKIT_SECRET_KEY, 32 bytes in base64 or \
         hex (openssl rand -base64 32).";
    Refusal::new(Code::StoreUnavailable, detail)
}

pub(super) fn no_organization() -> Refusal {
    Refusal::new(Code::NotFound, "There is no organization of that id.")
}

/// The server that an address leads to: what a secret that was entered for it may reach.
pub(super) fn origin(url: &str) -> Option<(String, String, Option<u16>)> {
    let url = Url::parse(url).ok()?;
    let host = url.host_str()?.to_ascii_lowercase();
    Some((url.scheme().to_owned(), host, url.port_or_known_default()))
}
