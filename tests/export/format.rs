//! What the format requires of every package, whatever travels in it.

use serde_json::{Value, json};
use tplkit::check::Checked;
use tplkit::context::{FixedClock, Seeded};
use tplkit::definitions::Definitions;
use tplkit::simulate::simulate;
use tplkit::workspace::Id;
use tplkit::workspace::memory::State;

use crate::exported::{exported, exported_but, try_export, with_rows};
use crate::space::Space;

fn one_table() -> (Space, Id) {
    let mut space = Space::new();
    let a = space.table("a");
    space.text(a, "x");
    space.view(a, "list", "table", &json!({}));
    let module = space.module("m", &json!({}));
    space.rail(module, "r", &json!({}));
    (space, a)
}

#[test]
fn the_source_says_three_things_and_nothing_of_where_it_was() {
    let (space, _) = one_table();
    let package = exported(&space, &with_rows());
    let source = package.0["manifest"]["source"].as_object().unwrap();
    let keys: Vec<&str> = source.keys().map(String::as_str).collect();
    assert_eq!(keys, ["workspaceName", "generatedAt", "definitionsVersion"]);
    let target = &package.0["manifest"]["plan"]["target"];
    assert_eq!(target, &json!({"workspaceId": "$workspace"}));
}

#[test]
fn the_summary_counts_items_and_rows_per_table_not_steps() {
    let (mut space, a) = one_table();
    // Two columns that need each other: one step more than there are items.
    let b = space.table("b");
    space.link(a, "there", b, "back");
    space.link(b, "back", a, "there");
    space.row(a, &json!({"x": "1"}));
    space.row(a, &json!({"x": "2"}));
    let package = exported(&space, &with_rows());
    assert_eq!(package.steps().len(), 9);
    assert_eq!(
        package.0["manifest"]["plan"]["summary"],
        "Creates 10 items: 2 tables, 3 columns, 1 view, 1 module, 1 rail and rows of 2 tables \
         (a label 2, b label 0)."
    );
}

#[test]
fn only_rows_have_no_ref_and_every_uid_is_of_version_4() {
    let (mut space, a) = one_table();
    space.row(a, &json!({"x": "1"}));
    let package = exported(&space, &with_rows());
    for item in package.list("items") {
        assert_eq!(item["kind"] == "rows", item.get("ref").is_none(), "{item}");
    }
    let mut uids = vec![package.0["manifest"]["plan"]["id"].clone()];
    let entry = package.payload("f_a");
    let rows = entry["rows"].as_array().unwrap();
    let holders = package
        .list("items")
        .iter()
        .chain(package.steps())
        .chain(rows);
    uids.extend(holders.map(|one| one["uid"].clone()));
    for uid in &uids {
        let uuid = uid.as_str().unwrap().strip_prefix("u_").unwrap();
        assert_eq!(Id::try_parse(uuid).unwrap().get_version_num(), 4, "{uuid}");
    }
    let distinct: std::collections::HashSet<_> = uids.iter().map(Value::to_string).collect();
    assert_eq!(distinct.len(), uids.len());
}

#[test]
fn entries_over_the_limits_are_written_whole() {
    let (mut space, a) = one_table();
    for number in 0..5001 {
        space.row(a, &json!({"x": number.to_string()}));
    }
    let many = exported_but(&space, &with_rows(), &["R016"]);
    assert_eq!(many.payload("f_a")["count"], 5001);
    let (mut space, a) = one_table();
    space.row(a, &json!({"x": "y".repeat(5 << 20)}));
    let big = exported_but(&space, &with_rows(), &["R016"]);
    assert_eq!(big.payload("f_a")["count"], 1);
}

#[test]
fn a_cell_that_reads_as_a_ref_is_data_and_comes_through_an_apply() {
    let (mut space, a) = one_table();
    for text in ["$f_a", "$f_nowhere", "$workspace", "$100"] {
        space.row(a, &json!({"x": text}));
    }
    let text = try_export(&space, &with_rows()).unwrap();
    let package = exported(&space, &with_rows());
    assert_eq!(package.0["manifest"]["plan"]["externalRefs"], json!([]));
    let definitions = Definitions::embedded();
    let read = Checked::trusted(&text).unwrap();
    let empty = State::empty(Id::from_u128(1), Id::from_u128(2), "there", "There");
    let clock = FixedClock("2026-03-01T09:30:00Z".parse().unwrap());
    let done = simulate(
        &read,
        "digest",
        &tplkit::apply::Request::default(),
        empty,
        definitions,
        &clock,
        &mut Seeded::new(9),
    )
    .unwrap();
    let rows = done.applied.rows.values().next().unwrap();
    let cells: Vec<&str> = rows.iter().map(|row| row.data.as_str()).collect();
    assert_eq!(
        cells,
        [
            r#"{"x":"$f_a"}"#,
            r#"{"x":"$f_nowhere"}"#,
            r#"{"x":"$workspace"}"#,
            r#"{"x":"$100"}"#
        ]
    );
}

#[test]
fn a_ref_inside_a_text_is_text() {
    let (mut space, _) = one_table();
    let body = "see $f_a and $workspace";
    let notify = json!([{"key": "notify", "config": {"scopeType": "organization", "body": body}}]);
    space.automation("Tell", &json!({"type": "manual"}), &notify);
    let package = exported(&space, &with_rows());
    let step = &package.created("w_tell")["graphConfig"]["steps"][0];
    assert_eq!(step["config"]["body"], body);
    assert_eq!(package.0["manifest"]["plan"]["externalRefs"], json!([]));
}
