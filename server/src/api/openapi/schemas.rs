//! The schemas of request and response bodies, by the names in the table of operations.

use serde_json::{Map, Value, json};
use tplkit::definitions::Definitions;
use tplkit::package::size::MOST_LABEL;
use tplkit::problem::Code;

use super::{automations, configs, connections, drift, jobs, templates};

/// A component: what is required, and what it holds.
#[expect(clippy::needless_pass_by_value, reason = "they are written in place")]
pub(super) fn record(required: &[&str], properties: Value) -> Value {
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// Every property is there, always.
#[expect(clippy::needless_pass_by_value, reason = "they are written in place")]
pub(super) fn closed_object(properties: Value) -> Value {
    let required: Vec<String> = match &properties {
        Value::Object(members) => members.keys().cloned().collect(),
        _ => Vec::new(),
    };
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

pub(super) fn to(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

pub(super) fn id() -> Value {
    json!({"type": "string", "format": "uuid"})
}

pub(super) fn text() -> Value {
    json!({"type": "string"})
}

/// What people call something, as it is written.
pub(super) fn label() -> Value {
    json!({"type": "string", "minLength": 1, "maxLength": MOST_LABEL})
}

pub(super) fn instant() -> Value {
    json!({"type": "string", "format": "date-time"})
}

pub(super) fn integer() -> Value {
    json!({"type": "integer", "format": "int64"})
}

pub(super) fn nullable(of: &str) -> Value {
    json!({"type": [of, "null"]})
}

/// A page of records.
fn page(name: &str) -> Value {
    let mut page = closed_object(json!({
        "items": {"type": "array", "items": to(name)},
        "next_cursor": {
            "type": ["string", "null"],
            "description": "Pass it back as `cursor` for the next page; null on the last one.",
        },
    }));
    page["description"] = format!("One page of `{name}` records.").into();
    page
}

/// All components.
pub(super) fn all(definitions: &Definitions) -> Map<String, Value> {
    let mut all = Map::new();
    let mut put = |name: &str, schema: Value| {
        all.insert(name.to_owned(), schema);
    };
    put(
        "OpenApi",
        json!({
            "type": "object",
            "required": ["openapi", "paths"],
            "properties": {
                "openapi": {"type": "string", "description": "The version of OpenAPI."},
                "paths": {"type": "object", "description": "Operations by path and method."},
            },
        }),
    );
    put("Config", json!({"type": "object"}));
    put("Problem", problem());
    put(
        "Name",
        json!({
            "type": "string",
            "minLength": 1,
            "maxLength": 63,
            "pattern": "^[^\\s\\u0000-\\u001f\\u007f-\\u009f:,.{}\"]([^\\u0000-\\u001f\\u007f-\\u009f:,.{}\"]*[^\\s\\u0000-\\u001f\\u007f-\\u009f:,.{}\"])?$",
            "description": "A technical name.",
        }),
    );
    for (name, schema) in identity()
        .into_iter()
        .chain(model(definitions))
        .chain(rows())
        .chain(templates::all())
        .chain(automations::all())
        .chain(connections::all())
        .chain(jobs::all())
        .chain(drift::all())
    {
        put(name, schema);
    }
    let columns = configs::columns(definitions);
    let views = configs::views(definitions);
    for (kind, variants) in [("ColumnCreate", columns), ("ViewCreate", views)] {
        let names: Vec<String> = variants
            .iter()
            .map(|(name, _)| format!("{kind}.{name}"))
            .collect();
        let choices: Vec<Value> = names.iter().map(|name| to(name)).collect();
        for (name, (variant, mut schema)) in names.iter().zip(variants) {
            schema["description"] = format!("`{kind}` of type `{variant}`.").into();
            put(name, schema);
        }
        put(kind, json!({"oneOf": choices}));
    }
    for name in [
        "Organization",
        "Member",
        "ApiKey",
        "Channel",
        "Connection",
        "Workspace",
        "Module",
        "Rail",
        "Feature",
        "View",
        "Row",
        "Template",
        "Payload",
        "WorkflowVersion",
        "RunSummary",
        "Notification",
        "TemplateJob",
        "AppliedTemplate",
    ] {
        put(&format!("{name}Page"), page(name));
    }
    all
}

fn problem() -> Value {
    let codes: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    json!({
        "type": "object",
        "description": "Why a request was refused (RFC 9457). Branch on `code`.",
        "properties": {
            "type": {"type": "string", "description": "`urn:tplkit:problem:` and the code."},
            "title": text(),
            "status": {"type": "integer"},
            "detail": text(),
            "code": {"type": "string", "enum": codes},
            "instance": {"type": "string", "description": "The path of the request."},
            "errors": {"type": "array", "items": closed_object(json!({
                "path": {"type": "string", "description": "Where, dotted as in the body."},
                "code": text(),
                "message": text(),
            }))},
            "column": text(),
            "ref": text(),
            "job_id": id(),
            "locked_until": instant(),
            "conflicts": {"type": "array", "items": super::jobs::conflict()},
            "retry_after": integer(),
        },
        "required": ["type", "title", "status", "detail", "code", "instance"],
        "additionalProperties": false,
    })
}

fn identity() -> Vec<(&'static str, Value)> {
    let role = to("Role");
    let scopes = to("Scopes");
    let key = json!({
        "id": id(), "organization_id": id(), "name": text(), "scopes": scopes, "prefix": text(),
        "created_at": instant(),
        "expires_at": nullable("string"), "last_used_at": nullable("string"),
    });
    let mut created = key.clone();
    created["key"] = json!({"type": "string", "description": "Shown once and never again."});
    vec![
        (
            "Role",
            json!({"type": "string", "enum": ["owner", "admin", "editor", "viewer"]}),
        ),
        (
            "Scopes",
            json!({
                "type": "array", "minItems": 1,
                "items": {"type": "string", "enum": ["read", "write", "structure"]},
            }),
        ),
        (
            "Health",
            closed_object(json!({"status": {"const": "ok"}, "version": text()})),
        ),
        (
            "SignIn",
            record(
                &["email", "password"],
                json!({"email": text(), "password": text()}),
            ),
        ),
        (
            "Refresh",
            record(&["refresh_token"], json!({"refresh_token": text()})),
        ),
        (
            "PasswordChange",
            record(
                &["current", "new"],
                json!({"current": text(), "new": {
                    "type": "string", "minLength": 10,
                    "description": "At most 1,024 bytes.",
                }}),
            ),
        ),
        (
            "Tokens",
            closed_object(json!({
                "access_token": text(), "refresh_token": text(),
                "token_type": {"const": "bearer"}, "expires_in": integer(),
            })),
        ),
        (
            "Me",
            record(
                &["kind", "id", "organizations"],
                json!({
                    "kind": {"type": "string", "enum": ["user", "api_key"]},
                    "id": id(), "email": text(),
                    "organizations": {"type": "array", "items": closed_object(json!({
                        "id": id(), "label": text(), "role": role,
                    }))},
                    "scopes": scopes,
                }),
            ),
        ),
        (
            "Organization",
            closed_object(json!({
                "id": id(), "label": text(), "config": to("Config"),
                "seats": nullable("integer"), "row_quota": nullable("integer"),
                "created_at": instant(), "updated_at": instant(),
            })),
        ),
        (
            "OrganizationPatch",
            record(&[], json!({"label": label(), "config": to("Config")})),
        ),
        (
            "Member",
            closed_object(json!({
                "user_id": id(), "email": text(), "role": role, "created_at": instant(),
            })),
        ),
        (
            "MemberCreate",
            record(&["email", "role"], json!({"email": text(), "role": role})),
        ),
        ("MemberPatch", record(&[], json!({"role": role}))),
        ("ApiKey", closed_object(key)),
        ("ApiKeyCreated", closed_object(created)),
        (
            "ApiKeyCreate",
            record(
                &["organization_id", "name", "scopes"],
                json!({
                    "organization_id": id(), "name": label(), "scopes": scopes,
                    "expires_at": {"type": ["string", "null"], "format": "date-time"},
                }),
            ),
        ),
    ]
}

/// What all records of the model have.
fn described(own: Value) -> Value {
    let mut all = json!({
        "id": id(), "name": text(), "label": text(), "config": to("Config"),
        "created_at": instant(), "updated_at": instant(), "organization_id": id(),
    });
    if let (Value::Object(all), Value::Object(own)) = (&mut all, own) {
        all.extend(own);
    }
    closed_object(all)
}

/// The body that creates a record: a parent, a label, and what may be left out.
#[expect(clippy::needless_pass_by_value, reason = "they are written in place")]
fn creation(parent: &str, config: Value, own: Value) -> Value {
    let mut all = json!({parent: id(), "name": to("Name"), "label": label(), "config": config});
    if let (Value::Object(all), Value::Object(own)) = (&mut all, own) {
        all.extend(own);
    }
    record(&[parent, "label"], all)
}

/// The body that changes one.
#[expect(clippy::needless_pass_by_value, reason = "they are written in place")]
fn change(config: Value, own: Value) -> Value {
    let mut all = json!({"name": to("Name"), "label": label(), "config": config});
    if let (Value::Object(all), Value::Object(own)) = (&mut all, own) {
        all.extend(own);
    }
    record(&[], all)
}

fn model(definitions: &Definitions) -> Vec<(&'static str, Value)> {
    let keys = &definitions.config_keys;
    let access = json!({"type": "string", "enum": ["organization", "members"]});
    let order = || json!({"order": integer()});
    let rail = configs::object(&keys.rail);
    let rail = json!({"anyOf": [rail, {"type": "array", "items": rail}]});
    let types: Vec<&String> = definitions.column_types.keys().collect();
    let views: Vec<&String> = definitions.view_types.keys().collect();
    let column_config = to("Config");
    let view_config = json!({"anyOf": [
        to("Config"), {"type": "array", "maxItems": 1, "items": to("Config")},
    ]});
    let list = json!({"type": "array", "items": to("Config")});
    let icon = json!({"type": ["string", "null"]});
    vec![
        ("Workspace", described(json!({"access": access}))),
        (
            "WorkspaceCreate",
            creation(
                "organization_id",
                configs::object(&keys.workspace),
                json!({"access": access}),
            ),
        ),
        (
            "WorkspacePatch",
            change(configs::object(&keys.workspace), json!({"access": access})),
        ),
        (
            "Module",
            described(json!({"workspace_id": id(), "icon": icon, "order": integer()})),
        ),
        (
            "ModuleCreate",
            creation(
                "workspace_id",
                configs::object(&keys.module),
                json!({"icon": icon, "order": integer()}),
            ),
        ),
        (
            "ModulePatch",
            change(
                configs::object(&keys.module),
                json!({"icon": icon, "order": integer()}),
            ),
        ),
        (
            "Rail",
            described(json!({
                "workspace_id": id(), "module_id": id(), "order": integer(), "config": list,
            })),
        ),
        ("RailCreate", creation("module_id", rail.clone(), order())),
        ("RailPatch", change(rail, order())),
        (
            "Feature",
            described(json!({"workspace_id": id(), "is_shared": {"type": "boolean"}})),
        ),
        (
            "FeatureCreate",
            creation(
                "workspace_id",
                configs::object(&keys.feature),
                json!({"is_shared": {"type": "boolean"}}),
            ),
        ),
        (
            "FeaturePatch",
            change(
                configs::object(&keys.feature),
                json!({"is_shared": {"type": "boolean"}}),
            ),
        ),
        (
            "View",
            described(json!({
                "workspace_id": id(), "feature_id": id(), "type": {"type": "string", "enum": views},
                "order": integer(), "config": list,
            })),
        ),
        (
            "ViewPatch",
            change(
                view_config,
                json!({"type": {"enum": views}, "order": integer()}),
            ),
        ),
        (
            "Column",
            described(json!({
                "workspace_id": id(), "feature_id": id(), "type": {"type": "string", "enum": types},
                "default_component": {"type": "string", "enum": definitions.components},
                "order": integer(),
            })),
        ),
        (
            "ColumnList",
            json!({"type": "array", "items": to("Column")}),
        ),
        (
            "ColumnPatch",
            record(
                &[],
                json!({
                    "label": label(), "type": {"enum": types},
                    "default_component": {"enum": definitions.components},
                    "config": column_config, "order": integer(),
                }),
            ),
        ),
        ("Schema", schema_document()),
        ("Definitions", json!({"type": "object"})),
    ]
}

fn schema_document() -> Value {
    closed_object(json!({
        "workspaces": {"type": "array", "items": {
            "type": "object",
            "required": ["id", "features"],
            "properties": {"id": id(), "features": {"type": "array", "items": {
                "type": "object",
                "required": ["id", "columns", "views"],
                "properties": {
                    "id": id(),
                    "columns": {"type": "array", "items": to("Column")},
                    "views": {"type": "array", "items": to("View")},
                },
            }}},
        }},
        "truncated": {"type": "boolean", "description": "Whether a cap cut something off."},
    }))
}

fn rows() -> Vec<(&'static str, Value)> {
    let data = to("Cells");
    let create = record(&["data"], json!({"data": data}));
    vec![
        ("Cells", json!({"type": "object"})),
        (
            "Row",
            closed_object(json!({
                "id": id(), "feature_id": id(), "created_at": instant(), "updated_at": instant(),
                "data": data,
            })),
        ),
        ("RowCreate", create),
        ("RowPatch", record(&[], json!({"data": data}))),
        (
            "RowBatch",
            record(
                &["rows"],
                json!({"rows": {"type": "array", "minItems": 1, "maxItems": 500, "items": to("RowCreate")}}),
            ),
        ),
        (
            "RowBatchResult",
            closed_object(json!({
                "count": integer(), "items": {"type": "array", "items": to("Row")},
            })),
        ),
        (
            "Aggregate",
            closed_object(json!({
                "op": {"type": "string", "enum": ["count", "sum", "avg"]},
                "column": nullable("string"),
                "result": nullable("number"),
                "rows_considered": integer(),
            })),
        ),
    ]
}
