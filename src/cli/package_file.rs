//! The one package that commands like `show` and `why` look into.

use std::path::Path;

use tplkit::check::render::{FileEntry, Report};
use tplkit::check::{FileKind, FileReport, Finding, LocatedReport, Place, catalog};
use tplkit::json::{Doc, SyntaxError};
use tplkit::package::Source;

use super::error::CliError;
use super::source;

/// Reads a file; it is what a [`Doc`] borrows from.
pub(crate) fn read(path: &Path) -> Result<Source, CliError> {
    source::read(path).map_err(|source| CliError::Read {
        path: path.to_owned(),
        source,
    })
}

/// Parses it as a package, or gives the report that says why it is none.
pub(crate) fn parse<'s>(path: &Path, source: &'s Source) -> Result<Doc<'s>, Box<Report>> {
    let refuse = |finding| {
        let report = FileReport {
            kind: FileKind::Plain,
            findings: vec![finding],
            promotion: None,
        };
        let file = FileEntry::new(path.to_owned(), LocatedReport::new(source.bytes(), report));
        Box::new(Report {
            files: vec![file],
            ..Report::default()
        })
    };
    let no_json = |error: SyntaxError| {
        let place = Place {
            pointer: String::new(),
            span: error.offset..error.offset,
        };
        refuse(Finding::new(&catalog::J001, place, error.to_string()))
    };
    let doc = source
        .text()
        .and_then(Doc::parse_package)
        .map_err(no_json)?;
    let root = doc.root();
    let manifest = root.get("manifest").unwrap_or(root);
    if manifest.is_object() && manifest.get("templateVersion").is_some() {
        return Ok(doc);
    }
    let message = if manifest.is_object() {
        "`templateVersion` is absent".to_owned()
    } else {
        format!("the manifest is {}, not an object", manifest.type_name())
    };
    Err(refuse(Finding::at(&catalog::J003, manifest, message)))
}
