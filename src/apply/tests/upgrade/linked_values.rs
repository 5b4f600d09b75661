//! Cells of a link whose column shows another value than the package says, because people chose so: they hold what
//! the column shows, and count as the row that they point at (`upgrade` 3.3.2).

use serde_json::{Value as Json, json};

use super::super::world::{link, points};
use super::unlinked::{add, compared, first};
use super::{Line, args, config, conflicts, kept, updates, upgrade_body, v2};
use crate::apply::test_packages::uid;
use crate::workspace::RecordKind::{Column, Feature};

const VALUE: &str = "linkedValueColumn";

/// A version whose first order points at clients, and whose second one, if any, at another.
pub(super) fn pointing(client: &Json, rows: &[usize], second: Option<(&str, usize)>) -> Json {
    v2(|package| {
        compared(package);
        point(package, client, rows);
        if let Some((name, row)) = second {
            let order = json!({"code": "2", "client": name});
            let refs = json!({"client": points(row, "clients", "name")});
            add(
                package,
                1,
                json!({"uid": uid(6101), "data": order, "refs": refs}),
            );
        }
    })
}

fn point(package: &mut Json, client: &Json, rows: &[usize]) {
    let order = &mut package["payloads"][1]["rows"][0];
    order["data"]["client"] = client.clone();
    let mut refs: Vec<Json> = rows
        .iter()
        .map(|row| points(*row, "clients", "name"))
        .collect();
    order["refs"]["client"] = match client {
        Json::Array(_) => json!({"rows": refs}),
        _ => refs.remove(0),
    };
}

/// People show the city of clients instead of their name, and all orders do.
fn cities() -> Line {
    let mut line = first();
    line.edit(Column, "client", config(VALUE, &json!("city")));
    line.edit_order(0, &json!({"client": "Bonn"}));
    line
}

/// People show a column of their own, in which the last client has nothing.
fn shorts() -> Line {
    let mut line = first();
    super::namesakes::own_in(&mut line, "clients", 77, "short");
    for (at, short) in ["a", "b"].iter().enumerate() {
        line.cells(at, &json!({"short": short}));
    }
    line.edit(Column, "client", config(VALUE, &json!("short")));
    line.edit_order(0, &json!({"client": "a"}));
    line
}

fn holds(line: &Line, order: usize, client: &Json) {
    let cells: Json = serde_json::from_str(&line.order(order)).expect("JSON");
    assert_eq!(cells["client"], *client);
}

#[test]
fn links_hold_what_the_column_shows_at_the_destination() {
    for (mut line, values) in [
        (cities(), ["Bonn", "Kiel", "Jena"]),
        (shorts(), ["a", "b", ""]),
    ] {
        let before = line.memory.state();
        // The link is the same, so nobody is asked and nothing is written.
        let plan = line.plan(&v2(compared), &upgrade_body(&Json::Null));
        assert_eq!((conflicts(&plan), updates(&plan)), (vec![], vec![]));
        let drift = line.drift(true);
        assert_eq!(drift.cells.unwrap_or_default(), []);
        let changed: Vec<_> = drift.changed.iter().map(|leaf| &*leaf.path).collect();
        assert_eq!(changed, ["config.linkedValueColumn"]);

        let new = pointing(&json!("B"), &[6001], Some(("A", 6000)));
        let report = line.upgrade(&new, &Json::Null);
        let rows = &report.rows["f_orders"];
        assert_eq!((rows.updated, rows.inserted), (1, 1));
        holds(&line, 0, &values[1].into());
        holds(&line, 1, &values[0].into());
        assert_eq!(line.drift(true).cells.unwrap_or_default(), []);
        let after = line.memory.state();
        line.upgrade(&new, &Json::Null);
        assert_eq!(line.memory.state(), after);
        line.undo(false).expect("undone");
        line.undo(false).expect("undone");
        assert_eq!(line.memory.state(), before);

        let both = pointing(&json!(["B", "A"]), &[6001, 6000], None);
        line.upgrade(&both, &Json::Null);
        holds(&line, 0, &json!([values[1], values[0]]));
    }
}

