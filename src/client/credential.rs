//! Credentials of requests, and the storage of session tokens between two runs.

use std::fmt;

use serde::Deserialize;

use super::error::Error;
use super::secret::Secret;
use super::session_error::SessionError;

/// As whom requests are sent.
pub enum Credential {
    /// Without a credential.
    None,
    /// With an API key, or a token that nothing renews.
    Token(Secret),
    /// With a session that is renewed when it has expired.
    Session(Box<dyn Sessions>),
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Credential::None => "None",
            Credential::Token(_) => "Token(***)",
            Credential::Session(_) => "Session(***)",
        })
    }
}

/// The tokens of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tokens {
    /// What requests carry.
    pub access: Secret,
    /// What gets the next pair; it serves once.
    pub refresh: Option<Secret>,
}

impl<'de> Deserialize<'de> for Tokens {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Tokens, D::Error> {
        /// The response of the routes that hand tokens out.
        #[derive(Deserialize)]
        struct Document {
            access_token: String,
            #[serde(default)]
            refresh_token: Option<String>,
        }
        let document = Document::deserialize(deserializer)?;
        Ok(Tokens {
            access: Secret::new(document.access_token),
            refresh: document.refresh_token.map(Secret::new),
        })
    }
}

/// Where the tokens of a session are kept. Several processes may share one such place.
pub trait Sessions: Send + Sync {
    /// What is kept now.
    fn load(&self) -> Result<Tokens, SessionError>;
    /// Replaces it, all at once.
    fn save(&self, tokens: &Tokens) -> Result<(), SessionError>;
    /// Does something while other processes wait with the like, as far as that can be had.
    fn alone(&self, work: &mut dyn FnMut() -> Result<Secret, Error>) -> Result<Secret, Error> {
        work()
    }
}
