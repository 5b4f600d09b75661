//! Ids for the steps that have none (`rest` 7.3: every saved step has one).
//!
//! In: a graph without errors. Out: the same graph, each step with an id. Existing ids stay.

use std::collections::HashSet;

use super::step_walk::each_step;
use crate::definitions::Definitions;
use crate::json::Value;

/// So many ids there are.
const ID_COUNT: u128 = 36_u128.pow(12);

/// Gives every step of a `graph_config` an id that has none, branches included. `mint` makes them:
/// `stp_` and 12 letters or digits, never the same one twice.
pub fn assign_step_ids(
    definitions: &Definitions,
    graph: &mut Value,
    mint: &mut dyn FnMut() -> String,
) {
    each_step(definitions, graph, &mut |_, step| {
        if !step.contains_key("id") {
            step.insert("id".to_owned(), mint().into());
        }
    });
}

/// Like [`assign_step_ids`], with ids derived from `seed`: the same seed gives the same ids, so it must not be
/// guessable.
pub fn complete_step_ids(definitions: &Definitions, graph: &mut Value, seed: u128) {
    let mut taken = HashSet::new();
    each_step(definitions, graph, &mut |_, step| {
        let id = step.get("id").and_then(Value::as_str);
        taken.extend(id.map(str::to_owned));
    });
    let mut number = seed % ID_COUNT;
    let mut mint = || loop {
        number = (number + 1) % ID_COUNT;
        let id = step_id(number);
        if !taken.contains(&id) {
            return id;
        }
    };
    assign_step_ids(definitions, graph, &mut mint);
}

/// The id of a step that is made of a number: `stp_` and 12 digits or lower-case letters.
pub fn step_id(mut number: u128) -> String {
    const LETTERS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let mut id = String::from("stp_");
    for _ in 0..12 {
        let letter = usize::try_from(number % 36).unwrap_or(0);
        id.push(char::from(LETTERS[letter]));
        number /= 36;
    }
    id
}

#[cfg(test)]
mod tests {
    use super::{assign_step_ids, complete_step_ids};
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

    #[test]
    fn ids_of_one_seed_are_the_same_and_none_twice() {
        let text = r#"{"steps":[{"key":"delay","id":"stp_100000000000"},{"key":"delay"},{"key":"delay"}]}"#;
        let completed = |seed| {
            let mut graph = Value::parse(text).expect("JSON");
            complete_step_ids(Definitions::embedded(), &mut graph, seed);
            graph.write()
        };
        let written = completed(0);
        assert_eq!(written, completed(0));
        assert_ne!(written, completed(1 << 70));
        let doc = Doc::parse(&written).expect("JSON");
        let ids = step_ids(
            Definitions::embedded(),
            doc.root().get("steps").expect("a list"),
        );
        let ids: Vec<_> = ids.iter().filter_map(|id| id.as_str()).collect();
        assert_eq!(
            ids,
            ["stp_100000000000", "stp_200000000000", "stp_300000000000"]
        );
    }
}
