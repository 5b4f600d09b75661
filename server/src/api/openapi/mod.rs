//! The OpenAPI 3.1 document, made from a table of operations. It cannot differ from the code,
//! because the code runs on the same table ([`document`](super::document)).

mod components;
mod configs;
mod derived;
mod model;
mod operation;
mod parameters;
mod schemas;
mod texts;

use serde_json::{Map, Value, json};
use tplkit::definitions::Definitions;

use self::texts::TEXTS;
use crate::call::operation::Operation;
use crate::health::health;

/// The document about these operations.
pub fn document(operations: &[Operation], definitions: &Definitions) -> Value {
    let mut paths = Map::new();
    for operation in operations {
        let path = paths
            .entry(operation.path)
            .or_insert_with(|| Value::Object(Map::new()));
        path[operation.method.to_ascii_lowercase()] = operation::described(operation);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Workspace data API",
            "version": health().version,
            "description": "Organizations, workspaces, tables and their rows. Every request sees what its \
                caller may see; what is hidden is answered like what does not exist. Refusals are problem \
                documents with a stable `code`.",
            "contact": {"name": "tplkit", "url": env!("CARGO_PKG_REPOSITORY")},
            "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
        },
        "servers": [{"url": "/", "description": "The server that this document comes from."}],
        "tags": tags(operations),
        "paths": paths,
        "components": components::all(operations, definitions),
    })
}

/// The tags in use, in the order of the operations.
fn tags(operations: &[Operation]) -> Value {
    let mut names: Vec<&'static str> = Vec::new();
    for operation in operations {
        let name = operation.about.tag;
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let described = names.iter().map(|name| {
        let description = TEXTS.tags.get(*name).map_or("", String::as_str);
        json!({"name": name, "description": description})
    });
    described.collect()
}

#[cfg(test)]
mod tests;
