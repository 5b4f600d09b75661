//! The workspace of a command: by id or by name, or the default that the environment or the profile keeps.
//!
//! The word comes from `--workspace`, else the target of a `tplkit.toml`, else `TPLKIT_WORKSPACE`, else what
//! `tplkit workspace use` keeps in the profile of the server.

use std::borrow::Cow;
use std::cell::OnceCell;

use tplkit::client::{Client, Organization, Workspace};
use tplkit::printable;
use tplkit::workspace::Id;

use super::{Choice, Connection, Environment, ServerArgs};
use crate::cli::candidates::{Candidate, MAX_LISTED, of_workspaces};
use crate::cli::config::Target;
use crate::cli::error::CliError;
use crate::cli::session::Session;
use crate::cli::shell_word::shell_word;
use crate::cli::typed_id::parse_id;
use crate::cli::word_match::Choices;

/// The option of commands that work on a workspace.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct WorkspaceArgs {
    /// The workspace: its id, name or label, or `ORG/NAME` [default: that of the target, `TPLKIT_WORKSPACE`, or
    /// what `tplkit workspace use` keeps].
    #[arg(long, value_name = "ID|NAME")]
    pub(crate) workspace: Option<String>,
}

impl WorkspaceArgs {
    /// The word for the workspace, if anything names one.
    ///
    /// # Errors
    /// The profile cannot be used.
    pub(crate) fn word(
        &self,
        target: &Target,
        server: &ServerArgs,
    ) -> Result<Option<String>, CliError> {
        let named = self.workspace.clone().or_else(|| target.workspace.clone());
        match named {
            Some(word) => Ok(Some(word)),
            None => default_word(server),
        }
    }

    /// The word for the workspace.
    ///
    /// # Errors
    /// Nothing names one, or the profile cannot be used.
    pub(crate) fn required(
        &self,
        target: &Target,
        server: &ServerArgs,
        session: &Session,
    ) -> Result<String, CliError> {
        let word = self.word(target, server)?;
        word.ok_or_else(|| unnamed("", server, session))
    }
}

/// Nothing names a workspace.
pub(crate) fn unnamed(why: &str, server: &ServerArgs, session: &Session) -> CliError {
    let help = "give one with `--workspace`, or keep one with `tplkit workspace use NAME`; `tplkit workspace list` shows them";
    choose(format!("no workspace is named{why}"), help, server, session)
}

/// Something needs a workspace. Those that there are to choose from are listed where the server shows them at once.
pub(crate) fn choose(
    message: String,
    help: &str,
    server: &ServerArgs,
    session: &Session,
) -> CliError {
    let connection = Connection::open_to_look(server, session);
    let listed = connection.and_then(|connection| candidates(&connection.client));
    let mut candidates = listed.unwrap_or_default();
    let more = candidates.len().saturating_sub(MAX_LISTED);
    candidates.truncate(MAX_LISTED);
    CliError::Candidates {
        message,
        help: help.to_owned(),
        candidates,
        more,
        path: None,
    }
}

/// Every workspace that may be seen, to choose from.
fn candidates(client: &Client) -> Result<Vec<Candidate>, CliError> {
    Ok(of_workspaces(&all(client)?, &organizations(client)))
}

/// `TPLKIT_WORKSPACE`, else what the profile keeps for this server.
pub(crate) fn default_word(server: &ServerArgs) -> Result<Option<String>, CliError> {
    if let Some(word) = Environment::read()?.workspace {
        return Ok(Some(word));
    }
    let choice = Choice::read(server, false)?;
    Ok(choice.kept_workspace()?.map(|kept| kept.id))
}

/// A workspace of a server; what people call it is asked when it is to be shown.
pub(crate) struct NamedWorkspace {
    pub(crate) id: Id,
    /// How it was named.
    word: String,
    record: OnceCell<Option<Workspace>>,
}

impl NamedWorkspace {
    /// The workspace of an id, which is not looked up.
    pub(crate) fn of(id: Id) -> NamedWorkspace {
        NamedWorkspace {
            id,
            word: id.to_string(),
            record: OnceCell::new(),
        }
    }

