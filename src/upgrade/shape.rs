//! Automations taken apart and put together again: which steps stand where, and what each says.
//!
//! The shape of a graph is the graph itself in which a step that all sides have is no more than its
//! id, its key and what holds steps. What else such a step says are leaves of their own. Secrets are
//! in neither: the destination's stay.

use std::collections::HashSet;

use indexmap::IndexMap;

use crate::automation::{each_step, read_steps};
use crate::definitions::{Definitions, Field, FieldType};
use crate::json::{Object, Value};

/// Steps by their ids, each as it is written.
pub(super) fn steps<'g>(
    definitions: &Definitions,
    graph: &'g Value,
) -> IndexMap<&'g str, &'g Object> {
    let mut steps = IndexMap::new();
    read_steps(definitions, graph, &mut |step| {
        if let Some(id) = step.get("id").and_then(Value::as_str) {
            steps.insert(id, step);
        }
    });
    steps
}

/// Ids of the steps that all these have, under the same key.
pub(super) fn common(all: &[&IndexMap<&str, &Object>]) -> HashSet<String> {
    let [first, others @ ..] = all else {
        return HashSet::new();
    };
    let same = |id: &str, step: &Object| {
        let key = step.get("key");
        let mut others = others.iter();
        others.all(|steps| steps.get(id).is_some_and(|step| step.get("key") == key))
    };
    let steps = first.iter().filter(|(id, step)| same(id, step));
    steps.map(|(id, _)| (*id).to_owned()).collect()
}

/// The keys of a step that are leaves: its name, and those of its config that hold neither steps nor
/// secrets.
pub(super) fn keys(definitions: &Definitions, step: &Object) -> Vec<String> {
    let mut keys = Vec::new();
    if step.contains_key("name") && named_outside(definitions, step) {
        keys.push("name".to_owned());
    }
    let config = step.get("config").and_then(Value::as_object);
    let own = config.into_iter().flatten().map(|(key, _)| key);
    keys.extend(own.filter(|key| is_leaf(definitions, step, key)).cloned());
    keys
}

/// Whether `name` is the name of the step; where its config has such a key it is that, and the name of
/// the step belongs to the shape.
fn named_outside(definitions: &Definitions, step: &Object) -> bool {
    field(definitions, step, "name").is_none()
}

fn is_leaf(definitions: &Definitions, step: &Object, key: &str) -> bool {
    let field = field(definitions, step, key);
    field.is_none_or(|field| !holds_steps(field) && !holds_secret(field))
}

/// The declaration of a key of a step's config.
pub(super) fn field<'f>(
    definitions: &'f Definitions,
    step: &Object,
    key: &str,
) -> Option<&'f Field> {
    let declared = step.get("key").and_then(Value::as_str)?;
    definitions.steps.get(declared)?.config.get(key)
}

fn holds_steps(field: &Field) -> bool {
    let inside = |fields: &crate::definitions::Fields| fields.values().any(holds_steps);
    field.kind == FieldType::Steps
        || field.items.as_deref().is_some_and(holds_steps)
        || field.fields.as_ref().is_some_and(inside)
}

fn holds_secret(field: &Field) -> bool {
    let inside = |fields: &crate::definitions::Fields| fields.values().any(holds_secret);
    field.secret
        || field.items.as_deref().is_some_and(holds_secret)
        || field.fields.as_ref().is_some_and(inside)
}

/// What a step says under a key; null when it says nothing.
pub(super) fn step_value(definitions: &Definitions, graph: &Value, id: &str, key: &str) -> Value {
    let step = step(definitions, graph, id);
    step.map_or(Value::Null, |step| value_in(definitions, step, key))
}

/// A step by its id.
pub(super) fn step<'g>(
    definitions: &Definitions,
    graph: &'g Value,
    id: &str,
) -> Option<&'g Object> {
    let mut found = None;
    read_steps(definitions, graph, &mut |step| {
        if step.get("id").and_then(Value::as_str) == Some(id) {
            found = Some(step);
        }
    });
    found
}

fn value_in(definitions: &Definitions, step: &Object, key: &str) -> Value {
    let value = match key {
        "name" if named_outside(definitions, step) => step.get("name"),
        key => step.get("config").and_then(|config| config.get(key)),
    };
    value.cloned().unwrap_or_default()
}

