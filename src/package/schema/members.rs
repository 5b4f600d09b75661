//! Schemas of members that several documents have, and of the object around them.

use serde_json::{Map, Value, json};

use super::pattern;

pub(super) fn object(description: &str, fields: Vec<(&str, Value)>, optional: &[&str]) -> Value {
    let mut required = Vec::new();
    let mut properties = Map::new();
    for (key, schema) in fields {
        if !optional.contains(&key) {
            required.push(key);
        }
        properties.insert(key.to_owned(), schema);
    }
    json!({"description": description, "type": "object", "required": required, "properties": properties})
}

pub(super) fn text(description: &str) -> Value {
    json!({"description": description, "type": "string"})
}

pub(super) fn count(description: &str) -> Value {
    json!({"description": description, "type": "integer", "minimum": 0})
}

pub(super) fn list(description: &str, items: &Value) -> Value {
    json!({"description": description, "type": "array", "items": items})
}

pub(super) fn kind() -> Value {
    json!({
        "description": "What it is.",
        "type": "string",
        "enum": ["workspace", "feature", "column", "view", "workflow", "module", "rail"],
    })
}

pub(super) fn reference() -> Value {
    text("Its ref, without the dollar; `workspace` for the workspace.")
}

pub(super) fn id() -> Value {
    json!({"description": "Its id.", "type": "string", "pattern": pattern::UUID})
}
