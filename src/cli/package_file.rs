//! The one package that commands like `show` and `why` look into.

use std::path::Path;

use tplkit::check::position::without_mark;
use tplkit::check::render::{FileEntry, Report};
use tplkit::check::{CheckOptions, Finding, LocatedReport, Place, catalog};
use tplkit::check::{FileKind, FileReport};
use tplkit::json::Doc;

use super::error::CliError;
use super::source;

/// Reads a file; the bytes are what a [`Doc`] borrows from.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, CliError> {
    source::read(path).map_err(|source| CliError::Read {
        path: path.to_owned(),
        source,
    })
}

/// Parses it as a package, or gives the report that says why it is none.
pub(crate) fn parse<'b>(path: &Path, bytes: &'b [u8]) -> Result<Doc<'b>, Box<Report>> {
    let refuse = |finding| {
        let report = FileReport {
            kind: FileKind::Plain,
            findings: vec![finding],
            promotion: None,
        };
        let file = FileEntry::new(path.to_owned(), LocatedReport::new(bytes, report));
        Box::new(Report {
            files: vec![file],
            ..Report::default()
        })
    };
    let text = match std::str::from_utf8(without_mark(bytes)) {
        Ok(text) => text,
        // The check tells text of another encoding from a stray byte.
        Err(error) => {
            let finding = tplkit::check::check(bytes, &CheckOptions::default())
                .findings
                .into_iter()
                .next();
            let place = Place {
                pointer: String::new(),
                span: error.valid_up_to()..error.valid_up_to(),
            };
            return Err(refuse(finding.unwrap_or_else(|| {
                Finding::new(&catalog::J001, place, "these bytes are not UTF-8")
            })));
        }
    };
    let doc = Doc::parse_package(text).map_err(|error| {
        let place = Place {
            pointer: String::new(),
            span: error.offset..error.offset,
        };
        refuse(Finding::new(&catalog::J001, place, error.to_string()))
    })?;
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
