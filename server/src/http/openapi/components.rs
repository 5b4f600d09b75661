//! Shared components: schemas, parameters, refusals, examples, the credential.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use tplkit::definitions::Definitions;

use super::texts::{self, TEXTS};
use super::{operation, parameters, schemas, templates};
use crate::http::operations::{OPERATIONS, Operation};

/// The component of the header that makes a request safe to repeat.
pub(super) const IDEMPOTENCY_KEY: &str = "header_idempotency_key";
/// The component of the header that has no effect.
pub(super) const SERVICE_KEY: &str = "header_service_key";

/// All components.
pub(super) fn all(definitions: &Definitions) -> Value {
    let mut schemas = schemas::all(definitions);
    for (name, schema) in &mut schemas {
        TEXTS.describe(name, schema);
        texts::open_objects(schema);
    }
    json!({
        "schemas": schemas,
        "parameters": all_parameters(),
        "responses": refusals(),
        "examples": examples(),
        "securitySchemes": {"bearer": {
            "type": "http",
            "scheme": "bearer",
            "description": "An access token of `POST /v1/auth/token`, or an API key.",
        }},
    })
}

/// The component of a path's parameter.
pub(super) fn path_parameter(name: &str) -> String {
    format!("path_{name}")
}

/// The component of a query parameter, which some operations read in their own way.
pub(super) fn query_parameter(operation: &Operation, name: &str) -> String {
    match (operation.path, name) {
        // A list of an organization's records needs it; elsewhere the parent is a filter.
        ("/v1/api-keys" | "/v1/channels" | "/v1/connections", "organization_id") => {
            let of_list = operation.method == "GET";
            let component = if of_list {
                "query_of_organization"
            } else {
                "query_for_organization"
            };
            component.to_owned()
        }
        ("/v1/templates/import", "organization_id") => "query_into_organization".to_owned(),
        _ => format!("query_{name}"),
    }
}

fn all_parameters() -> Map<String, Value> {
    let mut all = Map::new();
    for operation in &OPERATIONS {
        for name in operation.parameters() {
            all.entry(path_parameter(name))
                .or_insert_with(|| in_path(name));
        }
        for name in operation.about.query {
            let component = query_parameter(operation, name);
            let mut parameter = parameters::query(name).unwrap_or_default();
            match component.as_str() {
                "query_of_organization" => {
                    parameter["required"] = true.into();
                    parameter["description"] = "Whose records.".into();
                }
                "query_for_organization" => {
                    parameter["description"] = "Whose; in the body or here.".into();
                }
                "query_into_organization" => {
                    let description = "Whose catalog; who has one organization may leave it out.";
                    parameter["description"] = description.into();
                }
                _ => {}
            }
            all.insert(component, parameter);
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
        "item_uid" => templates::uid(),
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

/// The form of an operation's refusals: a problem document, or what the executor writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum RefusalForm {
    Problem,
    Executor,
}

impl RefusalForm {
    fn of(operation: &Operation) -> RefusalForm {
        if operation.path.starts_with("/apply/") {
            RefusalForm::Executor
        } else {
            RefusalForm::Problem
        }
    }

    fn component(self, status: u16) -> String {
        match self {
            RefusalForm::Problem => format!("problem_{status}"),
            RefusalForm::Executor => format!("executor_problem_{status}"),
        }
    }

    fn response(self, status: u16) -> Value {
        let (media_type, schema) = match self {
            RefusalForm::Problem => ("application/problem+json", "Problem"),
            RefusalForm::Executor => ("application/json", "ExecutorProblem"),
        };
        json!({
            "description": reason(status),
            "content": {media_type: operation::content(schema)},
        })
    }
}

/// The component of a refusal of that operation.
pub(super) fn refusal(operation: &Operation, status: u16) -> String {
    RefusalForm::of(operation).component(status)
}

/// Every refusal that some operation may give.
fn refusals() -> Map<String, Value> {
    let mut used: BTreeSet<(RefusalForm, u16)> = BTreeSet::new();
    for operation in &OPERATIONS {
        let refusals = operation.all_statuses().into_iter();
        let refusals = refusals.filter(|status| *status >= 400);
        used.extend(refusals.map(|status| (RefusalForm::of(operation), status)));
    }
    let used = used.into_iter();
    used.map(|(form, status)| (form.component(status), form.response(status)))
        .collect()
}

/// The example of every body and response that has one.
fn examples() -> Map<String, Value> {
    let mut names: BTreeSet<&str> = BTreeSet::from(["Problem", "ExecutorProblem"]);
    for operation in &OPERATIONS {
        names.extend(operation.about.request);
        names.extend(operation.about.response);
    }
    let named = names.into_iter();
    named
        .filter_map(|name| Some((name.to_owned(), json!({"value": texts::example(name)?}))))
        .collect()
}
