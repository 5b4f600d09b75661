//! The bodies that create and change records of the six kinds, from the table of kinds that reads them and the
//! registry of definitions that validates their configs.

use serde_json::{Map, Value, json};
use tplkit::definitions::{ConfigKeys, Definitions};
use tplkit::package::size::MOST_LABEL;

use super::build::{closed, to};
use super::configs;
use crate::json_body::MOST_INTEGER;
use crate::model::document::own_field;
use crate::model::kind::{
    COLUMN, FEATURE, KindDescription, MODULE, OwnFieldForm, RAIL, RecordKind, VIEW, WORKSPACE,
};

/// All of them, by name.
pub(super) fn bodies(definitions: &Definitions) -> Map<String, Value> {
    let mut all = Map::new();
    for (name, kind) in [
        ("Workspace", &WORKSPACE),
        ("Module", &MODULE),
        ("Rail", &RAIL),
        ("Feature", &FEATURE),
        ("View", &VIEW),
        ("Column", &COLUMN),
    ] {
        let keys = &definitions.config_keys;
        let config = config(kind.what, keys);
        all.insert(format!("{name}Patch"), change(kind, config.clone()));
        let create = format!("{name}Create");
        let variants = match kind.what {
            RecordKind::Column => configs::columns(definitions),
            RecordKind::View => configs::views(definitions),
            _ => {
                all.insert(create, creation(kind, config));
                continue;
            }
        };
        let mut choices = Vec::new();
        for variant in variants {
            let name = format!("{create}.{}", variant.name);
            let mut body = creation(kind, variant.config);
            for (key, schema) in variant.own {
                body["properties"][key] = schema;
            }
            if variant.config_required
                && let Some(Value::Array(required)) = body.get_mut("required")
            {
                required.push("config".into());
            }
            body["description"] = format!("`{create}` of type `{}`.", variant.name).into();
            choices.push(to(&name));
            all.insert(name, body);
        }
        all.insert(create, json!({"oneOf": choices}));
    }
    all
}

/// What the config of a kind may be, whatever the type of its record.
fn config(kind: RecordKind, keys: &ConfigKeys) -> Value {
    match kind {
        RecordKind::Workspace => configs::object(&keys.workspace),
        RecordKind::Module => configs::object(&keys.module),
        RecordKind::Feature => configs::object(&keys.feature),
        RecordKind::Rail => {
            let rail = configs::object(&keys.rail);
            json!({"anyOf": [rail, {"type": "array", "items": rail}]})
        }
        RecordKind::View => {
            let list = json!({"type": "array", "maxItems": 1, "items": to("Config")});
            json!({"anyOf": [to("Config"), list]})
        }
        RecordKind::Column => to("Config"),
    }
}

/// The body that creates a record: a parent unless the path names it, a label, and what may be left out.
fn creation(kind: &KindDescription, config: Value) -> Value {
    let mut properties = Map::new();
    let mut required = vec!["label"];
    if kind.what != RecordKind::Column {
        let parent = json!({"type": "string", "format": "uuid"});
        properties.insert(kind.parent_column().to_owned(), parent);
        required.push(kind.parent_column());
    }
    properties.insert("name".to_owned(), to("Name"));
    let more = kind.own.iter().filter(|own| own.required);
    required.extend(more.filter_map(|own| own.key));
    properties.extend(common(kind, config));
    closed(&properties, &required)
}

/// The body that changes one. The name of a column is the key in the data of every row, so it stays.
fn change(kind: &KindDescription, config: Value) -> Value {
    let mut properties = Map::new();
    if kind.what != RecordKind::Column {
        properties.insert("name".to_owned(), to("Name"));
    }
    properties.extend(common(kind, config));
    closed(&properties, &[])
}

/// What both may say.
fn common(kind: &KindDescription, config: Value) -> Map<String, Value> {
    let label = json!({"type": "string", "minLength": 1, "maxLength": MOST_LABEL});
    let mut properties = Map::from_iter([("label".to_owned(), label)]);
    for own in kind.own {
        if let Some(key) = own.key {
            let mut field = own_field(own.form);
            if matches!(own.form, OwnFieldForm::Integer) {
                field["minimum"] = json!(-MOST_INTEGER);
                field["maximum"] = json!(MOST_INTEGER);
            }
            properties.insert(key.to_owned(), field);
        }
    }
    properties.insert("config".to_owned(), config);
    properties
}
