//! Reads parts of the OpenAPI document: what is missing is empty.

use serde_json::Value;

/// The name behind a reference to a schema.
pub(super) fn referenced(schema: &Value) -> Option<&str> {
    text(&schema["$ref"]).strip_prefix("#/components/schemas/")
}

pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

pub(super) fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

pub(super) fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}
