//! Chooses the server and the credential of a command.
//!
//! The address comes from `--url`, else the target of a `tplkit.toml`, else the environment, else the profile; the credential from the
//! environment, else the profile. The credential of a profile is sent only to the server of that
//! profile.

mod environment;
mod host;
mod identity;
pub(crate) mod profiles;
mod prompt;
mod stored;
pub(crate) mod subject;
pub(crate) mod workspace;

use std::path::Path;
use std::time::Duration;

use tplkit::client::{BaseUrl, Client, Credential, Options, Secret};

use super::config::{self, Target};
use super::error::CliError;
use super::session::Session;
use profiles::{KeptWorkspace, Profile, Profiles};
use stored::Stored;

pub(crate) use environment::Environment;
pub(crate) use identity::{identify, name_of};
pub(crate) use profiles::close as close_profiles;
pub(crate) use prompt::{agree, confirm, prompt_line, secret, stdin_secret, terminal, unprompted};

/// The profile that is used when none is named.
pub(crate) const DEFAULT_PROFILE: &str = "default";

/// How long an extra request may wait.
const EXTRA_REQUEST_TIMEOUT: Duration = Duration::from_secs(4);

/// Which server, and as whom.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct ServerArgs {
    /// Address of the server, with or without `/v1` [default: that of the target, `TPLKIT_URL`, or that
    /// of the profile].
    #[arg(long, value_name = "URL", help_heading = "Server")]
    pub(crate) url: Option<String>,
    /// Profile to use [default: `TPLKIT_PROFILE`, or what `tplkit profile use` chose].
    #[arg(long, value_name = "NAME", help_heading = "Server")]
    pub(crate) profile: Option<String>,
    /// Target of the nearest `tplkit.toml`, which gives what no flag says: the address, and where the command
    /// takes them the workspace, the template, resolutions and rows.
    #[arg(long, value_name = "NAME", help_heading = "Server")]
    pub(crate) target: Option<String>,
}

impl ServerArgs {
    /// What the target says that was named, and nothing when none was; its address is taken over. The
    /// file is searched from the package upwards, from the working folder when there is none.
    ///
    /// # Errors
    /// There is no such target, or the file cannot be used.
    pub(crate) fn take_target(&mut self, package: &Path) -> Result<Target, CliError> {
        let Some(name) = self.target.take() else {
            return Ok(Target::default());
        };
        let target = config::target(&name, package)?;
        self.url = self.url.take().or_else(|| target.url.clone());
        Ok(target)
    }
}

/// Where a credential comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// There is none.
    Nowhere,
    /// `TPLKIT_TOKEN`.
    Environment,
    /// The profile.
    Profile,
}

impl Origin {
    /// The word in documents.
    pub(crate) fn as_str(self) -> Option<&'static str> {
        match self {
            Origin::Nowhere => None,
            Origin::Environment => Some("environment"),
            Origin::Profile => Some("profile"),
        }
    }
}

/// What arguments, environment and profile say together.
pub(crate) struct Choice {
    /// The name of the profile.
    pub(crate) profile: String,
    /// Its entry, if there is one.
    pub(crate) entry: Option<Profile>,
    /// The address, as it was written.
    pub(crate) url: Option<String>,
    token: Option<Secret>,
}

impl Choice {
    /// Reads everything. A profile that is asked for by name must exist, unless it is to be made.
    pub(crate) fn read(target: &ServerArgs, making: bool) -> Result<Choice, CliError> {
        let mut target = target.clone();
        target.take_target(Path::new("."))?;
        let environment = Environment::read()?;
        let named = target.profile.clone().or(environment.profile);
        let known =
            environment.token.is_some() && (target.url.is_some() || environment.url.is_some());
        let (profile, entry) = if known && named.is_none() {
            // At most a default workspace of the file counts then, so it need not be readable.
            let read = Profiles::read().and_then(|profiles| {
                let name = profiles.in_use().unwrap_or(DEFAULT_PROFILE);
                Ok((name.to_owned(), profiles.get(name)?))
            });
            read.unwrap_or_else(|_| (DEFAULT_PROFILE.to_owned(), None))
        } else {
            let profiles = Profiles::read()?;
            let name = named.as_deref().or(profiles.in_use());
            let name = name.unwrap_or(DEFAULT_PROFILE);
            let entry = profiles.get(name)?;
            if let (Some(name), None, false) = (&named, &entry, making) {
                return Err(profiles.missing(name));
            }
            (name.to_owned(), entry)
        };
        let url = target.url.clone().or(environment.url);
        Ok(Choice {
            profile,
            url: url.or_else(|| entry.as_ref()?.url.clone()),
            entry,
            token: environment.token,
        })
    }

    /// Reads the profile, whatever else signs in.
    pub(crate) fn of_profile(name: Option<&str>) -> Result<Choice, CliError> {
        let environment = Environment::read()?;
        let named = name.map(str::to_owned).or(environment.profile);
        let profiles = Profiles::read()?;
        let profile = named.as_deref().or(profiles.in_use());
        let profile = profile.unwrap_or(DEFAULT_PROFILE).to_owned();
        let entry = profiles.get(&profile)?;
        if named.is_some() && entry.is_none() {
            return Err(profiles.missing(&profile));
        }
        Ok(Choice {
            url: entry.as_ref().and_then(|entry| entry.url.clone()),
            token: environment.token,
            profile,
            entry,
        })
    }

