//! Links to rows whose values an upgrade changes: they show what these rows hold then, as after a fresh apply.

use serde_json::{Value as Json, json};

use super::super::world::{cells, link, points};
use super::killed::goes_on_alike;
use super::linked_values::pointing;
use super::unlinked::{add, compared, first};
use super::{Line, args, client, conflicts, upgrade_body, v2, with};
use crate::apply::test_packages::uid;

/// A version in which the second client has another name.
fn renamed(mut package: Json) -> Json {
    client(&mut package, 1)["name"] = "Benno".into();
    for order in package["payloads"][1]["rows"].as_array_mut().expect("rows") {
        if order["data"]["client"] == "B" {
            order["data"]["client"] = "Benno".into();
        }
    }
    package
}

/// The first version, with an order that points at the second client.
fn of_second() -> Json {
    pointing(&json!("B"), &[6001], None)
}

/// What a fresh apply makes of orders.
fn fresh(package: &Json) -> Vec<String> {
    cells(&Line::of(package).memory, "orders")
}

/// Upgrades, and whether all is as it should be then; undone again in the end.
fn upgraded(line: &mut Line, new: &Json) -> crate::apply::Report {
    let before = line.memory.state();
    let plan = line.plan(new, &upgrade_body(&Json::Null));
    assert_eq!(conflicts(&plan), []);
    let report = line.upgrade(new, &Json::Null);
    for (reference, rows) in &report.rows {
        let planned = &plan.rows[reference];
        assert_eq!(planned.update, rows.updated, "{reference}");
    }
    assert_eq!(cells(&line.memory, "orders"), fresh(new));
    assert!(!line.drift(true).drift, "{:#?}", line.drift(true));
    let after = line.memory.state();
    let again = line.upgrade(new, &Json::Null);
    assert_eq!(again.rows["f_orders"].updated, 0);
    assert_eq!(line.memory.state(), after);
    line.undo(false).expect("undone");
    line.undo(false).expect("undone");
    assert_eq!(line.memory.state(), before);
    report
}

#[test]
fn links_show_what_the_row_holds_after_the_upgrade() {
    // The same link, another one, and one of a new row.
    let same = renamed(of_second());
    let report = upgraded(&mut Line::of(&of_second()), &same);
    assert_eq!(report.rows["f_orders"].updated, 1);
    let other = renamed(of_second());
    let report = upgraded(&mut first(), &other);
    assert_eq!(report.rows["f_orders"].updated, 1);
    let new = renamed(pointing(&json!("B"), &[6001], Some(("B", 6001))));
    let report = upgraded(&mut Line::of(&of_second()), &new);
    let rows = &report.rows["f_orders"];
    assert_eq!((rows.updated, rows.inserted), (1, 1));
    let both = pointing(&json!(["A", "B"]), &[6000, 6001], None);
    let mut next = renamed(both.clone());
    next["payloads"][1]["rows"][0]["data"]["client"] = json!(["A", "Benno"]);
    let report = upgraded(&mut Line::of(&both), &next);
    assert_eq!(report.rows["f_orders"].updated, 1);
}

#[test]
fn names_that_are_exchanged_are_exchanged_in_links_too() {
    let base = pointing(&json!("B"), &[6001], Some(("C", 6002)));
    let mut new = base.clone();
    client(&mut new, 1)["name"] = "C".into();
    client(&mut new, 2)["name"] = "B".into();
    let orders = &mut new["payloads"][1]["rows"];
    orders[0]["data"]["client"] = "C".into();
    orders[1]["data"]["client"] = "B".into();
    upgraded(&mut Line::of(&base), &new);
}

