//! The automation that a word names, in a workspace of a server.

use std::path::Path;

use tplkit::client::{AutomationVersion, Client, WithDocument};

use crate::cli::candidates::Candidate;
use crate::cli::error::CliError;
use crate::cli::remote::workspace::{NamedWorkspace, WorkspaceArgs, unnamed};
use crate::cli::remote::{Connection, ServerArgs};
use crate::cli::session::Session;
use crate::cli::typed_id::parse_id;
use crate::cli::word_match::Choices;

/// All versions of one automation, oldest first.
pub(super) struct Versions {
    pub(super) id: String,
    pub(super) all: Vec<WithDocument<AutomationVersion>>,
}

impl Versions {
    /// The version in force: the active one, else the newest published, else the newest draft.
    pub(super) fn in_force(&self) -> Option<&WithDocument<AutomationVersion>> {
        let all = || self.all.iter().rev();
        all()
            .find(|one| one.record.is_active)
            .or_else(|| all().find(|one| !one.record.is_draft))
            .or_else(|| all().next())
    }

    /// A draft that is newer than the version in force.
    pub(super) fn newer_draft(&self) -> Option<&AutomationVersion> {
        let version = self.in_force()?.record.version;
        let mut drafts = self.all.iter().rev().map(|one| &one.record);
        drafts.find(|one| one.is_draft && one.version > version)
    }
}

/// How a version stands, in words.
pub(super) fn state(version: &AutomationVersion) -> &'static str {
    match (version.is_active, version.is_draft) {
        (true, _) => "active",
        (false, true) => "draft",
        (false, false) => "inactive",
    }
}

/// The automations of a workspace, in the order in which they were made.
pub(super) fn all(client: &Client, workspace: &NamedWorkspace) -> Result<Vec<Versions>, CliError> {
    let mut found: Vec<Versions> = Vec::new();
    for page in client.automations(&workspace.id.to_string()) {
        for version in page?.items {
            let id = version.record.workflow_id.clone();
            match found.iter_mut().find(|one| one.id == id) {
                Some(known) => known.all.push(version),
                None => found.push(Versions {
                    id,
                    all: vec![version],
                }),
            }
        }
    }
    for one in &mut found {
        one.all.sort_by_key(|version| version.record.version);
    }
    Ok(found)
}

/// Where automations are looked for.
#[derive(Debug, clap::Args)]
pub(super) struct SearchArgs {
    #[command(flatten)]
    workspace: WorkspaceArgs,
    #[command(flatten)]
    target: ServerArgs,
}

/// A server, and the workspace where something names one.
pub(super) struct Opened {
    pub(super) connection: Connection,
    workspace: Option<NamedWorkspace>,
    server: ServerArgs,
}

impl SearchArgs {
    /// Connects, and finds the workspace.
    pub(super) fn open(&self, session: &Session) -> Result<Opened, CliError> {
        let mut server = self.target.clone();
        let target = server.take_target(Path::new("."))?;
        let word = self.workspace.word(&target, &server)?;
        let connection = Connection::open(&server, session)?;
        let workspace = word.map(|word| NamedWorkspace::find(&connection.client, &word));
        Ok(Opened {
            workspace: workspace.transpose()?,
            connection,
            server,
        })
    }
}

impl Opened {
    pub(super) fn client(&self) -> &Client {
        &self.connection.client
    }

    /// The workspace, which a name needs.
    pub(super) fn workspace(&self, session: &Session) -> Result<&NamedWorkspace, CliError> {
        let named = self.workspace.as_ref();
        named.ok_or_else(|| unnamed("", &self.server, session))
    }

    /// The id of the automation that a word means: its id, or its name in the workspace.
    pub(super) fn automation(&self, word: &str, session: &Session) -> Result<String, CliError> {
        if parse_id(word).is_some() {
            return Ok(word.to_owned());
        }
        let all = all(self.client(), self.workspace(session)?)?;
        let candidates: Vec<Candidate> = all.iter().map(candidate).collect();
        let choices = Choices {
            noun: "automation",
            none: None,
            all: &candidates,
            help: "`tplkit automation list` shows those of the workspace",
        };
        Ok(choices.find(word)?.id.clone())
    }
}

fn candidate(one: &Versions) -> Candidate {
    let name = one.in_force().map(|version| version.record.name.clone());
    Candidate {
        id: one.id.clone(),
        name: name.clone(),
        label: name,
        ..Candidate::default()
    }
}
