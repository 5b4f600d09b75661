//! `--onto OLD`: the earlier package, from a file, an unpacked folder or the catalog.

use std::borrow::Cow;
use std::io;
use std::path::Path;

use tplkit::check::render::{FileEntry, Report};
use tplkit::check::{CheckOptions, Checked, LocatedReport};
use tplkit::client::Client;
use tplkit::definitions::Definitions;
use tplkit::export::onto::{Missing, to_version_2};
use tplkit::export::{Onto, Previous};
use tplkit::layout::{PackError, Problem};
use tplkit::package::Source;
use tplkit::workspace::{Id, Structure};

use crate::cli::args::Form;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::package_file;
use crate::cli::packed;
use crate::cli::remote::subject::{self, Subject};
use crate::cli::session::{RandomIds, Session};

/// An earlier package, read whole.
pub(super) struct Old<'w> {
    word: &'w Path,
    source: Result<Source, Vec<Problem>>,
    /// The template that it is, when it is one.
    pub(super) template: Option<Id>,
}

impl<'w> Old<'w> {
    /// Reads what a word names.
    pub(super) fn read(word: &'w Path, client: &Client) -> Result<Old<'w>, CliError> {
        let subject = Subject::of(word);
        let (subject, template) = match subject {
            Subject::File(_) => (subject, None),
            Subject::Template(name) => {
                let id = subject::template(client, name)?;
                let id = Id::try_parse(&id).ok();
                (subject, id)
            }
        };
        let id = template.map(|id| id.to_string());
        let source = match subject {
            Subject::File(folder) if packed::is_package(folder) => packed(folder)?,
            _ => {
                let subject = id.as_deref().map_or(subject, Subject::Template);
                Ok(subject.package(|| Ok(client))?)
            }
        };
        Ok(Old {
            word,
            source,
            template,
        })
    }

    /// Does something with the package, or says what is wrong with it: then the export ends.
    pub(super) fn with<T>(
        &self,
        (form, session): (Form, &Session),
        work: impl FnOnce(&Previous<'_>) -> Result<T, CliError>,
    ) -> Result<Result<T, Exit>, CliError> {
        let options = CheckOptions::default();
        let checked = match &self.source {
            Ok(source) => package_file::checked(self.word, source, &options),
            Err(problems) => {
                let report = LocatedReport::new(b"", packed::broken(problems));
                let file = FileEntry::new(self.word.to_owned(), report);
                Err(Box::new(Report {
                    files: vec![file],
                    ..Report::default()
                }))
            }
        };
        let (text, mut checked) = match checked {
            Ok(checked) => checked,
            Err(report) => {
                session.note("error: the earlier package has errors; nothing was written");
                return package_file::refuse(&report, form, session).map(Err);
            }
        };
        let unreadable = || CliError::Usage {
            message: "the earlier package cannot be read".to_owned(),
            help: "`tplkit check` says more about it".to_owned(),
        };
        let text = to_version_2(text, Definitions::embedded(), &mut RandomIds);
        let text = text.map_err(|_| unreadable())?;
        if let Cow::Owned(migrated) = &text {
            checked = Checked::trusted(migrated).map_err(|_| unreadable())?;
        }
        work(&Previous::new(&text, checked)).map(Ok)
    }
}

/// The package of a folder, or what keeps it from being one.
fn packed(folder: &Path) -> Result<Result<Source, Vec<Problem>>, CliError> {
    let unreadable = |source| CliError::Read {
        path: folder.to_owned(),
        source,
    };
    match packed::text(folder) {
        Ok(bytes) => Source::read(&*bytes).map(Ok).map_err(unreadable),
        Err(PackError::Problems(problems)) => Ok(Err(problems)),
        Err(error) => Err(unreadable(io::Error::other(error))),
    }
}

/// Names what the earlier package holds and the workspace lacks.
pub(super) fn missing(
    onto: Option<Onto<'_>>,
    structure: &Structure,
    session: &Session,
) -> Vec<Missing> {
    let missing = onto.map(|onto| onto.previous.missing(structure));
    let missing = missing.unwrap_or_default();
    for one in &missing {
        let name = one.name.escape_debug();
        session.note(format!(
            "note: the earlier package holds the {} `{name}`, which the workspace lacks",
            one.kind
        ));
    }
    missing
}
