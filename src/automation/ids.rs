//! Ids for the steps that have none (`rest` 7.3: every saved step has one).
//!
//! A graph that was found free of errors goes in; the same graph comes out, each step with an id.
//! Ids that are there stay, whatever they are.

use crate::definitions::{Definitions, Field, FieldType, Fields};
use crate::json::Value;

/// Gives every step of a `graph_config` an id that has none, branches included. `mint` makes them:
/// `stp_` and 12 letters or digits, never the same one twice.
pub fn assign_step_ids(
    definitions: &Definitions,
    graph: &mut Value,
    mint: &mut dyn FnMut() -> String,
) {
    if let Value::Object(members) = graph
        && let Some(steps) = members.get_mut("steps")
    {
        list(definitions, steps, mint);
    }
}

fn list(definitions: &Definitions, steps: &mut Value, mint: &mut dyn FnMut() -> String) {
    let Value::List(steps) = steps else { return };
    for step in steps {
        let Value::Object(step) = step else { continue };
        if !step.contains_key("id") {
            step.insert("id".to_owned(), mint().into());
        }
        let key = step.get("key").and_then(Value::as_str);
        let declared = key.and_then(|key| definitions.steps.get(key));
        if let (Some(declared), Some(config)) = (declared, step.get_mut("config")) {
            fields(definitions, &declared.config, config, mint);
        }
    }
}

fn fields(
    definitions: &Definitions,
    declared: &Fields,
    config: &mut Value,
    mint: &mut dyn FnMut() -> String,
) {
    let Value::Object(config) = config else {
        return;
    };
    for (name, field) in declared {
        if let Some(value) = config.get_mut(name) {
            inside(definitions, field, value, mint);
        }
    }
}

fn inside(
    definitions: &Definitions,
    field: &Field,
    value: &mut Value,
    mint: &mut dyn FnMut() -> String,
) {
    if field.kind == FieldType::Steps {
        return list(definitions, value, mint);
    }
    if let (Some(element), Value::List(elements)) = (&field.items, &mut *value) {
        for value in elements {
            inside(definitions, element, value, mint);
        }
    }
    if let Some(declared) = &field.fields {
        fields(definitions, declared, value, mint);
    }
}

#[cfg(test)]
mod tests {
    use super::assign_step_ids;
    use crate::automation::step_ids;
    use crate::definitions::Definitions;
    use crate::json::{Doc, Value};

    #[test]
    fn branches_too_and_what_is_there_stays() {
        let text = r#"{"steps":[{"key":"ifElse","id":"stp_aaaaaaaaaaaa","config":{"then":[{"key":"delay"}],
            "else":[{"key":"switch","config":{"routes":[{"value":1,"steps":[{"key":"delay"}]}],"default":[{"key":"delay"}]}}]}},
            {"key":"delay"}]}"#;
        let mut graph = Value::parse(text).expect("JSON");
        let mut number = 0;
        let mut mint = || {
            number += 1;
            format!("stp_{number:012}")
        };
        assign_step_ids(Definitions::embedded(), &mut graph, &mut mint);
        let written = graph.write();
        let doc = Doc::parse(&written).expect("JSON");
        let ids = step_ids(
            Definitions::embedded(),
            doc.root().get("steps").expect("a list"),
        );
        assert_eq!(ids.len(), 6, "{written}");
        assert_eq!(ids[0].as_str(), Some("stp_aaaaaaaaaaaa"));
        assert_eq!(number, 5);
        assign_step_ids(Definitions::embedded(), &mut graph, &mut || {
            unreachable!("all have one")
        });
        assert_eq!(graph.write(), written);
    }
}
