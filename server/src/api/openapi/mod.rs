//! The OpenAPI 3.1 document, made from a table of operations. It cannot differ from the code,
//! because the code runs on the same table ([`document`](super::document)).

mod build;
mod components;
mod configs;
mod derived;
mod document;
mod model;
mod operation;
mod parameters;
mod schemas;
mod texts;

use serde_json::{Map, Value};
use tplkit::definitions::Definitions;

use self::document::{Contact, Info, License, OpenApi, ServerAddress, Tag};
use self::texts::TEXTS;
use crate::call::operation::Operation;
use crate::health::health;

/// The document about these operations.
///
/// # Panics
/// Never: it has string keys only, and therefore always has a JSON form.
pub fn document(operations: &[Operation], definitions: &Definitions) -> Value {
    let mut paths = Map::new();
    for operation in operations.iter().filter(|one| one.is_documented()) {
        let path = paths
            .entry(operation.path)
            .or_insert_with(|| Value::Object(Map::new()));
        path[operation.method.to_ascii_lowercase()] = operation::described(operation);
    }
    let document = OpenApi {
        openapi: "3.1.0",
        info: Info {
            title: "Workspace data API",
            version: health().version,
            description: "Organizations, workspaces, tables and their rows. Every request sees what its \
                caller may see; what is hidden looks like what does not exist. Refusals are problem \
                documents with a stable `code`.",
            contact: Contact {
                name: "tplkit",
                url: env!("CARGO_PKG_REPOSITORY"),
            },
            license: License {
                name: "MIT OR Apache-2.0",
                identifier: "MIT OR Apache-2.0",
            },
        },
        servers: vec![ServerAddress {
            url: "/",
            description: "The server that this document comes from.",
        }],
        tags: tags(operations),
        paths,
        components: components::all(operations, definitions),
    };
    serde_json::to_value(document).expect("a document has a JSON form")
}

/// The tags in use, in the order of the operations.
fn tags(operations: &[Operation]) -> Vec<Tag> {
    let mut names: Vec<&'static str> = Vec::new();
    for operation in operations {
        let name = operation.about.tag;
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let described = names.into_iter().map(|name| Tag {
        name,
        description: TEXTS.tags.get(name).cloned().unwrap_or_default(),
    });
    described.collect()
}

#[cfg(test)]
mod tests;
