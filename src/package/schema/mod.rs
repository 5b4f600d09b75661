//! The published JSON Schemas (2020-12), made from the shape tables and the registry.
//!
//! They serve editors: descriptions, completions, and refusal of what surely is a mistake. A
//! schema refuses nothing that `check` calls a warning, so a package that may be applied is also
//! valid; and it cannot see what depends on two places at once. `check` has the last word.
//!
//! Every schema stands on its own, without references to other files, so that it works offline.

mod config;
mod configs;
mod documents;
mod items;
mod jobs;
mod members;
mod pattern;
mod shapes;
mod steps;
mod upgrades;

use serde_json::{Map, Value, json};

use super::format;
use crate::definitions::Definitions;
use shapes::Defs;

/// The names of the published schemas.
pub const NAMES: &[&str] = &[
    "package",
    "manifest",
    "payload",
    "plan",
    "resolutions",
    "finding",
    "report",
    "job-report",
    "plan-preview",
    "config",
];

/// A technical name as a regular expression (ECMA-262): no `: , . { } "`, no control characters, no space at either end.
pub const NAME_PATTERN: &str = pattern::NAME;

/// The address that a published schema names itself by: what `$schema` of a file says.
pub fn schema_id(name: &str) -> String {
    format!("https://tplkit.dev/schemas/{name}.json")
}

/// The published schema of that name, over the registry that the library was built with.
///
/// ```
/// let schema = tplkit::package::schema::schema("package").unwrap();
/// assert_eq!(schema["$id"], "https://tplkit.dev/schemas/package.json");
/// ```
pub fn schema(name: &str) -> Option<Value> {
    schema_with(name, Definitions::embedded())
}

/// The schema of that name over another server's registry.
pub fn schema_with(name: &str, definitions: &Definitions) -> Option<Value> {
    let mut defs = Defs::new(definitions);
    let (title, doc, body) = match name {
        "package" => (
            "Template package",
            "A template package file: an envelope with manifest and payloads, or a bare manifest.",
            package(&mut defs),
        ),
        "manifest" => (
            "Template manifest",
            format::MANIFEST.doc,
            defs.reference(&format::MANIFEST),
        ),
        "payload" => (
            "Payload entry",
            format::ENTRY.doc,
            defs.reference(&format::ENTRY),
        ),
        "plan" => ("Plan", format::PLAN.doc, defs.reference(&format::PLAN)),
        "resolutions" => (
            "Resolutions",
            "What the destination decides about a package: the body of an apply.",
            documents::resolutions(),
        ),
        "finding" => (
            "Finding",
            "One mistake that a check found.",
            documents::finding(),
        ),
        "report" => (
            "Report",
            "What `tplkit check --format json` and `tplkit promote --format json` print.",
            documents::report(),
        ),
        "job-report" => (
            "Job report",
            "What an apply did: the report of a template job.",
            jobs::report(),
        ),
        "plan-preview" => (
            "Plan preview",
            "What an apply would do, without doing it.",
            jobs::preview(),
        ),
        "config" => (
            "tplkit.toml",
            "What a folder of packages says about checks, and the servers that it names.",
            config::config(),
        ),
        _ => return None,
    };
    let mut schema = Map::new();
    schema.insert(
        "$schema".into(),
        json!("https://json-schema.org/draft/2020-12/schema"),
    );
    schema.insert("$id".into(), json!(schema_id(name)));
    schema.insert("title".into(), json!(title));
    schema.insert("description".into(), json!(doc));
    if let Value::Object(body) = body {
        schema.extend(body);
    }
    let defs = defs.finish();
    if !defs.is_empty() {
        schema.insert("$defs".into(), Value::Object(defs));
    }
    Some(Value::Object(schema))
}

/// An envelope when there is a `manifest`, else a bare manifest.
fn package(defs: &mut Defs<'_>) -> Value {
    json!({
        "type": "object",
        "if": {"required": ["manifest"]},
        "then": defs.reference(&format::ENVELOPE),
        "else": defs.reference(&format::MANIFEST),
    })
}
