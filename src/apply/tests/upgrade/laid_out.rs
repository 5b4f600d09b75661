//! The same package laid out otherwise: white space and the order of keys say nothing.

use serde_json::{Value as Json, json};

use super::super::world::{link, points};
use super::laws::upgraded;
use crate::apply::test_packages::Pack;

/// Two tables that link to each other: of one of them the links are dropped when they are applied.
fn cycle() -> String {
    let rows = |own: &str, other: &str, to: usize| {
        let cells = |at: usize| json!({"k": format!("{own}{at}"), "l": format!("{other}{at}")});
        let row = |at: usize| (cells(at), json!({"l": points(to + at, other, "k")}));
        [row(0), row(1)]
    };
    Pack::new()
        .table("t")
        .table("u")
        .column("t", "k", "text", json!(null))
        .column("u", "k", "text", json!(null))
        .column("t", "l", "linked_select", link("u", "k"))
        .column("u", "l", "linked_select", link("t", "k"))
        .rows("t", Some("k"), &rows("t", "u", 6100))
        .rows("u", Some("k"), &rows("u", "t", 6000))
        .text()
}

/// The same with the keys of all objects the other way round.
fn reversed(value: &Json) -> Json {
    match value {
        Json::Array(elements) => elements.iter().map(reversed).collect(),
        Json::Object(members) => {
            let members = members.iter().rev();
            let members = members.map(|(key, value)| (key.clone(), reversed(value)));
            Json::Object(members.collect())
        }
        other => other.clone(),
    }
}

#[test]
fn a_link_that_was_dropped_stays_dropped_however_the_package_is_laid_out() {
    let text = cycle();
    let package: Json = serde_json::from_str(&text).expect("JSON");
    let indented = serde_json::to_string_pretty(&package).expect("JSON");
    let reversed = reversed(&package).to_string();
    let layouts = [&text, &indented, &reversed];
    for (base, new) in layouts.map(|base| layouts.map(|new| (base, new))).concat() {
        let mut dropped = 0;
        let simulated = upgraded(base, new, None, &mut |state| {
            let rows = state.rows.values().flatten();
            dropped = rows
                .filter(|row| !row.data.as_str().contains("\"l\":\""))
                .count();
        });
        let simulated = simulated.expect("upgraded");
        assert_eq!(dropped, 2, "{base}");
        let mut rows = simulated.report.rows.values();
        assert!(rows.all(|rows| rows.updated == 0), "{base} {new}");
        let mut planned = simulated.preview.rows.values();
        assert!(planned.all(|rows| rows.update == 0), "{base} {new}");
        assert!(simulated.preview.not_carried.is_empty(), "{base} {new}");
    }
}
