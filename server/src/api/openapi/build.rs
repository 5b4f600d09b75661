//! Parts of schemas.

use serde_json::{Map, Value, json};

/// An object with these members and no others.
pub(super) fn closed(properties: &Map<String, Value>, required: &[&str]) -> Value {
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// A reference to a component.
pub(super) fn to(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}
