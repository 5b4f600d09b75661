//! Where in a record a value stands, and the path that it has everywhere (`upgrade` 3.5.2).

use std::fmt;

use super::shape;
use crate::definitions::Definitions;
use crate::json::path::push_dotted;
use crate::json::{Object, Value};
use crate::workspace::{AnyRecord, RecordKind};

/// A place in a record.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Key {
    /// The label.
    Label,
    /// The icon of a module.
    Icon,
    /// The type of a column or view.
    Type,
    /// The component of a column.
    Component,
    /// The name of an automation.
    Name,
    /// A key of a config that is one object.
    Config(String),
    /// A key of one of several objects of a navigation entry.
    Nth(usize, String),
    /// The whole config.
    Whole,
    /// What fires an automation.
    Trigger,
    /// Which steps an automation has, in which branches and order.
    Shape,
    /// A key of a step: its name, or one of its config.
    Step(String, String),
}

impl fmt::Display for Key {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut path = String::new();
        let mut push = |segment: &str| push_dotted(&mut path, segment);
        match self {
            Key::Label => push("label"),
            Key::Icon => push("icon"),
            Key::Type => push("type"),
            Key::Component => push("component"),
            Key::Name => push("name"),
            Key::Config(key) => {
                push("config");
                push(key);
            }
            Key::Nth(at, key) => {
                push("config");
                push(&at.to_string());
                push(key);
            }
            Key::Whole => push("config"),
            Key::Trigger => push("trigger"),
            Key::Shape => push("shape"),
            Key::Step(step, key) => {
                push("steps");
                push(step);
                push(key);
            }
        }
        out.write_str(&path)
    }
}

impl Key {
    /// What the value is called inside one that several keys make together.
    pub fn short(&self) -> String {
        match self {
            Key::Config(key) | Key::Nth(_, key) | Key::Step(_, key) => key.clone(),
            other => other.to_string(),
        }
    }

    /// The value there; null when there is none.
    pub fn get(&self, record: &AnyRecord, definitions: &Definitions) -> Value {
        let text = |text: &Option<String>| text.as_deref().map_or(Value::Null, Value::from);
        match self {
            Key::Label => text(&record.label),
            Key::Icon => text(&record.icon),
            Key::Type => text(&record.own_type),
            Key::Component => text(&record.component),
            Key::Name => record.name.as_str().into(),
            Key::Config(key) => {
                let value = record.object().and_then(|object| object.get(key));
                value.cloned().unwrap_or_default()
            }
            Key::Nth(at, key) => {
                let object = record.objects().get(*at);
                let value = object.and_then(|object| object.get(key));
                value.cloned().unwrap_or_default()
            }
            Key::Whole => record.config.clone(),
            Key::Trigger => record.part("triggerConfig"),
            // What it is made of depends on the other sides.
            Key::Shape => Value::Null,
            Key::Step(step, key) => {
                let graph = record.config.get("graphConfig");
                graph.map_or(Value::Null, |graph| {
                    shape::step_value(definitions, graph, step, key)
                })
            }
        }
    }

    /// Puts a value there; null takes it away.
    pub fn set(&self, record: &mut AnyRecord, value: Value, definitions: &Definitions) {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        match self {
            Key::Label => record.label = text(&value),
            Key::Icon => record.icon = text(&value),
            Key::Type => record.own_type = text(&value),
            Key::Component => record.component = text(&value),
            Key::Name => record.name = text(&value).unwrap_or_default(),
            Key::Config(key) => {
                if let Some(object) = first(record) {
                    put(object, key, value);
                }
            }
            Key::Nth(at, key) => {
                if let Value::List(list) = &mut record.config
                    && let Some(Value::Object(object)) = list.get_mut(*at)
                {
                    put(object, key, value);
                }
            }
            Key::Whole => record.config = value,
            Key::Trigger => set_part(record, "triggerConfig", value),
            Key::Shape => {}
            Key::Step(step, key) => {
                let mut graph = record.part("graphConfig");
                shape::set_step_value(definitions, &mut graph, step, key, &value);
                set_part(record, "graphConfig", graph);
            }
        }
    }
}

/// Replaces one of the two configs of an automation.
pub fn set_part(record: &mut AnyRecord, key: &str, value: Value) {
    if let Value::Object(both) = &mut record.config {
        both.insert(key.to_owned(), value);
    }
}

fn put(object: &mut Object, key: &str, value: Value) {
    if value == Value::Null {
        object.shift_remove(key);
    } else {
        object.insert(key.to_owned(), value);
    }
}

/// The one object of a config; an empty list of a navigation entry gets one.
fn first(record: &mut AnyRecord) -> Option<&mut Object> {
    if record.kind == RecordKind::Workflow {
        return None;
    }
    match &mut record.config {
        Value::Object(object) => Some(object),
        Value::List(list) => {
            if list.is_empty() {
                list.push(Object::new().into());
            }
            match list.as_mut_slice() {
                [Value::Object(object)] => Some(object),
                _ => None,
            }
        }
        _ => None,
    }
}
