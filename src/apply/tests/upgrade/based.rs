//! The base of cells moves cell by cell: by the job that wrote a row or compared it, and by no other.

use serde_json::{Value as Json, json};

use super::{Line, client, conflicts, upgrade_body, v1, v2, without};
use crate::apply::test_packages::uid;
use crate::apply::{BasedRows, RowBase, speaks_of_all};
use crate::upgrade::ConflictCode;
use crate::workspace::ledger::Entry;

/// The city of the first client is another one.
fn city(name: &str) -> Json {
    v2(|package| client(package, 0)["city"] = name.into())
}

/// Clients are transactional data.
fn transactional(mut package: Json) -> Json {
    let items = package["manifest"]["items"].as_array_mut().expect("items");
    let item = items.iter_mut().find(|item| item["kind"] == "rows");
    item.expect("an item")["dataClass"] = "transactional".into();
    package
}

/// The package without the first of its clients.
fn without_first(mut package: Json) -> Json {
    let rows = package["payloads"][0]["rows"].as_array_mut().expect("rows");
    rows.remove(0);
    package["payloads"][0]["count"] = 2.into();
    let items = package["manifest"]["items"].as_array_mut().expect("items");
    let item = items.iter_mut().find(|item| item["kind"] == "rows");
    item.expect("an item")["count"] = 2.into();
    package["payloads"][1]["rows"] = json!([]);
    package["payloads"][1]["count"] = 0.into();
    let items = package["manifest"]["items"].as_array_mut().expect("items");
    let items = items.iter_mut().filter(|item| item["kind"] == "rows");
    items.last().expect("an item")["count"] = 0.into();
    package
}

/// The package without the cities of clients.
fn without_city(mut package: Json) -> Json {
    without(&mut package, "c_clients_city");
    let entry = &mut package["payloads"][0];
    let columns = entry["columns"].as_array_mut().expect("columns");
    columns.retain(|column| column != "city");
    for row in entry["rows"].as_array_mut().expect("rows") {
        row["data"].as_object_mut().expect("cells").remove("city");
    }
    package
}

/// The conflicts of an upgrade: paths with the base.
fn conflicts_with_base(line: &Line, package: &Json) -> Vec<(String, String)> {
    let plan = line.plan(package, &upgrade_body(&Json::Null));
    let conflicts = plan.conflicts.iter();
    conflicts
        .map(|conflict| {
            assert_eq!(conflict.code, ConflictCode::Changed);
            (
                conflict.path.clone().unwrap_or_default(),
                conflict.base.write(),
            )
        })
        .collect()
}

fn city_path() -> String {
    format!("rows.{}.city", uid(6000))
}

#[test]
fn a_job_without_rows_moves_no_base() {
    for upgrade in [false, true] {
        let mut line = Line::new();
        let body = json!({"includeRows": false, "upgrade": upgrade});
        line.apply(&city("Ulm"), &body.to_string());
        assert!(line.clients()[0].contains("Bonn"));
        let report = line.upgrade(&city("Ulm"), &Json::Null);
        assert_eq!(report.rows["f_clients"].updated, 1, "{upgrade}");
        assert!(line.clients()[0].contains("Ulm"));
    }
}

#[test]
fn an_undone_job_takes_the_base_of_what_it_wrote_with_it() {
    let new = city("Ulm");
    let mut line = Line::new();
    line.upgrade(&new, &Json::Null);
    line.apply(&new, "{}");
    // The plain apply found everything equal, and stands.
    line.undo_at(1);
    assert!(line.clients()[0].contains("Bonn"));
    let report = line.upgrade(&new, &Json::Null);
    assert_eq!(report.rows["f_clients"].updated, 1);
    assert!(line.clients()[0].contains("Ulm"));
}