#[test]
fn what_people_linked_and_old_rows_of_transactional_data_stay() {
    let mut line = Line::of(&of_second());
    line.edit_order(0, &json!({"client": "C"}));
    line.upgrade(&renamed(of_second()), &Json::Null);
    assert!(line.order(0).contains(r#""client":"C""#));

    let transactional = |second: bool| {
        v2(|package| {
            let order = &mut package["payloads"][1]["rows"][0];
            order["data"]["client"] = "B".into();
            order["refs"]["client"] = points(6001, "clients", "name");
            if second {
                let refs = json!({"client": points(6001, "clients", "name")});
                let order = json!({"code": "2", "client": "B"});
                add(
                    package,
                    1,
                    json!({"uid": uid(6101), "data": order, "refs": refs}),
                );
            }
        })
    };
    let mut line = Line::of(&transactional(false));
    line.upgrade(&renamed(transactional(true)), &Json::Null);
    assert!(line.order(0).contains(r#""client":"B""#));
    assert!(line.order(1).contains(r#""client":"Benno""#));
}

/// Clients with a boss among them.
fn bosses(package: &mut Json) {
    compared(package);
    let column = json!({"featureId": "$f_clients", "name": "boss", "label": "boss", "type": "linked_select",
        "defaultComponent": "linkfield", "order": 9, "config": link("clients", "name")});
    with(package, "create_column", "c_clients_boss", column);
    let columns = package["payloads"][0]["columns"].as_array_mut();
    columns.expect("columns").push("boss".into());
    for (at, boss) in [(0, 1), (1, 2), (2, 0)] {
        let name = client(package, boss)["name"].clone();
        client(package, at)["boss"] = name;
        package["payloads"][0]["rows"][at]["refs"] =
            json!({"boss": points(6000 + boss, "clients", "name")});
    }
}

/// All are called otherwise, and one has another boss.
fn promoted(package: &mut Json) {
    bosses(package);
    for at in 0..3 {
        let longer = |cell: &Json| json!(format!("{}!", cell.as_str().expect("a name")));
        let row = client(package, at);
        row["name"] = longer(&row["name"]);
        row["boss"] = longer(&row["boss"]);
    }
    client(package, 2)["boss"] = "B!".into();
    package["payloads"][0]["rows"][2]["refs"] = json!({"boss": points(6001, "clients", "name")});
    let order = &mut package["payloads"][1]["rows"][0];
    order["data"]["client"] = "A!".into();
}

#[test]
fn links_inside_a_table_follow_too() {
    let (base, new) = (v2(bosses), v2(promoted));
    let mut line = Line::of(&base);
    let report = upgraded(&mut line, &new);
    assert_eq!(report.rows["f_clients"].updated, 3);
    line.upgrade(&new, &Json::Null);
    assert_eq!(line.clients(), Line::of(&new).clients());
}

#[test]
fn links_that_show_links_follow_these() {
    let after = |package: &mut Json, name: &str| {
        let column = json!({"featureId": "$f_orders", "name": "after", "label": "after", "type": "linked_select",
            "defaultComponent": "linkfield", "order": 9, "config": link("orders", "client")});
        with(package, "create_column", "c_orders_after", column);
        let columns = package["payloads"][1]["columns"].as_array_mut();
        columns.expect("columns").push("after".into());
        let order = &mut package["payloads"][1]["rows"][1];
        order["data"]["after"] = name.into();
        order["refs"]["after"] = points(6100, "orders", "client");
    };
    let mut base = pointing(&json!("B"), &[6001], Some(("A", 6000)));
    let mut new = renamed(base.clone());
    after(&mut base, "B");
    after(&mut new, "Benno");
    let report = upgraded(&mut Line::of(&base), &new);
    assert_eq!(report.rows["f_orders"].updated, 2);
}

#[test]
fn a_column_that_links_show_from_now_on_is_filled_before_them() {
    let new = v2(|package| {
        compared(package);
        let short = json!({"featureId": "$f_clients", "name": "short", "label": "short", "type": "text",
            "defaultComponent": "textfield", "order": 9});
        with(package, "create_column", "c_clients_short", short);
        // Before the link that shows it.
        let steps = package["manifest"]["plan"]["steps"].as_array_mut();
        let steps = steps.expect("steps");
        let of = |reference: &str| steps.iter().position(|step| step["ref"] == reference);
        let (from, to) = (of("c_clients_short"), of("c_orders_client"));
        let step = steps.remove(from.expect("a step"));
        steps.insert(to.expect("a step"), step);
        let columns = package["payloads"][0]["columns"].as_array_mut();
        columns.expect("columns").push("short".into());
        for (at, short) in ["a", "b", "c"].iter().enumerate() {
            client(package, at)["short"] = json!(short);
        }
        args(package, "c_orders_client")["config"] = link("clients", "short");
        args(package, "c_orders_client")["config"]["isMultiSelect"] = true.into();
        let order = &mut package["payloads"][1]["rows"][0];
        order["data"]["client"] = "a".into();
        order["refs"]["client"] = points(6000, "clients", "short");
        let refs = json!({"client": points(6002, "clients", "short")});
        let order = json!({"code": "2", "client": "c"});
        add(
            package,
            1,
            json!({"uid": uid(6101), "data": order, "refs": refs}),
        );
    });
    let report = upgraded(&mut first(), &new);
    assert!(report.unresolved.is_empty(), "{:#?}", report.unresolved);
}

#[test]
fn a_job_that_goes_on_lets_the_same_links_follow() {
    let cases = [
        (
            of_second(),
            renamed(pointing(&json!("B"), &[6001], Some(("B", 6001)))),
        ),
        (v2(bosses), v2(promoted)),
    ];
    for (base, new) in &cases {
        goes_on_alike(base, new);
    }
}
