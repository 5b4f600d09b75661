//! The one package that commands like `show` and `why` look into.

use std::path::Path;

use tplkit::check::render::{FileEntry, Report};
use tplkit::check::{CheckOptions, LocatedReport, check};
use tplkit::json::Doc;
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

/// Parses it as a package, or gives the report that says why it is none: that of a check.
pub(crate) fn parse<'s>(path: &Path, source: &'s Source) -> Result<Doc<'s>, Box<Report>> {
    if let Ok(doc) = source.text().and_then(Doc::parse_package) {
        let root = doc.root();
        let manifest = root.get("manifest").unwrap_or(root);
        if manifest.get("templateVersion").is_some() {
            return Ok(doc);
        }
    }
    let report = check(source.bytes(), &CheckOptions::default());
    let file = FileEntry::new(path.to_owned(), LocatedReport::new(source.bytes(), report));
    Err(Box::new(Report {
        files: vec![file],
        ..Report::default()
    }))
}
