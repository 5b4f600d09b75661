//! Cells of rows that are there.

use serde_json::{Value as Json, json};

use super::super::world::{cells, link, person, points};
use super::exchanged::cities;
use super::{Line, args, client, conflicts, upgrade_body, v1, v2, with};
use crate::apply::test_packages::uid;
use crate::apply::{NotCarried, Report};
use crate::problem::Code;
use crate::workspace::{Change, RecordKind, Removal, RowData, RowWrite};

#[test]
fn cells_follow_the_rule() {
    let mut line = Line::new();
    line.cells(1, &json!({"note": "ours"}));
    let new = v2(|package| {
        client(package, 0)["city"] = "Berlin".into();
        client(package, 1)["city"] = "Ulm".into();
    });
    let plan = line.plan(&new, &upgrade_body(&Json::Null));
    let rows = &plan.rows["f_clients"];
    assert_eq!(
        (rows.update, rows.kept, rows.conflicts),
        (2, 1, 0),
        "{plan:#?}"
    );
    let report = line.upgrade(&new, &Json::Null);
    assert_eq!(report.rows["f_clients"].updated, 2);
    let clients = line.clients();
    assert!(
        clients[0].contains("Berlin") && clients[1].contains("Ulm") && clients[1].contains("ours"),
        "{clients:?}"
    );
    let again = line.plan(&new, &upgrade_body(&Json::Null));
    assert_eq!(again.rows["f_clients"].update, 0);
}

#[test]
fn cells_that_both_changed_are_asked_and_decided() {
    let new = v2(|package| client(package, 0)["city"] = "Berlin".into());
    let mut line = Line::new();
    line.cells(0, &json!({"city": "Ours"}));
    let path = format!("rows.{}.city", uid(6000));
    let plan = line.plan(&new, &upgrade_body(&Json::Null));
    assert_eq!(conflicts(&plan), [("changed", "f_clients", path.as_str())]);
    assert_eq!(plan.conflicts[0].uid, Some(uid(6000)));
    assert_eq!(plan.conflicts[0].id, Some(line.client_row(0).1));
    line.upgrade(&new, &json!({"f_clients": {path.clone(): "ours"}}));
    assert!(line.clients()[0].contains("Ours"));
    assert_eq!(line.plan(&new, &upgrade_body(&Json::Null)).conflicts, []);
    let third = v2(|package| client(package, 0)["city"] = "Third".into());
    assert_eq!(
        line.plan(&third, &upgrade_body(&Json::Null))
            .conflicts
            .len(),
        1
    );
    line.upgrade(&third, &json!({"f_clients": "theirs"}));
    assert!(line.clients()[0].contains("Third"));
}

/// Cities are unique, and the new version gives the first client one.
pub(super) fn with_city(city: &str) -> Json {
    v2(|package| {
        args(package, "c_clients_city")["config"] = json!({"unique": true});
        client(package, 0)["city"] = city.into();
    })
}

