//! Texts of the document: descriptions and examples, as data files next to the code.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Map, Value};

/// The words of the document.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Texts {
    /// What each tag groups.
    pub(super) tags: BTreeMap<String, String>,
    /// What each component is.
    pub(super) schemas: BTreeMap<String, String>,
    /// What a property holds, by `Component.property`, else by `property`.
    pub(super) properties: BTreeMap<String, String>,
    /// What a parameter of a path names.
    pub(super) parameters: BTreeMap<String, String>,
}

/// The words, read once.
pub(super) static TEXTS: LazyLock<Texts> = LazyLock::new(|| {
    serde_json::from_str(include_str!("texts.json")).expect("texts.json has this shape")
});

/// Examples of bodies and responses, by the names of their schemas.
pub(super) static EXAMPLES: LazyLock<Map<String, Value>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("examples.json")).expect("examples.json is an object")
});

impl Texts {
    /// Describes a component and everything in it that does not describe itself.
    pub(super) fn describe(&self, component: &str, schema: &mut Value) {
        if schema.get("description").is_none()
            && let Some(text) = self.schemas.get(component)
        {
            schema["description"] = text.as_str().into();
        }
        // `ColumnCreate.text` is a variant of `ColumnCreate`.
        let family = component.split('.').next().unwrap_or(component);
        self.describe_properties(family, schema);
    }

    fn describe_properties(&self, component: &str, schema: &mut Value) {
        match schema {
            Value::Object(members) => {
                if let Some(Value::Object(properties)) = members.get_mut("properties") {
                    for (name, property) in properties {
                        self.describe_property(component, name, property);
                    }
                }
                for (_, member) in members {
                    self.describe_properties(component, member);
                }
            }
            Value::Array(items) => {
                for item in items {
                    self.describe_properties(component, item);
                }
            }
            _ => {}
        }
    }

    fn describe_property(&self, component: &str, name: &str, property: &mut Value) {
        // A reference is described where it leads.
        let described = ["description", "$ref"]
            .iter()
            .any(|key| property.get(key).is_some());
        let own = self.properties.get(&format!("{component}.{name}"));
        if !described
            && property.is_object()
            && let Some(text) = own.or_else(|| self.properties.get(name))
        {
            property["description"] = text.as_str().into();
        }
    }
}

/// Says of every object that takes unknown members that it does: generators of clients read silence as
/// "no members".
pub(super) fn open_objects(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            let is_object = match members.get("type") {
                Some(Value::String(name)) => name == "object",
                Some(Value::Array(names)) => names.iter().any(|name| name == "object"),
                _ => false,
            };
            if is_object && !members.contains_key("additionalProperties") {
                members.insert("additionalProperties".to_owned(), true.into());
            }
            for (key, member) in members {
                // Values, not schemas.
                if !matches!(key.as_str(), "default" | "const" | "enum" | "examples") {
                    open_objects(member);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(open_objects),
        _ => {}
    }
}

/// Says in words what a member is that is left out: generators of clients take one with a default for one that is
/// always there, in what is sent, too.
pub(super) fn say_defaults(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::Object(properties)) = members.get_mut("properties") {
                for property in properties.values_mut().filter_map(Value::as_object_mut) {
                    say_default(property);
                }
            }
            members.values_mut().for_each(say_defaults);
        }
        Value::Array(items) => items.iter_mut().for_each(say_defaults),
        _ => {}
    }
}

fn say_default(property: &mut Map<String, Value>) {
    let Some(default) = property.remove("default") else {
        return;
    };
    let description = match property.get("description").and_then(Value::as_str) {
        Some(text) => format!("{text} Default: `{default}`."),
        None => format!("Default: `{default}`."),
    };
    property.insert("description".to_owned(), description.into());
}

/// The example of a schema, if there is one: of a page, one with a single record.
pub(super) fn example(schema: &str) -> Option<Value> {
    if let Some(record) = schema.strip_suffix("Page") {
        let record = EXAMPLES.get(record)?;
        return Some(serde_json::json!({"items": [record], "next_cursor": null}));
    }
    EXAMPLES.get(schema).cloned()
}