    /// Whether the environment signs in.
    pub(crate) fn has_token(&self) -> bool {
        self.token.is_some()
    }

    /// The address, if there is one.
    pub(crate) fn base(&self) -> Result<Option<BaseUrl>, CliError> {
        self.url.as_deref().map(base).transpose()
    }

    /// The workspace that the profile keeps for this server.
    pub(crate) fn kept_workspace(&self) -> Result<Option<KeptWorkspace>, CliError> {
        let Some(base) = self.base()? else {
            return Ok(None);
        };
        let entry = self.entry.as_ref().filter(|entry| entry.belongs_to(&base));
        Ok(entry.and_then(|entry| entry.workspace.clone()))
    }

    /// As whom requests to that server are sent.
    pub(crate) fn credential(&self, base: &BaseUrl) -> Result<(Credential, Origin), CliError> {
        if let Some(token) = &self.token {
            return Ok((Credential::Token(token.clone()), Origin::Environment));
        }
        let Some(entry) = self.entry.as_ref().filter(|entry| entry.belongs_to(base)) else {
            return Ok((Credential::None, Origin::Nowhere));
        };
        if let Some(key) = &entry.api_key {
            return Ok((Credential::Token(key.clone()), Origin::Profile));
        }
        if entry.tokens.is_none() {
            return Ok((Credential::None, Origin::Nowhere));
        }
        let stored = Stored::new(&self.profile, base)?;
        Ok((Credential::Session(Box::new(stored)), Origin::Profile))
    }

    /// Whether the profile is signed in, but to another server.
    fn is_signed_in_elsewhere(&self, base: &BaseUrl) -> bool {
        self.entry
            .as_ref()
            .is_some_and(|entry| entry.is_signed_in() && !entry.belongs_to(base))
    }
}

/// A server, and as whom to talk to it.
pub(crate) struct Connection {
    pub(crate) client: Client,
    /// The profile that was looked at.
    pub(crate) profile: String,
    pub(crate) origin: Origin,
}

impl Connection {
    /// Connects with the stored sign-in.
    pub(crate) fn open(target: &ServerArgs, session: &Session) -> Result<Connection, CliError> {
        Connection::open_anyhow(target, session)?.signed_in()
    }

    /// The same for a request that the command can do without: a server that is away is not waited for.
    pub(crate) fn open_to_look(
        target: &ServerArgs,
        session: &Session,
    ) -> Result<Connection, CliError> {
        let options = Options {
            connect: EXTRA_REQUEST_TIMEOUT,
            silence: EXTRA_REQUEST_TIMEOUT,
            retries: 0,
            ..options()
        };
        Connection::open_with(target, session, options)?.signed_in()
    }

    /// Connects, without a credential when nobody is signed in.
    pub(crate) fn open_anyhow(
        target: &ServerArgs,
        session: &Session,
    ) -> Result<Connection, CliError> {
        Connection::open_with(target, session, options())
    }

    fn signed_in(self) -> Result<Connection, CliError> {
        match self.origin {
            Origin::Nowhere => Err(CliError::SignedOut {
                url: Some(self.client.base().to_string()),
            }),
            _ => Ok(self),
        }
    }

    fn open_with(
        target: &ServerArgs,
        session: &Session,
        options: Options,
    ) -> Result<Connection, CliError> {
        let choice = Choice::read(target, false)?;
        let Some(base) = choice.base()? else {
            return Err(match choice.token {
                None => CliError::SignedOut { url: None },
                Some(_) => CliError::Usage {
                    message: "TPLKIT_TOKEN is set, but no server is known".to_owned(),
                    help: "set TPLKIT_URL, or give `--url`".to_owned(),
                },
            });
        };
        let (credential, origin) = choice.credential(&base)?;
        if origin == Origin::Environment && target.profile.is_some() {
            session.note("note: TPLKIT_TOKEN is set and goes before the profile");
        }
        if origin == Origin::Nowhere && choice.is_signed_in_elsewhere(&base) {
            let profile = &choice.profile;
            session.note(format!(
                "note: profile `{profile}` is signed in to another server; its sign-in is not sent to `{base}`"
            ));
        }
        warn(&base, session);
        Ok(Connection {
            client: client(base, credential, session, options)?,
            profile: choice.profile,
            origin,
        })
    }
}

/// A client that speaks through this session.
pub(crate) fn client(
    base: BaseUrl,
    credential: Credential,
    session: &Session,
    options: Options,
) -> Result<Client, CliError> {
    let host = host::LocalHost::new(session);
    Ok(Client::new(base, credential, options, Box::new(host))?)
}

/// The bounds of a command.
pub(crate) fn options() -> Options {
    Options {
        environment_proxy: true,
        ..Options::default()
    }
}

/// Warns of a server whose traffic others can read.
pub(crate) fn warn(base: &BaseUrl, session: &Session) {
    if base.is_open_to_readers() {
        session.note(format!(
            "warning: `{base}` is plain HTTP: whoever carries the traffic can read it, sign-in included; use https://"
        ));
    }
}

/// Reads an address.
pub(crate) fn base(url: &str) -> Result<BaseUrl, CliError> {
    BaseUrl::parse(url).map_err(|error| CliError::Usage {
        // The address is not repeated: there may be a password in it.
        message: format!("the address of the server {error}"),
        help: "give it as `https://HOST`, from `--url`, TPLKIT_URL or the profile".to_owned(),
    })
}
