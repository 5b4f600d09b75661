//! Visits the secrets of a graph: texts in fields that the definitions declare secret, and those that are called like
//! them where nothing is declared.
//!
//! In: a mutable graph, and the caller's action for each secret.

use std::collections::HashMap;

use super::step_walk::each_step;
use super::undeclared_secrets::{UndeclaredSecrets, Visit};
use crate::definitions::{Definitions, Field, Fields};
use crate::json::{Object, Value};

/// Where a secret is.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SecretPlace {
    /// The id of its step; empty when that has none.
    pub step: String,
    /// The key of its step.
    pub key: String,
    /// The field, from the config of its step on; beside the config with a dot before it.
    pub field: String,
    /// The connection that its step names; empty when it names none.
    pub connection: String,
    /// The place from the graph on: `steps[0].config.apiKey`.
    pub place: String,
}

/// Shows every secret of a `graph_config` that is not empty: first those in fields for secrets, then those below keys
/// that the definitions do not know.
pub fn each_secret(
    definitions: &Definitions,
    graph: &mut Value,
    visit: &mut dyn FnMut(&SecretPlace, &mut String),
) {
    let mut filled = |place: &SecretPlace, secret: &mut String| {
        if !secret.is_empty() {
            visit(place, secret);
        }
    };
    each_field(definitions, graph, &mut filled);
    each_undeclared(definitions, graph, &mut filled);
}

/// Gives the secrets of a `graph_config` what the same steps keep for the same target in another one, the first
/// of those that have it. What is kept for another target alone is emptied; of new steps nothing changes.
pub(crate) fn keep_secrets(definitions: &Definitions, graph: &mut Value, kept: &[&Value]) {
    type Kept = HashMap<(String, String), (SecretPlace, String)>;
    let known: Vec<Kept> = kept
        .iter()
        .map(|kept| {
            let mut known = Kept::new();
            each_field(definitions, &mut (*kept).clone(), &mut |at, secret| {
                let of = (at.step.clone(), at.field.clone());
                known.insert(of, (at.clone(), secret.clone()));
            });
            known
        })
        .collect();
    each_field(definitions, graph, &mut |at, secret| {
        let of = (at.step.clone(), at.field.clone());
        let mut found = known.iter().filter_map(|known| known.get(&of)).peekable();
        if at.step.is_empty() || found.peek().is_none() {
            return;
        }
        let same = |one: &&(SecretPlace, String)| {
            (&one.0.key, &one.0.connection) == (&at.key, &at.connection)
        };
        let kept = found.find(same).map(|(_, kept)| kept.clone());
        *secret = kept.unwrap_or_default();
    });
}

/// How many secrets of a `graph_config` are there and empty, so that somebody still has to enter them.
pub fn empty_secrets(definitions: &Definitions, graph: &Value) -> u64 {
    let mut empty = 0;
    each_field(definitions, &mut graph.clone(), &mut |_, secret| {
        empty += u64::from(secret.is_empty());
    });
    empty
}

/// Shows every text in a field for secrets.
fn each_field(
    definitions: &Definitions,
    graph: &mut Value,
    visit: &mut dyn FnMut(&SecretPlace, &mut String),
) {
    each_step(definitions, graph, &mut |place, step| {
        let of = of_step(definitions, step);
        let declared = definitions.steps.get(&of.key);
        let (Some(declared), Some(config)) = (declared, step.get_mut("config")) else {
            return;
        };
        fields("", &declared.config, config, &mut |field, secret| {
            let at = SecretPlace {
                field: field.to_owned(),
                place: format!("{place}.config.{field}"),
                ..of.clone()
            };
            visit(&at, secret);
        });
    });
}

/// Shows every text that is called like a secret below a key that the definitions do not know.
fn each_undeclared(
    definitions: &Definitions,
    graph: &mut Value,
    visit: &mut dyn FnMut(&SecretPlace, &mut String),
) {
    let undeclared = UndeclaredSecrets::new(definitions);
    each_step(definitions, graph, &mut |place, step| {
        let of = of_step(definitions, step);
        undeclared.each(step, &mut |path, secret| {
            let field = path.strip_prefix("config.").map(str::to_owned);
            let at = SecretPlace {
                field: field.unwrap_or_else(|| format!(".{path}")),
                place: format!("{place}.{path}"),
                ..of.clone()
            };
            visit(&at, secret);
        });
    });
}

/// A place in a step, without field and path.
fn of_step(definitions: &Definitions, step: &Object) -> SecretPlace {
    let text = |key: &str| {
        let text = step.get(key).and_then(Value::as_str);
        text.unwrap_or_default().to_owned()
    };
    let (id, key) = (text("id"), text("key"));
    let declared = definitions.steps.get(&key).zip(step.get("config"));
    let connection = declared.map(|(declared, config)| connection(&declared.config, config));
    SecretPlace {
        step: id,
        key,
        field: String::new(),
        connection: connection.unwrap_or_default(),
        place: String::new(),
    }
}

/// The connection that a step speaks to.
fn connection(declared: &Fields, config: &Value) -> String {
    let mut fields = declared.iter();
    let named = fields.find(|(_, field)| field.connection_kind.is_some());
    let named = named.and_then(|(name, _)| config.get(name)?.as_str());
    named.unwrap_or_default().to_owned()
}

