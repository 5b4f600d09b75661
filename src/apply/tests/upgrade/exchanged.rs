//! Unique values that rows take from each other.

use serde_json::{Value as Json, json};

use super::super::world::person;
use super::killed::ends_alike;
use super::{Line, args, client, upgrade_body, v2};
use crate::apply::test_packages::uid;
use crate::workspace::{Change, RowData, RowWrite};

/// Cities are unique, and the clients have these.
fn cities(cities: &[String]) -> Json {
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

#[test]
fn rows_take_what_others_give_up() {
    for after in [
        ["2", "1", "3"],
        ["2", "3", "4"],
        ["2", "3", "1"],
        ["0", "1", "2"],
    ] {
        let mut line = Line::of(&three(["1", "2", "3"]));
        let before = line.memory.state();
        let new = three(after);
        let (updated, failed) = upgraded(&mut line, &new);
        assert_eq!((updated > 1, failed), (true, 0), "{after:?}");
        assert_eq!(line.clients(), Line::of(&new).clients(), "{after:?}");
        assert_eq!(upgraded(&mut line, &new), (0, 0), "{after:?}");
        line.undo(false).expect("undone");
        line.undo(false).expect("undone");
        assert_eq!(line.memory.state(), before, "{after:?}");
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
