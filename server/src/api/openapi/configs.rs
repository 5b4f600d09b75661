//! Schemas of configs: the definitions registry in the form of the REST API.

use serde_json::{Map, Value, json};
use tplkit::definitions::{Definitions, Field, FieldType, Fields, Form};

/// The config of a module, a feature, a workspace: an object of declared keys.
pub(super) fn object(fields: &Fields) -> Value {
    of(fields.iter().map(|(name, field)| (name.as_str(), field)))
}

/// The bodies that create a column, one for each type: its components and its config.
pub(super) fn columns(definitions: &Definitions) -> Vec<(String, Value)> {
    let types = definitions.column_types.iter();
    let types = types.map(|(name, column_type)| {
        let fields = definitions.column_config.iter().chain(&column_type.config);
        let config = of(fields.map(|(name, field)| (name.as_str(), field)));
        let required = config.get("required").is_some();
        let body = created(
            json!({
                "type": {"const": name},
                "default_component": {"enum": column_type.components},
                "config": config,
            }),
            required,
        );
        (name.clone(), body)
    });
    types.collect()
}

/// The bodies that create a view, one for each type.
pub(super) fn views(definitions: &Definitions) -> Vec<(String, Value)> {
    let types = definitions.view_types.iter();
    let types = types.map(|(name, view_type)| {
        let config = object(&view_type.config);
        let required = config.get("required").is_some();
        let config = json!({"anyOf": [config, {
            "type": "array", "items": config, "minItems": usize::from(required), "maxItems": 1,
        }]});
        let mut body = created(json!({"type": {"const": name}, "config": config}), required);
        body["properties"]["feature_id"] = json!({"type": "string", "format": "uuid"});
        if let Some(Value::Array(required)) = body.get_mut("required") {
            required.push("feature_id".into());
        }
        (name.clone(), body)
    });
    types.collect()
}

/// What every creation of a typed record has.
fn created(properties: Value, config_required: bool) -> Value {
    let mut all = json!({
        "name": {"$ref": "#/components/schemas/Name"},
        "label": {"type": "string"},
        "order": {"type": "integer", "format": "int64"},
    });
    if let (Value::Object(all), Value::Object(own)) = (&mut all, properties) {
        all.extend(own);
    }
    let mut required = vec!["label", "type"];
    if config_required {
        required.push("config");
    }
    json!({
        "type": "object", "properties": all, "required": required, "additionalProperties": false,
    })
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
