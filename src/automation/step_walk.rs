//! Walks the steps of a mutable graph, branches included, each with its path.

use crate::definitions::{Definitions, Field, FieldType, Fields};
use crate::json::{Object, Value};

/// Shows every step of a `graph_config` to `visit`, with its place: `steps[0].config.then[1]`.
pub(crate) fn each_step(
    definitions: &Definitions,
    graph: &mut Value,
    visit: &mut dyn FnMut(&str, &mut Object),
) {
    if let Value::Object(members) = graph
        && let Some(steps) = members.get_mut("steps")
    {
        Walk { definitions, visit }.list("steps", steps);
    }
}

struct Walk<'w> {
    definitions: &'w Definitions,
    visit: &'w mut dyn FnMut(&str, &mut Object),
}

impl Walk<'_> {
    fn list(&mut self, place: &str, steps: &mut Value) {
        let Value::List(steps) = steps else { return };
        for (at, step) in steps.iter_mut().enumerate() {
            let Value::Object(step) = step else { continue };
            let place = format!("{place}[{at}]");
            (self.visit)(&place, step);
            let key = step.get("key").and_then(Value::as_str);
            let declared = key.and_then(|key| self.definitions.steps.get(key));
            if let (Some(declared), Some(config)) = (declared, step.get_mut("config")) {
                self.fields(&format!("{place}.config"), &declared.config, config);
            }
        }
    }

    fn fields(&mut self, place: &str, declared: &Fields, config: &mut Value) {
        let Value::Object(config) = config else {
            return;
        };
        for (name, field) in declared {
            if let Some(value) = config.get_mut(name) {
                self.inside(&format!("{place}.{name}"), field, value);
            }
        }
    }

    fn inside(&mut self, place: &str, field: &Field, value: &mut Value) {
        if field.kind == FieldType::Steps {
            return self.list(place, value);
        }
        if let (Some(element), Value::List(elements)) = (&field.items, &mut *value) {
            for (at, value) in elements.iter_mut().enumerate() {
                self.inside(&format!("{place}[{at}]"), element, value);
            }
        }
        if let Some(declared) = &field.fields {
            self.fields(place, declared, value);
        }
    }
}
