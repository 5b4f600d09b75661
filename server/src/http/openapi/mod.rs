//! The OpenAPI 3.1 document, made from the table of operations. It says what the code does, because
//! it is read off what the code runs on.

mod automations;
mod configs;
mod connections;
mod jobs;
mod parameters;
mod schemas;
mod templates;

use serde_json::{Map, Value, json};
use tplkit::definitions::Definitions;

use super::operations::{Access, Limit, OPERATIONS, Operation};
use crate::health::health;

/// The document.
pub fn document(definitions: &Definitions) -> Value {
    let mut paths = Map::new();
    for operation in &OPERATIONS {
        let path = paths
            .entry(operation.path)
            .or_insert_with(|| Value::Object(Map::new()));
        path[operation.method.to_ascii_lowercase()] = described(operation);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Workspace data API",
            "version": health().version,
            "description": "Organizations, workspaces, tables and their rows. Every request sees what its \
                caller may see; what is hidden is answered like what does not exist. Refusals are problem \
                documents with a stable `code`.",
        },
        "paths": paths,
        "components": {
            "schemas": schemas::all(definitions),
            "securitySchemes": {"bearer": {
                "type": "http",
                "scheme": "bearer",
                "description": "An access token of `POST /v1/auth/token`, or an API key.",
            }},
        },
    })
}

fn described(operation: &Operation) -> Value {
    let mut parameters: Vec<Value> = operation.parameters().map(in_path).collect();
    let about = &operation.about;
    parameters.extend(about.query.iter().map(|name| {
        let mut parameter = parameters::query(name).unwrap_or_default();
        // Lists of these are of one organization; elsewhere the parent is a filter.
        let of_organization = ["/v1/api-keys", "/v1/channels", "/v1/connections"];
        if *name == "organization_id" && of_organization.contains(&operation.path) {
            if operation.method == "GET" {
                parameter["required"] = true.into();
            } else {
                parameter["description"] = "Whose; in the body or here.".into();
            }
        }
        if operation.path == "/v1/templates/import" {
            let told = "Whose catalog; who has one organization may leave it out.";
            parameter["description"] = told.into();
        }
        parameter
    }));
    if operation.repeatable() {
        parameters.push(json!({
            "name": "Idempotency-Key", "in": "header",
            "description": "Makes sending the request again safe for 24 hours.",
            "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
        }));
    }
    parameters.push(json!({
        "name": "x-platform-service-key", "in": "header",
        "description": "Accepted and without effect.", "schema": {"type": "string"},
    }));
    let mut answers = Map::new();
    for status in operation.all_statuses() {
        answers.insert(status.to_string(), answer(operation, status));
    }
    let mut described = json!({
        "operationId": operation_id(operation),
        "summary": about.summary,
        "tags": [tag(operation)],
        "parameters": parameters,
        "responses": answers,
    });
    if let Some(conditions) = conditions(operation) {
        described["description"] = conditions.into();
    }
    if operation.access == Access::Public {
        described["security"] = json!([]);
    } else {
        described["security"] = json!([{"bearer": []}]);
    }
    if let Some(request) = about.request {
        described["requestBody"] = json!({"required": true, "content": {
            "application/json": {"schema": {"$ref": format!("#/components/schemas/{request}")}},
        }});
    }
    described
}

fn in_path(name: &str) -> Value {
    let schema = match name {
        "item_uid" => templates::uid(),
        _ => json!({"type": "string", "format": "uuid"}),
    };
    json!({"name": name, "in": "path", "required": true, "schema": schema})
}

