//! Responses: hover, actions, formatting, outline, folding, definition, references, hints.

use serde_json::{Value, json};

use crate::client::{Client, TestFolder, at};
use crate::packages::{edited, edits_of, indented, place};

const URI: &str = "untitled:a.json";

/// The small package with a finding that has a safe fix.
fn fixable() -> String {
    indented("base-tiny").replacen(
        "\"label\": \"Notes\"",
        "\"label\": \"Notes\",\n        \"count\": 1",
        1,
    )
}

fn opened(text: &str) -> Client {
    let mut client = Client::start();
    client.open(URI, text);
    client.diagnostics(URI, 1);
    client
}

fn value(hover: &Value) -> &str {
    hover["contents"]["value"].as_str().expect("Markdown")
}

#[test]
fn a_finding_shows_its_page() {
    let text = fixable();
    let mut client = opened(&text);
    let hover = client.at(
        "textDocument/hover",
        URI,
        place(&text, "\"count\": 1", 0, 9),
    );
    assert_eq!(hover["contents"]["kind"], "markdown");
    let page = TestFolder::new().tplkit(&["explain", "I010"]);
    assert!(value(&hover).contains(page.trim()), "{hover}");
}

#[test]
fn refs_uids_and_keys_are_explained() {
    let text = indented("base-tiny");
    let mut client = opened(&text);
    let mut hover =
        |part: &str, nth, skip| client.at("textDocument/hover", URI, place(&text, part, nth, skip));
    let found = hover("\"$f_notes\"", 0, 3);
    assert!(
        value(&found).starts_with("**Notes** — table `$f_notes`"),
        "{found}"
    );
    let found = hover("\"parent\": \"u_", 0, 14);
    assert!(
        value(&found).starts_with("**Notes** — table `f_notes`"),
        "{found}"
    );
    let found = hover("\"defaultRailId\"", 0, 3);
    assert!(value(&found).contains("navigation entry"), "{found}");
    let found = hover("\"keyColumn\"", 0, 3);
    assert!(
        value(&found).contains("Column by which the destination may match rows"),
        "{found}"
    );
    let found = hover("\"$workspace\"", 0, 3);
    assert!(value(&found).contains("the workspace"), "{found}");
    assert_eq!(hover("\"Creates 8", 0, 3), Value::Null);
}

#[test]
fn fixes_are_those_of_check() {
    let folder = TestFolder::new();
    let text = fixable();
    folder.write("a.json", &text);
    let document: Value =
        serde_json::from_str(&folder.tplkit(&["check", "--format", "json", "a.json"]))
            .expect("JSON");
    let finding = &document["files"][0]["findings"][0];
    let mut client = opened(&text);
    let here = place(&text, "\"count\": 1", 0, 9);
    let actions = client.request("textDocument/codeAction", &action(here, None));
    let actions = actions.as_array().expect("actions");
    let fix = &actions[0];
    assert_eq!(fix["kind"], "quickfix");
    assert_eq!(fix["title"], finding["fix"]["title"]);
    assert_eq!(fix["isPreferred"], true);
    assert_eq!(fix["diagnostics"][0]["code"], finding["code"]);
    let edits = edits_of(&fix["edit"], URI);
    let wanted = finding["fix"]["edits"].as_array().expect("edits");
    assert_eq!(edits.len(), wanted.len());
    let mut expected = text.clone();
    for edit in wanted.iter().rev() {
        let number = |key: &str| usize::try_from(edit[key].as_u64().expect(key)).expect("fits");
        let (start, length) = (number("offset"), number("length"));
        expected.replace_range(start..start + length, edit["text"].as_str().expect("text"));
    }
    assert_eq!(edited(&text, &edits), expected);
    // All of them at once, as `check --fix` makes them.
    folder.tplkit(&["check", "--fix", "a.json"]);
    let only = client.request(
        "textDocument/codeAction",
        &action((0, 0), Some("source.fixAll.tplkit")),
    );
    assert_eq!(only.as_array().map(Vec::len), Some(1), "{only}");
    assert_eq!(only[0]["kind"], "source.fixAll.tplkit");
    assert_eq!(
        edited(&text, &edits_of(&only[0]["edit"], URI)),
        folder.read("a.json")
    );
    // The page of the rule.
    let explain = actions
        .iter()
        .find(|action| action["kind"] == "tplkit.explain")
        .expect("explain");
    let page = client.request("workspace/executeCommand", &explain["command"]);
    assert!(page.as_str().expect("text").contains("I010"), "{page}");
    assert!(
        client.notified("window/showMessage")["message"]
            .as_str()
            .expect("text")
            .starts_with("I010")
    );
    let none = client.request("textDocument/codeAction", &action((0, 0), Some("refactor")));
    assert_eq!(none, json!([]));
}

