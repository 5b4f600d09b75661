//! The file `tplkit.toml`.

use serde_json::{Value, json};

pub(super) fn config() -> Value {
    let rules = |description: &str| {
        json!({
            "description": description,
            "type": "array",
            "items": {
                "description": "A code, a prefix of codes, a name, `all`, `errors`, `warnings` or `hints`.",
                "type": "string",
                "minLength": 1,
            },
        })
    };
    let path =
        |description: &str| json!({"description": description, "type": "string", "minLength": 1});
    let mode = json!({"type": "string", "enum": ["all", "missingByKey", "none"]});
    let target = json!({
        "description": "A workspace on a server, and what is applied to it. Each flag of the same name goes first.",
        "type": "object",
        "properties": {
            "url": {"description": "Address of the server, with or without `/v1`.", "type": "string", "format": "uri"},
            "workspace": {"description": "The workspace: its id, name or label, or `ORG/NAME`.", "type": "string", "minLength": 1},
            "template": path("What is applied: a package, relative to this file, or a template by id or name."),
            "resolutions": path("Decisions about dependencies, relative to this file."),
            "rows": {
                "description": "Which rows of a table are written.",
                "oneOf": [
                    {"type": "object", "additionalProperties": mode},
                    {"type": "array", "items": {"type": "string", "pattern": "^[^=]+=(?:all|missingByKey|none)$"}},
                ],
            },
        },
        "additionalProperties": false,
    });
    json!({
        "type": "object",
        "properties": {
            "select": rules("Check these rules only."),
            "ignore": rules("Leave out these rules."),
            "warn": rules("Report these rules as warnings."),
            "deny": rules("Report these rules as errors."),
            "baseline": path("File of accepted findings, relative to this file."),
            "definitions": path("Registry to check against, relative to this file."),
            "targets": {
                "description": "By name: for `--target NAME`.",
                "type": "object",
                "additionalProperties": target,
            },
        },
        "additionalProperties": false,
    })
}
