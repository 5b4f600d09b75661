//! Unique values that rows take from each other.

use serde_json::{Value as Json, json};

use super::super::world::{cells, link, person, points};
use super::killed::{ends_alike, goes_on_alike};
use super::unlinked::compared;
use super::{Line, args, client, config, upgrade_body, v2, with};
use crate::apply::test_packages::uid;
use crate::workspace::{Change, RecordKind, RowData, RowWrite};

/// Cities are unique, and the clients have these.
pub(super) fn cities(cities: &[String]) -> Json {
    v2(|package| {
        args(package, "c_clients_city")["config"] = json!({"unique": true});
        let count = cities.len();
        let rows = package["payloads"][0]["rows"].as_array_mut().expect("rows");
        for at in rows.len()..count {
            let mut row = rows[0].clone();
            row["uid"] = uid(7000 + at).into();
            row["data"]["name"] = format!("name {at}").into();
            rows.push(row);
        }
        for (at, city) in cities.iter().enumerate() {
            client(package, at)["city"] = city.as_str().into();
        }
        package["payloads"][0]["count"] = count.into();
        let items = package["manifest"]["items"].as_array_mut().expect("items");
        let item = items.iter_mut().find(|item| item["kind"] == "rows");
        item.expect("an item")["count"] = count.into();
    })
}

fn three(names: [&str; 3]) -> Json {
    cities(&names.map(str::to_owned))
}

fn four(names: [&str; 4]) -> Json {
    cities(&names.map(str::to_owned))
}

/// Upgrades, and gives how many rows were changed and how many failed, which the plan has said.
fn upgraded(line: &mut Line, new: &Json) -> (u64, u64) {
    let plan = line.plan(new, &upgrade_body(&Json::Null));
    let said = &plan.rows["f_clients"];
    let said = (said.update, said.failed);
    let report = line.upgrade(new, &Json::Null);
    let rows = &report.rows["f_clients"];
    assert_eq!((rows.updated, rows.failed), said, "{report:#?}");
    said
}

/// Upgrades so many rows: what comes out is a fresh apply, once more changes nothing, and undone all is as before.
fn exchanges(old: &Json, new: &Json, updated: u64) {
    let mut line = Line::of(old);
    let before = line.memory.state();
    assert_eq!(upgraded(&mut line, new), (updated, 0));
    assert_eq!(line.clients(), Line::of(new).clients());
    assert_eq!(upgraded(&mut line, new), (0, 0));
    line.undo(false).expect("undone");
    line.undo(false).expect("undone");
    assert_eq!(line.memory.state(), before);
}

#[test]
fn rows_take_what_others_give_up() {
    for (after, updated) in [
        (["2", "1", "3"], 2),
        (["2", "3", "4"], 3),
        (["2", "3", "1"], 3),
        (["0", "1", "2"], 3),
    ] {
        exchanges(&three(["1", "2", "3"]), &three(after), updated);
    }
}

#[test]
fn rows_of_several_batches_take_what_others_give_up() {
    let numbers = |shift: usize| (0..1200).map(move |at| (at + shift).to_string());
    let old: Vec<String> = numbers(1).collect();
    let mut ends = old.clone();
    ends.swap(0, 1199);
    for new in [numbers(2).collect(), numbers(0).collect(), ends] {
        let mut line = Line::of(&cities(&old));
        line.memory.limit_lookups(1000);
        let before = line.memory.state();
        let changed = new.iter().zip(&old).filter(|(new, old)| new != old);
        let changed = changed.count() as u64;
        let new = cities(&new);
        assert_eq!(upgraded(&mut line, &new), (changed, 0));
        assert_eq!(line.clients(), Line::of(&new).clients());
        line.undo(false).expect("undone");
        assert_eq!(line.memory.state(), before);
    }
}

