//! Rename of refs in a packed file: everything that means the ref follows, and nothing else.

use std::fs;

use serde_json::{Value, json};
use tplkit::check::{CheckOptions, check};

use crate::client::{Client, TestFolder, at};
use crate::packages::{cases, edited, edits_of, indented, place, valid};

const URI: &str = "untitled:a.json";

fn rename_params(text: &str, part: &str, skip: usize, name: &str) -> Value {
    let mut params = at(URI, place(text, part, 0, skip));
    params["newName"] = name.into();
    params
}

fn renamed(text: &str, part: &str, skip: usize, name: &str) -> String {
    let mut client = Client::start();
    client.open(URI, text);
    let edit = client.request(
        "textDocument/rename",
        &rename_params(text, part, skip, name),
    );
    edited(text, &edits_of(&edit, URI))
}

#[test]
fn every_place_follows_and_text_does_not() {
    // A table with rows that are linked, whose ref stands in labels and cells, too.
    let text = indented("base-links");
    let table = text
        .split("\"featureRef\": \"")
        .nth(1)
        .expect("a payload")
        .split('"')
        .next()
        .expect("a ref")
        .to_owned();
    let text = text.replacen(
        "\"label\": \"Vendas\"",
        &format!("\"label\": \"${table}\", \"description\": \"{table}\""),
        1,
    );
    let uses = text.matches(&format!("{table}\"")).count();
    assert!(uses > 4, "{uses}");
    for (part, skip) in [
        (format!("\"featureId\": \"${table}\""), 16),
        (format!("\"ref\": \"{table}\""), 9),
    ] {
        for name in ["f_renamed", "$f_renamed"] {
            let new = renamed(&text, &part, skip, name);
            assert!(new.contains(&format!(
                "\"label\": \"${table}\", \"description\": \"{table}\""
            )));
            // Nothing else is left, and as much is there as there was.
            assert_eq!(new.matches(&format!("{table}\"")).count(), 2);
            assert_eq!(new.matches("f_renamed\"").count(), uses - 2);
            assert_eq!(new.matches("$$").count(), text.matches("$$").count());
        }
    }
}

#[test]
fn keys_paths_and_rows_of_steps() {
    let text = indented("base-tiny");
    // A map with a key that is a use, an entry that names it, and data that looks like it.
    let text = text.replacen(
        "\"config\": [\n              {}",
        "\"config\": [\n              {\"odd.key\": {\"$c_notes_body\": 1, \"x\": \"$c_notes_body\"}}",
        1,
    );
    let text = text.replacen(
        "\"unresolved\": []",
        "\"unresolved\": [{\"uid\": \"u_b94067ed-fe17-4330-a11d-459a2f978d87\", \"path\": \"config.0.odd\\\\.key.$c_notes_body\", \"sourceLabel\": \"c_notes_body\"}]",
        1,
    );
    let text = text.replacen(
        "\"redacted\": []",
        "\"redacted\": [{\"uid\": \"u_b94067ed-fe17-4330-a11d-459a2f978d87\", \"path\": \"config.0.$c_notes_body\\\\.x.$c_notes_body\"}]",
        1,
    );
    assert!(
        text.contains("$c_notes_body\": 1") && text.contains("odd\\\\.key.$c"),
        "{text}"
    );
    let new = renamed(&text, "\"$c_notes_body\": 1", 4, "c_text");
    assert!(
        new.contains("{\"$c_text\": 1, \"x\": \"$c_text\"}"),
        "{new}"
    );
    assert!(
        new.contains("\"config.0.odd\\\\.key.$c_text\", \"sourceLabel\": \"c_notes_body\""),
        "{new}"
    );
    assert!(
        new.contains("\"config.0.$c_notes_body\\\\.x.$c_text\""),
        "{new}"
    );
    assert!(new.contains("\"ref\": \"c_text\""));
}

#[test]
fn a_ref_that_is_written_with_escapes_or_a_dollar_follows() {
    let text = indented("base-tiny")
        .replacen("\"$v_notes\"", "\"\\u0024v\\u005fnotes\"", 1)
        .replacen("\"ref\": \"v_notes\"", "\"ref\": \"$v_notes\"", 1);
    let new = renamed(&text, "\"defaultViewId\": \"$v_notes\"", 20, "v_all");
    assert!(new.contains("\"ref\": \"$v_all\""), "{new}");
    assert_eq!(new.matches("\"$v_all\"").count(), 3);
    assert!(!new.contains("v_notes") && !new.contains("u0024"), "{new}");
}

