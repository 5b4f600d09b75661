//! The schemas of applies, plans and template jobs.

use serde_json::{Value, json};

use super::schemas::{closed_object, id, instant, integer, nullable, record, text, to};

/// All of them.
pub(super) fn all() -> Vec<(&'static str, Value)> {
    let progress = json!({"phase": text(), "done": integer(), "total": integer()});
    let status = json!({"type": "string", "enum": [
        "pending", "structure", "rows", "publish", "completed", "failed", "undoing",
        "undone",
    ]});
    let job = json!({
        "id": id(), "template_id": id(), "workspace_id": id(), "status": status,
        "progress": closed_object(progress),
        "locked_until": {"type": ["string", "null"], "format": "date-time", "description":
            "Until then somebody works on it; past or null: it is free to go on."},
        "report": {"type": ["object", "null"], "description": "What it did."},
        "error": {"type": ["object", "null"], "description": "Why it stopped."},
        "created_at": instant(), "updated_at": instant(),
    });
    let modes = json!({"type": "string", "enum": ["all", "missingByKey", "none"]});
    let apply = json!({
        "workspaceId": id(),
        "includeRows": {"type": "boolean", "default": true},
        "jobId": {"type": "string", "format": "uuid", "description": "A job that is to go on."},
        "resolutions": {"type": "object", "additionalProperties": to("Resolution"),
            "description": "By the refs of dependencies; the exporter's proposals where absent."},
        "rowsModes": {"type": "object", "additionalProperties": modes,
            "description": "By the refs of tables; `all` where absent."},
        "copy": {"type": "boolean", "default": false},
        "upgrade": {"type": "boolean", "default": false, "description":
            "Whether what was applied before is brought to what the package says."},
        "allowDowngrade": {"type": "boolean", "default": false},
        "conflicts": {"type": "string", "enum": ["ours", "theirs"]},
        "decisions": {"type": "object", "description": "By ref and path: what is decided."},
        "plan": {"type": "string", "description": "The digest of the plan that was looked at."},
    });
    let mut planning = apply.clone();
    planning["package"] = json!({"type": "object", "description":
        "A package that is planned in place of the template's: a manifest with its payloads, or a manifest alone."});
    let resolution = json!({
        "action": {"type": "string", "enum": ["import", "map", "skip"]},
        "id": text(),
        "columns": {"type": "object", "additionalProperties": id()},
        "leaveEmpty": {"type": "array", "items": text(), "description":
            "Names of required destination columns that rows may leave empty."},
    });
    let executor = json!({
        "error": text(), "detail": text(),
        "errors": {"type": "array", "items": {"type": "object"}},
        "ref": text(), "jobId": id(), "status": text(), "lockedUntil": instant(),
        "conflicts": {"type": "array", "items": conflict()},
    });
    vec![
        ("Apply", record(&["workspaceId"], apply)),
        ("PlanRequest", record(&["workspaceId"], planning)),
        ("Resolution", record(&["action"], resolution)),
        (
            "Accepted",
            closed_object(json!({"jobId": id(), "status": status})),
        ),
        ("ExecutorProblem", record(&["error", "detail"], executor)),
        ("TemplateJob", closed_object(job)),
        ("Plan", plan()),
    ]
}

fn plan() -> Value {
    let list = |properties: Value| json!({"type": "array", "items": closed_object(properties)});
    let renamed = json!({"kind": text(), "ref": text(), "from": text(), "to": text()});
    let rows = json!({
        "insert": integer(), "existing": integer(), "skipped": integer(), "dropped_links": integer(),
        "failed": integer(), "update": integer(), "left": integer(), "kept": integer(),
        "conflicts": integer(),
        "reasons": {"type": "array", "items": record(&["code", "count"], json!({
            "code": text(), "column": text(), "count": integer(),
        }))},
    });
    let members = json!({
        "digest": {"type": "string", "description": "Send it back as `plan`."},
        "refusals": list(json!({"code": text(), "ref": nullable("string"), "detail": text()})),
        "create": {"type": "array", "items": record(&["kind", "ref", "name", "label"], json!({
            "kind": text(), "ref": text(), "name": text(), "label": text(),
            "again": {"type": "boolean"},
        }))},
        "bind": list(json!({"kind": text(), "ref": text(), "id": id(), "name": text()})),
        "rename": list(renamed),
        "replaced_configs": list(json!({
            "kind": text(), "ref": text(), "id": id(), "before": {}, "after": {},
        })),
        "dropped_keys": list(json!({"ref": text(), "path": text()})),
        "rows": {"type": "object", "additionalProperties": closed_object(rows)},
        "go_live": list(json!({"ref": text(), "name": text()})),
        "stays_draft": list(json!({
            "ref": text(), "name": text(),
            "because": list(json!({"path": text(), "reason": text()})),
        })),
        "not_carried": {"type": "array", "items": record(&["kind", "ref", "path"], json!({
            "kind": text(), "ref": text(), "path": nullable("string"), "base": {}, "theirs": {},
            "count": integer(),
        }))},
        "redacted": list(json!({
            "ref": text(), "name": text(), "path": text(), "reason": text(),
        })),
        "base": {"type": ["object", "null"]},
        "update": list(json!({
            "kind": text(), "ref": text(), "id": id(), "path": text(), "before": {}, "after": {},
        })),
        "conflicts": {"type": "array", "items": conflict()},
        "conflicts_more": integer(),
        "kept": list(json!({
            "kind": text(), "ref": text(), "id": id(), "path": nullable("string"), "base": {},
            "ours": {}, "because": text(),
        })),
        "left": {"type": "array", "items": record(&["kind", "ref", "id", "name", "label", "delete"], json!({
            "kind": text(), "ref": text(), "id": id(), "name": text(), "label": text(),
            "rows": integer(), "cells": integer(), "delete": {"type": "boolean"},
        }))},
        "renames": list(json!({"kind": text(), "ref": text(), "from": text(), "id": id()})),
        "unused": list(json!({"ref": text(), "path": text()})),
    });
    let required: Vec<&str> = members
        .as_object()
        .into_iter()
        .flat_map(|members| members.keys().map(String::as_str))
        .filter(|key| *key != "conflicts_more")
        .collect();
    record(&required, members.clone())
}

/// Something that somebody has to decide before an upgrade.
pub(super) fn conflict() -> Value {
    record(
        &[
            "code", "kind", "ref", "id", "path", "base", "theirs", "ours",
        ],
        json!({
            "code": text(), "kind": text(), "ref": text(), "id": nullable("string"),
            "path": nullable("string"), "base": {}, "theirs": {}, "ours": {}, "uid": text(),
            "count": integer(), "places": {"type": "array", "items": id()},
            "absent": {"type": "array", "items": text()},
        }),
    )
}
