//! Packages as folders: the way there and back.

use proptest::prelude::*;
use serde_json::Value;
use tplkit::layout::{Files, INDEX, LayoutFault, PackError, pack, unpack};
use tplkit::package::canonical::{CanonicalError, write};

use crate::arbitrary::{Json, json};
use crate::cases;

fn unpacked(text: &str) -> Files {
    let mut files = Files::new();
    unpack(text, &mut files).unwrap();
    files
}

fn packed(files: &Files) -> String {
    let mut bytes = Vec::new();
    match pack(files, &mut bytes) {
        Ok(()) => String::from_utf8(bytes).unwrap(),
        Err(PackError::Faults(faults)) => {
            let messages: Vec<String> = faults.iter().map(ToString::to_string).collect();
            panic!("{}", messages.join("\n"));
        }
        Err(error) => panic!("{error}"),
    }
}

fn faults(files: &Files) -> Vec<String> {
    match pack(files, &mut Vec::new()) {
        Err(PackError::Faults(faults)) => faults.iter().map(LayoutFault::to_string).collect(),
        other => panic!("{other:?}"),
    }
}

/// Unpacks, packs, and holds the promises of the way back.
fn there_and_back(name: &str, text: &str) -> Files {
    let files = unpacked(text);
    let back = packed(&files);
    let canonical = write(text).unwrap();
    assert!(back == canonical, "{name}:\n{canonical}\n{back}");
    assert!(unpacked(&back) == files, "{name}: another folder");
    let mut lower: Vec<String> = files.keys().map(|name| name.to_lowercase()).collect();
    lower.dedup();
    assert!(
        lower.iter().eq(files.keys()),
        "{name}: names differ by case"
    );
    files
}

fn text(files: &Files, name: &str) -> String {
    String::from_utf8(files[name].clone()).unwrap()
}

fn edited(files: &Files, name: &str, before: &str, after: &str) -> Files {
    let old = text(files, name);
    assert!(old.contains(before), "{name} has no {before}:\n{old}");
    let mut files = files.clone();
    files.insert(name.to_owned(), old.replacen(before, after, 1).into_bytes());
    files
}

#[test]
fn unpack_then_pack_restores_every_sample() {
    for (name, text) in [cases::valid(), cases::folder("examples")].concat() {
        println!("{name}");
        there_and_back(&name, &text);
    }
}

#[test]
fn so_do_packages_with_mistakes() {
    for (name, text) in cases::mutants() {
        println!("{name}");
        match write(&text) {
            Ok(_) => drop(there_and_back(&name, &text)),
            Err(expected) => {
                let error = unpack(&text, &mut Files::new()).unwrap_err();
                assert_eq!(error.to_string(), expected.to_string(), "{name}");
            }
        }
    }
}

#[test]
fn the_folder_is_this_one() {
    let files = there_and_back("base-tiny", &cases::case("base-tiny"));
    let index = "tplkit layout 1

items
  features/notes.json
  columns/notes_title.json
  columns/notes_body.json
  columns/notes_n.json
  rows/notes.json
  views/notes.json
  modules/main.json
  rails/home.json

dependencies

unresolved

redacted

steps
  features/notes.json
  columns/notes_title.json
  columns/notes_body.json
  columns/notes_n.json
  views/notes.json
  modules/main.json
  rails/home.json
  modules/main.json

payloads
  rows/notes.jsonl
";
    assert_eq!(text(&files, INDEX), index);
    let module: Value = serde_json::from_slice(&files["modules/main.json"]).unwrap();
    assert_eq!(module["item"]["ref"], "m_main");
    assert_eq!(module["steps"][1]["tool"], "update_module");
    assert_eq!(text(&files, "rows/notes.jsonl").lines().count(), 3);
    let rows: Value = serde_json::from_slice(&files["rows/notes.json"]).unwrap();
    assert_eq!(rows["payload"]["keyColumn"], "title");
    let template: Value = serde_json::from_slice(&files["template.json"]).unwrap();
    assert_eq!(template["template"]["templateVersion"], 2);
    assert_eq!(template["template"]["plan"].get("steps"), None);
}

