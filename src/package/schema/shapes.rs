//! Shape tables to schemas: one definition per shape.

use serde_json::{Map, Value, json};

use super::{configs, items, pattern, steps};
use crate::definitions::Definitions;
use crate::package::format::{self, Configured, Field, Presence, Shape, Type};

/// Codes of field checks that only warn: their values are suggested, not demanded.
pub(super) const WARNINGS: &[&str] = &["M003", "I012", "S013"];

/// The definitions that a schema needs, gathered while it is made.
pub(super) struct Defs<'d> {
    pub(super) definitions: &'d Definitions,
    made: Map<String, Value>,
}

impl<'d> Defs<'d> {
    pub(super) fn new(definitions: &'d Definitions) -> Defs<'d> {
        Defs {
            definitions,
            made: Map::new(),
        }
    }

    /// Everything gathered, by name.
    pub(super) fn finish(mut self) -> Map<String, Value> {
        self.made.sort_keys();
        self.made
    }

    /// A reference to the definition of a shape.
    pub(super) fn reference(&mut self, shape: &'static Shape) -> Value {
        self.named(&identifier(shape), |defs| object(shape, defs))
    }

    /// A reference to a definition, made when it is asked for the first time.
    pub(super) fn named(&mut self, name: &str, make: impl FnOnce(&mut Self) -> Value) -> Value {
        if !self.made.contains_key(name) {
            // Taken before it is made, because steps contain steps.
            self.made.insert(name.to_owned(), Value::Null);
            let schema = make(self);
            self.made.insert(name.to_owned(), schema);
        }
        json!({"$ref": format!("#/$defs/{name}")})
    }
}

/// `a payload entry` → `payloadEntry`.
fn identifier(shape: &Shape) -> String {
    let words = shape
        .name
        .split(' ')
        .filter(|word| !matches!(*word, "a" | "an" | "the"));
    let mut name = String::new();
    for word in words.map(|word| word.trim_matches('`')) {
        if name.is_empty() {
            name.push_str(word);
        } else {
            let (first, rest) = word.split_at(1.min(word.len()));
            name.push_str(&first.to_ascii_uppercase());
            name.push_str(rest);
        }
    }
    name
}

/// The schema of an object of the format, with the conditions that its shape alone cannot say.
fn object(shape: &'static Shape, defs: &mut Defs<'_>) -> Value {
    let mut properties = Map::new();
    for field in shape.fields {
        properties.insert(field.key.to_owned(), property(field, defs));
    }
    let required: Vec<&str> = shape
        .fields
        .iter()
        .filter(|field| is_required(field))
        .map(|field| field.key)
        .collect();
    let mut schema = json!({"description": shape.doc, "type": "object", "properties": properties});
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    let conditions = conditions(shape, defs);
    if !conditions.is_empty() {
        schema["allOf"] = Value::Array(conditions);
    }
    if std::ptr::eq(shape, &raw const format::SOURCE) {
        schema["additionalProperties"] = json!(false);
    }
    schema
}

/// Whether the absence of a field is an error whatever is around it.
fn is_required(field: &Field) -> bool {
    match field.need {
        // A place that needs a ref may be absent when `unresolved` says why.
        Presence::Required => !matches!(field.ty, Type::Use(_)),
        Presence::Optional => false,
        Presence::Ruled => matches!(
            (field.key, field.rule),
            ("templateVersion", Some("J004")) | ("type", Some("A001")) | ("key", Some("A005"))
        ),
    }
}

fn conditions(shape: &'static Shape, defs: &mut Defs<'_>) -> Vec<Value> {
    let is = |other: &'static Shape| std::ptr::eq(shape, other);
    if is(&format::MANIFEST) {
        items::manifest()
    } else if is(&format::ITEM) {
        items::item()
    } else if is(&format::DEPENDENCY) {
        items::dependency()
    } else if is(&format::UNRESOLVED) {
        items::unresolved()
    } else if is(&format::STEP) {
        steps::step(defs)
    } else if is(&format::CREATE_COLUMN) {
        configs::column_conditions(defs)
    } else if is(&format::CREATE_VIEW) {
        configs::view_conditions(defs)
    } else if is(&format::TRIGGER_CONFIG) {
        configs::trigger_conditions(defs)
    } else if is(&format::GRAPH_STEP) {
        configs::graph_step_conditions(defs)
    } else if is(&format::CREATE_WORKFLOW_V2) {
        // Whether an automation is active never travels.
        vec![json!({"properties": {"isActive": false, "is_active": false}})]
    } else {
        Vec::new()
    }
}

fn property(field: &'static Field, defs: &mut Defs<'_>) -> Value {
    let mut schema = match named_property(field, defs) {
        Some(schema) => schema,
        None => value(&field.ty, defs),
    };
    if field.rule.is_some_and(|code| WARNINGS.contains(&code)) {
        schema = suggested(&schema);
    }
    let mut described = Map::new();
    described.insert("description".to_owned(), json!(field.doc));
    if let Value::Object(schema) = schema {
        described.extend(schema);
    }
    Value::Object(described)
}

/// Fields whose values the registry or the tools know.
fn named_property(field: &Field, defs: &Defs<'_>) -> Option<Value> {
    let words = |words: Vec<&str>| json!({"type": "string", "enum": words});
    let definitions = defs.definitions;
    match (field.key, field.rule) {
        ("tool", Some("S001")) => Some(words(steps::tools())),
        ("type", Some("A001")) => Some(words(
            definitions.triggers.keys().map(String::as_str).collect(),
        )),
        ("key", Some("A005")) => Some(words(
            definitions.steps.keys().map(String::as_str).collect(),
        )),
        ("id", Some("A017")) => Some(json!({"type": "string", "pattern": pattern::STEP_ID})),
        _ => None,
    }
}

/// The type of a value whose words are only advice.
fn suggested(schema: &Value) -> Value {
    let mut advice = json!({});
    for key in ["const", "enum"] {
        match schema.get(key) {
            Some(Value::Array(words)) => advice["examples"] = json!(words),
            Some(word) => advice["examples"] = json!([word]),
            None => {}
        }
    }
    advice
}

/// The schema of a value of that type.
pub(super) fn value(ty: &Type, defs: &mut Defs<'_>) -> Value {
    match *ty {
        Type::Any => json!({}),
        Type::Text => json!({"type": "string"}),
        Type::TextOrNull => json!({"type": ["string", "null"]}),
        Type::Flag => json!({"type": "boolean"}),
        Type::True => json!({"const": true}),
        Type::Integer => json!({"type": "integer"}),
        Type::Count => json!({"type": "integer", "minimum": 0}),
        Type::OneOfIntegers(values) => json!({"type": "integer", "enum": values}),
        Type::OneOf(words) => json!({"type": "string", "enum": words}),
        Type::Uid => json!({"type": "string", "pattern": pattern::UID}),
        Type::Declaration => json!({"type": "string", "pattern": pattern::DECLARATION}),
        Type::Use(kind) => match pattern::prefix(kind) {
            Some(prefix) => json!({"type": "string", "pattern": pattern::used(prefix)}),
            None => json!({"type": "string"}),
        },
        Type::Workspace => json!({"const": "$workspace"}),
        Type::Instant => {
            json!({"type": "string", "format": "date-time", "pattern": pattern::INSTANT})
        }
        Type::Name => json!({"type": "string", "pattern": pattern::NAME}),
        Type::List(of) => json!({"type": "array", "items": value(of, defs)}),
        Type::Object(shape) => defs.reference(shape),
        // What a step takes is said by its tool, in a condition.
        Type::Map | Type::Args | Type::Data => json!({"type": "object"}),
        Type::MapOf(shape) => {
            json!({"type": "object", "additionalProperties": defs.reference(shape)})
        }
        Type::Config(owner) => config(owner, defs),
        Type::ListOfOneConfig(owner) => {
            json!({"type": "array", "items": config(owner, defs), "minItems": 1, "maxItems": 1})
        }
        Type::ListOfConfigs(owner) => json!({"type": "array", "items": config(owner, defs)}),
    }
}

fn config(owner: Configured, defs: &mut Defs<'_>) -> Value {
    configs::config(owner, defs)
}
