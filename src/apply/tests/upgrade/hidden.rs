//! Rows that whoever upgrades does not see: they are compared, and never shown.

use serde_json::{Value as Json, json};

use super::unlinked::add;
use super::{Line, args, client, conflicts, upgrade_body, v2};
use crate::apply::Preview;
use crate::apply::test_packages::uid;
use crate::crashing::Memory;
use crate::upgrade::Conflict;
use crate::workspace::ledger::MovedLeaf;

/// Cities and a note are other ones.
fn new() -> Json {
    v2(|package| {
        client(package, 0)["city"] = "Berlin".into();
        client(package, 1)["city"] = "Ulm".into();
        client(package, 1)["note"] = "theirs".into();
        client(package, 2)["city"] = "Weimar".into();
    })
}

/// Of the second row people changed both cells; it and the third are hidden.
fn line() -> Line {
    let mut line = Line::new();
    line.cells(0, &json!({"city": "Ours"}));
    line.cells(1, &json!({"city": "Hidden", "note": "hidden"}));
    let hidden = [line.client_row(1).1, line.client_row(2).1];
    line.memory.hide(&hidden);
    line
}

fn with(decisions: &Json, conflicts: Option<&str>) -> String {
    let mut body: Json = serde_json::from_str(&upgrade_body(decisions)).expect("JSON");
    if let Some(side) = conflicts {
        body["conflicts"] = side.into();
    }
    body.to_string()
}

fn unseen(plan: &Preview) -> Vec<&Conflict> {
    let conflicts = plan.conflicts.iter();
    conflicts.filter(|one| one.path.is_none()).collect()
}

#[test]
fn they_stand_as_one_entry_for_each_table() {
    let line = line();
    let plan = line.plan(&new(), &upgrade_body(&Json::Null));
    let codes = conflicts(&plan);
    assert_eq!((codes.len(), codes[1]), (2, ("changed", "f_clients", "")));
    let entry = serde_json::to_value(unseen(&plan)[0]).expect("JSON");
    let expected = json!({"code": "changed", "kind": "rows", "ref": "f_clients", "id": null, "path": null,
        "base": null, "theirs": null, "ours": null, "count": 2});
    assert_eq!(entry, expected);
    let text = serde_json::to_string(&plan).expect("JSON");
    assert!(
        !text.contains("Hidden") && !text.contains("hidden"),
        "{text}"
    );
    let rows = &plan.rows["f_clients"];
    assert_eq!((rows.update, rows.conflicts), (1, 3));
}

#[test]
fn the_word_for_the_ref_and_conflicts_decide_them() {
    for (decisions, side, expected) in [
        (json!({"f_clients": "ours"}), None, "Hidden"),
        (json!({"f_clients": "theirs"}), None, "Ulm"),
        (Json::Null, Some("ours"), "Hidden"),
        (Json::Null, Some("theirs"), "Ulm"),
    ] {
        let mut line = line();
        let body = with(&decisions, side);
        let plan = line.plan(&new(), &body);
        assert_eq!(plan.refusals, [], "{body}");
        let report = line.apply(&new(), &body);
        assert_eq!(report.moved, []);
        let clients = line.clients();
        assert!(clients[1].contains(expected), "{body} {clients:?}");
        // What nobody asks about is written, seen or not.
        assert!(clients[2].contains("Weimar"), "{clients:?}");
    }
    // A decision at the path of a cell that is not shown decides nothing.
    let path = format!("rows.{}.city", crate::apply::test_packages::uid(6001));
    let plan = line().plan(&new(), &with(&json!({"f_clients": {path: "ours"}}), None));
    assert_eq!(unseen(&plan)[0].count, Some(2));
}

#[test]
fn what_came_up_after_the_plan_is_reported_as_a_number() {
    let mut line = line();
    // Nobody looked at the plan.
    let report = line.apply(&new(), &upgrade_body(&Json::Null));
    let unseen = report.moved.iter().filter(|moved| moved.id.is_none());
    let unseen: Vec<&MovedLeaf> = unseen.collect();
    assert_eq!(unseen, [&MovedLeaf::unseen("f_clients", 2)]);
    assert!(report.is_partial());
    let clients = line.clients();
    assert!(clients[1].contains("Hidden") && clients[2].contains("Weimar"));
    // They keep their base.
    let plan = line.plan(&new(), &upgrade_body(&Json::Null));
    assert_eq!(plan.conflicts.last().and_then(|one| one.count), Some(2));
}

#[test]
fn an_undo_leaves_what_people_changed_since_and_tells_its_number() {
    let mut line = line();
    line.apply(&new(), &with(&Json::Null, Some("theirs")));
    line.cells(2, &json!({"city": "Since"}));
    // What a job wrote is taken back whoever sees it.
    line.memory = Memory::new(line.memory.state());
    line.undo(false).expect_err("refused");
    let left = line.undo(true).expect("undone");
    assert_eq!(left, [MovedLeaf::unseen("f_clients", 1)]);
    let clients = line.clients();
    assert!(clients[1].contains("Hidden") && clients[2].contains("Since"));
}

#[test]
fn plans_do_not_reveal_hidden_rows_that_release_unique_values() {
    let unique = |mut package: Json| {
        args(&mut package, "c_clients_city")["config"] = json!({"unique": true});
        package
    };
    let mut line = Line::of(&unique(v2(|_| {})));
    line.cells(1, &json!({"note": "hidden"}));
    let hidden = line.client_row(1).1;
    line.memory.hide(&[hidden]);
    let new = unique(v2(|package| {
        let city = client(package, 1)["city"].take();
        client(package, 1)["city"] = "Ulm".into();
        client(package, 1)["note"] = "theirs".into();
        let data = json!({"name": "D", "city": city, "note": "4"});
        add(package, 0, json!({"uid": uid(6100), "data": data}));
    }));
    let body = with(&Json::Null, Some("ours"));
    let plan = line.plan(&new, &body);
    let text = serde_json::to_string(&plan).expect("JSON");
    assert!(!text.contains("hidden"), "{text}");
    let report = line.apply(&new, &body);
    let (said, rows) = (&plan.rows["f_clients"], &report.rows["f_clients"]);
    assert_eq!(
        (said.insert, said.update, said.failed),
        (rows.inserted, rows.updated, rows.failed)
    );
    assert_eq!((rows.inserted, rows.failed), (1, 0), "{report:#?}");
}
