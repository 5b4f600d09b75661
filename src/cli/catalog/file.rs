//! What a push of a file would do, for commands that mean the template behind a file.

use tplkit::client::Client;

use super::{Candidate, Meant, meant};
use crate::cli::error::CliError;
use crate::cli::plan_view::examine::File;
use crate::cli::plan_view::is_same;
use crate::cli::remote::subject;

/// Which template a file means.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct FileTemplate {
    /// The template that the file replaces, instead of the one with its `manifest.id` or name.
    #[arg(
        long,
        visible_alias = "template",
        value_name = "ID",
        conflicts_with = "new"
    )]
    id: Option<String>,
    /// Make another template of the file, whatever the catalog holds.
    #[arg(long)]
    new: bool,
}

/// What the catalog holds of a file.
#[derive(Debug)]
pub(crate) enum Held {
    /// Nothing: a push makes a template.
    Nothing,
    /// This very package.
    Same(String),
    /// A package that a push replaces.
    Other {
        id: String,
        /// The template that only has the same name.
        by_name: Option<Candidate>,
    },
}

impl FileTemplate {
    /// Whether nothing was said.
    pub(crate) fn is_none(&self) -> bool {
        self.id.is_none() && !self.new
    }

    /// Refuses what was said where no file is named.
    pub(crate) fn refuse(&self, word: &str) -> Result<(), CliError> {
        if self.is_none() {
            return Ok(());
        }
        Err(CliError::Usage {
            message: format!("`{}` is no file", word.escape_debug()),
            help: "`--id` and `--new` say what becomes of a package file".to_owned(),
        })
    }

    /// Finds out what a push to that organization would do.
    pub(crate) fn find(
        &self,
        client: &Client,
        organization: Option<&str>,
        file: &File<'_>,
    ) -> Result<Held, CliError> {
        if self.new {
            return Ok(Held::Nothing);
        }
        let (id, by_name) = match &self.id {
            Some(id) => (id.clone(), None),
            None => match meant(client, organization, &file.package)? {
                Meant::New => return Ok(Held::Nothing),
                Meant::ById(candidate) => (candidate.id, None),
                Meant::ByName(candidate) => (candidate.id.clone(), Some(candidate)),
            },
        };
        match client.package(&id) {
            Ok(stored) if is_same(&stored, file.text) => Ok(Held::Same(id)),
            Ok(_) => Ok(Held::Other { id, by_name }),
            // A server without packages takes none.
            Err(error) if self.id.is_none() && subject::lacks_route(&error) => Ok(Held::Nothing),
            Err(error) => Err(error.into()),
        }
    }
}
