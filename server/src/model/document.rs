//! What responses hold of records of the six kinds: the schema of what [`Record`](super::record::Record) writes.
//!
//! Goes in: the table of kinds. Comes out: a type for each kind that is only there to be named, by pages and by
//! documents that hold records.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use super::kind::{COLUMN, FEATURE, KindDescription, MODULE, OwnFieldForm, RAIL, VIEW, WORKSPACE};
use crate::json_schemas::{Config, UtcInstant};

macro_rules! documents {
    ($($text:literal $name:ident of $kind:ident;)+) => {$(
        #[doc = $text]
        #[derive(Debug)]
        pub(crate) struct $name;

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                let mut schema = document(&$kind, generator);
                schema.insert("description".to_owned(), $text.into());
                schema
            }
        }
    )+};
}

documents! {
    "A group of modules, tables and automations." Workspace of WORKSPACE;
    "A group of rails in the navigation of a workspace." Module of MODULE;
    "A navigation entry of a module." Rail of RAIL;
    "A table." Feature of FEATURE;
    "A saved presentation of a table." View of VIEW;
    "A field of a table." Column of COLUMN;
}

/// All columns of a table, in display order.
#[derive(Debug, JsonSchema)]
pub(crate) struct ColumnList(#[expect(dead_code, reason = "it is there to be named")] Vec<Column>);

/// What [`Record::members`](super::record::Record::members) writes, in its order.
fn document(kind: &KindDescription, generator: &mut SchemaGenerator) -> Schema {
    let id = json!({"type": "string", "format": "uuid"});
    let text = json!({"type": "string"});
    let instant = generator.subschema_for::<UtcInstant>();
    let config = if kind.what.lists_config() {
        generator.subschema_for::<Vec<Config>>()
    } else {
        generator.subschema_for::<Config>()
    };
    let mut properties = Map::new();
    properties.insert("id".to_owned(), id.clone());
    for column in kind.within {
        properties.insert((*column).to_owned(), id.clone());
    }
    for name in ["name", "label"] {
        properties.insert(name.to_owned(), text.clone());
    }
    for own in kind.own {
        if let Some(key) = own.key {
            properties.insert(key.to_owned(), own_field(own.form));
        }
    }
    properties.insert("config".to_owned(), config.to_value());
    for name in ["created_at", "updated_at"] {
        properties.insert(name.to_owned(), instant.clone().to_value());
    }
    let required: Vec<&String> = properties.keys().collect();
    json_schema!({"type": "object", "required": required, "properties": properties})
}

/// What an own field holds, in bodies as in responses.
pub(crate) fn own_field(form: OwnFieldForm) -> Value {
    match form {
        OwnFieldForm::Word(words) => json!({"type": "string", "enum": words()}),
        OwnFieldForm::Nullable => json!({"type": ["string", "null"]}),
        OwnFieldForm::Integer => json!({"type": "integer", "format": "int64"}),
        OwnFieldForm::Maybe => json!({"type": ["integer", "null"], "format": "int64"}),
        OwnFieldForm::Flag => json!({"type": "boolean"}),
    }
}
