//! Opens the one package of commands like `show` and `why`: a file, an unpacked folder, or standard
//! input.

use std::io;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use tplkit::check::{CheckOptions, Checked, OpenedPackage};
use tplkit::finding::render::{self, FileEntry, Report};
use tplkit::finding::{FileReport, Finding, LocatedReport};
use tplkit::json::Doc;
use tplkit::layout::{self, INDEX, PackError};
use tplkit::package::Source;
use tplkit::printable;

use super::args::Form;
use super::error::CliError;
use super::exit::Exit;
use super::folder::OnDisk;
use super::folder_snapshot::FolderSnapshot;
use super::output::write_styled;
use super::replace::FileBytes;
use super::session::Session;
use super::source::{self, is_stdin};
use super::unpacked_folders;

/// A package with the path that its places are named by; it is what a [`Doc`] borrows from.
#[derive(Debug)]
pub(crate) struct PackageFile {
    /// As it was named; of a file of a folder the folder.
    pub(crate) path: PathBuf,
    opened: OpenedPackage,
}

impl PackageFile {
    /// A package that came from elsewhere, under a name.
    pub(crate) fn new(path: &Path, source: Source) -> PackageFile {
        PackageFile {
            path: path.to_owned(),
            opened: OpenedPackage::File(source),
        }
    }

    /// The files of it, as they were read.
    pub(crate) fn files(&self) -> Vec<FileBytes<'_>> {
        match &self.opened {
            OpenedPackage::File(source) => {
                vec![FileBytes::new(self.path.clone(), source.bytes())]
            }
            OpenedPackage::Folder(joined) => joined
                .names()
                .filter_map(|name| Some(FileBytes::new(self.path.join(name), joined.file(name)?)))
                .collect(),
        }
    }

    /// Whether it is an unpacked folder.
    pub(crate) fn is_folder(&self) -> bool {
        matches!(self.opened, OpenedPackage::Folder(_))
    }
}

impl Deref for PackageFile {
    type Target = OpenedPackage;

    fn deref(&self) -> &OpenedPackage {
        &self.opened
    }
}

/// A package file, or an unpacked folder, without errors.
pub(crate) struct File<'s> {
    pub(crate) path: &'s Path,
    pub(crate) text: &'s str,
    pub(crate) package: Checked<'s>,
}

impl<'s> File<'s> {
    /// Checks it, or gives the report that says why it cannot be used.
    pub(crate) fn checked(source: &'s PackageFile) -> Result<File<'s>, Box<Report>> {
        let (text, package) = checked(source, &CheckOptions::default())?;
        Ok(File {
            path: &source.path,
            text,
            package,
        })
    }
}

/// Opens a package: a file, a folder that holds the index of one, or a file that such a folder names.
pub(crate) fn read(path: &Path) -> Result<PackageFile, CliError> {
    open(path, false)
}

/// Like `read`, for commands that may write over the file: nothing is mapped, so it stays what was read.
pub(crate) fn read_whole(path: &Path) -> Result<PackageFile, CliError> {
    open(path, true)
}

fn open(path: &Path, whole: bool) -> Result<PackageFile, CliError> {
    let failed = |path: PathBuf| move |source| CliError::Read { path, source };
    let folder = if is_stdin(path) {
        None
    } else if path.is_dir() {
        if !unpacked_folders::is_package(path) {
            return Err(CliError::Usage {
                message: format!(
                    "`{}` is a folder without `{INDEX}`, and no package",
                    printable::path(path)
                ),
                help: "name a package file, or a folder that `tplkit unpack` has written"
                    .to_owned(),
            });
        }
        Some(path.to_owned())
    } else {
        unpacked_folders::folder_of(path)
    };
    let Some(folder) = folder else {
        let read = if whole {
            source::read_whole(path)
        } else {
            source::read(path)
        };
        let read = read.map_err(failed(path.to_owned()))?;
        return Ok(PackageFile::new(path, read));
    };
    let joined = if whole {
        layout::join(&FolderSnapshot::new(&folder))
    } else {
        layout::join(&OnDisk(folder.clone()))
    };
    match joined {
        Ok(joined) => Ok(PackageFile {
            path: folder,
            opened: OpenedPackage::Folder(Box::new(joined)),
        }),
        Err(PackError::Read { name, source }) => Err(failed(folder.join(name))(source)),
        Err(error) => Err(failed(folder)(io::Error::other(error))),
    }
}

/// Parses it as a package, or gives the report that says why it is none: that of a check.
pub(crate) fn parse(source: &PackageFile) -> Result<Doc<'_>, Box<Report>> {
    if source.is_whole()
        && let Ok(doc) = source.text().and_then(Doc::parse_package)
    {
        let root = doc.root();
        let manifest = root.get("manifest").unwrap_or(root);
        if manifest.get("templateVersion").is_some() {
            return Ok(doc);
        }
    }
    Err(Box::new(report(source, &CheckOptions::default())))
}

/// Reads it as a package without errors, or gives the report that names them.
pub(crate) fn checked<'s>(
    source: &'s PackageFile,
    options: &CheckOptions<'_>,
) -> Result<(&'s str, Checked<'s>), Box<Report>> {
    let read = source.checked(options).ok();
    let read = read.and_then(|package| Some((source.text().ok()?, package)));
    read.ok_or_else(|| Box::new(report(source, options)))
}

/// What a check says of it.
pub(crate) fn report(source: &PackageFile, options: &CheckOptions<'_>) -> Report {
    of(source, source.check(options))
}

/// The report that says why a text cannot be used; of a folder that cannot be packed, why not. A check
/// says whether it is a package.
pub(crate) fn refusal(source: &PackageFile, finding: Finding) -> Report {
    let checked = source.check(&CheckOptions::default());
    if !source.is_whole() {
        return of(source, checked);
    }
    let report = FileReport {
        kind: checked.kind,
        findings: vec![finding],
        promotion: None,
    };
    of(source, report)
}

fn of(source: &PackageFile, report: FileReport) -> Report {
    let located = LocatedReport::new(&source.opened, report);
    Report {
        files: vec![FileEntry::new(source.path.clone(), located)],
        ..Report::default()
    }
}

/// Ends a command that applies a package, which has findings that are errors.
pub(crate) fn refuse_to_apply(
    report: &Report,
    form: Form,
    session: &Session,
) -> Result<Exit, CliError> {
    session.note("error: only a package that checks without errors can be applied");
    refuse(report, form, session)
}

/// Says why a file cannot be used.
pub(crate) fn refuse(report: &Report, form: Form, session: &Session) -> Result<Exit, CliError> {
    let text = match form {
        Form::Text => render::text(report, session.style(None)),
        Form::Json => render::json(report),
    };
    write_styled(&text, None)?;
    Ok(Exit::Findings)
}