#[test]
fn what_checks_clean_checks_clean_under_another_name() {
    let mut renames = 0;
    for case in [
        "base-auto",
        "base-flow",
        "base-links",
        "every-step",
        "map-key-use",
        "random-01",
        "random-03",
    ] {
        let text = valid(case);
        let text = text.trim_start_matches('\u{feff}');
        let value: Value = serde_json::from_str(text).expect("JSON");
        let manifest = value.get("manifest").unwrap_or(&value);
        let mut refs: Vec<String> = Vec::new();
        for list in [&manifest["items"], &manifest["dependencies"]] {
            let entries = list.as_array().into_iter().flatten();
            refs.extend(entries.filter_map(|entry| Some(entry["ref"].as_str()?.to_owned())));
        }
        let mut client = Client::start();
        client.open(URI, text);
        for name in refs {
            let prefix = name.split('_').next().expect("a prefix");
            let new_name = format!("{prefix}_renamed-1");
            let params = rename_params(text, &format!("\"ref\":\"{name}\""), 9, &new_name);
            let edit = client.request("textDocument/rename", &params);
            let new = edited(text, &edits_of(&edit, URI));
            let findings = check(new.as_bytes(), &CheckOptions::default()).findings;
            assert!(findings.is_empty(), "{case} {name}: {:?}", findings.first());
            assert!(new.contains(&new_name));
            renames += 1;
        }
    }
    assert!(renames > 60, "{renames}");
}

#[test]
fn a_name_that_cannot_be_is_refused_with_the_reason() {
    let text = indented("base-tiny");
    let mut client = Client::start();
    client.open(URI, &text);
    let mut refuse = |part: &str, skip, name: &str| {
        client
            .refused(
                "textDocument/rename",
                &rename_params(&text, part, skip, name),
            )
            .1
    };
    for name in ["", "$", "notes", "x_notes", "f_", "f_a b", "f_é", "$$f_a"] {
        let message = refuse("\"$f_notes\"", 3, name);
        assert!(message.contains("is not a ref"), "{name}: {message}");
    }
    let message = refuse("\"$f_notes\"", 3, "c_notes_title");
    assert!(message.contains("already declared"), "{message}");
    let message = refuse("\"$workspace\"", 3, "f_a");
    assert!(message.contains("builtin"), "{message}");
    let message = refuse("\"summary\"", 3, "f_a");
    assert!(message.contains("no ref here"), "{message}");
}

#[test]
fn what_can_be_renamed_is_known_before() {
    let text = indented("base-tiny");
    let mut client = Client::start();
    client.open(URI, &text);
    let found = client.at(
        "textDocument/prepareRename",
        URI,
        place(&text, "\"$f_notes\"", 0, 3),
    );
    let (line, column) = place(&text, "\"$f_notes\"", 0, 2);
    assert_eq!(
        found,
        json!({
            "range": {
                "start": {"line": line, "character": column},
                "end": {"line": line, "character": column + "f_notes".len()},
            },
            "placeholder": "f_notes",
        })
    );
    let none = client.at(
        "textDocument/prepareRename",
        URI,
        place(&text, "\"summary\"", 0, 3),
    );
    assert_eq!(none, Value::Null);
}

#[test]
fn a_rename_of_a_broken_package_is_refused() {
    let mut client = Client::start();
    let text = "{\"templateVersion\": 2, \"plan\": {\"steps\": [";
    client.open(URI, text);
    let (_, message) = client.refused(
        "textDocument/rename",
        &rename_params(text, "plan", 1, "f_a"),
    );
    assert!(message.contains("cannot be read"), "{message}");
}

#[test]
fn no_mutant_breaks_a_rename() {
    let mut client = Client::start();
    let folder = TestFolder::new();
    let files = fs::read_dir(cases().join("mutants")).expect("folder");
    for file in files.step_by(9) {
        let path = file.expect("entry").path();
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        let uri = folder.uri(&path.file_name().expect("name").to_string_lossy());
        client.open(&uri, &text);
        for at_most in [0, 40, 400, 4000] {
            let mut params = at(&uri, (0, at_most));
            params["newName"] = "f_other".into();
            client.exchange("textDocument/rename", &params);
            params["context"] = json!({});
            client.exchange("textDocument/references", &params);
        }
        client.notify(
            "textDocument/didClose",
            &json!({"textDocument": {"uri": uri}}),
        );
    }
    client.end();
}
