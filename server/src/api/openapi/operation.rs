//! One operation of the document: parameters, body, responses, permissions.

use serde_json::{Map, Value, json};

use super::components;
use super::texts;
use crate::call::operation::{Access, Limit, Operation};

/// The operation as the document has it.
pub(super) fn described(operation: &Operation) -> Value {
    let about = &operation.about;
    let responses: Map<String, Value> = components::statuses(operation)
        .into_iter()
        .map(|status| (status.to_string(), response(operation, status)))
        .collect();
    let mut described = json!({
        "operationId": about.id,
        "summary": about.summary,
        "description": description(operation),
        "tags": [about.tag],
        "parameters": parameters(operation),
        "responses": responses,
    });
    described["security"] = match operation.access {
        Access::Public => json!([]),
        Access::Users | Access::Scopes(_) => json!([{"bearer": []}]),
    };
    if let Some(request) = about.request {
        described["requestBody"] = json!({
            "required": operation.takes_body(),
            "content": body(operation, request),
        });
    }
    described
}

/// References to the parameters that it takes, those of the path first.
fn parameters(operation: &Operation) -> Vec<Value> {
    let mut names: Vec<String> = operation
        .parameters()
        .map(components::path_parameter)
        .collect();
    let of_query = operation.about.query_components.iter();
    names.extend(of_query.map(|name| components::query_parameter(name)));
    if operation.gives_file() {
        names.extend(components::file_headers());
    }
    if operation.repeatable() {
        names.push(components::IDEMPOTENCY_KEY.to_owned());
    }
    names.push(components::SERVICE_KEY.to_owned());
    names
        .iter()
        .map(|name| json!({"$ref": format!("#/components/parameters/{name}")}))
        .collect()
}

/// The forms in which a body may come.
fn body(operation: &Operation, request: &str) -> Value {
    if operation.takes_file() {
        return json!({
            "multipart/form-data": content(request),
            "application/octet-stream": {"schema": bytes()},
        });
    }
    json!({"application/json": content(request)})
}

fn bytes() -> Value {
    json!({"type": "string", "format": "binary"})
}

/// A file, or a part of it.
fn file(status: u16) -> Value {
    let text =
        |description: &str| json!({"description": description, "schema": {"type": "string"}});
    let mut headers = json!({
        "ETag": text("The SHA-256 of the file, in quotation marks."),
        "Content-Disposition": text("Whether it is saved or shown, and under which name."),
    });
    if status == 206 {
        headers["Content-Range"] = text("Which part it is, and of how many bytes.");
    }
    json!({
        "description": components::reason(status),
        "headers": headers,
        // Of any type; generators of clients that read no wildcard find one that means bytes.
        "content": {
            "*/*": {"schema": bytes()},
            "application/octet-stream": {"schema": bytes()},
        },
    })
}

/// A schema by its name, with its example.
pub(super) fn content(schema: &str) -> Value {
    let mut content = json!({"schema": {"$ref": format!("#/components/schemas/{schema}")}});
    if texts::example(schema).is_some() {
        let example = json!({"$ref": format!("#/components/examples/{schema}")});
        content["examples"] = json!({schema: example});
    }
    content
}

fn response(operation: &Operation, status: u16) -> Value {
    if status >= 400 {
        let name = components::refusal(operation, status);
        return json!({"$ref": format!("#/components/responses/{name}")});
    }
    let description = components::reason(status);
    if operation.gives_file() && matches!(status, 200 | 206) {
        return file(status);
    }
    match operation.about.response {
        _ if !matches!(status, 200..=203) => json!({"description": description}),
        Some(schema) => {
            json!({"description": description, "content": {"application/json": content(schema)}})
        }
        None => json!({
            "description": description,
            "content": {"text/html": {"schema": {"type": "string"}}},
        }),
    }
}

/// Who may call it, in words, and what else of a file can be asked for.
fn description(operation: &Operation) -> String {
    let conditions = conditions(operation);
    if operation.gives_file() {
        return format!("{conditions} `HEAD` has the same headers, no bytes, and no ranges.");
    }
    conditions
}

/// Who may call it, in words.
fn conditions(operation: &Operation) -> String {
    let who = match operation.access {
        Access::Public => return "Needs no credential.".to_owned(),
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
    format!("Role: `{role}` or more. {who}{limit}")
}
