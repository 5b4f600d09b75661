//! The JSON documents of the command line about one package.

use serde_json::{Map, Value, json};
use tplkit::finding::render::{self, FileEntry, Report};
use tplkit::finding::{FileReport, LocatedReport};
use tplkit::printable;

/// The document of `check` and `promote`.
pub(crate) fn of_report(path: &str, bytes: &[u8], report: FileReport) -> String {
    render::json(&Report {
        files: vec![FileEntry::new(
            path.into(),
            LocatedReport::new(bytes, report),
        )],
        ..Report::default()
    })
}

/// The document of any other command; `body` is an object.
pub(crate) fn of_body(outcome: &str, body: Value) -> String {
    let mut document = Map::new();
    document.insert("schemaVersion".to_owned(), json!(1));
    document.insert("outcome".to_owned(), json!(outcome));
    if let Value::Object(members) = body {
        document.extend(members);
    }
    printable::json(&Value::Object(document).to_string())
}
