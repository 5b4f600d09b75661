//! What an editor is given about small texts.

use super::{
    Package, RenameError, complete, definition, folds, hints, hover, mentions, ref_at, references,
    rename, renamed_files, symbols,
};
use crate::json::Doc;

const TEXT: &str = include_str!("../../examples/crm.json");

fn ask<T>(text: &str, ask: impl FnOnce(&Package<'_>) -> T) -> T {
    let doc = Doc::parse_package(text).expect("JSON");
    ask(&Package::read(&doc).expect("a package"))
}

/// The first ref that a payload names.
fn table() -> &'static str {
    let (_, rest) = TEXT.split_once("\"featureRef\": \"").expect("a payload");
    rest.split_once('"').expect("a ref").0
}

#[test]
fn every_mention_names_the_ref() {
    ask(TEXT, |package| {
        let found = mentions(package, table());
        assert!(found.len() > 5, "{}", found.len());
        for mention in &found {
            assert_eq!(&TEXT[mention.span.clone()], table());
            let (name, same) = ref_at(package, mention.span.start).expect("a ref");
            assert_eq!((name.as_str(), same), (table(), mention.clone()));
        }
        let all = references(package, found[0].span.start, true);
        assert_eq!(all.len(), found.len());
        let declared = definition(package, found[0].span.start).expect("declared");
        assert!(TEXT[..declared.start].trim_end().ends_with("\"ref\":"));
    });
}

#[test]
fn names_that_cannot_be_are_refused() {
    ask(TEXT, |package| {
        let at = TEXT.find(&format!("\"${}\"", table())).expect("a use") + 2;
        let refused = |name: &str| rename(package, at, name).expect_err("refused");
        assert_eq!(refused("a b"), RenameError::Grammar("a b".to_owned()));
        assert_eq!(refused(table()), RenameError::Declared(table().to_owned()));
        assert_eq!(rename(package, 0, "f_a"), Err(RenameError::NoRef));
        let edits = rename(package, at, "$f_other").expect("renamed");
        assert!(edits.iter().all(|edit| edit.text == "f_other"));
    });
}

#[test]
fn files_follow_the_refs_that_they_are_named_after() {
    let after = TEXT.replace(&format!("{}\"", table()), "f_other\"");
    let renamed = renamed_files(TEXT, &after);
    let names: Vec<&str> = renamed.values().map(String::as_str).collect();
    assert_eq!(
        names,
        ["features/other.json", "rows/other.json", "rows/other.jsonl"]
    );
    assert!(renamed_files(TEXT, "{").is_empty());
    assert!(renamed_files(TEXT, TEXT).is_empty());
}

#[test]
fn every_byte_of_a_package_can_be_asked_about() {
    ask(TEXT, |package| {
        for offset in (0..=TEXT.len()).step_by(97) {
            for found in [
                hover(package, offset).map(|hover| hover.span),
                definition(package, offset),
            ] {
                let span = found.unwrap_or(0..0);
                assert!(TEXT.get(span.clone()).is_some(), "{offset}: {span:?}");
            }
        }
        assert!(hints(package, &(0..TEXT.len())).len() > 20);
    });
}

#[test]
fn items_that_are_their_own_parents_are_shown() {
    let text = r#"{"templateVersion": 2, "items": [
        {"uid": "a", "kind": "feature", "label": " ", "ref": "f_a", "parent": "b"},
        {"uid": "b", "kind": "column", "parent": "a"},
        {"uid": "c", "label": "C", "parent": "c"}, {"parent": "nobody"}, 7]}"#;
    let names = ask(text, |package| {
        symbols(package)
            .into_iter()
            .map(|symbol| symbol.name)
            .collect::<Vec<_>>()
    });
    assert_eq!(names, ["f_a", "unnamed item", "C", "unnamed item"]);
}

#[test]
fn brackets_in_strings_and_broken_ones_fold_nothing() {
    let text = "{\n\"a]\": [\"[\\\"[\n\", 1,\n{}],\n}\n]\n";
    let spans: Vec<_> = folds(text)
        .into_iter()
        .map(|fold| (fold.span, fold.depth))
        .collect();
    assert_eq!(spans.len(), 2, "{spans:?}");
    assert_eq!(spans[0].0.start, 0);
}

#[test]
fn a_place_that_takes_more_than_itself_has_no_proposals() {
    let around = |text: &str, at: usize| Some((text.to_owned(), at));
    let text = r#"{"templateVersion": 2, "plan": {"steps": [ ], "x": [ }"#;
    assert_eq!(complete(text, 43, &around), None);
    for text in ["", "{", "\"", "[", "{\"a\": "] {
        for offset in 0..=text.len() {
            complete(text, offset, &around);
        }
    }
}