#[test]
fn unsafe_fixes_are_not_preferred() {
    // An entry of `usedBy` that targets something else is fixed unsafely (D013).
    let text = indented("base-auto");
    let uid = text
        .split("\"targets\": \"")
        .nth(1)
        .expect("a use")
        .split('"')
        .next()
        .expect("a uid");
    let text = text.replacen(
        &format!("\"targets\": \"{uid}\""),
        "\"targets\": \"u_00000000-0000-4000-8000-000000000000\"",
        1,
    );
    let mut client = opened(&text);
    let here = place(&text, "\"targets\"", 0, 14);
    let actions = client.request("textDocument/codeAction", &action(here, Some("quickfix")));
    assert_eq!(actions[0]["diagnostics"][0]["code"], "D013", "{actions}");
    assert!(actions[0].get("isPreferred").is_none(), "{actions}");
    let all = client.request(
        "textDocument/codeAction",
        &action(here, Some("source.fixAll")),
    );
    assert_eq!(all, json!([]), "no safe fix");
}

#[test]
fn without_document_changes_edits_are_a_map() {
    let text = fixable();
    let mut client = Client::with(&json!({"general": {"positionEncodings": ["utf-8"]}}));
    client.open(URI, &text);
    let here = place(&text, "\"count\": 1", 0, 9);
    let actions = client.request("textDocument/codeAction", &action(here, Some("quickfix")));
    assert!(actions[0]["edit"]["changes"][URI].is_array(), "{actions}");
}

fn action((line, character): (usize, usize), only: Option<&str>) -> Value {
    let here = json!({"line": line, "character": character});
    let mut context = json!({"diagnostics": []});
    if let Some(only) = only {
        context["only"] = json!([only]);
    }
    json!({"textDocument": {"uri": URI}, "range": {"start": here, "end": here}, "context": context})
}

#[test]
fn formatting_is_fmt() {
    let folder = TestFolder::new();
    let text = indented("base-links").replace('\n', "\r\n");
    folder.write("a.json", &text);
    folder.tplkit(&["fmt", "a.json"]);
    let mut client = opened(&text);
    let params =
        json!({"textDocument": {"uri": URI}, "options": {"tabSize": 8, "insertSpaces": false}});
    let edits = client.request("textDocument/formatting", &params);
    let formatted = edited(&text, edits.as_array().expect("edits"));
    assert_eq!(formatted, folder.read("a.json"));
    client.replace(URI, 2, &formatted);
    assert_eq!(
        client.request("textDocument/formatting", &params),
        json!([])
    );
    client.replace(URI, 3, "{\"templateVersion\": ");
    assert_eq!(
        client.request("textDocument/formatting", &params),
        json!([])
    );
}

#[test]
fn items_are_a_tree() {
    let text = indented("base-tiny");
    let mut client = opened(&text);
    let symbols = client.request(
        "textDocument/documentSymbol",
        &json!({"textDocument": {"uri": URI}}),
    );
    let names = |list: &Value| -> Vec<String> {
        let list = list.as_array().expect("a list").iter();
        list.map(|one| one["name"].as_str().expect("a name").to_owned())
            .collect()
    };
    assert_eq!(names(&symbols), ["Notes", "Main"]);
    assert_eq!(
        names(&symbols[0]["children"]),
        ["Title", "Body", "N", "Notes", "Notes"]
    );
    assert_eq!(names(&symbols[1]["children"]), ["Home"]);
    assert_eq!(symbols[0]["kind"], 5);
    // Without items, the steps of the plan.
    client.open("untitled:b", &indented("bare-v1"));
    let symbols = client.request(
        "textDocument/documentSymbol",
        &json!({"textDocument": {"uri": "untitled:b"}}),
    );
    assert!(!names(&symbols).is_empty());
}

