//! A column of people that is called as one of the template was that they removed: configs name columns by their
//! names, and what stands in people's configs is their own (`upgrade` 3.3.2).

use serde_json::{Value as Json, json};

use super::super::world::person;
use super::{Line, args, config, conflicts, kept, updates, upgrade_body, v2, with};
use crate::apply::Preview;
use crate::apply::test_packages::id;
use crate::workspace::RecordKind::{Column, Feature, View};
use crate::workspace::{Change, New};

const LIST: &str = "config.visibleColumns";

/// Orders with an origin, a list that shows it and is sorted by it, and a board with a column for each.
fn first() -> Json {
    v2(|package| {
        let origin = json!({"featureId": "$f_orders", "name": "origin", "label": "Origin", "type": "text", "defaultComponent": "textfield", "order": 9});
        with(package, "create_column", "c_orders_origin", origin);
        let lanes = json!({"featureId": "$f_orders", "name": "lanes", "label": "Lanes", "type": "kanban", "config": [{"groupByColumn": "$c_orders_origin"}]});
        with(package, "create_view", "v_lanes", lanes);
        list(package, &["$c_orders_origin", "$c_orders_client"]);
        args(package, "v_orders")["config"][0]["sort"] = json!({"column": "$c_orders_origin"});
    })
}

/// The same with changes.
fn next(change: impl FnOnce(&mut Json)) -> Json {
    let mut package = first();
    change(&mut package);
    package
}

fn list(package: &mut Json, shown: &[&str]) {
    args(package, "v_orders")["config"][0]["visibleColumns"] = json!(shown);
}

/// A version that shows the code too.
fn longer() -> Json {
    next(|package| {
        let shown = ["$c_orders_origin", "$c_orders_client", "$c_orders_code"];
        list(package, &shown);
    })
}

/// People have removed the origin and made one of their own, which they show next to a price.
fn people() -> Line {
    let mut line = Line::of(&first());
    line.remove(Column, "origin");
    own(&mut line, 77, "origin");
    own(&mut line, 78, "price");
    let shown = json!(["origin", "client", "price"]);
    line.edit(View, "orders", config("visibleColumns", &shown));
    line
}

/// The same, where the list of people reads as the package's.
fn alike() -> Line {
    let mut line = Line::of(&first());
    line.remove(Column, "origin");
    own(&mut line, 77, "origin");
    let ours = json!(["origin", "client"]);
    line.edit(View, "orders", config("visibleColumns", &ours));
    line
}

/// A column of people in orders.
fn own(line: &mut Line, number: u128, name: &str) {
    own_in(line, "orders", number, name);
}

/// A column of people in a table.
pub(super) fn own_in(line: &mut Line, table: &str, number: u128, name: &str) {
    let feature = line.get(Feature, table).id;
    let structure = line.memory.state().structure;
    let table = structure.feature(feature).expect("a table");
    let column = crate::workspace::Column {
        id: id(number),
        name: name.to_owned(),
        label: "Ours".to_owned(),
        ..table.columns.first().expect("a column").clone()
    };
    let create = Change::Create(New::Column { feature, column });
    person(&mut line.memory, vec![create]);
}

fn list_of(line: &Line) -> String {
    let config = line.get(View, "orders").config;
    config.get("visibleColumns").expect("a list").write()
}

/// What the plan says is in the list before and after.
fn change(plan: &Preview) -> Option<[String; 2]> {
    let mut changes = plan.update.iter();
    let change = changes.find(|one| one.path == LIST)?;
    Some([change.before.write(), change.after.write()])
}

fn word(word: &str) -> Json {
    json!({"c_orders_origin": word})
}

/// An upgrade that leaves the list as expected, and its undo, after which everything is what it was.
#[track_caller]
fn comes_to(line: &mut Line, package: &Json, decisions: &Json, expected: &str) -> Preview {
    let before = line.memory.state();
    let list = list_of(line);
    let plan = line.plan(package, &upgrade_body(decisions));
    assert_eq!(plan.conflicts, []);
    match change(&plan) {
        Some(change) => assert_eq!(change, [list.as_str(), expected]),
        None => assert_eq!(list, expected),
    }
    line.upgrade(package, decisions);
    assert_eq!(list_of(line), expected);
    line.undo(false).expect("undone");
    assert!(line.memory.state() == before);
    plan
}

#[test]
fn a_list_keeps_it_without_a_decision() {
    let mut line = people();
    let other = next(|package| args(package, "f_orders")["label"] = "Orders".into());
    let stays = r#"["origin","client","price"]"#;
    let plan = comes_to(&mut line, &other, &Json::Null, stays);
    let expected = [("c_orders_origin", ""), ("v_orders", LIST)];
    let kept = kept(&plan);
    assert!(expected.iter().all(|one| kept.contains(one)), "{kept:?}");
    // Only what is shown besides is changed, and what was gone before asks for nothing.
    let longer = r#"["origin","client","code","price"]"#;
    comes_to(&mut line, &self::longer(), &Json::Null, longer);
}

