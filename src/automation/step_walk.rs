//! Walks the steps of a graph, branches included: of one that changes, each with its path, or to read it.

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

/// Shows every step of a `graph_config` to `visit`, in the same order, without a copy.
pub(crate) fn read_steps<'g>(
    definitions: &Definitions,
    graph: &'g Value,
    visit: &mut dyn FnMut(&'g Object),
) {
    if let Some(steps) = graph.get("steps") {
        ReadWalk { definitions, visit }.list(steps);
    }
}

struct ReadWalk<'w, 'g> {
    definitions: &'w Definitions,
    visit: &'w mut dyn FnMut(&'g Object),
}

impl<'g> ReadWalk<'_, 'g> {
    fn list(&mut self, steps: &'g Value) {
        let Value::List(steps) = steps else { return };
        for step in steps.iter().filter_map(Value::as_object) {
            (self.visit)(step);
            let key = step.get("key").and_then(Value::as_str);
            let declared = key.and_then(|key| self.definitions.steps.get(key));
            if let (Some(declared), Some(config)) = (declared, step.get("config")) {
                self.fields(&declared.config, config);
            }
        }
    }

    fn fields(&mut self, declared: &Fields, config: &'g Value) {
        for (name, field) in declared {
            if let Some(value) = config.get(name) {
                self.inside(field, value);
            }
        }
    }

    fn inside(&mut self, field: &Field, value: &'g Value) {
        if field.kind == FieldType::Steps {
            return self.list(value);
        }
        if let (Some(element), Value::List(elements)) = (&field.items, value) {
            for value in elements {
                self.inside(element, value);
            }
        }
        if let Some(declared) = &field.fields {
            self.fields(declared, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{each_step, read_steps};
    use crate::definitions::Definitions;
    use crate::json::{Object, Value};

    #[test]
    fn a_graph_is_read_in_the_order_in_which_it_is_changed() {
        let graph = r#"{"steps":[{"id":"a","key":"ifElse","config":{"then":[{"id":"b","key":"ifElse",
            "config":{"then":[],"else":[{"id":"c"}]}}],"else":[{"id":"d"}]}},{"id":"e","key":"none"},7]}"#;
        let mut graph = Value::parse(graph).expect("JSON");
        let id = |step: &Object| step["id"].as_str().unwrap_or_default().to_owned();
        let (mut read, mut changed) = (Vec::new(), Vec::new());
        let definitions = Definitions::embedded();
        read_steps(definitions, &graph, &mut |step| read.push(id(step)));
        each_step(definitions, &mut graph, &mut |_, step| {
            changed.push(id(step));
        });
        assert_eq!(read, ["a", "b", "c", "d", "e"]);
        assert_eq!(read, changed);
    }
}