#[test]
fn rows_and_steps_are_folded() {
    let text = indented("base-tiny");
    let mut client = opened(&text);
    let folds = client.request(
        "textDocument/foldingRange",
        &json!({"textDocument": {"uri": URI}}),
    );
    let folds = folds.as_array().expect("folds");
    for part in ["\"steps\": [", "\"rows\": ["] {
        let (line, _) = place(&text, part, 0, 0);
        let fold = folds
            .iter()
            .find(|fold| fold["startLine"] == line)
            .expect("a fold");
        let end = usize::try_from(fold["endLine"].as_u64().expect("a line")).expect("fits");
        let closing = text.lines().nth(end + 1).expect("a line").trim();
        assert!(closing.starts_with(']'), "{part}: {closing}");
    }
    // One row, one step.
    let (row, _) = place(&text, "\"uid\": \"u_7eed8d14", 0, 0);
    assert!(folds.iter().any(|fold| fold["startLine"] == row - 1));
}

#[test]
fn what_is_named_leads_to_what_declares_it() {
    let text = indented("base-links");
    let mut client = opened(&text);
    let table = text
        .split("\"featureRef\": \"")
        .nth(1)
        .expect("a payload")
        .split('"')
        .next()
        .expect("a ref");
    let declared = place(&text, &format!("\"ref\": \"{table}\""), 1, 7);
    for part in [
        format!("\"${table}\""),
        format!("\"featureRef\": \"{table}\""),
    ] {
        let found = client.at(
            "textDocument/definition",
            URI,
            place(&text, &part, 0, part.len() - 2),
        );
        assert_eq!(
            found["range"]["start"]["line"], declared.0,
            "{part}: {found}"
        );
        assert_eq!(found["uri"], URI);
    }
    // A uid leads to its item, that of a link to its row.
    let found = client.at(
        "textDocument/definition",
        URI,
        place(&text, "\"parent\": \"", 0, 14),
    );
    let line =
        usize::try_from(found["range"]["start"]["line"].as_u64().expect("a line")).expect("fits");
    assert!(text.lines().nth(line).expect("a line").contains("\"uid\""));
    let found = client.at(
        "textDocument/definition",
        URI,
        place(&text, "\"rowUid\": \"", 0, 14),
    );
    let line =
        usize::try_from(found["range"]["start"]["line"].as_u64().expect("a line")).expect("fits");
    assert!(
        text.lines()
            .nth(line)
            .expect("a line")
            .trim()
            .starts_with("\"uid\"")
    );
}

#[test]
fn references_are_every_place_once() {
    let text = indented("base-tiny");
    let mut client = opened(&text);
    let mut params = at(URI, place(&text, "\"$f_notes\"", 0, 3));
    params["context"] = json!({"includeDeclaration": true});
    let all = client.request("textDocument/references", &params);
    let all = all.as_array().expect("places");
    assert_eq!(all.len(), text.matches("f_notes\"").count());
    let mut once = all.iter().map(Value::to_string).collect::<Vec<_>>();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), all.len());
    params["context"] = json!({"includeDeclaration": false});
    let uses = client.request("textDocument/references", &params);
    assert_eq!(uses.as_array().map(Vec::len), Some(all.len() - 1));
}

#[test]
fn labels_stand_behind_uids_and_refs() {
    let text = indented("base-tiny");
    let mut client = opened(&text);
    let whole =
        json!({"start": {"line": 0, "character": 0}, "end": {"line": 9999, "character": 0}});
    let params = json!({"textDocument": {"uri": URI}, "range": whole});
    let hints = client.request("textDocument/inlayHint", &params);
    let hints = hints.as_array().expect("hints");
    let behind = |part: &str| {
        let (line, column) = place(&text, part, 0, part.len());
        let here = json!({"line": line, "character": column});
        hints
            .iter()
            .find(|hint| hint["position"] == here)
            .map(|hint| hint["label"].clone())
    };
    assert_eq!(behind("\"$v_notes\""), Some(json!("Notes")));
    assert_eq!(
        behind("\"parent\": \"u_c9e9c616-612e-4696-96ce-cc1b78e51061\""),
        Some(json!("Notes"))
    );
    assert_eq!(behind("\"$workspace\""), None);
    // Only those of the range.
    let params = json!({"textDocument": {"uri": URI}, "range": {"start": {"line": 0, "character": 0}, "end": {"line": 2, "character": 0}}});
    assert_eq!(client.request("textDocument/inlayHint", &params), json!([]));
}
