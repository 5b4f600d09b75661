//! The whole document: what stands at its top.
//!
//! Goes in: nothing but parts that are made elsewhere. Knows the members of the top level alone.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

/// An OpenAPI 3.1 document.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct OpenApi {
    /// The version of OpenAPI.
    pub(super) openapi: &'static str,
    /// What it is about, and whose it is.
    pub(super) info: Info,
    /// Where the operations are.
    pub(super) servers: Vec<ServerAddress>,
    /// Groups of operations.
    pub(super) tags: Vec<Tag>,
    /// Operations by path and method.
    pub(super) paths: Map<String, Value>,
    /// What the operations refer to, by kind and name.
    pub(super) components: Components,
}

/// What the document is about.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct Info {
    /// The name of the API.
    pub(super) title: &'static str,
    /// The version of the server.
    pub(super) version: &'static str,
    /// What the API is for.
    pub(super) description: &'static str,
    /// Who can be asked.
    pub(super) contact: Contact,
    /// The terms.
    pub(super) license: License,
}

/// Who can be asked.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct Contact {
    /// The name of the project.
    pub(super) name: &'static str,
    /// Where it is.
    pub(super) url: &'static str,
}

/// The terms.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct License {
    /// The name of the license.
    pub(super) name: &'static str,
    /// Its SPDX expression.
    pub(super) identifier: &'static str,
}

/// Where the operations are.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct ServerAddress {
    /// What all paths are relative to.
    pub(super) url: &'static str,
    /// Which server it is.
    pub(super) description: &'static str,
}

/// A group of operations.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct Tag {
    /// The word that operations have.
    pub(super) name: &'static str,
    /// What it groups.
    pub(super) description: String,
}

/// What operations refer to.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct Components {
    /// JSON Schemas of bodies and responses.
    pub(super) schemas: Map<String, Value>,
    /// Parameters of paths and queries, and headers.
    pub(super) parameters: Map<String, Value>,
    /// Refusals.
    pub(super) responses: Map<String, Value>,
    /// Examples of bodies and responses.
    pub(super) examples: Map<String, Value>,
    /// How a caller says who it is.
    #[serde(rename = "securitySchemes")]
    pub(super) security_schemes: Map<String, Value>,
}