#[test]
fn what_people_change_after_an_undone_upgrade_is_asked_about() {
    let new = city("Ulm");
    let mut line = Line::new();
    line.upgrade(&new, &Json::Null);
    line.apply(&new, "{}");
    line.undo_at(1);
    line.cells(0, &json!({"city": "Ours"}));
    let base = r#""Bonn""#.to_owned();
    assert_eq!(
        conflicts_with_base(&line, &city("Trier")),
        [(city_path(), base)]
    );
}

#[test]
fn a_plain_apply_moves_no_base_of_rows_that_are_there() {
    let new = city("Ulm");
    let mut line = Line::new();
    line.apply(&new, "{}");
    line.apply(&new, "{}");
    line.undo_at(1);
    let report = line.upgrade(&new, &Json::Null);
    assert_eq!(report.rows["f_clients"].updated, 1);
    assert_eq!(line.drift(true).rows["f_clients"].changed, 0);
}

#[test]
fn a_row_that_comes_back_has_the_base_that_it_had() {
    let mut line = Line::new();
    line.upgrade(&without_first(v1()), &Json::Null);
    line.cells(0, &json!({"city": "Ours"}));
    // The package says again what it always said.
    assert_eq!(conflicts_with_base(&line, &v1()), []);
    let base = r#""Bonn""#.to_owned();
    assert_eq!(
        conflicts_with_base(&line, &city("Ulm")),
        [(city_path(), base)]
    );
    let report = line.upgrade(&v1(), &Json::Null);
    assert_eq!(report.rows["f_clients"].updated, 0);
    assert!(line.clients()[0].contains("Ours"));
}

#[test]
fn a_column_that_comes_back_has_the_base_that_it_had() {
    let mut line = Line::new();
    line.upgrade(&without_city(v1()), &Json::Null);
    line.cells(0, &json!({"city": "Ours"}));
    line.cells(1, &json!({"note": "Ours"}));
    assert_eq!(conflicts_with_base(&line, &v1()), []);
    let base = r#""Bonn""#.to_owned();
    assert_eq!(
        conflicts_with_base(&line, &city("Ulm")),
        [(city_path(), base)]
    );
    let other = v2(|package| client(package, 1)["city"] = "Ulm".into());
    let report = line.upgrade(&other, &Json::Null);
    let rows = &report.rows["f_clients"];
    assert_eq!((rows.updated, rows.kept), (1, 2), "{report:#?}");
}

#[test]
fn cells_that_were_no_leaves_keep_their_base() {
    let mut line = Line::of(&transactional(v1()));
    let report = line.upgrade(&transactional(city("Ulm")), &Json::Null);
    assert_eq!(
        (report.rows["f_clients"].updated, report.moved.len()),
        (0, 0)
    );
    assert_eq!(line.drift(true).rows["f_clients"].changed, 0);
    // Nothing changes, so nothing is written.
    let ledger = line.jobs.len();
    line.upgrade(&transactional(city("Ulm")), &Json::Null);
    assert_eq!(line.jobs[ledger].1, [Entry::Completed]);
    // Then they are compared.
    let report = line.upgrade(&city("Ulm"), &Json::Null);
    assert_eq!(report.rows["f_clients"].updated, 1);
    assert!(line.clients()[0].contains("Ulm"));
    assert_eq!(
        line.plan(&city("Ulm"), &upgrade_body(&Json::Null))
            .conflicts,
        []
    );
}

#[test]
fn an_empty_cell_that_was_no_leaf_is_no_cell_of_a_new_column() {
    let empty = v2(|package| {
        client(package, 0)
            .as_object_mut()
            .expect("cells")
            .remove("city");
    });
    let mut line = Line::of(&transactional(empty));
    for _ in 0..2 {
        line.upgrade(&transactional(v1()), &Json::Null);
        assert!(!line.clients()[0].contains("Bonn"));
    }
    line.upgrade(&v1(), &Json::Null);
    assert!(line.clients()[0].contains("Bonn"));
}

