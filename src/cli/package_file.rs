//! Reads the one package of commands like `show` and `why`.

use std::path::Path;

use tplkit::check::{CheckOptions, Checked, check};
use tplkit::finding::render::{self, FileEntry, Report};
use tplkit::finding::{FileKind, FileReport, Finding, LocatedReport, Place, catalog};
use tplkit::json::Doc;
use tplkit::package::Source;
use tplkit::package::canonical::CanonicalError;

use super::args::Form;
use super::error::CliError;
use super::exit::Exit;
use super::output::write_styled;
use super::session::Session;
use super::source;

/// Reads a file; it is what a [`Doc`] borrows from.
pub(crate) fn read(path: &Path) -> Result<Source, CliError> {
    source::read(path).map_err(|source| CliError::Read {
        path: path.to_owned(),
        source,
    })
}

/// Parses it as a package, or gives the report that says why it is none: that of a check.
pub(crate) fn parse<'s>(path: &Path, source: &'s Source) -> Result<Doc<'s>, Box<Report>> {
    if let Ok(doc) = source.text().and_then(Doc::parse_package) {
        let root = doc.root();
        let manifest = root.get("manifest").unwrap_or(root);
        if manifest.get("templateVersion").is_some() {
            return Ok(doc);
        }
    }
    Err(Box::new(report(path, source, &CheckOptions::default())))
}

/// Reads it as a package without errors, or gives the report that names them.
pub(crate) fn checked<'s>(
    path: &Path,
    source: &'s Source,
    options: &CheckOptions<'_>,
) -> Result<(&'s str, Checked<'s>), Box<Report>> {
    let text = source.text().ok();
    let read = text.and_then(|text| Some((text, Checked::read(text, options).ok()?)));
    read.ok_or_else(|| Box::new(report(path, source, options)))
}

/// What a check says of a file.
pub(crate) fn report(path: &Path, source: &Source, options: &CheckOptions<'_>) -> Report {
    let report = check(source.bytes(), options);
    let file = FileEntry::new(path.to_owned(), LocatedReport::new(source.bytes(), report));
    Report {
        files: vec![file],
        ..Report::default()
    }
}

/// The report that says why a file cannot be used.
pub(crate) fn refusal(path: &Path, source: &Source, finding: Finding) -> Report {
    let report = FileReport {
        kind: FileKind::Plain,
        findings: vec![finding],
        promotion: None,
    };
    let file = FileEntry::new(path.to_owned(), LocatedReport::new(source.bytes(), report));
    Report {
        files: vec![file],
        ..Report::default()
    }
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

/// The finding that says why a text has no canonical form.
pub(crate) fn no_form(error: &CanonicalError) -> Finding {
    match error {
        CanonicalError::Syntax(error) => {
            let place = Place {
                pointer: String::new(),
                span: error.offset..error.offset,
            };
            Finding::new(&catalog::J001, place, error.to_string())
        }
        CanonicalError::DuplicateKey { pointer, span, .. } => {
            let place = Place {
                pointer: pointer.clone(),
                span: span.clone(),
            };
            Finding::new(&catalog::J002, place, error.to_string())
        }
        other => Finding::new(&catalog::J003, Place::file(), other.to_string()),
    }
}