fn fields(place: &str, declared: &Fields, config: &mut Value, visit: Visit<'_>) {
    let Value::Object(config) = config else {
        return;
    };
    for (name, field) in declared {
        if let Some(value) = config.get_mut(name) {
            let dot = if place.is_empty() { "" } else { "." };
            inside(&format!("{place}{dot}{name}"), field, value, visit);
        }
    }
}

fn inside(place: &str, field: &Field, value: &mut Value, visit: Visit<'_>) {
    if let (true, Value::String(text)) = (field.secret, &mut *value) {
        visit(place, text);
        return;
    }
    if let (Some(element), Value::List(elements)) = (&field.items, &mut *value) {
        for (at, value) in elements.iter_mut().enumerate() {
            inside(&format!("{place}[{at}]"), element, value, visit);
        }
    }
    if let Some(declared) = &field.fields {
        fields(place, declared, value, visit);
    }
}

#[cfg(test)]
mod tests {
    use super::{each_secret, empty_secrets, keep_secrets};
    use crate::definitions::Definitions;
    use crate::json::Value;

    #[test]
    fn every_secret_is_shown_in_its_place_and_nothing_else() {
        let text = r#"{"steps":[{"key":"http.request","id":"stp_aaaaaaaaaaaa","config":{"connectionName":"c","bearerToken":"one"}},
            {"key":"ifElse","config":{"then":[{"key":"agent.route","config":{"prompt":"p","apiKey":"two",
            "routes":[{"name":"r","steps":[{"key":"http.request","config":{"bearerToken":"three"}}]}]}}]}},
            {"key":"http.request","config":{"bearerToken":""}},{"key":"nope","config":{"apiKey":"four"}}]}"#;
        let mut graph = Value::parse(text).expect("JSON");
        assert_eq!(empty_secrets(Definitions::embedded(), &graph), 1);
        let mut seen = Vec::new();
        each_secret(Definitions::embedded(), &mut graph, &mut |at, secret| {
            seen.push(format!(
                "{} {}@{} {secret}",
                at.step, at.place, at.connection
            ));
            "x".clone_into(secret);
        });
        assert_eq!(
            seen,
            [
                "stp_aaaaaaaaaaaa steps[0].config.bearerToken@c one",
                " steps[1].config.then[0].config.apiKey@ two",
                " steps[1].config.then[0].config.routes[0].steps[0].config.bearerToken@ three",
                " steps[3].config.apiKey@ four",
            ]
        );
        let written = graph.write();
        assert!(
            !written.contains("four") && !written.contains("three"),
            "{written}"
        );
    }

    #[test]
    fn what_stands_below_an_unknown_key_is_a_secret_by_its_name() {
        let text = r#"{"steps":[{"key":"switch","id":"stp_aaaaaaaaaaaa","API-Key":"one","config":{"subject":"x",
            "routes":[{"value":"a","apiKey":["two",{"now":"three"}],"steps":[]}],
            "else":[{"key":"http.request","config":{"connectionName":"c","bearerToken":"four","path":"five"}}]}},
            {"key":"var.set","config":{"name":"v","value":{"apiKey":"six"},"api_key":"{{vars.key}}","other":"seven"}}]}"#;
        let mut graph = Value::parse(text).expect("JSON");
        let definitions = Definitions::embedded();
        let mut seen = Vec::new();
        each_secret(definitions, &mut graph, &mut |at, secret| {
            seen.push(format!("{} {} {}", at.place, at.field, secret));
            "x".clone_into(secret);
        });
        assert_eq!(
            seen,
            [
                "steps[0].API-Key .API-Key one",
                "steps[0].config.routes[0].apiKey[0] routes[0].apiKey[0] two",
                "steps[0].config.routes[0].apiKey[1].now routes[0].apiKey[1].now three",
                "steps[0].config.else[0].config.bearerToken else[0].config.bearerToken four",
            ]
        );
        // Nobody has to enter what no field is for.
        let emptied = Value::parse(&graph.write().replace("\"x\"", "\"\"")).expect("JSON");
        assert_eq!(empty_secrets(definitions, &emptied), 0);
    }

    #[test]
    fn a_secret_stays_with_its_step_and_its_target() {
        let graph = |key: &str, connection: &str, secret: &str| {
            let text = format!(
                r#"{{"steps":[{{"key":"{key}","id":"stp_aaaaaaaaaaaa","config":{{"connectionName":"{connection}","bearerToken":"{secret}","apiKey":"{secret}"}}}}]}}"#
            );
            Value::parse(&text).expect("JSON")
        };
        let kept = |mut new: Value, of: &[&Value]| {
            keep_secrets(Definitions::embedded(), &mut new, of);
            new
        };
        let request = |connection, secret| {
            let text = graph("http.request", connection, secret).write();
            Value::parse(&text.replace(&format!(r#","apiKey":"{secret}""#), "")).expect("JSON")
        };
        let (ours, before) = (request("c", "ours"), request("d", "before"));
        for (new, expected) in [
            (request("c", ""), request("c", "ours")),
            (request("d", ""), request("d", "before")),
            (request("e", "ours"), request("e", "")),
        ] {
            assert_eq!(kept(new, &[&ours, &before]), expected);
        }
        // A new step says what it says; another kind of step is another target.
        let fresh = request("c", "new").write().replace("aaaa", "bbbb");
        let fresh = Value::parse(&fresh).expect("JSON");
        assert_eq!(kept(fresh.clone(), &[&ours]), fresh);
    }
}
