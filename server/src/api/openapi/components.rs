//! Shared components: schemas, parameters, refusals, examples, the credential.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use tplkit::definitions::Definitions;

use super::document::Components;
use super::texts::{self, TEXTS};
use super::{operation, parameters, schemas};
use crate::api::areas::Area;
use crate::call::operation::Operation;
use crate::http::problem::RefusalForm;
use crate::templates::document::UID;

/// The component of the header that makes a request safe to repeat.
pub(super) const IDEMPOTENCY_KEY: &str = "header_idempotency_key";
/// The component of the header that has no effect.
pub(super) const SERVICE_KEY: &str = "header_service_key";

/// The headers of a request for a file, or a part of it: their components, names and texts.
const FILE_HEADERS: [(&str, &str, &str); 4] = [
    (
        "header_range",
        "Range",
        "One range of bytes, such as `bytes=0-1023` or `bytes=-500`: the response is 206 with that part.",
    ),
    (
        "header_if_range",
        "If-Range",
        "An ETag: a range counts only while the file has it; otherwise the response is the whole.",
    ),
    (
        "header_if_match",
        "If-Match",
        "ETags: 412 unless the file has one of them.",
    ),
    (
        "header_if_none_match",
        "If-None-Match",
        "ETags: 304 if the file has one of them.",
    ),
];

/// The components of the headers that choose a file, or a part of it.
pub(super) fn file_headers() -> impl Iterator<Item = String> {
    FILE_HEADERS
        .iter()
        .map(|(component, ..)| (*component).to_owned())
}

/// The statuses that the document lists. A file whose bytes are gone is 500 with a code of its own; any other 500 is a bug
/// and is listed nowhere.
pub(super) fn statuses(operation: &Operation) -> Vec<u16> {
    let mut all = operation.all_statuses();
    if operation.gives_file() {
        all.push(500);
        all.sort_unstable();
    }
    all
}

/// All components.
pub(super) fn all(operations: &[Operation], definitions: &Definitions) -> Components {
    let mut schemas = schemas::all(definitions);
    for (name, schema) in &mut schemas {
        TEXTS.describe(name, schema);
        texts::say_defaults(schema);
        texts::open_objects(schema);
    }
    let bearer = json!({
        "type": "http",
        "scheme": "bearer",
        "description": "An access token of `POST /v1/auth/token`, or an API key.",
    });
    Components {
        schemas,
        parameters: all_parameters(operations),
        responses: refusals(operations),
        examples: examples(operations),
        security_schemes: Map::from_iter([("bearer".to_owned(), bearer)]),
    }
}

/// The component of a path's parameter.
pub(super) fn path_parameter(name: &str) -> String {
    format!("path_{name}")
}

/// The component of a query parameter.
pub(super) fn query_parameter(name: &str) -> String {
    format!("query_{name}")
}

fn all_parameters(operations: &[Operation]) -> Map<String, Value> {
    let mut all = Map::new();
    for operation in operations {
        for name in operation.parameters() {
            all.entry(path_parameter(name))
                .or_insert_with(|| in_path(name));
        }
        for name in operation.about.query_components {
            let parameter = parameters::query(name).unwrap_or_default();
            all.insert(query_parameter(name), parameter);
        }
    }
    all.insert(
        IDEMPOTENCY_KEY.to_owned(),
        json!({
            "name": "Idempotency-Key", "in": "header",
            "description": "Makes sending the request again safe for 24 hours.",
            "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
        }),
    );
    for (component, name, description) in FILE_HEADERS {
        let parameter = json!({
            "name": name, "in": "header", "description": description, "schema": {"type": "string"},
        });
        all.insert(component.to_owned(), parameter);
    }
    all.insert(
        SERVICE_KEY.to_owned(),
        json!({
            "name": "x-platform-service-key", "in": "header",
            "description": "Accepted and without effect.", "schema": {"type": "string"},
        }),
    );
    all
}

fn in_path(name: &str) -> Value {
    let schema = match name {
        "item_uid" => json!({"type": "string", "pattern": UID}),
        _ => json!({"type": "string", "format": "uuid"}),
    };
    let description = TEXTS.parameters.get(name).map_or("", String::as_str);
    json!({"name": name, "in": "path", "required": true, "description": description, "schema": schema})
}

/// What HTTP calls a status.
pub(super) fn reason(status: u16) -> &'static str {
    axum::http::StatusCode::from_u16(status)
        .ok()
        .and_then(|status| status.canonical_reason())
        .unwrap_or_default()
}

/// The form of an operation's refusals.
fn form(operation: &Operation) -> RefusalForm {
    Area::of(operation.path).refusals
}

fn refusal_component(form: RefusalForm, status: u16) -> String {
    match form {
        RefusalForm::Problem => format!("problem_{status}"),
        RefusalForm::Executor => format!("executor_problem_{status}"),
    }
}

fn refusal_response(form: RefusalForm, status: u16) -> Value {
    let (media_type, schema) = match form {
        RefusalForm::Problem => ("application/problem+json", "Problem"),
        RefusalForm::Executor => ("application/json", "ExecutorProblem"),
    };
    json!({
        "description": reason(status),
        "content": {media_type: operation::content(schema)},
    })
}

/// The component of a refusal of that operation.
pub(super) fn refusal(operation: &Operation, status: u16) -> String {
    refusal_component(form(operation), status)
}

/// Every refusal that some operation may give.
fn refusals(operations: &[Operation]) -> Map<String, Value> {
    let mut used: BTreeSet<(RefusalForm, u16)> = BTreeSet::new();
    for operation in operations {
        let refusals = statuses(operation).into_iter();
        let refusals = refusals.filter(|status| *status >= 400);
        used.extend(refusals.map(|status| (form(operation), status)));
    }
    let used = used.into_iter();
    used.map(|(form, status)| {
        (
            refusal_component(form, status),
            refusal_response(form, status),
        )
    })
    .collect()
}

/// The example of every body and response that has one.
fn examples(operations: &[Operation]) -> Map<String, Value> {
    let mut names: BTreeSet<&str> = BTreeSet::from(["Problem", "ExecutorProblem"]);
    for operation in operations {
        names.extend(operation.about.request);
        names.extend(operation.about.response);
    }
    let named = names.into_iter();
    named
        .filter_map(|name| Some((name.to_owned(), json!({"value": texts::example(name)?}))))
        .collect()
}