/// Puts a value under a key of a step; null takes it away.
pub(super) fn set_step_value(
    definitions: &Definitions,
    graph: &mut Value,
    id: &str,
    key: &str,
    value: &Value,
) {
    each_step(definitions, graph, &mut |_, step| {
        if step.get("id").and_then(Value::as_str) == Some(id) {
            let outside = key == "name" && named_outside(definitions, step);
            set_in(step, key, outside, value.clone());
        }
    });
}

fn set_in(step: &mut Object, key: &str, outside: bool, value: Value) {
    let object = if outside {
        step
    } else {
        let config = step.entry("config".to_owned());
        match config.or_insert_with(|| Object::new().into()) {
            Value::Object(config) => config,
            _ => return,
        }
    };
    if value == Value::Null {
        object.shift_remove(key);
    } else {
        object.insert(key.to_owned(), value);
    }
}

/// The shape of a graph, given the steps that all sides have.
pub(super) fn shape(definitions: &Definitions, graph: &Value, common: &HashSet<String>) -> Value {
    let mut shape = graph.clone();
    if let Value::Object(members) = &mut shape
        && let Some(Value::List(steps)) = members.get_mut("steps")
    {
        for step in steps {
            outline(definitions, step, common);
        }
    }
    shape
}

/// A shape as it is compared: without keys that hold their declared default, or nothing.
pub(super) fn without_defaults(definitions: &Definitions, shape: &Value) -> Value {
    let mut plain = shape.clone();
    each_step(definitions, &mut plain, &mut |_, step| {
        let declared = step.clone();
        let Some(Value::Object(config)) = step.get_mut("config") else {
            return;
        };
        config.retain(|key, value| {
            let default =
                field(definitions, &declared, key).and_then(|field| field.default.as_ref());
            let default = default.and_then(|default| Value::parse(&default.to_string()).ok());
            *value != Value::Null && default.as_ref() != Some(&*value)
        });
        if config.is_empty() {
            step.shift_remove("config");
        }
    });
    plain
}

fn outline(definitions: &Definitions, step: &mut Value, common: &HashSet<String>) {
    let Value::Object(members) = step else { return };
    let id = members.get("id").and_then(Value::as_str);
    let shared = id.is_some_and(|id| common.contains(id));
    let declared = members.clone();
    if let Some(Value::Object(config)) = members.get_mut("config") {
        config.retain(|key, value| {
            let Some(field) = field(definitions, &declared, key) else {
                return !shared;
            };
            if holds_steps(field) {
                inside(definitions, field, value, common);
                return true;
            }
            !shared && !holds_secret(field)
        });
        if config.is_empty() {
            members.shift_remove("config");
        }
    }
    if shared && named_outside(definitions, &declared) {
        members.shift_remove("name");
    }
}

/// Outlines the steps inside a value.
fn inside(definitions: &Definitions, field: &Field, value: &mut Value, common: &HashSet<String>) {
    match value {
        Value::List(steps) if field.kind == FieldType::Steps => {
            for step in steps {
                outline(definitions, step, common);
            }
        }
        Value::List(elements) => {
            for element in elements {
                if let Some(field) = &field.items {
                    inside(definitions, field, element, common);
                }
            }
        }
        Value::Object(members) => {
            for (key, value) in members {
                let field = field.fields.as_ref().and_then(|fields| fields.get(key));
                if let Some(field) = field {
                    inside(definitions, field, value, common);
                }
            }
        }
        _ => {}
    }
}

/// The graph of a shape: steps that all sides have say what `known` says, those of others what the
/// shape says; secrets are those of `known`.
pub(super) fn rebuilt(
    definitions: &Definitions,
    shape: &Value,
    known: &IndexMap<&str, &Object>,
    common: &HashSet<String>,
) -> Value {
    let mut graph = shape.clone();
    each_step(definitions, &mut graph, &mut |_, step| {
        let Some(id) = step.get("id").and_then(Value::as_str) else {
            return;
        };
        let Some(stands) = known.get(id) else { return };
        let shared = common.contains(id);
        let declared = step.clone();
        if shared {
            for (key, value) in *stands {
                let of_shape = key == "name" && !named_outside(definitions, &declared);
                if key != "config" && !of_shape {
                    step.insert(key.clone(), value.clone());
                }
            }
        }
        let config = stands.get("config").and_then(Value::as_object);
        for (key, value) in config.into_iter().flatten() {
            let field = field(definitions, &declared, key);
            let branches = field.is_some_and(holds_steps);
            let secret = field.is_some_and(holds_secret);
            if (shared && !branches) || secret {
                set_in(step, key, false, value.clone());
            }
        }
    });
    graph
}
