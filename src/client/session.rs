//! Renews a session: replaces a refused access token.

use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;

use super::credential::{Credential, Sessions, Tokens};
use super::error::Error;
use super::secret::Secret;
use super::{Client, SessionError};

/// How often to look whether somebody else has renewed the session, and how long in between. A
/// server tells a lost race from a stolen token for 10 s.
const MAX_LOOKS: u32 = 4;
const LOOK_INTERVAL: Duration = Duration::from_millis(250);

impl Client {
    /// What the next request carries.
    pub(super) fn token_now(&self) -> Result<Option<Secret>, Error> {
        let sessions = match &self.credential {
            Credential::None => return Ok(None),
            Credential::Token(token) => return Ok(Some(token.clone())),
            Credential::Session(sessions) => sessions,
        };
        if let Some(tokens) = &*self.tokens() {
            return Ok(Some(tokens.access.clone()));
        }
        Ok(Some(self.remember(sessions.load()?)))
    }

    /// The token after one that was refused: that of another process if there is one already, else
    /// a fresh one.
    pub(super) fn renew(&self, sessions: &dyn Sessions, used: &Secret) -> Result<Secret, Error> {
        sessions.alone(&mut || self.renew_alone(sessions, used))
    }

    fn renew_alone(&self, sessions: &dyn Sessions, used: &Secret) -> Result<Secret, Error> {
        let kept = sessions.load()?;
        if kept.access != *used {
            return Ok(self.remember(kept));
        }
        let Some(refresh) = &kept.refresh else {
            return Err(SessionError::Over(
                "the session has expired, and nothing renews it".to_owned(),
            )
            .into());
        };
        let error = match self.refresh(refresh) {
            Ok(mut tokens) => {
                // A server that does not rotate leaves it out.
                tokens.refresh = tokens.refresh.or(kept.refresh);
                sessions.save(&tokens)?;
                return Ok(self.remember(tokens));
            }
            Err(error) if error.status() == Some(401) => error,
            Err(error) => return Err(error),
        };
        for _ in 0..MAX_LOOKS {
            let kept = sessions.load()?;
            if kept.access != *used {
                return Ok(self.remember(kept));
            }
            self.host.wait(LOOK_INTERVAL);
        }
        Err(error)
    }

    fn remember(&self, tokens: Tokens) -> Secret {
        let access = tokens.access.clone();
        *self.tokens() = Some(tokens);
        access
    }

    fn tokens(&self) -> MutexGuard<'_, Option<Tokens>> {
        // A token is whole whatever happened to whoever held the lock.
        self.tokens.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
