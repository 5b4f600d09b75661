//! What a push of a file would do, for commands that mean the template behind a file.

use tplkit::apply::content_digest;
use tplkit::client::Client;

use super::{PushTarget, meant, summary};
use crate::cli::candidates::Candidate;
use crate::cli::error::CliError;
use crate::cli::package_file::File;
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
pub(crate) enum CatalogMatch {
    /// Nothing: a push makes a template.
    Nothing,
    /// This very package.
    Same(String),
    /// A package that a push replaces.
    Other {
        id: String,
        /// The template that only has the same name.
        by_name: Option<Candidate>,
        /// What people call it, where it was looked for.
        title: Option<String>,
        /// The content digest of the package that it holds.
        digest: String,
    },
}

impl FileTemplate {
    /// Whether nothing was said.
    pub(crate) fn is_none(&self) -> bool {
        self.id.is_none() && !self.new
    }

    /// Whether another template is made whatever the catalog holds.
    pub(crate) fn makes_another(&self) -> bool {
        self.new
    }

    /// Refuses what was said where no file is named.
    pub(crate) fn refuse(&self, word: &str) -> Result<(), CliError> {
        if self.is_none() {
            return Ok(());
        }
        Err(CliError::Usage {
            message: format!("`{}` is not a file", word.escape_debug()),
            help: "`--id` and `--new` say what becomes of a package file".to_owned(),
        })
    }

    /// Finds out what a push to that organization would do.
    pub(crate) fn find(
        &self,
        client: &Client,
        organization: Option<&str>,
        file: &File<'_>,
    ) -> Result<CatalogMatch, CliError> {
        if self.new {
            return Ok(CatalogMatch::Nothing);
        }
        let (id, by_name, title) = match &self.id {
            Some(id) => (id.clone(), None, None),
            None => match meant(client, organization, &file.package)? {
                PushTarget::New => return Ok(CatalogMatch::Nothing),
                PushTarget::ById(candidate) => {
                    let title = summary(&candidate);
                    (candidate.id, None, Some(title))
                }
                PushTarget::ByName(candidate) => {
                    let title = summary(&candidate);
                    (candidate.id.clone(), Some(candidate), Some(title))
                }
            },
        };
        match client.package(&id) {
            Ok(stored) if is_same(&stored, file.text) => Ok(CatalogMatch::Same(id)),
            Ok(stored) => Ok(CatalogMatch::Other {
                id,
                by_name,
                title,
                digest: content_digest(&stored),
            }),
            // A server without packages takes none.
            Err(error) if self.id.is_none() && subject::lacks_route(&error) => {
                Ok(CatalogMatch::Nothing)
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// The package of a template that a file is about to replace.
///
/// # Errors
/// It is not the one of that content digest any more: somebody else has pushed, or the template went.
pub(crate) fn replaced(client: &Client, id: &str, digest: &str) -> Result<String, CliError> {
    let stored = client.package(id).map_err(|error| {
        if error.status() == Some(404) {
            CliError::stale(format!("template `{id}` is no longer in the catalog"))
        } else {
            error.into()
        }
    })?;
    if content_digest(&stored) == digest {
        return Ok(stored);
    }
    Err(CliError::stale(format!(
        "template `{id}` holds another package than when this was planned"
    )))
}

/// Whether two packages say the same, but for their visibility, which is the catalog's, and for
/// `$schema`, which is the editor's.
fn is_same(one: &str, other: &str) -> bool {
    let without = |text: &str| {
        let mut value = tplkit::json::Value::parse(text.trim_start_matches('\u{feff}')).ok()?;
        if let tplkit::json::Value::Object(members) = &mut value {
            members.shift_remove("$schema");
            if !members.contains_key("manifest") {
                let manifest = std::mem::take(members).into();
                members.insert("manifest".to_owned(), manifest);
            }
            members
                .entry("payloads".to_owned())
                .or_insert_with(|| tplkit::json::Value::List(Vec::new()));
            if let Some(tplkit::json::Value::Object(manifest)) = members.get_mut("manifest") {
                manifest.shift_remove("visibility");
            }
        }
        Some(value.write())
    };
    let (one, other) = (without(one), without(other));
    one.zip(other)
        .is_some_and(|(one, other)| tplkit::rows::equal(&one, &other))
}
