//! What is handed out with a package: what is wrong with it is reported.

use serde_json::json;
use tplkit::context::{FixedClock, Seeded};
use tplkit::definitions::Definitions;
use tplkit::export::{Exported, Selection, export};
use tplkit::workspace::ready;

use crate::exported::with_rows;
use crate::space::Space;

fn reported(space: &Space, selection: &Selection) -> Exported {
    let clock = FixedClock("2026-03-01T09:30:00Z".parse().unwrap());
    let (mut ids, definitions) = (Seeded::new(5), Definitions::embedded());
    ready(export(
        &space.memory(),
        selection,
        &clock,
        &mut ids,
        definitions,
    ))
    .unwrap()
}

#[test]
fn rows_that_their_columns_no_longer_take_travel_and_are_reported() {
    let mut space = Space::new();
    let a = space.table("a");
    space.column(a, "due", "date", &json!({"required": true}));
    space.row(a, &json!({"due": "2026-03-01"}));
    space.row(a, &json!({"due": "tomorrow"}));
    space.row(a, &json!({}));
    let exported = reported(&space, &with_rows());
    let codes: Vec<(&str, &str)> = exported
        .errors()
        .map(|one| (one.rule.code, one.place.pointer.as_str()))
        .collect();
    assert_eq!(
        codes,
        [
            ("R017", "/payloads/0/rows/1/data/due"),
            ("R019", "/payloads/0/rows/2/data"),
        ]
    );
    assert!(!exported.is_fit());
    let package: serde_json::Value = serde_json::from_str(&exported.text).unwrap();
    assert_eq!(package["payloads"][0]["rows"].as_array().unwrap().len(), 3);
}

#[test]
fn a_package_without_mistakes_is_fit_and_warnings_are_reported_all_the_same() {
    let mut space = Space::new();
    let a = space.table("a");
    space.text(a, "token");
    space.row(a, &json!({"token": "ghp_abcdefghijklmnop"}));
    let exported = reported(&space, &with_rows());
    assert!(exported.is_fit());
    let codes: Vec<&str> = exported.findings.iter().map(|one| one.rule.code).collect();
    assert_eq!(codes, ["X003"]);
    assert!(reported(&space, &Selection::default()).findings.is_empty());
}