    /// It as the argument of a command, as whoever named it wrote it.
    pub(crate) fn argument(&self) -> Cow<'_, str> {
        shell_word(&self.word)
    }

    /// The workspace that a word means.
    ///
    /// # Errors
    /// It fits no workspace, or several; or the server does not respond.
    pub(crate) fn find(client: &Client, word: &str) -> Result<NamedWorkspace, CliError> {
        match parse_id(word) {
            Some(id) => Ok(NamedWorkspace::of(id)),
            None => NamedWorkspace::of_record(word, find_record(client, word)?),
        }
    }

    fn of_record(word: &str, record: Workspace) -> Result<NamedWorkspace, CliError> {
        let id = parse_id(&record.id).ok_or_else(|| CliError::Usage {
            message: format!(
                "the server names a workspace `{}`, which is not a UUID",
                record.id.escape_debug()
            ),
            help: "`tplkit doctor` looks at the server".to_owned(),
        })?;
        Ok(NamedWorkspace {
            id,
            word: word.to_owned(),
            record: OnceCell::from(Some(record)),
        })
    }

    /// What the server knows of it; none where the server does not show it.
    pub(crate) fn record(&self, client: &Client) -> Option<&Workspace> {
        self.record
            .get_or_init(|| client.workspace(&self.id.to_string()).ok())
            .as_ref()
    }

    /// What the server knows of it.
    ///
    /// # Errors
    /// The server does not show it, or does not respond.
    pub(crate) fn require(&self, client: &Client) -> Result<Workspace, CliError> {
        if let Some(Some(known)) = self.record.get() {
            return Ok(known.clone());
        }
        let record = client.workspace(&self.id.to_string())?;
        self.record.set(Some(record.clone())).ok();
        Ok(record)
    }

    /// It in words: `"Coffee shop" (coffee_shop)`, with the id only for those who want to know more.
    pub(crate) fn title(&self, client: &Client, session: &Session) -> String {
        let id = self.id.to_string();
        let Some(record) = self.record(client) else {
            return id;
        };
        titled(record, session)
    }
}

/// A workspace in words.
pub(crate) fn titled(record: &Workspace, session: &Session) -> String {
    let more = session.is_verbose().then_some(record.id.as_str());
    called(
        record.label.as_deref(),
        record.name.as_deref(),
        &record.id,
        more,
    )
}

/// Something by its label, with its name, and its id where nothing else is known or more is wanted.
pub(crate) fn called(
    label: Option<&str>,
    name: Option<&str>,
    id: &str,
    more: Option<&str>,
) -> String {
    let mut behind: Vec<&str> = Vec::new();
    let head = match (label, name) {
        (Some(label), name) => {
            behind.extend(name.filter(|name| *name != label));
            format!("{label:?}")
        }
        (None, Some(name)) => format!("`{name}`"),
        (None, None) => return printable::line(id),
    };
    behind.extend(more);
    let behind = match behind.as_slice() {
        [] => String::new(),
        behind => format!(" ({})", behind.join(", ")),
    };
    printable::line(&(head + &behind))
}

/// The record of the workspace that a word means.
///
/// # Errors
/// It fits no workspace, or several; or the server does not respond.
pub(crate) fn find_record(client: &Client, word: &str) -> Result<Workspace, CliError> {
    if let Some(id) = parse_id(word) {
        return Ok(client.workspace(&id.to_string())?);
    }
    let all = all(client)?;
    let known = organizations(client);
    let candidates = of_workspaces(&all, &known);
    let choices = Choices {
        noun: "workspace",
        none: None,
        all: &candidates,
        help: "`tplkit workspace list` shows the workspaces",
    };
    let id = choices.find(word)?.id.clone();
    match all.into_iter().find(|one| one.id == id) {
        Some(found) => Ok(found),
        None => Ok(client.workspace(&id)?),
    }
}

/// Every workspace that may be seen.
pub(crate) fn all(client: &Client) -> Result<Vec<Workspace>, CliError> {
    let mut all = Vec::new();
    for page in client.workspaces() {
        all.extend(page?.items);
    }
    Ok(all)
}

/// The organizations that a server shows; none where it has no list of them.
pub(crate) fn organizations(client: &Client) -> Vec<Organization> {
    let mut known = Vec::new();
    for page in client.organizations() {
        match page {
            Ok(page) => known.extend(page.items),
            Err(_) => return Vec::new(),
        }
    }
    known
}
