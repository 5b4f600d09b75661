//! Completion: what belongs at a place, and JSON once it is accepted.

use serde_json::Value;

use crate::client::Client;
use crate::packages::{edited, indented, place};

const URI: &str = "untitled:a.json";

/// The proposals at the place of `|` in a text, which is taken out.
fn complete(text: &str) -> (String, Vec<Value>) {
    let here = place(text, "|", 0, 0);
    let text = text.replacen('|', "", 1);
    let mut client = Client::start();
    client.open(URI, &text);
    let response = client.at("textDocument/completion", URI, here);
    let items = response["items"].as_array().cloned().unwrap_or_default();
    (text, items)
}

fn labels(items: &[Value]) -> Vec<&str> {
    items
        .iter()
        .map(|item| item["label"].as_str().expect("a label"))
        .collect()
}

fn accepted(text: &str, item: &Value) -> String {
    edited(text, std::slice::from_ref(&item["textEdit"]))
}

/// Accepts each proposal: every one leaves JSON.
#[track_caller]
fn all_leave_json(text: &str, items: &[Value]) {
    assert!(!items.is_empty());
    for item in items {
        let new = accepted(text, item);
        let parsed: Result<Value, _> = serde_json::from_str(&new);
        assert!(parsed.is_ok(), "{item}: {:?}", parsed.err());
    }
}

#[test]
fn refs_are_those_of_the_kind_that_belongs_there() {
    let text = indented("base-tiny");
    let views = text.replacen(
        "\"defaultViewId\": \"$v_notes\"",
        "\"defaultViewId\": \"$v|\"",
        1,
    );
    let (text_of, items) = complete(&views);
    assert_eq!(labels(&items), ["$v_notes"]);
    all_leave_json(&text_of, &items);
    assert_eq!(accepted(&text_of, &items[0]), text);
    assert_eq!(items[0]["filterText"], "\"$v_notes\"");
    // Tables for the args of a column; the workspace where it is allowed, alone.
    let (_, items) = complete(&text.replacen("\"$f_notes\"", "\"|\"", 1));
    assert_eq!(labels(&items), ["$f_notes"]);
    let (_, items) = complete(&text.replacen("\"$workspace\"", "\"$|\"", 1));
    assert_eq!(labels(&items), ["$workspace"]);
    let (_, items) =
        complete(&text.replacen("\"defaultRailId\": \"$r_home\"", "\"defaultRailId\": |", 1));
    assert_eq!(labels(&items), ["$r_home"]);
}

/// A quote that nobody has closed yet, with the rest of the line or nothing behind it.
#[test]
fn a_string_that_is_not_closed_is_completed_too() {
    let text = indented("base-tiny");
    for open in ["\"|", "\"$|", "\"$r|"] {
        let open = format!("\"defaultRailId\": {open}");
        let (text_of, items) = complete(&text.replacen("\"defaultRailId\": \"$r_home\"", &open, 1));
        assert_eq!(labels(&items), ["$r_home"], "{open}");
        all_leave_json(&text_of, &items);
        assert_eq!(accepted(&text_of, &items[0]), text);
    }
}

#[test]
fn columns_are_those_of_the_table_that_is_meant() {
    let text = indented("base-links");
    let (before, after) = text
        .split_once("\"linkedValueColumn\": \"")
        .expect("a link column");
    let (column, after) = after.split_once('"').expect("a ref");
    let (text_of, items) = complete(&format!("{before}\"linkedValueColumn\": \"|\"{after}"));
    let found = labels(&items);
    assert!(found.contains(&column), "{found:?} lacks {column}");
    all_leave_json(&text_of, &items);
    // Another table's are none of them, whether it travels or is a dependency, as this one is.
    let foreign = |name: &&str| !name.starts_with("$c_countries_");
    assert!(!found.iter().any(foreign), "{found:?}");
}

#[test]
fn refs_without_a_dollar_and_uids() {
    let text = indented("base-tiny");
    let (_, items) =
        complete(&text.replacen("\"featureRef\": \"f_notes\"", "\"featureRef\": \"|\"", 1));
    assert_eq!(labels(&items), ["f_notes"]);
    let (_, items) =
        complete(&text.replacen("\"parent\": \"u_c9e9c616", "\"parent\": \"|u_c9e9c616", 1));
    let details: Vec<&str> = items
        .iter()
        .map(|item| item["detail"].as_str().expect("a detail"))
        .collect();
    assert_eq!(details, ["Notes (feature)", "Main (module)"]);
}

#[test]
fn dependencies_by_name_are_proposed_by_name() {
    let text = indented("map-key-use").replacen(
        "\"connectionName\": \"erp\"",
        "\"connectionName\": \"|\"",
        1,
    );
    let (text, items) = complete(&text);
    assert_eq!(labels(&items), ["erp"]);
    all_leave_json(&text, &items);
}