#[test]
fn bare_and_absent_are_kept_apart() {
    let bare = there_and_back("bare-v1", &cases::case("bare-v1"));
    assert!(!text(&bare, "template.json").contains("\"file\""));
    let absent = there_and_back("absent", &cases::case("v2-payloads-absent"));
    assert!(!text(&absent, INDEX).contains("payloads"));
    for payloads in [
        "[]",
        "{}",
        "[{\"rows\": []}]",
        "[{\"rows\": {}}]",
        "[{}, 1, [[2]]]",
    ] {
        let text = format!(r#"{{"manifest": {{"templateVersion": 1}}, "payloads": {payloads}}}"#);
        there_and_back(payloads, &text);
    }
}

#[test]
fn an_edit_touches_the_files_of_its_item() {
    let before = cases::case("base-tiny");
    let after = before.replace("\"label\":\"Title\"", "\"label\":\"Headline\"");
    assert_ne!(before, after);
    let (before, after) = (unpacked(&before), unpacked(&after));
    let changed: Vec<&String> = after
        .iter()
        .filter(|(name, bytes)| before.get(*name) != Some(bytes))
        .map(|(name, _)| name)
        .collect();
    assert_eq!(changed, ["columns/notes_title.json"]);
    assert!(before.keys().eq(after.keys()));
}

#[test]
fn names_never_collide() {
    let step = |reference: &str| {
        format!(r#"{{"tool": "create_feature", "ref": "{reference}", "args": {{}}}}"#)
    };
    let refs = [
        "f_a", "f_A", "$f_a", "f_a", "f_con", "f_../x", "", "ção", "f_ção", "f_çao",
    ];
    let steps: Vec<String> = refs.iter().map(|reference| step(reference)).collect();
    let steps = steps.join(", ");
    let text = format!(r#"{{"templateVersion": 1, "plan": {{"steps": [{steps}]}}}}"#);
    let files = there_and_back("odd", &text);
    // The three spellings of one ref share a file.
    assert_eq!(files.len(), 2 + refs.len() - 2);
}

#[test]
fn what_is_wrong_with_a_folder_is_reported_with_its_place() {
    let files = unpacked(&cases::case("base-tiny"));
    let (column, rows) = ("columns/notes_title.json", "rows/notes.jsonl");
    let broken = edited(&files, column, "\"item\": {", "\"item\": {,");
    assert_eq!(
        faults(&broken),
        ["columns/notes_title.json:2:12: a key in double quotes is expected here"]
    );
    let twice = edited(&files, column, "\"item\": {", "\"item\": {\"uid\": 1,");
    assert_eq!(
        faults(&twice),
        ["columns/notes_title.json:3:5: the key \"uid\" appears twice in one object"]
    );
    let foreign = edited(&files, column, "\"item\": {", "\"itme\": {");
    assert_eq!(faults(&foreign).len(), 2, "{:?}", faults(&foreign));
    let lines = edited(
        &files,
        rows,
        "{\"uid\"",
        "[}\n{} 1\n{\"data\": {\"a\": 1, \"a\": 2}}\n{\"uid\"",
    );
    assert_eq!(
        faults(&lines),
        [
            "rows/notes.jsonl:1:2: a JSON value is expected here",
            "rows/notes.jsonl:2:4: text after the row: one line holds one row",
            "rows/notes.jsonl:3:19: the key \"a\" appears twice in one object",
        ]
    );
    let mut gone = files.clone();
    gone.remove(column);
    assert_eq!(
        faults(&gone),
        ["tplkit.index:5:1: there is no file `columns/notes_title.json`"]
    );
    let mut extra = files.clone();
    extra.insert("columns/new.json".to_owned(), b"{}".to_vec());
    extra.insert("README.md".to_owned(), b"mine".to_vec());
    assert_eq!(
        faults(&extra),
        [
            "columns/new.json: `tplkit.index` does not name it: add it to the lists it belongs to, or remove it"
        ]
    );
    let outside = edited(
        &files,
        INDEX,
        "  columns/notes_title.json",
        "  ../../secret.json",
    );
    assert!(
        faults(&outside)[0].contains("is not a name of this layout"),
        "{:?}",
        faults(&outside)
    );
    let unfinished = edited(&files, INDEX, "layout 1", "layout 1, unfinished");
    assert!(faults(&unfinished)[0].contains("interrupted"));
    let more = edited(
        &files,
        INDEX,
        "\nsteps\n",
        "\nsteps\n  columns/notes_title.json\n",
    );
    assert!(
        faults(&more)[0].contains("no further entry"),
        "{:?}",
        faults(&more)
    );
    let less = edited(&files, INDEX, "  columns/notes_title.json\n", "");
    assert!(
        faults(&less)[0].contains("no line for it under `items`"),
        "{:?}",
        faults(&less)
    );
    let double = edited(
        &files,
        "template.json",
        "\"plan\": {",
        "\"plan\": {\"steps\": [],",
    );
    assert!(faults(&double)[0].contains("stands in the index already"));
    assert!(matches!(
        pack(&Files::new(), &mut Vec::new()),
        Err(PackError::NoIndex)
    ));
}

#[test]
fn files_may_be_written_by_people() {
    let text_before = write(&cases::case("base-tiny")).unwrap();
    let mut files = unpacked(&text_before);
    for bytes in files.values_mut() {
        let text = String::from_utf8(bytes.clone()).unwrap();
        *bytes = format!("\u{feff}{}\r\n\r\n", text.replace('\n', "\r\n")).into_bytes();
    }
    files.insert(INDEX.to_owned(), unpacked(&text_before)[INDEX].clone());
    assert_eq!(packed(&files), text_before);
}

#[test]
fn nesting_at_the_bound_is_refused_before_it_is_lost() {
    let file = |levels: usize| {
        let (open, close) = ("[".repeat(levels), "]".repeat(levels));
        format!(r#"{{"templateVersion": 1, "odd": {open}{close}}}"#)
    };
    there_and_back("126", &file(126));
    assert!(write(&file(127)).is_ok());
    let error = unpack(&file(127), &mut Files::new()).unwrap_err();
    assert!(matches!(error, CanonicalError::Syntax(_)));
}

/// A package with arbitrary values wherever the layout looks.
fn package(one: &Json, two: &Json, spelling: u64) -> String {
    let (one, two) = (one.text(spelling), two.text(spelling));
    let u = "u_0d9f1f5e-5ac7-4b5e-9a3f-9d5ae0cc1d10";
    format!(
        r#"{{"$schema": {one}, "manifest": {{"templateVersion": 2, "x": {two},
        "items": [{one}, {{"uid": "{u}", "ref": "f_a", "kind": "feature", "y": {two}}}, {two}, {{"kind": "rows", "parent": "{u}", "uid": {one}}}],
        "dependencies": [{two}, {{"ref": {one}}}], "redacted": {one}, "unresolved": [{one}, {{"uid": "{u}", "path": {two}}}],
        "plan": {{"id": {one}, "steps": [{{"tool": "create_feature", "ref": "f_a", "args": {two}}}, {one},
          {{"tool": "update_feature", "args": {{"featureId": "$f_a", "config": {one}}}}}, {{"tool": "insert_rows", "args": {{"featureId": "$f_a", "rows": {two}}}}}]}}}},
        "payloads": [{one}, {{"itemUid": {one}, "featureRef": "f_a", "rows": [{one}, {{"data": {{"b": {two}, "a": {one}}}}}, {two}], "columns": ["a", "b"]}},
          {{"featureRef": "f_a", "rows": {two}}}, {two}]}}"#
    )
}

proptest! {
    #[test]
    fn arbitrary_content_comes_back(one in json(), two in json(), spelling: u32) {
        there_and_back("arbitrary", &package(&one, &two, u64::from(spelling)));
    }
}