#[test]
fn a_list_keeps_it_where_the_package_shows_that_column_no_more() {
    let mut line = people();
    let shorter = next(|package| list(package, &["$c_orders_client"]));
    let stays = r#"["origin","client","price"]"#;
    comes_to(&mut line, &shorter, &Json::Null, stays);
    // A package may also say nothing of it.
    let none = next(|package| {
        let config = args(package, "v_orders")["config"][0].as_object_mut();
        config.expect("a config").remove("visibleColumns");
    });
    comes_to(&mut line, &none, &Json::Null, r#"["origin","price"]"#);
}

#[test]
fn a_list_keeps_it_where_the_column_is_left_away() {
    let changed = |shown: &[&str]| {
        next(|package| {
            args(package, "c_orders_origin")["label"] = "From".into();
            list(package, shown);
        })
    };
    let new = changed(&["$c_orders_code", "$c_orders_origin", "$c_orders_client"]);
    let mut line = people();
    let plan = line.plan(&new, &upgrade_body(&Json::Null));
    assert_eq!(conflicts(&plan), [("removed_here", "c_orders_origin", "")]);
    let longer = r#"["code","origin","client","price"]"#;
    comes_to(&mut line, &new, &word("leave"), longer);
    // Decided, it is silent, and still people's own.
    line.upgrade(&new, &word("leave"));
    comes_to(&mut line, &new, &Json::Null, longer);
    let last = changed(&["$c_orders_client"]);
    comes_to(
        &mut line,
        &last,
        &Json::Null,
        r#"["origin","client","price"]"#,
    );
}

#[test]
fn a_list_that_shows_the_column_anew_keeps_it() {
    let without = next(|package| list(package, &["$c_orders_client"]));
    let mut line = Line::of(&without);
    line.remove(Column, "origin");
    own(&mut line, 77, "origin");
    let ours = json!(["origin", "client"]);
    line.edit(View, "orders", config("visibleColumns", &ours));
    let plan = line.plan(&first(), &upgrade_body(&Json::Null));
    assert_eq!(conflicts(&plan), [("removed_here", "c_orders_origin", "")]);
    comes_to(
        &mut line,
        &first(),
        &word("leave"),
        r#"["origin","client"]"#,
    );
    let both = r#"["origin_2","origin","client"]"#;
    comes_to(&mut line, &first(), &word("create"), both);
}

#[test]
fn a_column_that_comes_back_stands_next_to_it() {
    let mut line = people();
    let both = r#"["origin_2","origin","client","price"]"#;
    comes_to(&mut line, &first(), &word("create"), both);
    let longer = r#"["origin_2","origin","client","code","price"]"#;
    comes_to(&mut line, &self::longer(), &word("create"), longer);
    // From then on each is itself.
    line.upgrade(&first(), &word("create"));
    let shorter = next(|package| list(package, &["$c_orders_client"]));
    let stays = r#"["origin","client","price"]"#;
    comes_to(&mut line, &shorter, &Json::Null, stays);
}

#[test]
fn a_list_that_reads_as_it_was_applied_keeps_it() {
    let mut line = alike();
    let longer = r#"["origin","client","code"]"#;
    comes_to(&mut line, &self::longer(), &Json::Null, longer);
    let both = r#"["origin_2","origin","client"]"#;
    comes_to(&mut line, &first(), &word("create"), both);
}

#[test]
fn a_single_key_keeps_it() {
    let mut line = people();
    line.edit(View, "orders", config("sort", &json!({"column": "origin"})));
    line.edit(View, "lanes", config("groupByColumn", &json!("origin")));
    let single = |line: &Line| {
        let [orders, lanes] = ["orders", "lanes"].map(|view| line.get(View, view).config);
        let sort = orders.get("sort").expect("an order").write();
        (sort, lanes.get("groupByColumn").expect("a column").write())
    };
    let before = single(&line);
    let changed = next(|package| args(package, "c_orders_origin")["label"] = "From".into());
    for (package, decisions) in [
        (&first(), Json::Null),
        (&changed, word("leave")),
        // What comes back is what the base named; people name their own.
        (&changed, word("create")),
    ] {
        let state = line.memory.state();
        line.upgrade(package, &decisions);
        assert_eq!(single(&line), before, "{decisions}");
        line.undo(false).expect("undone");
        assert!(line.memory.state() == state);
    }
    // Another column in its place is asked: base, theirs and ours are three records.
    let other = next(|package| {
        args(package, "v_orders")["config"][0]["sort"] = json!({"column": "$c_orders_code"});
        args(package, "v_lanes")["config"][0]["groupByColumn"] = "$c_orders_code".into();
    });
    let plan = line.plan(&other, &upgrade_body(&Json::Null));
    let asked = [
        ("changed", "v_orders", "config.sort"),
        ("changed", "v_lanes", "config.groupByColumn"),
    ];
    assert_eq!(conflicts(&plan), asked);
    assert!(!updates(&plan).contains(&("v_orders", "config.sort")));
}

#[test]
fn a_list_that_shows_it_drifts() {
    let line = alike();
    let drift = line.drift(false);
    let changed: Vec<_> = drift
        .changed
        .iter()
        .filter(|leaf| leaf.path == LIST)
        .map(|leaf| (leaf.base.write(), leaf.ours.write()))
        .collect();
    let expected = (
        r#"["client"]"#.to_owned(),
        r#"["origin","client"]"#.to_owned(),
    );
    assert_eq!(changed, [expected]);
}