#[test]
fn only_rows_whose_values_stay_taken_fail() {
    for (after, counts) in [
        (["2", "3", "4"], (0, 3)),
        (["2", "1", "4"], (2, 1)),
        (["4", "1", "2"], (0, 3)),
    ] {
        let mut line = Line::of(&three(["1", "2", "3"]));
        line.insert("clients", r#"{"name":"D","city":"4"}"#);
        assert_eq!(upgraded(&mut line, &three(after)), counts, "{after:?}");
        // As soon as people let it go, all of them follow.
        line.cells(3, &json!({"city": "5"}));
        assert_eq!(upgraded(&mut line, &three(after)).1, 0, "{after:?}");
        assert_eq!(
            line.clients()[..3],
            Line::of(&three(after)).clients(),
            "{after:?}"
        );
    }
}

#[test]
fn rows_that_changed_their_values_do_so_too_in_a_job_that_goes_on() {
    let begin = || Line::of(&three(["1", "2", "3"]));
    let text = three(["2", "3", "1"]).to_string();
    let report = ends_alike(begin, &text, &Json::Null);
    let rows = &report.rows["f_clients"];
    assert_eq!((rows.updated, rows.failed), (3, 0));
}

#[test]
fn new_rows_take_what_others_give_up() {
    for (after, updated) in [
        (["5", "2", "3", "1"], 2),
        (["2", "3", "4", "1"], 3),
        (["2", "1", "4", "3"], 3),
    ] {
        // Rows change in other cells, too.
        let mut new = four(after);
        client(&mut new, 0)["note"] = "new".into();
        client(&mut new, 1)["note"] = "new".into();
        exchanges(&three(["1", "2", "3"]), &new, updated);
    }
}

#[test]
fn new_rows_of_several_batches_take_what_others_give_up() {
    let old: Vec<String> = (1..=1200).map(|at| at.to_string()).collect();
    let new: Vec<String> = (2..=1201).map(|at| at.to_string()).collect();
    let new = [new, vec!["1".to_owned()]].concat();
    let mut line = Line::of(&cities(&old));
    line.memory.limit_lookups(1000);
    let before = line.memory.state();
    let new = cities(&new);
    assert_eq!(upgraded(&mut line, &new), (1200, 0));
    assert_eq!(line.clients(), Line::of(&new).clients());
    line.undo(false).expect("undone");
    assert_eq!(line.memory.state(), before);
}

#[test]
fn a_new_row_fails_where_people_keep_the_value() {
    let mut line = Line::of(&three(["1", "2", "3"]));
    line.cells(0, &json!({"note": "theirs"}));
    line.cells(1, &json!({"city": "1b"}));
    let mut new = four(["2", "1", "3", "1b"]);
    // What people wrote into the second row stays, so that the new one has to wait for them.
    let report = line.upgrade(&new, &json!({"f_clients": {"*": "ours"}}));
    let rows = &report.rows["f_clients"];
    assert_eq!((rows.updated, rows.failed), (1, 1), "{report:#?}");
    assert!(line.clients()[0].contains("theirs"));
    let path = format!("rows.{}.city", uid(6001));
    let report = line.upgrade(&new, &json!({"f_clients": {path: {"take": "theirs"}}}));
    assert_eq!(report.rows["f_clients"].failed, 0, "{report:#?}");
    client(&mut new, 0)["note"] = "theirs".into();
    assert_eq!(line.clients(), Line::of(&new).clients());
}

#[test]
fn rows_that_gave_values_up_end_alike_in_a_job_that_goes_on() {
    let mut new = four(["2", "3", "4", "1"]);
    for at in 0..3 {
        client(&mut new, at)["note"] = "new".into();
    }
    goes_on_alike(&three(["1", "2", "3"]), &new);
}

/// Orders and clients show the city of the first client, and clients that of the last one.
fn linking(mut package: Json) -> Json {
    compared(&mut package);
    args(&mut package, "c_orders_client")["config"] = link("clients", "city");
    let next = json!({"featureId": "$f_clients", "name": "next", "label": "next", "type": "linked_select",
        "defaultComponent": "linkfield", "order": 9, "config": link("clients", "city")});
    with(&mut package, "create_column", "c_clients_next", next);
    let columns = package["payloads"][0]["columns"].as_array_mut();
    columns.expect("columns").push("next".into());
    let rows = package["payloads"][0]["rows"].as_array_mut().expect("rows");
    let last = rows.len() - 1;
    let [first_city, last_city] = [0, last].map(|at| rows[at]["data"]["city"].clone());
    let last_uid = rows[last]["uid"].clone();
    let mut to_last = points(6000, "clients", "city");
    to_last["rowUid"] = last_uid;
    for (at, row) in rows.iter_mut().enumerate() {
        let (city, points) = match at {
            0 => (&last_city, to_last.clone()),
            _ => (&first_city, points(6000, "clients", "city")),
        };
        row["data"]["next"] = city.clone();
        row["refs"] = json!({"next": points});
    }
    let order = &mut package["payloads"][1]["rows"][0];
    order["data"]["client"] = first_city;
    order["refs"] = json!({"client": points(6000, "clients", "city")});
    package
}

#[test]
fn links_show_what_stands_for_rows_that_gave_values_up_and_for_new_ones() {
    let old = linking(three(["1", "2", "3"]));
    for after in [
        ["5", "2", "3", "1"],
        ["2", "3", "4", "1"],
        ["2", "1", "4", "3"],
    ] {
        let new = linking(four(after));
        let mut line = Line::of(&old);
        upgraded(&mut line, &new);
        let tables = |line: &Line| ["clients", "orders"].map(|table| cells(&line.memory, table));
        assert_eq!(tables(&line), tables(&Line::of(&new)), "{after:?}");
        goes_on_alike(&old, &new);
    }
}

#[test]
fn an_undo_takes_nothing_of_people_with_values_that_new_rows_took() {
    let mut new = four(["2", "3", "4", "1"]);
    client(&mut new, 0)["note"] = "new".into();
    let mut line = Line::of(&three(["1", "2", "3"]));
    upgraded(&mut line, &new);
    line.cells(3, &json!({"note": "ours"}));
    let before = line.memory.state();
    line.undo(false).expect_err("refused");
    assert_eq!(line.memory.state(), before);
    // What one of them gave up somebody has taken meanwhile.
    line.cells(3, &json!({"note": "1", "city": "0"}));
    line.insert("clients", r#"{"name":"D","city":"1"}"#);
    let before = line.memory.state();
    line.undo(false).expect_err("refused");
    assert_eq!(line.memory.state(), before);
}

#[test]
fn a_row_that_cannot_become_what_the_package_says_gives_nothing_up() {
    let mut line = Line::of(&three(["1", "2", "3"]));
    line.edit(RecordKind::Column, "note", config("required", &true.into()));
    let mut new = four(["5", "2", "3", "1"]);
    client(&mut new, 0)["note"] = Json::Null;
    // Neither the row nor the new one that takes its value.
    assert_eq!(upgraded(&mut line, &new), (0, 2));
    assert!(line.clients()[0].contains(r#""city":"1""#));
    assert_eq!(line.drift(true).rows["f_clients"].changed, 0);
    client(&mut new, 0)["note"] = "1".into();
    assert_eq!(upgraded(&mut line, &new), (1, 0));
    assert_eq!(line.clients(), Line::of(&new).clients());
}

#[test]
fn a_row_whose_value_somebody_decides_gives_up_what_it_held() {
    let mut line = Line::of(&three(["1", "2", "3"]));
    let new = four(["5", "2", "3", "1"]);
    let path = format!("rows.{}.city", uid(6000));
    let decided = json!({"f_clients": {path: {"value": "9"}}});
    let report = line.upgrade(&new, &decided);
    assert_eq!(report.rows["f_clients"].failed, 0, "{report:#?}");
    assert_eq!((report.decided, report.unused.len()), (1, 0));
    let expected = Line::of(&four(["9", "2", "3", "1"]));
    assert_eq!(line.clients(), expected.clients());
    // From then on it is people's.
    let again = line.upgrade(&new, &Json::Null);
    assert_eq!(again.rows["f_clients"].updated, 0);
}

#[test]
fn keys_are_looked_up_as_they_are_when_new_rows_enter() {
    let keyed = |mut package: Json| {
        package["payloads"][0]["keyColumn"] = "city".into();
        package
    };
    let mut line = Line::of(&keyed(three(["1", "2", "3"])));
    let new = keyed(four(["5", "2", "3", "1"]));
    let mut body: Json = serde_json::from_str(&upgrade_body(&Json::Null)).expect("JSON");
    body["rowsModes"] = json!({"f_clients": "missingByKey"});
    let body = body.to_string();
    let plan = line.plan(&new, &body);
    let report = line.apply(&new, &body);
    let (said, rows) = (&plan.rows["f_clients"], &report.rows["f_clients"]);
    assert_eq!(
        (said.insert, said.existing, said.update),
        (rows.inserted, rows.existing, rows.updated),
        "{report:#?}"
    );
    assert_eq!(line.clients(), Line::of(&new).clients());
}

#[test]
fn an_undo_leaves_a_row_that_people_changed_since() {
    let mut line = Line::of(&three(["1", "2", "3"]));
    upgraded(&mut line, &three(["2", "1", "4"]));
    let (feature, id) = line.client_row(2);
    let rows = vec![RowWrite {
        id,
        cells: RowData::trusted(r#"{"city":"5"}"#),
        replace: false,
        digest: None,
    }];
    person(&mut line.memory, vec![Change::UpdateRows { feature, rows }]);
    line.undo(false).expect_err("refused");
    assert_eq!(line.undo(true).expect("undone").len(), 1);
    assert_eq!(line.clients(), Line::of(&three(["1", "2", "5"])).clients());
}
