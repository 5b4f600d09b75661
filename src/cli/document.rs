//! JSON documents of the commands that are no report: `schemaVersion`, `outcome`, then their own.

use serde_json::{Map, Value, json};
use tplkit::check::render::Trouble;

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
    let mut text = serde_json::to_string_pretty(&Value::Object(document)).unwrap_or_default();
    text.push('\n');
    text
}

/// The `errors` member, in the form that reports have too.
pub(crate) fn errors(troubles: &[Trouble]) -> Value {
    let errors = troubles.iter().map(|trouble| {
        let mut error = json!({"message": trouble.message});
        if let Some(path) = &trouble.path {
            error["path"] = json!(path.to_string_lossy());
        }
        if let Some(help) = &trouble.help {
            error["help"] = json!(help);
        }
        error
    });
    json!({"errors": errors.collect::<Vec<_>>()})
}
