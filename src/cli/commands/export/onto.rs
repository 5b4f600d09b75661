//! `--onto OLD`: the earlier package, from a file, an unpacked folder or the catalog.

use std::borrow::Cow;
use std::path::Path;

use tplkit::check::{CheckOptions, Checked};
use tplkit::client::Client;
use tplkit::definitions::Definitions;
use tplkit::export::onto::{MissingItem, to_version_2};
use tplkit::export::{ExportBase, PreviousPackage};
use tplkit::workspace::{Id, Structure};

use crate::cli::args::Form;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::package_file::{self, PackageFile};
use crate::cli::remote::subject::{self, Subject};
use crate::cli::session::{RandomIds, Session};

/// An earlier package, read whole.
pub(super) struct EarlierFile {
    source: PackageFile,
    /// The template that it is, when it is one.
    pub(super) template: Option<Id>,
}

impl EarlierFile {
    /// Reads what a word names; `may_write` when the export goes to a file, which may be the same one.
    pub(super) fn read(
        word: &Path,
        may_write: bool,
        client: &Client,
    ) -> Result<EarlierFile, CliError> {
        let name = match Subject::of(word) {
            Subject::File(path) => {
                let read = if may_write {
                    package_file::read_whole(path)
                } else {
                    package_file::read(path)
                };
                return Ok(EarlierFile {
                    source: read?,
                    template: None,
                });
            }
            Subject::Template(name) => name,
        };
        let id = subject::template(client, name)?;
        Ok(EarlierFile {
            source: Subject::Template(&id).package(|| Ok(client))?,
            template: Id::try_parse(&id).ok(),
        })
    }

    /// The file or folder that was read, when it is not a template.
    pub(super) fn file(&self) -> Option<&PackageFile> {
        self.template.is_none().then_some(&self.source)
    }

    /// Does something with the package, or says what is wrong with it: then the export ends.
    pub(super) fn with<T>(
        &self,
        form: Form,
        session: &Session,
        work: impl FnOnce(&PreviousPackage<'_>) -> Result<T, CliError>,
    ) -> Result<Result<T, Exit>, CliError> {
        let options = CheckOptions::default();
        let (text, mut checked) = match package_file::checked(&self.source, &options) {
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
        work(&PreviousPackage::new(&text, checked)).map(Ok)
    }
}

/// Names what the earlier package holds and the workspace lacks.
pub(super) fn missing(
    onto: Option<ExportBase<'_>>,
    structure: &Structure,
    session: &Session,
) -> Vec<MissingItem> {
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