fn answer(operation: &Operation, status: u16) -> Value {
    let told = axum::http::StatusCode::from_u16(status)
        .ok()
        .and_then(|status| status.canonical_reason())
        .unwrap_or_default();
    if status == 200 && operation.about.response.is_none() {
        return json!({"description": told, "content": {"text/html": {"schema": {"type": "string"}}}});
    }
    if status == 204 {
        return json!({"description": told});
    }
    if status == 307 {
        let location = json!({"schema": {"type": "string", "format": "uri-reference"}});
        return json!({"description": told, "headers": {"Location": location}});
    }
    let (media_type, schema) = if status < 300 {
        (
            "application/json",
            operation.about.response.unwrap_or_default(),
        )
    } else if operation.path.starts_with("/v1/") {
        ("application/problem+json", "Problem")
    } else {
        ("application/json", "ExecutorProblem")
    };
    let schema = json!({"schema": {"$ref": format!("#/components/schemas/{schema}")}});
    json!({"description": told, "content": {media_type: schema}})
}

/// Who may ask, in words.
fn conditions(operation: &Operation) -> Option<String> {
    let who = match operation.access {
        Access::Public => return None,
        Access::Users => "Not open to API keys.".to_owned(),
        Access::Scopes(scopes) => {
            let words: Vec<String> = scopes
                .iter()
                .map(|scope| format!("`{}`", scope.as_str()))
                .collect();
            format!("API keys need {}.", words.join(" and "))
        }
    };
    let role = operation.role.as_str();
    let limit = match operation.limit {
        Limit::None | Limit::Usual => "",
        Limit::SignIn => " Ten times a minute.",
    };
    Some(format!("Role: `{role}` or more. {who}{limit}"))
}

/// The first thing that the path names.
pub(super) fn tag(operation: &Operation) -> &'static str {
    let path = operation.path;
    for (within, tag) in [
        ("/rows", "rows"),
        ("/columns", "columns"),
        ("/members", "members"),
    ] {
        if path.contains(within) {
            return tag;
        }
    }
    path.split('/').nth(2).unwrap_or("documentation")
}

fn operation_id(operation: &Operation) -> String {
    let mut words = vec![operation.method.to_ascii_lowercase()];
    if operation.path == "/" {
        return "get_root".to_owned();
    }
    let segments = operation.path.split(['/', ':', '.', '-']).skip(1);
    for segment in segments.filter(|segment| *segment != "v1") {
        let bare = segment.strip_prefix('{').and_then(|s| s.strip_suffix('}'));
        words.push(bare.map_or_else(|| segment.to_owned(), |name| format!("by_{name}")));
    }
    words.join("_")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;
    use tplkit::definitions::Definitions;

    use super::{OPERATIONS, document, parameters};

    #[test]
    fn every_operation_is_described() {
        for operation in &OPERATIONS {
            let about = &operation.about;
            assert!(!about.summary.is_empty(), "{operation:?}");
            let takes = about.request.is_some();
            assert!(!takes || operation.has_body(), "{operation:?}");
            assert!(takes || operation.method != "PATCH", "{operation:?}");
            let answers = operation.statuses.iter().any(|s| matches!(s, 200..=203));
            let answers = answers && operation.path != "/docs";
            assert_eq!(about.response.is_some(), answers, "{operation:?}");
            for name in about.query {
                assert!(parameters::query(name).is_some(), "{operation:?} {name}");
            }
        }
    }

    fn references(value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(members) => {
                if let Some(Value::String(to)) = members.get("$ref") {
                    found.insert(to.trim_start_matches("#/components/schemas/").to_owned());
                }
                members.values().for_each(|value| references(value, found));
            }
            Value::Array(items) => items.iter().for_each(|value| references(value, found)),
            _ => {}
        }
    }

    #[test]
    fn every_schema_is_there_and_used() {
        let document = document(Definitions::embedded());
        let mut used = BTreeSet::new();
        references(&document, &mut used);
        let known = document["components"]["schemas"].as_object();
        let known: BTreeSet<String> = known.expect("schemas").keys().cloned().collect();
        assert_eq!(used, known);
    }

    #[test]
    fn operations_have_names_of_their_own() {
        let ids: BTreeSet<String> = OPERATIONS.iter().map(super::operation_id).collect();
        assert_eq!(ids.len(), OPERATIONS.len());
    }
}