#[test]
fn a_row_that_was_refused_keeps_its_base_and_is_tried_again() {
    let mut line = Line::of(&with_city("Bonn"));
    let taken = line.insert("clients", r#"{"name":"D","city":"Ulm"}"#);
    let counts = |report: &Report| {
        let rows = &report.rows["f_clients"];
        (rows.updated, rows.failed)
    };
    let new = with_city("Ulm");
    assert_eq!(counts(&line.upgrade(&new, &Json::Null)), (0, 1));
    // What nobody can write yet is not a change of people.
    assert_eq!(line.drift(true).rows["f_clients"].changed, 0);
    assert_eq!(counts(&line.upgrade(&new, &Json::Null)), (0, 1));
    let (feature, _) = line.client_row(0);
    let rows = vec![Removal {
        id: taken,
        digest: None,
    }];
    person(&mut line.memory, vec![Change::RemoveRows { feature, rows }]);
    assert_eq!(counts(&line.upgrade(&new, &Json::Null)), (1, 0));
    assert!(line.clients()[0].contains("Ulm"));
    assert_eq!(counts(&line.upgrade(&new, &Json::Null)), (0, 0));
}

#[test]
fn a_row_that_others_change_meanwhile_keeps_no_other_from_the_upgrade() {
    let new = v2(|package| {
        client(package, 0)["city"] = "Berlin".into();
        client(package, 1)["city"] = "Ulm".into();
    });
    let counts = |report: &Report| {
        let rows = &report.rows["f_clients"];
        (rows.updated, rows.failed)
    };
    let mut line = Line::new();
    let (_, row) = line.client_row(0);
    line.memory.edit_before(row, "note", 3);
    assert_eq!(counts(&line.upgrade(&new, &Json::Null)), (2, 0));
    let clients = line.clients();
    assert!(
        clients[0].contains("Berlin") && clients[0].contains("edit 0"),
        "{clients:?}"
    );

    let mut line = Line::new();
    let (_, row) = line.client_row(0);
    line.memory.edit_before(row, "note", u64::MAX);
    let report = line.upgrade(&new, &Json::Null);
    assert_eq!(counts(&report), (1, 1));
    assert_eq!(report.errors[0].code, Code::Conflict);
    let clients = line.clients();
    assert!(
        !clients[0].contains("Berlin") && clients[1].contains("Ulm"),
        "{clients:?}"
    );
    // Its base stays, so the next upgrade writes it.
    assert_eq!(line.drift(true).rows["f_clients"].changed, 1);
    line.memory.edit_before(row, "note", 0);
    assert_eq!(counts(&line.upgrade(&new, &Json::Null)), (1, 0));
    assert!(line.clients()[0].contains("Berlin"));
}

#[test]
fn a_row_that_people_deleted_stays_deleted_and_one_that_went_is_left() {
    let mut line = Line::new();
    let (feature, row) = line.client_row(2);
    let rows = vec![Removal {
        id: row,
        digest: None,
    }];
    person(&mut line.memory, vec![Change::RemoveRows { feature, rows }]);
    let new = v2(|package| {
        client(package, 2)["city"] = "Weimar".into();
        let rows = package["payloads"][0]["rows"].as_array_mut().expect("rows");
        rows.remove(1);
        package["payloads"][0]["count"] = 2.into();
        let items = package["manifest"]["items"].as_array_mut().expect("items");
        let item = items.iter_mut().find(|item| item["kind"] == "rows");
        item.expect("an item")["count"] = 2.into();
    });
    let plan = line.plan(&new, &upgrade_body(&Json::Null));
    assert_eq!(
        (plan.rows["f_clients"].left, plan.rows["f_clients"].insert),
        (1, 0)
    );
    line.upgrade(&new, &Json::Null);
    assert_eq!(line.clients().len(), 2);
}

#[test]
fn cells_of_a_new_column_are_written_where_the_row_has_none() {
    let new = v2(|package| {
        with(
            package,
            "create_column",
            "c_clients_tel",
            json!({"featureId": "$f_clients", "name": "tel", "label": "tel", "type": "text", "defaultComponent": "textfield", "order": 9}),
        );
        with(
            package,
            "create_column",
            "c_orders_due",
            json!({"featureId": "$f_orders", "name": "due", "label": "due", "type": "text", "defaultComponent": "textfield", "order": 9}),
        );
        package["payloads"][0]["columns"] = json!(["name", "city", "note", "tel"]);
        client(package, 0)["tel"] = "11".into();
        client(package, 1)["tel"] = "22".into();
        package["payloads"][1]["columns"] = json!(["code", "client", "due"]);
        package["payloads"][1]["rows"][0]["data"]["due"] = "soon".into();
        package["payloads"][1]["rows"][0]["data"]["code"] = "1".into();
    });
    let mut line = Line::new();
    line.cells(1, &json!({"tel": "ours"}));
    line.upgrade(&new, &Json::Null);
    let clients = line.clients();
    assert!(
        clients[0].contains("11") && clients[1].contains("ours"),
        "{clients:?}"
    );
    // Orders are transactional: of what is there nothing else changes.
    assert!(super::super::world::cells(&line.memory, "orders")[0].contains("soon"));
}

#[test]
fn rows_of_transactional_tables_never_change() {
    let new = v2(|package| package["payloads"][1]["rows"][0]["data"]["client"] = "A".into());
    let mut line = Line::new();
    let before = line.memory.state();
    line.upgrade(&new, &Json::Null);
    assert_eq!(line.memory.state(), before);
    assert_eq!(
        line.plan(&v1(), &upgrade_body(&Json::Null)).rows["f_orders"].update,
        0
    );
}

/// Clients have a boss, the second one the third.
fn linked(change: impl FnOnce(&mut Json)) -> Json {
    v2(|package| {
        let column = json!({"featureId": "$f_clients", "name": "boss", "label": "boss", "type": "linked_select",
            "defaultComponent": "linkfield", "order": 9, "config": link("clients", "name")});
        with(package, "create_column", "c_clients_boss", column);
        let columns = package["payloads"][0]["columns"].as_array_mut();
        columns.expect("columns").push("boss".into());
        boss(package, &json!("C"), 6002);
        change(package);
    })
}

/// The second client gets a boss.
fn boss(package: &mut Json, name: &Json, row: usize) {
    let client = &mut package["payloads"][0]["rows"][1];
    client["data"]["boss"] = name.clone();
    let refs = json!({"boss": points(row, "clients", "name")});
    let client = client.as_object_mut().expect("a row");
    client.shift_remove("refs");
    if *name != Json::Null {
        client.insert("refs".to_owned(), refs);
    }
}

#[test]
fn a_link_to_a_row_that_the_package_lost_is_what_it_was() {
    for name in [json!("A"), Json::Null] {
        // The third client goes, and the second one points at the first one, or at none.
        let new = linked(|package| {
            let entry = &mut package["payloads"][0];
            entry["rows"].as_array_mut().expect("rows").pop();
            entry["count"] = 2.into();
            let uid = entry["itemUid"].clone();
            let items = package["manifest"]["items"].as_array_mut();
            let mut items = items.expect("items").iter_mut();
            let item = items.find(|item| item["uid"] == uid);
            item.expect("an item")["count"] = 2.into();
            boss(package, &name, 6000);
        });
        let mut line = Line::of(&linked(|_| ()));
        assert!(line.clients()[1].contains(r#""boss":"C""#));
        // People change another cell of the client.
        line.cells(1, &json!({"note": "ours"}));
        let plan = line.plan(&new, &upgrade_body(&Json::Null));
        assert_eq!(conflicts(&plan), [], "{name}");
        let rows = &plan.rows["f_clients"];
        assert_eq!((rows.update, rows.kept), (1, 1), "{name}");
        line.upgrade(&new, &Json::Null);
        let client = &line.clients()[1];
        assert!(!client.contains(r#""boss":"C""#), "{client}");
        assert_eq!(client.contains(r#""boss":"A""#), name == "A", "{client}");
    }
}

/// A plan has no id for a row that an apply would create: the link names the row as the package does.
#[test]
fn a_link_to_a_new_row_is_shown_by_its_name() {
    let new = linked(|package| {
        new_boss(package);
        let refs = package["payloads"][0]["rows"][1]["refs"]["boss"].as_object_mut();
        // Without a column the link holds the id of the row.
        refs.expect("refs").shift_remove("valueColumn");
    });
    let mut line = Line::of(&linked(|_| ()));
    line.cells(1, &json!({"boss": "A"}));
    let plan = line.plan(&new, &upgrade_body(&Json::Null));
    let conflict = plan.conflicts.first().expect("a conflict");
    assert_eq!(
        conflict.theirs,
        format!("(new) {}", uid(6003)).as_str().into()
    );
}

/// The order named the first client, which gets another name before the order gets another client.
#[test]
fn a_link_of_the_base_is_what_its_row_showed_before_the_upgrade() {
    let compared = |package: &mut Json| {
        let uid = package["payloads"][1]["itemUid"].clone();
        let items = package["manifest"]["items"].as_array_mut();
        let mut items = items.expect("items").iter_mut();
        let item = items.find(|item| item["uid"] == uid).expect("an item");
        item["dataClass"] = "reference".into();
    };
    let new = v2(|package| {
        compared(package);
        client(package, 0)["name"] = "Eve".into();
        let order = &mut package["payloads"][1]["rows"][0];
        order["data"]["client"] = "B".into();
        order["refs"]["client"] = points(6001, "clients", "name");
    });
    let mut line = Line::of(&v2(compared));
    let feature = line.get(RecordKind::Feature, "orders").id;
    let write = RowWrite {
        id: line.memory.state().rows[&feature][0].id,
        cells: RowData::parse(r#"{"code":"9"}"#).expect("cells"),
        replace: false,
        digest: None,
    };
    let rows = vec![write];
    person(&mut line.memory, vec![Change::UpdateRows { feature, rows }]);
    let report = line.upgrade(&new, &Json::Null);
    assert_eq!(report.moved, []);
    let order = &cells(&line.memory, "orders")[0];
    assert!(order.contains(r#""client":"B""#), "{order}");
    assert!(line.clients()[0].contains(r#""name":"Eve""#));
}

#[test]
fn a_link_that_the_package_leaves_is_left_although_its_row_is_gone() {
    let mut line = Line::of(&linked(|_| ()));
    let (feature, third) = line.client_row(2);
    line.cells(1, &json!({"note": "ours"}));
    let rows = vec![Removal {
        id: third,
        digest: None,
    }];
    person(&mut line.memory, vec![Change::RemoveRows { feature, rows }]);
    let plan = line.plan(&linked(|_| ()), &upgrade_body(&Json::Null));
    assert_eq!(
        (plan.rows["f_clients"].update, conflicts(&plan)),
        (0, vec![])
    );
    line.upgrade(&linked(|_| ()), &Json::Null);
    assert!(line.clients()[1].contains(r#""boss":"C""#));
}

#[test]
fn a_plain_apply_keeps_the_base_of_a_cell_that_does_not_fit_yet() {
    let number = v2(|package| {
        let args = args(package, "c_clients_note");
        args["type"] = "number".into();
        args["defaultComponent"] = "numberfield".into();
        for row in 0..3 {
            client(package, row)["note"] = (row + 10).into();
        }
    });
    let select = |package: &mut Json| {
        let args = args(package, "c_clients_note");
        args["type"] = "select".into();
        args["defaultComponent"] = "selectfield".into();
        args["config"] = json!({"options": ["1", "2", "3"]});
    };
    let mut line = Line::of(&v2(select));
    let report = line.apply(&number, "{}");
    let carried: Vec<_> = report
        .not_carried
        .iter()
        .map(|one| one.path.as_deref())
        .collect();
    assert!(carried.contains(&Some("type")), "{carried:?}");
    line.upgrade(&number, &Json::Null);
    let clients = line.clients();
    assert!(clients[2].contains(r#""note":12"#), "{clients:?}");
}

/// The second client gets a boss who is new.
fn new_boss(package: &mut Json) {
    let entry = &mut package["payloads"][0];
    let row = json!({"uid": uid(6003), "data": {"name": "D", "city": "Ulm", "note": "4"}});
    entry["rows"].as_array_mut().expect("rows").push(row);
    entry["count"] = 4.into();
    let entry_uid = entry["itemUid"].clone();
    let items = package["manifest"]["items"].as_array_mut();
    let mut items = items.expect("items").iter_mut();
    let item = items.find(|item| item["uid"] == entry_uid);
    item.expect("an item")["count"] = 4.into();
    boss(package, &json!("D"), 6003);
}

fn left_out(entries: &[NotCarried]) -> Vec<(&str, Option<&str>, Option<u64>)> {
    let entries = entries.iter();
    entries
        .map(|one| (&*one.reference, one.path.as_deref(), one.count))
        .collect()
}

#[test]
fn a_link_to_a_row_that_is_not_there_takes_none_away_and_comes_with_its_row() {
    let new = linked(new_boss);
    let mut line = Line::of(&linked(|_| ()));
    let none = r#"{"upgrade": true, "rowsModes": {"f_clients": "none"}}"#;
    let expected = [("f_clients", Some("rows[].data.boss"), Some(1))];
    let before = line.clients();
    for _ in 0..2 {
        let plan = line.plan(&new, none);
        assert_eq!(left_out(&plan.not_carried), expected);
        assert_eq!(plan.rows["f_clients"].update, 0);
        let report = line.apply(&new, none);
        assert_eq!(left_out(&report.not_carried), expected);
        assert_eq!(report.rows["f_clients"].updated, 0);
        assert_eq!(report.moved, []);
        assert_eq!(line.clients(), before);
    }
    let drift = line.drift(true);
    assert!(!drift.drift, "{drift:#?}");
    let report = line.upgrade(&new, &Json::Null);
    assert_eq!(left_out(&report.not_carried), []);
    assert!(line.clients()[1].contains(r#""boss":"D""#));
    line.undo(false).expect("undone");
    assert_eq!(line.clients(), before);
}

#[test]
fn a_value_is_decided_where_the_row_of_a_link_is_not_there() {
    let mut line = Line::of(&linked(|_| ()));
    let path = format!("rows.{}.boss", uid(6001));
    let decisions = json!({"f_clients": {path: {"value": "A"}}});
    let modes = json!({"f_clients": "none"});
    let body = json!({"upgrade": true, "rowsModes": modes, "decisions": decisions});
    let report = line.apply(&linked(new_boss), &body.to_string());
    assert_eq!((report.decided, left_out(&report.not_carried)), (1, vec![]));
    assert!(line.clients()[1].contains(r#""boss":"A""#));
}

#[test]
fn a_cell_of_a_new_column_waits_for_the_row_that_it_points_at() {
    let mut line = Line::new();
    let none = r#"{"upgrade": true, "rowsModes": {"f_clients": "none"}}"#;
    let new = linked(new_boss);
    let report = line.apply(&new, none);
    let expected = [("f_clients", Some("rows[].data.boss"), Some(1))];
    assert_eq!(left_out(&report.not_carried), expected);
    line.upgrade(&new, &Json::Null);
    assert!(line.clients()[1].contains(r#""boss":"D""#));
}

/// A store elsewhere reads them meanwhile.
#[test]
fn a_plan_says_which_rows_it_fetches_next() {
    let numbers: Vec<String> = (0..1200).map(|at| at.to_string()).collect();
    let mut line = Line::of(&cities(&numbers));
    line.memory.limit_lookups(1000);
    let mut new = cities(&numbers);
    client(&mut new, 700)["note"] = "new".into();
    let plan = line.plan(&new, &upgrade_body(&Json::Null));
    assert_eq!(plan.rows["f_clients"].update, 1);
    // The first of three batches is fetched without a word.
    assert_eq!(line.memory.fetched_as_said(), 2);
}
