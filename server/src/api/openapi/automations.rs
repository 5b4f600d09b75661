//! The schemas of automations.

use serde_json::{Value, json};

use super::schemas::{closed_object, id, instant, integer, label, nullable, record, text, to};

/// All of them, by name.
pub(super) fn all() -> Vec<(&'static str, Value)> {
    let trigger = to("Trigger");
    let graph = to("Graph");
    vec![
        ("Trigger", json!({"type": "object"})),
        ("Graph", json!({"type": "object"})),
        (
            "WorkflowVersion",
            closed_object(json!({
                "id": id(), "workflow_id": id(), "workspace_id": id(), "name": text(),
                "version": integer(), "base_version": nullable("integer"),
                "is_draft": {"type": "boolean"}, "is_active": {"type": "boolean"},
                "trigger_config": trigger, "graph_config": graph, "created_at": instant(),
            })),
        ),
        (
            "WorkflowCreate",
            record(
                &["workspace_id", "name", "trigger_config", "graph_config"],
                json!({
                    "workspace_id": id(), "name": label(),
                    "trigger_config": trigger, "graph_config": graph,
                    "is_draft": {"type": "boolean", "default": true},
                }),
            ),
        ),
        (
            "WorkflowValidate",
            record(
                &["workspace_id"],
                json!({
                    "workspace_id": id(), "workflow_id": id(),
                    "trigger_config": trigger, "graph_config": graph,
                }),
            ),
        ),
        (
            "WorkflowVerdict",
            closed_object(json!({
                "ok": {"type": "boolean", "description": "Whether there is no error."},
                "issues": {"type": "array", "items": to("WorkflowIssue")},
            })),
        ),
        (
            "WorkflowIssue",
            closed_object(json!({
                "code": text(),
                "severity": {"type": "string", "enum": ["error", "warning"]},
                "path": {"type": "string", "description": "Dotted, below the target."},
                "target": {"type": "string", "enum": ["trigger", "graph"]},
                "message": text(), "help": text(),
            })),
        ),
        (
            "RunCreate",
            record(
                &[],
                json!({
                    "row_id": id(), "feature_id": id(),
                    "dry_run": {"type": "boolean", "default": false},
                }),
            ),
        ),
        (
            "Run",
            closed_object(json!({
                "id": id(), "workflow_id": id(), "version": integer(),
                "status": run_status(), "trigger": run_trigger(),
                "row_id": nullable("string"), "dry_run": {"type": "boolean"},
                "started_at": nullable("string"), "finished_at": nullable("string"),
                "error": failed(), "steps": {"type": "array", "items": to("RunStep")},
            })),
        ),
        (
            "RunSummary",
            closed_object(json!({
                "id": id(), "workflow_id": id(), "version": integer(),
                "status": run_status(), "trigger": run_trigger(),
                "row_id": nullable("string"), "dry_run": {"type": "boolean"},
                "started_at": nullable("string"), "finished_at": nullable("string"),
                "error": failed(),
                "steps": {
                    "type": "array", "items": to("RunStepSummary"),
                    "description": "Without what went in and came out: that is read run by run.",
                },
            })),
        ),
        (
            "Notification",
            closed_object(json!({
                "id": id(), "organization_id": id(),
                "scope_type": {"type": "string", "enum": ["channel", "user", "organization"]},
                "scope_id": nullable("string"), "title": text(), "body": text(),
                "run_id": id(), "step_id": text(), "created_at": instant(),
            })),
        ),
        (
            "RunStep",
            record(
                &["path", "id", "key", "status", "input", "output", "error"],
                json!({
                    "path": text(), "id": text(), "key": text(), "status": step_status(),
                    "input": nullable("object"), "output": nullable("object"),
                    "envelope": {
                        "type": ["object", "null"],
                        "description": "Of a dry run: the variables and records that the step left, or \
                            `{\"cut\": true, \"text\"}`, the beginning of them, where they are large.",
                    },
                    "error": failed(),
                }),
            ),
        ),
        (
            "RunStepSummary",
            closed_object(json!({
                "path": text(), "id": text(), "key": text(), "status": step_status(),
                "error": failed(),
            })),
        ),
        (
            "RunFailure",
            closed_object(json!({
                "code": {
                    "type": "string",
                    "description": "`step_failed`, `run_too_large`, `abandoned`, \
                        `publisher_lost_access`, `starter_lost_access`, `too_deep`, or the code of a \
                        refused write.",
                },
                "detail": {
                    "type": ["string", "null"],
                    "description": "For people; null for who may not read what was in the run.",
                },
            })),
        ),
        ("WorkflowApply", record(&[], json!({"version_id": id()}))),
        (
            "WorkflowVersionCreate",
            record(
                &[],
                json!({"name": label(), "trigger_config": trigger, "graph_config": graph}),
            ),
        ),
    ]
}

/// Why a run or a step failed, if it did.
fn failed() -> Value {
    json!({"anyOf": [to("RunFailure"), {"type": "null"}]})
}

fn run_status() -> Value {
    json!({"type": "string", "enum": ["queued", "running", "succeeded", "failed"]})
}

fn run_trigger() -> Value {
    json!({"type": "string", "enum": ["manual", "record.event", "cron", "automation"]})
}

fn step_status() -> Value {
    json!({"type": "string", "enum": ["running", "succeeded", "failed", "skipped"]})
}
