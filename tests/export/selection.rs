//! What travels.

use serde_json::json;
use tplkit::definitions::Definitions;
use tplkit::export::{Fault, RowsSelection, Selection};
use tplkit::package::model::Catalog;
use tplkit::workspace::Id;

use crate::exported::{exported, refused};
use crate::space::Space;

struct Two {
    space: Space,
    tables: [Id; 2],
    views: [Id; 2],
    modules: [Id; 2],
    rails: [Id; 2],
}

fn two() -> Two {
    let mut space = Space::new();
    let tables = ["a", "b"].map(|name| space.table(name));
    let views = tables.map(|table| {
        space.text(table, "x");
        space.row(table, &json!({"x": "1"}));
        space.view(table, "all", "table", &json!({"visibleColumns": ["x"]}))
    });
    let modules = ["m", "n"].map(|name| space.module(name, &json!({})));
    let rails = modules.map(|module| space.rail(module, "go", &json!({})));
    Two {
        space,
        tables,
        views,
        modules,
        rails,
    }
}

#[test]
fn absent_lists_mean_everything_and_no_rows() {
    let package = exported(&two().space, &Selection::default());
    assert_eq!(package.refs("create_feature"), ["f_a", "f_b"]);
    assert_eq!(package.refs("create_view"), ["v_a_all", "v_b_all"]);
    assert_eq!(package.refs("create_rail"), ["r_go", "r_go_2"]);
    assert_eq!(package.0["payloads"], json!([]));
}

#[test]
fn a_table_brings_its_columns_and_absent_views_are_those_of_the_tables() {
    let Two {
        space,
        tables,
        modules,
        ..
    } = two();
    let selection = Selection {
        features: Some(vec![tables[1]]),
        modules: Some(vec![modules[1]]),
        ..Selection::default()
    };
    let package = exported(&space, &selection);
    assert_eq!(package.refs("create_column"), ["c_b_x"]);
    assert_eq!(package.refs("create_view"), ["v_b_all"]);
    assert_eq!(package.refs("create_rail"), ["r_go"]);
    assert_eq!(package.item("c_b_x")["parent"], package.item("f_b")["uid"]);
}

#[test]
fn a_parent_that_stays_behind_is_emptied() {
    let Two {
        space,
        tables,
        views,
        rails,
        ..
    } = two();
    let selection = Selection {
        features: Some(vec![tables[0]]),
        views: Some(vec![views[1]]),
        modules: Some(Vec::new()),
        rails: Some(vec![rails[0]]),
        ..Selection::default()
    };
    let package = exported(&space, &selection);
    assert_eq!(
        package.unresolved(),
        [
            "featureId feature uuid fora_da_selecao chave esvaziada",
            "moduleId module uuid fora_da_selecao chave esvaziada",
        ]
    );
    let labels: Vec<_> = package
        .list("unresolved")
        .iter()
        .map(|one| &one["sourceLabel"])
        .collect();
    assert_eq!(labels, ["b label", "m label"]);
    assert_eq!(package.created("v_b_all")["featureId"], "");
    assert_eq!(package.created("r_go")["moduleId"], "");
    assert!(package.item("v_b_all").get("parent").is_none());
    // What the view shows of the table is a dependency all the same.
    let table = package.dependency("f_b");
    assert_eq!(table["identity"]["columns"][0]["ref"], "c_b_x");
    let order = ["v_b_all", "r_go"].map(|one| package.created(one)["name"].clone());
    assert_eq!(order, ["all", "go"]);
}

#[test]
fn unknown_ids_are_all_named() {
    let Two {
        mut space, tables, ..
    } = two();
    let (gone, other) = (space.id(), space.id());
    let selection = Selection {
        features: Some(vec![gone, tables[0], gone]),
        rails: Some(vec![other]),
        rows: RowsSelection::Some(vec![other]),
        ..Selection::default()
    };
    let fault = refused(&space, &selection);
    let Fault::Unknown(unknown) = &fault else {
        panic!("{fault}")
    };
    let unknown: Vec<_> = unknown.iter().map(|one| (one.list, one.id)).collect();
    assert_eq!(
        unknown,
        [("features", gone), ("rails", other), ("rows", other)]
    );
    assert!(fault.to_string().contains(&gone.to_string()), "{fault}");
}

#[test]
fn rows_need_their_table() {
    let Two { space, tables, .. } = two();
    let selection = Selection {
        features: Some(vec![tables[0]]),
        rows: RowsSelection::Some(vec![tables[1]]),
        ..Selection::default()
    };
    let fault = refused(&space, &selection);
    assert!(
        matches!(&fault, Fault::RowsWithoutTable(ids) if ids == &[tables[1]]),
        "{fault}"
    );
}

#[test]
fn the_identity_is_the_workspaces_unless_given() {
    let Two { mut space, .. } = two();
    let package = exported(&space, &Selection::default());
    assert_eq!(package.0["manifest"]["name"], "sales");
    assert_eq!(package.0["manifest"]["label"], "Sales");
    let source = json!({"workspaceName": "Sales", "generatedAt": "2026-03-01T09:30:00Z", "definitionsVersion": Definitions::embedded().version});
    assert_eq!(package.0["manifest"]["source"], source);
    let id = space.id();
    space.state.structure.workspace.label = format!("Sales {id}");
    let selection = Selection {
        identity: Catalog {
            name: Some("mine".to_owned()),
            tags: Some(vec!["crm".to_owned()]),
            ..Catalog::default()
        },
        ..Selection::default()
    };
    let package = exported(&space, &selection);
    assert_eq!(package.0["manifest"]["name"], "mine");
    assert_eq!(package.0["manifest"]["label"], "Sales ");
    assert_eq!(package.0["manifest"]["tags"], json!(["crm"]));
}

#[test]
fn an_empty_selection_is_a_package() {
    let none = || Some(Vec::new());
    let selection = Selection {
        features: none(),
        views: none(),
        modules: none(),
        rails: none(),
        workflows: none(),
        ..Selection::default()
    };
    let package = exported(&two().space, &selection);
    assert_eq!(package.0["manifest"]["plan"]["summary"], "Creates nothing.");
}
