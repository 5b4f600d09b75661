//! `PKG|TEMPLATE`: a file, or a template of the catalog by id or name.

use std::path::Path;

use tplkit::client::{Client, Error};
use tplkit::package::Source;

use super::workspace;
use crate::cli::candidates::of_templates;
use crate::cli::error::CliError;
use crate::cli::package_file::{self, PackageFile};
use crate::cli::source::is_stdin;
use crate::cli::unpacked_folders;
use crate::cli::word_match::Choices;

/// What a word names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject<'w> {
    /// A file, an unpacked folder, or standard input.
    File(&'w Path),
    /// A template, by id or name.
    Template(&'w str),
}

impl<'w> Subject<'w> {
    /// Files go first; what looks like a path is one, so that a slip is reported as a missing file.
    pub(crate) fn of(word: &'w Path) -> Subject<'w> {
        let text = word.to_str().unwrap_or("/");
        let is_path = text.contains(['/', '\\']) || text.to_ascii_lowercase().ends_with(".json");
        if is_stdin(word) || is_path || is_package(word) {
            Subject::File(word)
        } else {
            Subject::Template(text)
        }
    }

    /// The package: read from the file, or from the server that is connected when it is needed.
    pub(crate) fn package<'c>(
        self,
        connect: impl FnOnce() -> Result<&'c Client, CliError>,
    ) -> Result<PackageFile, CliError> {
        match self {
            Subject::File(path) => package_file::read(path),
            Subject::Template(word) => {
                let client = connect()?;
                let text = package(client, &template(client, word)?)?;
                let source = Source::from_bytes(text.into_bytes());
                Ok(PackageFile::new(Path::new(word), source))
            }
        }
    }
}

/// Whether something is there that may be a package. A folder of another sort may be called as a template is.
pub(crate) fn is_package(path: &Path) -> bool {
    path.exists() && (!path.is_dir() || unpacked_folders::is_package(path))
}

/// The id of a template: as it was given, or looked up by name, label, or `ORG/NAME`.
pub(crate) fn template(client: &Client, word: &str) -> Result<String, CliError> {
    if uuid::Uuid::try_parse(word).is_ok() {
        return Ok(word.to_owned());
    }
    let mut all = Vec::new();
    for page in client.templates(None, None) {
        all.extend(page?.items.into_iter().map(|one| one.record));
    }
    let candidates = of_templates(&all, &workspace::organizations(client));
    let none = if is_package(Path::new(word)) {
        "is a file, and this command takes a template of the catalog"
    } else {
        "is neither a file nor a template that you may see"
    };
    let choices = Choices {
        noun: "template",
        none: Some(none),
        all: &candidates,
        help: "`tplkit template list` shows the templates",
    };
    Ok(choices.find(word)?.id.clone())
}

/// The package of a template.
pub(crate) fn package(client: &Client, id: &str) -> Result<String, CliError> {
    client.package(id).map_err(|error| {
        let what = format!("the package of template `{id}` cannot be read from this server");
        degraded(client, id, error, &what)
    })
}

/// Distinguishes a route that a server does not have from a template that it does not have: the list of
/// templates is a route of every server.
pub(crate) fn degraded(client: &Client, id: &str, error: Error, what: &str) -> CliError {
    if lacks_route(&error) && lists(client, id) {
        return CliError::Degraded {
            message: format!("{what}: it has only the routes of the specification"),
            help: "work with the package as a file; `tplkit apply` goes by id all the same"
                .to_owned(),
        };
    }
    error.into()
}

/// Whether a refusal may mean that there is no such route.
pub(crate) fn lacks_route(error: &Error) -> bool {
    matches!(error.status(), Some(404 | 405 | 501))
}

fn lists(client: &Client, id: &str) -> bool {
    let mut pages = client.templates(None, None);
    pages.any(|page| page.is_ok_and(|page| page.items.iter().any(|one| one.record.id == id)))
}
