//! Values as bodies and responses have them: what their JSON Schema says.
//!
//! Goes in: an instant. Comes out: its text. The objects are never made: fields that hold JSON as text name
//! them, so that the schema of the field says what the text is. Knows nothing of what the text means.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use tplkit::package::schema::NAME_PATTERN;

use crate::context::rfc3339;

/// An instant, in microseconds since 1970; on the wire RFC 3339.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UtcInstant(pub i64);

impl Serialize for UtcInstant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&rfc3339(self.0))
    }
}

impl JsonSchema for UtcInstant {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "UtcInstant".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({"type": "string", "format": "date-time"})
    }
}

/// Marks a member that may be missing and may be null, which are two things.
pub(crate) const NULL_TOO: &str = "x-null-too";

/// A value or null, of a member that may be missing. An `Option` alone is missing or there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Nullable<T>(pub Option<T>);

impl<T: JsonSchema> JsonSchema for Nullable<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Nullable{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = generator.subschema_for::<Option<T>>();
        schema.insert(NULL_TOO.to_owned(), json!(true));
        schema
    }
}

/// Settings; `GET /v1/schema/definitions` lists the keys of each kind.
#[derive(Debug, JsonSchema)]
pub struct Config(pub Map<String, Value>);

/// Cells by the technical names of their columns.
#[derive(Debug, JsonSchema)]
pub struct Cells(pub Map<String, Value>);

/// What a package holds, how to create it, and what it needs at the destination.
#[derive(Debug, JsonSchema)]
pub struct Manifest(pub Map<String, Value>);

/// What starts an automation: `type`, the key of the trigger, and its `config`.
#[derive(Debug, JsonSchema)]
pub struct Trigger(pub Map<String, Value>);

/// What an automation does: `steps`, in order of execution.
#[derive(Debug, JsonSchema)]
pub struct Graph(pub Map<String, Value>);

/// A technical name.
#[derive(Debug, JsonSchema)]
#[schemars(extend("minLength" = 1, "maxLength" = 63, "pattern" = NAME_PATTERN))]
pub struct Name(pub String);

/// Any object.
#[derive(Debug, JsonSchema)]
#[schemars(inline)]
pub struct AnyObject(pub Map<String, Value>);
