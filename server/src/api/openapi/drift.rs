//! The schemas of what was applied to a workspace, and of what people changed in it.

use serde_json::{Value, json};

use super::schemas::{closed_object, id, instant, integer, nullable, record, text};

/// All of them.
pub(super) fn all() -> Vec<(&'static str, Value)> {
    let applied = json!({
        "template_id": id(), "name": nullable("string"), "label": nullable("string"), "line": id(),
        "semver": nullable("string"), "job_id": id(), "applied_at": instant(),
        "newer": nullable("string"), "drift": {"type": "boolean"}, "secrets_missing": integer(),
    });
    vec![
        ("AppliedTemplate", closed_object(applied)),
        ("Drift", drift()),
    ]
}

fn drift() -> Value {
    let list = |properties: Value| json!({"type": "array", "items": closed_object(properties)});
    let rows = json!({"added": integer(), "deleted": integer(), "changed": integer()});
    let base = json!({"job_id": {"type": ["string", "null"], "format": "uuid"},
        "semver": nullable("string")});
    record(
        &[
            "template_id",
            "base",
            "drift",
            "changed",
            "removed",
            "added",
            "rows",
        ],
        json!({
            "template_id": id(),
            "base": closed_object(base),
            "drift": {"type": "boolean"},
            "changed": list(json!({
                "kind": text(), "ref": text(), "id": id(), "path": text(), "base": {}, "ours": {},
            })),
            "removed": list(json!({"kind": text(), "ref": text(), "name": text()})),
            "added": list(json!({
                "kind": text(), "id": id(), "parent_ref": text(), "name": text(), "label": text(),
            })),
            "rows": {"type": "object", "additionalProperties": closed_object(rows)},
            "cells": list(json!({
                "ref": text(), "uid": text(), "id": id(), "column": text(), "base": {}, "ours": {},
            })),
            "cells_more": integer(),
        }),
    )
}
