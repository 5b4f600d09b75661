//! Tests: valid bodies and their meaning, invalid bodies and their refusals.

use crate::export::{RowsSelection, Selection};
use crate::package::model::{Scope, Visibility};
use crate::problem::Code;

const ID: &str = "da94e3e8-ab73-438f-af18-22ffbc688778";

fn read(text: &str) -> Selection {
    Selection::from_json(&text.replace("ID", ID)).expect("a selection")
}

fn faults(text: &str) -> Vec<String> {
    let faults = Selection::from_json(&text.replace("ID", ID)).expect_err("refused");
    assert!(faults.iter().all(|one| one.code == Code::ValidationFailed));
    faults.into_iter().map(|one| one.detail).collect()
}

#[test]
fn an_empty_request_means_everything_without_rows() {
    assert_eq!(read("{}"), Selection::default());
}

#[test]
fn lists_name_what_travels_and_empty_ones_nothing() {
    let all = r#"{"features": ["ID"], "views": [], "modules": ["ID"], "rails": [], "workflows": ["ID"], "rows": ["ID"]}"#;
    let selection = read(all);
    let id = crate::workspace::Id::try_parse(ID).expect("a UUID");
    assert_eq!(selection.features, Some(vec![id]));
    assert_eq!(selection.views, Some(Vec::new()));
    assert_eq!(selection.workflows, Some(vec![id]));
    assert_eq!(selection.rows, RowsSelection::Some(vec![id]));
    assert_eq!(read(r#"{"rows": "all"}"#).rows, RowsSelection::All);
    assert_eq!(read(r#"{"rows": "none"}"#).rows, RowsSelection::None);
}

#[test]
fn an_identity_has_every_field_of_the_catalog() {
    let identity = read(
        r#"{"identity": {"id": "a", "name": "b", "label": "c", "description": "d", "icon": "e",
            "color": "f", "vocabulary": {"x": 1}, "category": "g", "scope": "module",
            "variables": [{"key": "k", "label": "l"}], "blocks": [{}], "tags": ["t"],
            "semver": "1.0.0", "visibility": "org"}}"#,
    )
    .identity;
    let texts = [
        &identity.id,
        &identity.name,
        &identity.label,
        &identity.description,
        &identity.icon,
        &identity.color,
        &identity.category,
        &identity.semver,
    ];
    let texts = texts.map(|text| text.as_deref().unwrap_or("none"));
    assert_eq!(texts, ["a", "b", "c", "d", "e", "f", "g", "1.0.0"]);
    assert_eq!(identity.scope, Some(Scope::Module));
    assert_eq!(identity.visibility, Some(Visibility::Org));
    assert_eq!(identity.tags, Some(vec!["t".to_owned()]));
    let lengths = (
        identity.variables.map(|list| list.len()),
        identity.blocks.map(|list| list.len()),
        identity.vocabulary.map(|members| members.len()),
    );
    assert_eq!(lengths, (Some(1), Some(1), Some(1)));
}

#[test]
fn every_fault_is_reported_with_its_path() {
    let text = r#"{"feature": [], "views": ["ID", "x", 5], "modules": null, "rows": "some",
        "identity": {"name": 1, "scope": "all", "vocabulary": [], "tags": ["a", 2],
            "variables": [{"key": "k"}, 3], "colour": "red"}}"#;
    assert_eq!(
        faults(text),
        [
            "`feature` is nothing that a selection has. Did you mean `features`?",
            "`views.1` is \"x\". Give a UUID.",
            "`views.2` is 5. Give a UUID.",
            "`modules` is null. Give a list of ids, or leave it out to take all.",
            "`rows` is \"some\". Give `none`, `all` or a list of the ids of tables.",
            "`identity.name` is 1. Give a string.",
            "`identity.scope` is \"all\". Give one of organization, workspace, module, feature.",
            "`identity.vocabulary` is []. Give an object.",
            "`identity.tags.1` is 2. Give a string.",
            "`identity.variables.0` has no `label`. Give it, a string.",
            "`identity.variables.1` is 3. Give an object.",
            "`identity.colour` is nothing that a selection has. Did you mean `color`?",
        ]
    );
}

#[test]
fn what_is_not_object_and_what_stands_twice_is_refused() {
    assert_eq!(faults("[]"), ["the selection is []. Give an object."]);
    let twice = faults(r#"{"rows": "all", "rows": "none"}"#);
    assert_eq!(
        twice,
        ["`rows` appears twice in one object. Keep one of the two."]
    );
    assert!(faults("{").concat().starts_with("not JSON: line 1"));
    // One id has one spelling.
    assert_eq!(
        faults(r#"{"rows": ["da94e3e8ab73438faf1822ffbc688778"]}"#).len(),
        1
    );
}

#[test]
fn an_identity_is_no_longer_than_what_stores_keep() {
    let ask = |member: &str, length: usize| {
        let text = "é".repeat(length);
        faults(&format!(r#"{{"identity": {{"{member}": "{text}"}}}}"#))
    };
    let faults = |text: &str| vec![text.to_owned()];
    assert_eq!(
        ask("label", 256),
        faults("`identity.label` has 256 characters. It has to have 1 to 255.")
    );
    assert_eq!(
        ask("label", 0),
        faults("`identity.label` has 0 characters. It has to have 1 to 255.")
    );
    assert_eq!(
        ask("description", 10_001),
        faults("`identity.description` has 10001 characters. It has to have 0 to 10000.")
    );
    for (member, length) in [
        ("label", 1),
        ("label", 255),
        ("description", 0),
        ("description", 10_000),
    ] {
        let text = "é".repeat(length);
        let body = format!(r#"{{"identity": {{"{member}": "{text}"}}}}"#);
        assert!(Selection::from_json(&body).is_ok(), "{member}: {length}");
    }
}
