//! Configs: what the registry declares, as schemas.

use serde_json::{Map, Value, json};

use super::pattern;
use super::shapes::Defs;
use crate::definitions::{Field, FieldType, Form, ReferenceKind};
use crate::package::format::{Configured, GRAPH_STEP};

/// The config of something of the model.
pub(super) fn config(owner: Configured, defs: &mut Defs<'_>) -> Value {
    let keys = &defs.definitions.config_keys;
    let (name, fields) = match owner {
        Configured::Module => ("moduleConfig", &keys.module),
        Configured::Rail => ("railConfig", &keys.rail),
        Configured::Feature => ("featureConfig", &keys.feature),
        Configured::Workspace => ("workspaceConfig", &keys.workspace),
        // These two depend on a type, which only the step that creates them knows.
        Configured::Column => ("columnConfig", &defs.definitions.column_config),
        Configured::View => return json!({"type": "object"}),
    };
    let fields = named(fields);
    defs.named(name, |defs| object(&fields, defs))
}

/// Column types: their names, and the config that each has.
pub(super) fn column_conditions(defs: &mut Defs<'_>) -> Vec<Value> {
    let definitions = defs.definitions;
    let types: Vec<&str> = definitions
        .column_types
        .keys()
        .map(String::as_str)
        .collect();
    let mut conditions = vec![json!({"properties": {
        "type": {"enum": types},
        "defaultComponent": {"enum": definitions.components},
    }})];
    for (name, column_type) in &definitions.column_types {
        let fields: Vec<_> = named(&definitions.column_config)
            .into_iter()
            .chain(named(&column_type.config))
            .collect();
        let config = defs.named(&format!("columnConfig.{name}"), |defs| {
            object(&fields, defs)
        });
        conditions.push(when(
            "type",
            name,
            &json!({"properties": {"config": config}}),
        ));
    }
    conditions
}

/// View types: their names, and the config that each has.
pub(super) fn view_conditions(defs: &mut Defs<'_>) -> Vec<Value> {
    let definitions = defs.definitions;
    let types: Vec<&str> = definitions.view_types.keys().map(String::as_str).collect();
    let mut conditions = vec![json!({"properties": {"type": {"enum": types}}})];
    for (name, view_type) in &definitions.view_types {
        let fields = named(&view_type.config);
        let config = defs.named(&format!("viewConfig.{name}"), |defs| object(&fields, defs));
        conditions.push(when(
            "type",
            name,
            &json!({"properties": {"config": {"items": config}}}),
        ));
    }
    conditions
}

/// The settings that each trigger has.
pub(super) fn trigger_conditions(defs: &mut Defs<'_>) -> Vec<Value> {
    let triggers = &defs.definitions.triggers;
    let settings = |(name, trigger): (&String, &crate::definitions::Trigger)| {
        let fields = named(&trigger.config);
        let config = defs.named(&format!("trigger.{name}"), |defs| object(&fields, defs));
        when("type", name, &json!({"properties": {"config": config}}))
    };
    triggers.iter().map(settings).collect()
}

/// The settings that each automation step has.
pub(super) fn graph_step_conditions(defs: &mut Defs<'_>) -> Vec<Value> {
    let steps = &defs.definitions.steps;
    let settings = |(name, step): (&String, &crate::definitions::Step)| {
        let fields = named(&step.config);
        let config = defs.named(&format!("step.{name}"), |defs| object(&fields, defs));
        when("key", name, &json!({"properties": {"config": config}}))
    };
    steps.iter().map(settings).collect()
}

fn when(key: &str, word: &str, then: &Value) -> Value {
    json!({"if": {"required": [key], "properties": {key: {"const": word}}}, "then": then})
}

fn named(fields: &crate::definitions::Fields) -> Vec<(&str, &Field)> {
    fields
        .iter()
        .map(|(name, field)| (name.as_str(), field))
        .collect()
}

fn object(fields: &[(&str, &Field)], defs: &mut Defs<'_>) -> Value {
    let mut properties = Map::new();
    for (name, field) in fields {
        properties.insert((*name).to_owned(), value(field, defs));
    }
    // A reference may have been left out, and `unresolved` says so.
    let expected = fields
        .iter()
        .filter(|(_, field)| field.is_required() && !field.is_reference());
    let required: Vec<&str> = expected.map(|(name, _)| *name).collect();
    let mut schema = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

fn value(field: &Field, defs: &mut Defs<'_>) -> Value {
    let mut schema = Map::new();
    if let Some(description) = &field.description {
        let mut text = description.clone();
        if field.expression {
            text.push_str(" Tokens `{{…}}` are resolved.");
        }
        if field.secret {
            text.push_str(" A secret: always empty in a package.");
        }
        schema.insert("description".to_owned(), json!(text));
    }
    if let Value::Object(of_type) = of_type(field, defs) {
        schema.extend(of_type);
    }
    if let Some(default) = &field.default {
        schema.insert("default".to_owned(), default.clone());
    }
    Value::Object(schema)
}

fn of_type(field: &Field, defs: &mut Defs<'_>) -> Value {
    match field.kind {
        FieldType::Any => json!({}),
        FieldType::String if field.secret => json!({"type": "string", "maxLength": 0}),
        FieldType::String => match ref_prefix(field) {
            Some(prefix) => json!({"type": "string", "pattern": pattern::used(prefix)}),
            None => json!({"type": "string"}),
        },
        FieldType::Timezone => json!({"type": "string", "examples": ["UTC", "Europe/Lisbon"]}),
        FieldType::Time => json!({"type": "string", "pattern": pattern::TIME}),
        FieldType::Boolean => json!({"type": "boolean"}),
        FieldType::Enum => json!({"type": "string", "enum": field.values}),
        FieldType::Integer => {
            let mut schema = json!({"type": "integer"});
            if let Some(minimum) = field.minimum {
                schema["minimum"] = json!(minimum);
            }
            if let Some(maximum) = field.maximum {
                schema["maximum"] = json!(maximum);
            }
            schema
        }
        FieldType::List => match &field.items {
            Some(item) => json!({"type": "array", "items": value(item, defs)}),
            None => json!({"type": "array"}),
        },
        FieldType::Object => match &field.fields {
            Some(fields) => object(&named(fields), defs),
            None => json!({"type": "object"}),
        },
        FieldType::Steps => json!({"type": "array", "items": defs.reference(&GRAPH_STEP)}),
    }
}

/// What the ref in a field begins with, where a package always holds a ref there.
fn ref_prefix(field: &Field) -> Option<&'static str> {
    let reference = field.reference.as_ref()?;
    let unknown_table = reference.of.as_deref() == Some("$envelope");
    match (reference.kind, reference.form) {
        // A column is a technical name over REST and a ref in a package; where its table cannot
        // be known it stays a name.
        (ReferenceKind::Column, _) if unknown_table => None,
        (ReferenceKind::Column, _) | (_, Form::Uuid) => pattern::prefix(reference.kind),
        (_, Form::Name | Form::UuidOrName) => None,
    }
}
