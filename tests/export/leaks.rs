//! Ids where no declaration says what they name, and texts that read as refs.

use serde_json::json;
use tplkit::export::{Fault, Selection};

use crate::exported::{exported, exported_but, refused};
use crate::space::{Space, object};

fn automation(space: &mut Space, value: &serde_json::Value) {
    let steps = json!([
        {"key": "var.set", "config": {"name": "v", "value": value}},
        {"key": "notify", "config": {"scopeType": "organization", "body": "x"}},
    ]);
    space.automation("Run", &json!({"type": "manual"}), &steps);
}

#[test]
fn an_undeclared_id_of_something_that_travels_becomes_its_ref() {
    let mut space = Space::new();
    let a = space.table("a");
    let workspace = space.state.structure.workspace.id;
    automation(&mut space, &json!([a, workspace]));
    let package = exported(&space, &Selection::default());
    let value = &package.created("w_run")["graphConfig"]["steps"][0]["config"]["value"];
    assert_eq!(value, &json!(["$f_a", "$workspace"]));
    assert!(package.unresolved().is_empty());
}

#[test]
fn an_undeclared_id_of_anything_else_is_emptied_and_reported() {
    let mut space = Space::new();
    let (a, b) = (space.table("a"), space.table("b"));
    let column = space.text(a, "x");
    let row = space.row(a, &json!({"x": "1"}));
    automation(&mut space, &json!([b, column, row]));
    let selection = Selection {
        features: Some(vec![a]),
        ..Selection::default()
    };
    let package = exported(&space, &selection);
    assert_eq!(
        package.unresolved(),
        [
            "graphConfig.steps.0.config.value.0 feature uuid fora_da_selecao chave esvaziada",
            "graphConfig.steps.0.config.value.1 column uuid sem_ref_cunhado chave esvaziada",
            "graphConfig.steps.0.config.value.2 file uuid nao_exportavel chave esvaziada",
        ]
    );
    assert_eq!(package.list("unresolved")[0]["sourceLabel"], "b label");
}

#[test]
fn an_id_inside_a_text_is_cut_out_of_it() {
    let mut space = Space::new();
    let a = space.table("a");
    automation(&mut space, &json!(format!("see /t/{a}?n=1 and $f_a")));
    space.table_mut(a).label = format!("A {a}");
    let package = exported(&space, &Selection::default());
    let value = &package.created("w_run")["graphConfig"]["steps"][0]["config"]["value"];
    assert_eq!(value, "see /t/?n=1 and $f_a");
    assert_eq!(package.item("f_a")["label"], "A ");
    assert_eq!(
        package.unresolved(),
        [
            "label feature uuidOrName nao_exportavel chave esvaziada",
            "graphConfig.steps.0.config.value feature uuidOrName nao_exportavel chave esvaziada",
        ]
    );
}

#[test]
fn keys_that_are_ids_become_refs_or_go() {
    let mut space = Space::new();
    let (a, other) = (space.table("a"), space.id());
    let mut value = serde_json::Map::new();
    value.insert(a.to_string(), json!(1));
    value.insert(other.to_string(), json!({"inside": other}));
    value.insert("$f_x".to_owned(), json!(2));
    automation(&mut space, &value.into());
    let package = exported(&space, &Selection::default());
    let value = &package.created("w_run")["graphConfig"]["steps"][0]["config"]["value"];
    assert_eq!(value, &json!({"$f_a": 1}));
    assert_eq!(
        package.unresolved(),
        [
            "graphConfig.steps.0.config.value.* feature uuid sem_ref_cunhado chave omitida",
            "graphConfig.steps.0.config.value.* file uuid nao_exportavel chave omitida",
        ]
    );
}

#[test]
fn a_text_that_reads_as_a_ref_is_emptied() {
    let mut space = Space::new();
    let a = space.table("a");
    space.column(a, "go", "button", &json!({"buttonLabel": "$f_a"}));
    let package = exported(&space, &Selection::default());
    assert_eq!(
        package.unresolved(),
        ["config.buttonLabel feature uuid sem_ref_cunhado chave esvaziada"]
    );
}

#[test]
fn keys_that_the_definitions_do_not_have_stay_without_their_ids() {
    let mut space = Space::new();
    let (a, other) = (space.table("a"), space.id());
    space.table_mut(a).config = object(&json!({"old": {"kept": 1, "table": other, "later": [a]}}));
    let package = exported_but(&space, &Selection::default(), &["S018"]);
    assert_eq!(
        package.created("f_a")["config"],
        json!({"old": {"kept": 1, "later": ["$f_a"], "table": ""}})
    );
}

#[test]
fn a_forward_id_in_a_list_keeps_the_places_of_the_others() {
    let mut space = Space::new();
    let (a, b) = (space.table("a"), space.table("b"));
    space.table_mut(a).config = object(&json!({"old": [b, a]}));
    let package = exported_but(&space, &Selection::default(), &["S018"]);
    assert_eq!(
        package.created("f_a")["config"],
        json!({"old": ["", "$f_a"]})
    );
    assert_eq!(
        package.updated("f_a"),
        Some(&json!({"old": ["$f_b", "$f_a"]}))
    );
}

#[test]
fn names_that_hold_ids_are_refused() {
    let mut space = Space::new();
    let id = space.id();
    let a = space.table("a");
    space.text(a, &format!("x {id}"));
    space.text(a, "$c_y");
    let fault = refused(&space, &Selection::default());
    assert!(
        matches!(&fault, Fault::UnfitNames(names) if names.len() == 2),
        "{fault}"
    );
}
