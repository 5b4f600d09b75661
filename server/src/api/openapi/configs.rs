//! Schemas of configs: the definitions registry in the form of the REST API.

use serde_json::{Map, Value, json};
use tplkit::definitions::{Definitions, Field, FieldType, Fields, Form};

/// The config of a module, a feature, a workspace: an object of declared keys.
pub(super) fn object(fields: &Fields) -> Value {
    of(fields.iter().map(|(name, field)| (name.as_str(), field)))
}

/// What a body says that creates a record of one type.
pub(super) struct Variant {
    /// The type.
    pub(super) name: String,
    /// Own fields that the type narrows.
    pub(super) own: Vec<(&'static str, Value)>,
    /// The config.
    pub(super) config: Value,
    /// Whether it has keys that are required.
    pub(super) config_required: bool,
}

/// Columns, by type: their components and their config.
pub(super) fn columns(definitions: &Definitions) -> Vec<Variant> {
    let types = definitions.column_types.iter();
    let types = types.map(|(name, column_type)| {
        let fields = definitions.column_config.iter().chain(&column_type.config);
        let config = of(fields.map(|(name, field)| (name.as_str(), field)));
        Variant {
            name: name.clone(),
            own: vec![
                ("type", json!({"const": name})),
                ("default_component", json!({"enum": column_type.components})),
            ],
            config_required: config.get("required").is_some(),
            config,
        }
    });
    types.collect()
}

/// Views, by type.
pub(super) fn views(definitions: &Definitions) -> Vec<Variant> {
    let types = definitions.view_types.iter();
    let types = types.map(|(name, view_type)| {
        let config = object(&view_type.config);
        let required = config.get("required").is_some();
        Variant {
            name: name.clone(),
            own: vec![("type", json!({"const": name}))],
            config: json!({"anyOf": [config, {
                "type": "array", "items": config, "minItems": usize::from(required), "maxItems": 1,
            }]}),
            config_required: required,
        }
    });
    types.collect()
}

fn of<'f>(fields: impl Iterator<Item = (&'f str, &'f Field)>) -> Value {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for (name, field) in fields {
        properties.insert(name.to_owned(), value(field));
        if field.is_required() {
            required.push(name);
        }
    }
    let mut schema =
        json!({"type": "object", "properties": properties, "additionalProperties": false});
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

fn value(field: &Field) -> Value {
    let mut schema = of_type(field);
    if let Some(description) = &field.description {
        schema["description"] = json!(description);
    }
    if let Some(default) = &field.default {
        schema["default"] = default.clone();
    }
    schema
}

fn of_type(field: &Field) -> Value {
    match field.kind {
        FieldType::Any => json!({}),
        FieldType::String => {
            let by_id = |reference: &tplkit::definitions::Reference| reference.form == Form::Uuid;
            if field.reference.as_ref().is_some_and(by_id) {
                // An empty one names nothing, which is legal.
                json!({"type": "string", "anyOf": [{"format": "uuid"}, {"const": ""}]})
            } else {
                json!({"type": "string"})
            }
        }
        FieldType::Timezone => json!({"type": "string", "examples": ["UTC", "Europe/Lisbon"]}),
        FieldType::Time => json!({"type": "string", "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$"}),
        FieldType::Boolean => json!({"type": "boolean"}),
        FieldType::Enum => json!({"type": "string", "enum": field.values}),
        FieldType::Integer => {
            let mut schema = json!({"type": "integer", "format": "int64"});
            if let Some(minimum) = field.minimum {
                schema["minimum"] = json!(minimum);
            }
            if let Some(maximum) = field.maximum {
                schema["maximum"] = json!(maximum);
            }
            schema
        }
        FieldType::List => match &field.items {
            Some(item) => json!({"type": "array", "items": value(item)}),
            None => json!({"type": "array"}),
        },
        FieldType::Object => match &field.fields {
            Some(fields) => object(fields),
            None => json!({"type": "object"}),
        },
        FieldType::Steps => json!({"type": "array", "items": {"type": "object"}}),
    }
}
