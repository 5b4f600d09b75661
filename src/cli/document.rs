//! The JSON documents of commands other than `check` and `promote`: `schemaVersion`, `outcome`,
//! then members of each command.

use indexmap::IndexMap;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tplkit::finding::render::ReportError;
use tplkit::printable;

/// The version of every JSON document that the tool writes.
const SCHEMA_VERSION: u32 = 1;

/// Writes a document; `body` must be an object.
pub(crate) fn write(outcome: &str, body: &Value) -> String {
    let mut document = Map::new();
    document.insert("schemaVersion".to_owned(), json!(SCHEMA_VERSION));
    document.insert("outcome".to_owned(), json!(outcome));
    if let Value::Object(members) = body {
        document.extend(members.clone());
    }
    // A value always serializes.
    let text = serde_json::to_string_pretty(&Value::Object(document)).unwrap_or_default();
    printable::json(&(text + "\n"))
}

/// Writes a document whose members stay as they were written: numbers keep their digits.
pub(crate) fn write_raw(outcome: &str, members: &[(&str, &RawValue)]) -> String {
    let (version, outcome) = (raw(&json!(SCHEMA_VERSION)), raw(&json!(outcome)));
    let head = [("schemaVersion", &*version), ("outcome", &*outcome)];
    let all: IndexMap<&str, &RawValue> = head.into_iter().chain(members.iter().copied()).collect();
    // What is raw always serializes.
    printable::json(&(serde_json::to_string_pretty(&all).unwrap_or_default() + "\n"))
}

/// A value as one that stays as it is written.
pub(crate) fn raw(value: &Value) -> Box<RawValue> {
    RawValue::from_string(value.to_string()).expect("a value writes itself as JSON")
}

/// A page of the API, with the bytes of its items.
pub(crate) fn page(items: &[Box<RawValue>], next_cursor: Option<&str>) -> Box<RawValue> {
    let items: Vec<&str> = items.iter().map(|item| item.get()).collect();
    let (items, next) = (items.join(","), json!(next_cursor));
    let text = format!("{{\"items\":[{items}],\"next_cursor\":{next}}}");
    RawValue::from_string(text).expect("items are JSON")
}

/// The `errors` member, in the form that reports have too.
pub(crate) fn errors(report_errors: &[ReportError]) -> Value {
    let errors = report_errors.iter().map(|report_error| {
        let mut error = json!({"message": report_error.message});
        if let Some(path) = &report_error.path {
            error["path"] = json!(path.to_string_lossy());
        }
        if let Some(help) = &report_error.help {
            error["help"] = json!(help);
        }
        error
    });
    json!({"errors": errors.collect::<Vec<_>>()})
}
