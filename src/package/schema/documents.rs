//! Documents next to packages: resolutions, findings, reports.

use serde_json::{Value, json};

use super::members::object;
use super::{pattern, upgrades};

/// The body of an apply, and the resolutions file that becomes one.
pub(super) fn resolutions() -> Value {
    let dependency = json!({
        "description": "What becomes of one dependency.",
        "type": "object",
        "required": ["action"],
        "properties": {
            "action": {
                "description": "`import` creates it from its blueprint, `map` takes an existing one, `skip` empties every use.",
                "type": "string",
                "enum": ["import", "map", "skip"],
            },
            "id": {
                "description": "For map: id of the existing entity; its name when the dependency is one by name.",
                "type": "string",
                "minLength": 1,
            },
            "columns": {
                "description": "For map: id of a destination column by the ref of an identity column.",
                "type": "object",
                "propertyNames": {"pattern": pattern::declaration("c")},
                "additionalProperties": {"type": "string", "pattern": pattern::UUID},
            },
            "leaveEmpty": {
                "description": "For map: names of required destination columns that rows of the package may leave empty.",
                "type": "array",
                "items": {"type": "string"},
            },
        },
        "additionalProperties": false,
        "if": {"required": ["action"], "properties": {"action": {"const": "map"}}},
        "then": {"required": ["id"]},
        "else": {"properties": {"columns": false, "leaveEmpty": false}},
    });
    let mut schema = json!({
        "type": "object",
        "properties": {
            "$schema": {"description": "The JSON Schema an editor validates the file with.", "type": "string"},
            "workspaceId": {
                "description": "The destination workspace; required over HTTP, left out of a file that a command line completes.",
                "type": "string",
                "pattern": pattern::UUID,
            },
            "includeRows": {
                "description": "Whether rows are written at all; false wins over every rows mode.",
                "type": "boolean",
                "default": true,
            },
            "jobId": {"description": "An earlier job to resume.", "type": "string", "pattern": pattern::UUID},
            "resolutions": {
                "description": "By the ref of a dependency: what becomes of it.",
                "type": "object",
                "propertyNames": {"pattern": pattern::DECLARATION},
                "additionalProperties": dependency,
            },
            "rowsModes": {
                "description": "By the ref of a table: which of its rows are written.",
                "type": "object",
                "propertyNames": {"pattern": pattern::declaration("f")},
                "additionalProperties": {
                    "description": "`all`, only those whose key is missing at the destination, or `none`.",
                    "type": "string",
                    "enum": ["all", "missingByKey", "none"],
                    "default": "all",
                },
            },
            "copy": {
                "description": "Whether a second, separate copy is made although the template was applied before.",
                "type": "boolean",
                "default": false,
            },
            "plan": {"description": "Digest of the plan that was looked at.", "type": "string"},
        },
        "additionalProperties": false,
    });
    for (key, member) in upgrades::request() {
        schema["properties"][key] = member;
    }
    schema
}

/// A place that people and editors can go to; lines and columns count from 1.
fn place() -> Vec<(&'static str, Value)> {
    vec![
        (
            "pointer",
            json!({"description": "JSON Pointer; empty for the whole file.", "type": "string", "pattern": "^(?:/(?:[^~/]|~[01])*)*$"}),
        ),
        (
            "line",
            json!({"description": "Line, counted from 1.", "type": "integer", "minimum": 1}),
        ),
        (
            "column",
            json!({"description": "Column in Unicode scalar values, counted from 1.", "type": "integer", "minimum": 1}),
        ),
    ]
}

fn messaged(description: &str, message: &str) -> Value {
    let mut fields = place();
    fields.extend([in_folder(), offset(), length()]);
    fields.push(("message", json!({"description": message, "type": "string"})));
    object(description, fields, &["file", "offset", "length"])
}

/// The file of a place in a folder.
fn in_folder() -> (&'static str, Value) {
    let description =
        "The file, relative to the folder; given when the package is an unpacked folder.";
    (
        "file",
        json!({"description": description, "type": "string"}),
    )
}

fn offset() -> (&'static str, Value) {
    let description = "First byte of the place; a byte-order mark does not count.";
    ("offset", bytes(description))
}

fn length() -> (&'static str, Value) {
    ("length", bytes("Bytes of the place."))
}

fn bytes(description: &str) -> Value {
    json!({"description": description, "type": "integer", "minimum": 0})
}

fn code() -> Value {
    json!({"description": "Code of the rule, stable for ever.", "type": "string", "pattern": "^[A-Z][0-9]{3}$"})
}