#[test]
fn keys_come_with_what_they_are_for() {
    let text = indented("base-tiny");
    // In a config, with everything that a member needs.
    let open = text.replacen(
        "\"defaultRailId\": \"$r_home\"",
        "\"defaultRailId\": \"$r_home\"\n|",
        1,
    );
    let (text_of, items) = complete(&open);
    all_leave_json(&text_of, &items);
    assert!(!labels(&items).contains(&"defaultRailId"));
    let empty = text.replacen("\"defaultRailId\": \"$r_home\"", "|", 1);
    let (text_of, items) = complete(&empty);
    assert!(labels(&items).contains(&"defaultRailId"), "{items:?}");
    all_leave_json(&text_of, &items);
    let item = items
        .iter()
        .find(|item| item["label"] == "defaultRailId")
        .expect("there");
    let documentation = item["documentation"]["value"].as_str().expect("Markdown");
    assert!(
        documentation.contains("navigation entry"),
        "{documentation}"
    );
    // Of the format: between others, and in place of a key.
    let (text_of, items) = complete(&text.replacen("\"dependencies\": []", "|", 1));
    assert!(labels(&items).contains(&"dependencies"), "{items:?}");
    all_leave_json(&text_of, &items);
    let (text_of, items) = complete(&text.replacen("\"keyColumn\": ", "\"key|\": ", 1));
    assert!(labels(&items).contains(&"keyColumn"), "{items:?}");
    all_leave_json(&text_of, &items);
    assert!(items.iter().any(|item| accepted(&text_of, item) == text));
}

#[test]
fn words_are_those_of_the_definitions() {
    let text = indented("base-tiny");
    let cases = [
        ("\"type\": \"long_text\"", "\"type\": \"|\"", "long_text"),
        (
            "\"defaultComponent\": \"textarea\"",
            "\"defaultComponent\": |",
            "textarea",
        ),
        (
            "\"tool\": \"create_view\"",
            "\"tool\": \"c|\"",
            "create_view",
        ),
        ("\"type\": \"table\"", "\"type\": \"|\"", "table"),
        ("\"kind\": \"rows\"", "\"kind\": \"|\"", "rows"),
        ("\"keyUnique\": true", "\"keyUnique\": |", "true"),
        (
            "\"templateVersion\": 2",
            "\"templateVersion\": 2,\n\"visibility\": |",
            "public",
        ),
    ];
    for (old, new, wanted) in cases {
        let (text_of, items) = complete(&text.replacen(old, new, 1));
        assert!(
            labels(&items).contains(&wanted),
            "{new}: {:?}",
            labels(&items)
        );
        all_leave_json(&text_of, &items);
    }
    let (_, items) = complete(&text.replacen(
        "\"defaultComponent\": \"textarea\"",
        "\"defaultComponent\": \"|\"",
        1,
    ));
    assert!(
        !labels(&items).contains(&"numberfield"),
        "components of other types"
    );
    // Nothing where there is nothing to propose.
    let (_, items) = complete(&text.replacen("\"label\": \"Body\"", "\"label\": \"|\"", 1));
    assert_eq!(labels(&items), Vec::<&str>::new());
}

#[test]
fn expressions_read_what_stands_earlier() {
    let text = indented("base-auto");
    let value: Value = serde_json::from_str(&text).expect("JSON");
    let steps = value["manifest"]["plan"]["steps"]
        .as_array()
        .expect("steps");
    let flow = steps
        .iter()
        .find(|step| step["tool"] == "create_workflow_v2")
        .expect("an automation");
    let graph = flow["args"]["graphConfig"]["steps"]
        .as_array()
        .expect("steps");
    let first = graph[0]["id"].as_str().expect("an id");
    let token = text
        .match_indices("{{")
        .map(|(at, _)| at)
        .next()
        .expect("an expression");
    let end = token + text[token..].find("}}").expect("closed");
    let open = format!("{}|{}", &text[..token + 2], &text[end..]);
    let (text_of, items) = complete(&open);
    let found = labels(&items);
    assert!(found.contains(&"sys.now"), "{found:?}");
    all_leave_json(&text_of, &items);
    // A step reads nothing of itself or of what comes later.
    let own = text[..token]
        .rfind("\"id\": \"stp_")
        .map(|at| &text[at + 7..at + 23]);
    assert!(
        own.is_none_or(|own| !found.iter().any(|path| path.contains(own))),
        "{found:?}"
    );
    if graph.len() > 1 && own != Some(first) {
        assert!(
            found.iter().all(|path| !path.contains("vars.steps.")
                || path.contains(first)
                || graph.len() > 2),
            "{found:?}"
        );
    }
    // What stands behind braces that nothing closes is text.
    for (behind, replaced) in [(" and bye", 0), (", by {{sys.now}}", 0), ("sys.no and", 6)] {
        let open = format!("{}|{behind}{}", &text[..token + 2], &text[end + 2..]);
        let (_, items) = complete(&open);
        let range = &items[0]["textEdit"]["range"];
        let [start, end] = ["start", "end"].map(|one| range[one]["character"].as_u64());
        assert_eq!(
            end.zip(start).map(|(end, start)| end - start),
            Some(replaced)
        );
    }
    // Braces that are not closed yet are closed by what is accepted.
    let open = format!("{}|{}", &text[..token + 2], &text[end + 2..]);
    let (text_of, items) = complete(&open);
    all_leave_json(&text_of, &items);
    assert!(
        items[0]["textEdit"]["newText"]
            .as_str()
            .expect("text")
            .ends_with("}}")
    );
}