#[test]
fn people_who_point_at_another_row_are_asked_in_the_values_that_they_see() {
    let mut line = cities();
    line.edit_order(0, &json!({"client": "Jena"}));
    let new = pointing(&json!("B"), &[6001], None);
    let plan = line.plan(&new, &upgrade_body(&Json::Null));
    let [conflict] = &plan.conflicts[..] else {
        panic!("{plan:#?}")
    };
    let values = [&conflict.base, &conflict.theirs, &conflict.ours];
    let values = values.map(|value| serde_json::to_value(value).expect("JSON"));
    assert_eq!(values, [json!("Bonn"), json!("Kiel"), json!("Jena")]);
    let path = format!("rows.{}.client", uid(6100));
    let theirs = json!({"f_orders": {path: "theirs"}});
    line.upgrade(&new, &theirs);
    holds(&line, 0, &json!("Kiel"));
}

#[test]
fn a_link_to_a_row_without_a_value_there_waits_for_it() {
    let mut line = shorts();
    let new = pointing(&json!("C"), &[6002], Some(("C", 6002)));
    let plan = line.plan(&new, &upgrade_body(&Json::Null));
    let left: Vec<_> = plan.not_carried.iter().map(|one| one.count).collect();
    assert_eq!(left, [Some(1)]);
    line.upgrade(&new, &Json::Null);
    holds(&line, 0, &json!("a"));
    holds(&line, 1, &Json::Null);
    line.cells(2, &json!({"short": "c"}));
    line.upgrade(&new, &Json::Null);
    holds(&line, 0, &json!("c"));
    holds(&line, 1, &json!("c"));
}

#[test]
fn a_column_that_links_to_another_table_keeps_its_cells() {
    let mut line = first();
    let orders = line.get(Feature, "orders").id.to_string();
    line.edit(Column, "client", config("linkedFeatureId", &json!(orders)));
    line.edit(Column, "client", config(VALUE, &json!("code")));
    line.edit_order(0, &json!({"client": "1"}));
    let new = pointing(&json!("B"), &[6001], Some(("A", 6000)));
    let plan = line.plan(&new, &upgrade_body(&Json::Null));
    assert_eq!(conflicts(&plan), []);
    line.upgrade(&new, &Json::Null);
    holds(&line, 0, &json!("1"));
    holds(&line, 1, &Json::Null);
}

/// The next version shows the city.
fn by_city() -> Json {
    v2(|package| {
        compared(package);
        args(package, "c_orders_client")["config"] = link("clients", "city");
        args(package, "c_orders_client")["config"]["isMultiSelect"] = true.into();
        let order = &mut package["payloads"][1]["rows"][0];
        order["data"]["client"] = "Bonn".into();
        order["refs"]["client"] = points(6000, "clients", "city");
    })
}

#[test]
fn what_a_version_shows_is_written_with_the_cells_and_neither_where_people_keep_theirs() {
    let mut line = first();
    line.upgrade(&by_city(), &Json::Null);
    holds(&line, 0, &json!("Bonn"));
    assert!(!line.drift(true).drift);

    let mut line = first();
    let ours = json!({"c_orders_client": {"config.linkedValueColumn": "ours"}});
    let plan = line.plan(&by_city(), &upgrade_body(&ours));
    assert_eq!(
        kept(&plan),
        [("c_orders_client", "config.linkedValueColumn")]
    );
    line.upgrade(&by_city(), &ours);
    holds(&line, 0, &json!("A"));
    // A later version points at another client.
    let mut third = by_city();
    let order = &mut third["payloads"][1]["rows"][0];
    order["data"]["client"] = "Kiel".into();
    order["refs"]["client"] = points(6001, "clients", "city");
    line.upgrade(&third, &Json::Null);
    holds(&line, 0, &json!("B"));
    assert_eq!(line.drift(true).cells.unwrap_or_default(), []);
}

#[test]
fn a_plain_apply_links_new_rows_by_what_the_column_shows() {
    let mut line = cities();
    line.apply(&pointing(&json!("A"), &[6000], Some(("C", 6002))), "{}");
    holds(&line, 0, &json!("Bonn"));
    holds(&line, 1, &json!("Jena"));
}
