//! The tokens of a profile, for the client: read and replaced in the file of profiles.

use std::path::PathBuf;

use tplkit::client::{BaseUrl, Error, Secret, SessionError, Sessions, Tokens};

use super::profiles::{self, Profile, Profiles};
use crate::cli::error::CliError;

/// The tokens of one profile.
pub(super) struct Stored {
    path: PathBuf,
    name: String,
    base: BaseUrl,
}

impl Stored {
    pub(super) fn new(name: &str, base: &BaseUrl) -> Result<Stored, CliError> {
        Ok(Stored {
            path: profiles::path()?,
            name: name.to_owned(),
            base: base.clone(),
        })
    }

    fn read(&self) -> Result<(Profiles, Profile), SessionError> {
        let profiles =
            Profiles::read_at(self.path.clone()).map_err(|error| session_error(&error))?;
        let profile = profiles
            .get(&self.name)
            .map_err(|error| session_error(&error))?;
        // Somebody may have signed out, or in to another server, since the command began.
        let profile = profile.filter(|profile| profile.belongs_to(&self.base));
        let profile = profile.ok_or_else(|| self.gone())?;
        Ok((profiles, profile))
    }

    fn gone(&self) -> SessionError {
        SessionError::Over(format!(
            "profile `{}` is no longer signed in to `{}`",
            self.name, self.base
        ))
    }
}

impl Sessions for Stored {
    fn load(&self) -> Result<Tokens, SessionError> {
        let (_, profile) = self.read()?;
        profile.tokens.ok_or_else(|| self.gone())
    }

    fn save(&self, tokens: &Tokens) -> Result<(), SessionError> {
        let (profiles, mut profile) = self.read()?;
        profile.tokens = Some(tokens.clone());
        profiles
            .put(&self.name, &profile)
            .map_err(|error| session_error(&error))
    }

    fn alone(&self, work: &mut dyn FnMut() -> Result<Secret, Error>) -> Result<Secret, Error> {
        let lock = profiles::lock(&self.path);
        let outcome = work();
        drop(lock);
        outcome
    }
}

fn session_error(error: &CliError) -> SessionError {
    SessionError::Unusable(error.to_string())
}