/// One finding.
pub(super) fn finding() -> Value {
    let edit = object(
        "One replacement of bytes.",
        vec![
            in_folder(),
            ("offset", bytes("First byte that goes.")),
            (
                "length",
                bytes("Number of bytes that go; 0 for an insertion."),
            ),
            (
                "text",
                json!({"description": "Text that comes.", "type": "string"}),
            ),
        ],
        &["file"],
    );
    let fix = object(
        "A fix that a tool can make.",
        vec![
            (
                "title",
                json!({"description": "What it does.", "type": "string"}),
            ),
            (
                "safe",
                json!({"description": "Whether the meaning surely stays what the author meant.", "type": "boolean"}),
            ),
            (
                "edits",
                json!({"description": "Edits that do not overlap.", "type": "array", "items": edit}),
            ),
        ],
        &[],
    );
    let mut fields = vec![
        ("code", code()),
        (
            "name",
            json!({"description": "Name of the rule.", "type": "string"}),
        ),
        (
            "severity",
            json!({"description": "Its weight.", "type": "string", "enum": ["error", "warning", "hint"]}),
        ),
    ];
    fields.extend(place());
    fields.extend([
        in_folder(),
        offset(),
        length(),
        (
            "message",
            json!({"description": "What is wrong, with which value.", "type": "string"}),
        ),
        (
            "help",
            json!({"description": "What to do.", "type": "string"}),
        ),
        (
            "related",
            json!({
                "description": "Other places that help to understand.",
                "type": "array",
                "items": messaged("Another place.", "What is there."),
            }),
        ),
        ("fix", fix),
    ]);
    object("One mistake.", fields, &["file", "fix"])
}

/// The whole document.
pub(super) fn report() -> Value {
    let count =
        |description: &str| json!({"description": description, "type": "integer", "minimum": 0});
    let verdict = object(
        "One promotion rule, measured.",
        vec![
            ("code", code()),
            (
                "name",
                json!({"description": "Name of the rule.", "type": "string"}),
            ),
            (
                "passed",
                json!({"description": "Whether it holds.", "type": "boolean"}),
            ),
            (
                "places",
                json!({
                    "description": "Where it does not.",
                    "type": "array",
                    "items": messaged("A place.", "What is wrong there."),
                }),
            ),
        ],
        &[],
    );
    let file = object(
        "One file.",
        vec![
            (
                "path",
                json!({"description": "As it was named or found.", "type": "string"}),
            ),
            (
                "kind",
                json!({"description": "What it turned out to be.", "type": "string", "enum": ["package", "plain"]}),
            ),
            (
                "findings",
                json!({"description": "In order of place, then code.", "type": "array", "items": finding()}),
            ),
            (
                "promotion",
                json!({
                    "description": "The five verdicts, when they were asked for and measurable.",
                    "type": "array",
                    "items": verdict,
                }),
            ),
            ("fixed", count("Fixes that were made, when any were.")),
            (
                "diff",
                json!({"description": "What fixes would change, as a unified diff.", "type": "string"}),
            ),
            (
                "text",
                json!({"description": "Standard input after fixes.", "type": "string"}),
            ),
        ],
        &["promotion", "fixed", "diff", "text"],
    );
    let error = object(
        "Something that could not be checked.",
        vec![
            (
                "path",
                json!({"description": "The file, when it is about one.", "type": "string"}),
            ),
            (
                "message",
                json!({"description": "What went wrong, and why.", "type": "string"}),
            ),
            (
                "help",
                json!({"description": "What to do.", "type": "string"}),
            ),
        ],
        &["path", "help"],
    );
    let statistic = object(
        "How often a rule spoke.",
        vec![
            ("code", code()),
            (
                "name",
                json!({"description": "Name of the rule.", "type": "string"}),
            ),
            ("count", count("Findings.")),
            ("fixable", count("Findings with a fix.")),
        ],
        &[],
    );
    let summary = object(
        "Totals.",
        vec![
            ("files", count("Files looked at.")),
            ("packages", count("Packages among them.")),
            ("plain", count("Plain files among them.")),
            ("errors", count("Errors.")),
            ("warnings", count("Warnings.")),
            ("hints", count("Hints.")),
            (
                "baseline",
                count("Findings that a baseline accepts, where there is one."),
            ),
            (
                "stale",
                count("Findings that it accepts and that are no more."),
            ),
        ],
        &["baseline", "stale"],
    );
    object(
        "The report.",
        vec![
            (
                "schemaVersion",
                json!({"description": "Version of this document's form.", "const": 1}),
            ),
            (
                "outcome",
                json!({
                    "description": "`clean` exactly when the exit code is 0.",
                    "type": "string",
                    "enum": ["clean", "findings", "failed"],
                }),
            ),
            (
                "files",
                json!({"description": "Every file, in order.", "type": "array", "items": file}),
            ),
            ("summary", summary),
            (
                "errors",
                json!({
                    "description": "What could not be checked; then the outcome is `failed`.",
                    "type": "array",
                    "items": error,
                }),
            ),
            (
                "statistics",
                json!({
                    "description": "Counts per rule, when they were asked for.",
                    "type": "array",
                    "items": statistic,
                }),
            ),
        ],
        &["errors", "statistics"],
    )
}