#[test]
fn older_packages_are_read_where_something_is_left_over() {
    let enough = |line: &Line| {
        line.past(|past| {
            let rows = past.base.expect("a base").rows;
            speaks_of_all(past.entries, &rows[..1])
        })
    };
    let mut line = Line::new();
    line.upgrade(&city("Ulm"), &Json::Null);
    assert!(enough(&line));
    line.apply(&city("Ulm"), "{}");
    assert!(enough(&line));
    for lacking in [without_first(v1()), without_city(v1())] {
        line.upgrade(&lacking, &Json::Null);
        assert!(!enough(&line));
        line.upgrade(&v1(), &Json::Null);
        assert!(enough(&line));
    }
}

#[test]
fn a_plain_apply_speaks_of_the_rows_that_it_wrote() {
    let mut line = Line::of(&without_first(v1()));
    line.apply(&city("Ulm"), "{}");
    line.past(|past| {
        let rows: &[RowBase<'_>] = past.base.expect("a base").rows;
        assert_eq!(rows.len(), 2);
        assert!(matches!(rows[0].rows, BasedRows::Written(_)));
        assert_eq!(rows[1].rows, BasedRows::All);
    });
    // The row of that job came with its value, the other ones have the base of the first.
    let new = v2(|package| {
        client(package, 0)["city"] = "Trier".into();
        client(package, 1)["city"] = "Hof".into();
    });
    line.cells(0, &json!({"note": "Ours"}));
    let plan = line.plan(&new, &upgrade_body(&Json::Null));
    assert_eq!(conflicts(&plan), []);
    assert_eq!(plan.rows["f_clients"].update, 2);
}

#[test]
fn what_was_decided_for_a_cell_is_asked_about_when_the_package_changes_it_again() {
    let path = city_path();
    let decide = |word: Json| json!({"f_clients": {path.clone(): word}});
    let third = city("Trier");
    for (edit, decided, now) in [
        (Some("Ours"), json!({"value": "Decided"}), "Decided"),
        (None, json!({"value": "Decided"}), "Decided"),
        (None, json!("ours"), "Bonn"),
    ] {
        let mut line = Line::new();
        if let Some(edit) = edit {
            line.cells(0, &json!({"city": edit}));
        }
        line.upgrade(&city("Ulm"), &decide(decided));
        assert!(line.clients()[0].contains(now));
        let cells = line.drift(true).cells.expect("cells");
        assert_eq!(cells.len(), 1, "{now}");
        assert_eq!(cells[0].base.write(), r#""Ulm""#);
        let base = r#""Ulm""#.to_owned();
        assert_eq!(
            conflicts_with_base(&line, &third),
            [(path.clone(), base)],
            "{now}"
        );
    }
}

#[test]
fn a_value_that_was_found_equal_is_the_base_when_people_go_back() {
    let mut line = Line::new();
    line.cells(0, &json!({"city": "Ulm"}));
    line.upgrade(&city("Ulm"), &Json::Null);
    assert_eq!(line.drift(true).rows["f_clients"].changed, 0);
    line.cells(0, &json!({"city": "Bonn"}));
    assert_eq!(line.drift(true).rows["f_clients"].changed, 1);
    let base = r#""Ulm""#.to_owned();
    assert_eq!(
        conflicts_with_base(&line, &city("Trier")),
        [(city_path(), base)]
    );
}

#[test]
fn what_a_column_left_behind_is_a_change_of_people_once_it_is_created_again() {
    let mut line = Line::new();
    line.remove(crate::workspace::RecordKind::Column, "city");
    line.upgrade(&city("Ulm"), &json!({"c_clients_city": "create"}));
    assert!(line.clients()[0].contains("Bonn"));
    let drift = line.drift(true).cells.expect("cells");
    assert_eq!(drift.len(), 1, "{drift:#?}");
    let base = r#""Ulm""#.to_owned();
    assert_eq!(
        conflicts_with_base(&line, &city("Trier")),
        [(city_path(), base)]
    );
}
