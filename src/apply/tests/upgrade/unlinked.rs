//! Cells of new rows that link to rows which are not there.

use serde_json::{Value as Json, json};

use super::super::world::{cells, link, person, points};
use super::killed::stopped;
use super::{Line, args, client, conflicts, upgrade_body, v1, v2, with};
use crate::apply::test_packages::uid;
use crate::crashing::Crash;
use crate::workspace::{Change, RecordKind, Removal, RowData, RowWrite};

const WITHOUT_CLIENTS: &str = r#"{"upgrade": true, "rowsModes": {"f_clients": "none"}}"#;

/// Adds a row to an entry of a package.
pub(super) fn add(package: &mut Json, entry: usize, row: Json) {
    let entry = &mut package["payloads"][entry];
    let rows = entry["rows"].as_array_mut().expect("rows");
    rows.push(row);
    let count: Json = rows.len().into();
    entry["count"] = count.clone();
    let item_uid = entry["itemUid"].clone();
    let items = package["manifest"]["items"].as_array_mut();
    let mut items = items.expect("items").iter_mut();
    let item = items.find(|item| item["uid"] == item_uid);
    item.expect("an item")["count"] = count;
}

/// The first version, in which orders are reference data and may have several clients.
pub(super) fn compared(package: &mut Json) {
    let uid = package["payloads"][1]["itemUid"].clone();
    let items = package["manifest"]["items"].as_array_mut();
    let mut items = items.expect("items").iter_mut();
    let item = items.find(|item| item["uid"] == uid).expect("an item");
    item["dataClass"] = "reference".into();
    args(package, "c_orders_client")["config"]["isMultiSelect"] = true.into();
}

/// The second version has a new client, and a new order that points at that one.
fn ordered(client: &Json, refs: &Json) -> Json {
    v2(|package| {
        compared(package);
        let new = json!({"name": "D", "city": "Ulm", "note": "4"});
        add(package, 0, json!({"uid": uid(6003), "data": new}));
        let order = json!({"code": "2", "client": client});
        let refs = json!({"client": refs});
        add(
            package,
            1,
            json!({"uid": uid(6101), "data": order, "refs": refs}),
        );
    })
}

fn to_new() -> Json {
    ordered(&json!("D"), &points(6003, "clients", "name"))
}

pub(super) fn first() -> Line {
    Line::of(&v2(compared))
}

impl Line {
    pub(super) fn order(&self, at: usize) -> String {
        cells(&self.memory, "orders").swap_remove(at)
    }

    /// People change cells of an order.
    pub(super) fn edit_order(&mut self, at: usize, cells: &Json) {
        let feature = self.get(RecordKind::Feature, "orders").id;
        let rows = vec![RowWrite {
            id: self.memory.state().rows[&feature][at].id,
            cells: RowData::parse(&cells.to_string()).expect("cells"),
            replace: false,
            digest: None,
        }];
        person(&mut self.memory, vec![Change::UpdateRows { feature, rows }]);
    }
}

#[test]
fn a_link_of_a_new_row_comes_with_the_row_that_it_points_at() {
    let name = json!(["A", "D"]);
    let both = [6000, 6003].map(|row| points(row, "clients", "name"));
    let list = json!({"rows": both});
    for (new, expected) in [
        (to_new(), r#""client":"D""#),
        (ordered(&name, &list), r#""client":["A","D"]"#),
    ] {
        let mut line = first();
        line.apply(&new, WITHOUT_CLIENTS);
        assert_eq!(line.order(1), r#"{"code":"2"}"#);
        let before = line.memory.state();
        // As long as the row is not there nothing comes, and the plan says so.
        let plan = line.plan(&new, WITHOUT_CLIENTS);
        let waiting = plan.not_carried.iter();
        let waiting: Vec<_> = waiting
            .map(|one| (one.path.as_deref(), one.count))
            .collect();
        assert_eq!(waiting, [(Some("rows[].data.client"), Some(1))]);
        line.apply(&new, WITHOUT_CLIENTS);
        assert_eq!(line.memory.state(), before);
        let report = line.upgrade(&new, &Json::Null);
        assert_eq!(report.rows["f_orders"].updated, 1);
        assert!(line.order(1).contains(expected), "{}", line.order(1));
        assert!(!line.drift(true).drift);
        let report = line.upgrade(&new, &Json::Null);
        assert_eq!(report.rows["f_orders"].updated, 0);
        // Both upgrades back.
        line.undo(false).expect("undone");
        line.undo(false).expect("undone");
        assert_eq!(line.memory.state(), before);
        // The base is again what it was.
        line.upgrade(&new, &Json::Null);
        assert!(line.order(1).contains(expected), "{}", line.order(1));
    }
}

#[test]
fn a_link_that_was_never_written_is_no_change_of_people() {
    let mut line = first();
    let start = line.memory.state();
    line.apply(&to_new(), WITHOUT_CLIENTS);
    line.edit_order(1, &json!({"code": "3"}));
    line.insert("clients", r#"{"name":"D","city":"Ulm"}"#);
    let drift = line.drift(true);
    let drifted: Vec<_> = drift
        .cells
        .iter()
        .flatten()
        .map(|cell| &*cell.column)
        .collect();
    assert_eq!(drifted, ["code"], "{drift:#?}");
    let third = ordered(&json!("A"), &points(6000, "clients", "name"));
    let plan = line.plan(&third, &upgrade_body(&Json::Null));
    assert_eq!(conflicts(&plan), []);
    line.upgrade(&third, &Json::Null);
    let order = line.order(1);
    assert!(
        order.contains(r#""client":"A""#) && order.contains(r#""code":"3""#),
        "{order}"
    );
    // What people wrote there themselves is theirs.
    let mut line = first();
    line.apply(&to_new(), WITHOUT_CLIENTS);
    line.edit_order(1, &json!({"client": "B"}));
    let plan = line.plan(&to_new(), &upgrade_body(&Json::Null));
    let path = format!("rows.{}.client", uid(6101));
    assert_eq!(conflicts(&plan), [("changed", "f_orders", path.as_str())]);
    line.edit_order(1, &json!({"client": null}));
    line.undo(false).expect("undone");
    assert_eq!(line.memory.state(), start);
}

/// Clients have a boss and cities of their own; the last two are new, and the one is the boss of the other.
fn bosses(package: &mut Json) {
    args(package, "c_clients_city")["config"] = json!({"unique": true});
    let column = json!({"featureId": "$f_clients", "name": "boss", "label": "boss", "type": "linked_select",
        "defaultComponent": "linkfield", "order": 9, "config": link("clients", "name")});
    with(package, "create_column", "c_clients_boss", column);
    let columns = package["payloads"][0]["columns"].as_array_mut();
    columns.expect("columns").push("boss".into());
    client(package, 1)["boss"] = "C".into();
    package["payloads"][0]["rows"][1]["refs"] = json!({"boss": points(6002, "clients", "name")});
}

fn new_boss() -> Json {
    v2(|package| {
        bosses(package);
        let new = |name: &str, city: &str| json!({"name": name, "city": city, "note": "4"});
        let mut subject = new("E", "Gera");
        subject["boss"] = "D".into();
        let refs = json!({"boss": points(6004, "clients", "name")});
        add(
            package,
            0,
            json!({"uid": uid(6003), "data": subject, "refs": refs}),
        );
        add(
            package,
            0,
            json!({"uid": uid(6004), "data": new("D", "Ulm")}),
        );
    })
}

/// A workspace where the new boss is refused.
fn taken() -> Line {
    let mut line = Line::of(&v2(bosses));
    line.insert("clients", r#"{"name":"X","city":"Ulm"}"#);
    line
}

fn subject(line: &Line) -> String {
    let clients = line.clients();
    let mut clients = clients.into_iter();
    clients.find(|row| row.contains(r#""E""#)).expect("a row")
}

fn make_room(line: &mut Line) {
    let feature = line.get(RecordKind::Feature, "clients").id;
    let rows = line.memory.state().rows[&feature].clone();
    let taken = rows
        .iter()
        .find(|row| row.data.cell("name") == Some("\"X\""));
    let rows = vec![Removal {
        id: taken.expect("a row").id,
        digest: None,
    }];
    person(&mut line.memory, vec![Change::RemoveRows { feature, rows }]);
}

#[test]
fn a_link_inside_the_table_comes_with_its_row_too() {
    let mut line = taken();
    let before = line.memory.state();
    let report = line.upgrade(&new_boss(), &Json::Null);
    let rows = &report.rows["f_clients"];
    assert_eq!((rows.inserted, rows.failed), (1, 1));
    assert!(!subject(&line).contains("boss"), "{}", subject(&line));
    line.undo(false).expect("undone");
    assert_eq!(line.memory.state(), before);
    line.upgrade(&new_boss(), &Json::Null);
    make_room(&mut line);
    line.upgrade(&new_boss(), &Json::Null);
    assert!(subject(&line).contains(r#""boss":"D""#));
    assert!(!line.drift(true).drift);
}

#[test]
fn a_link_that_only_waits_for_its_table_keeps_no_base_of_its_own() {
    let mut line = Line::of(&v2(bosses));
    let report = line.upgrade(&new_boss(), &Json::Null);
    assert_eq!(report.rows["f_clients"].inserted, 2);
    assert!(subject(&line).contains(r#""boss":"D""#));
    let (_, ledger, _) = line.jobs.last().expect("a job");
    let cells = ledger.iter();
    let noted = cells.filter(|entry| matches!(entry, crate::workspace::ledger::Entry::Cells(_)));
    assert_eq!(noted.count(), 0);
}

#[test]
fn a_job_that_goes_on_keeps_the_same_bases() {
    let all = upgrade_body(&Json::Null);
    for (inside, written) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut whole = None;
        for call in 0.. {
            let (mut line, new, body) = if inside {
                (taken(), new_boss(), &*all)
            } else {
                (first(), to_new(), WITHOUT_CLIENTS)
            };
            // The first one does not stop.
            let crash = whole.is_some().then(|| Crash {
                call: call - 1,
                written,
            });
            let (ledger, stopped) = stopped(&mut line, &new.to_string(), body, crash);
            let state = line.memory.state();
            assert!(
                *whole.get_or_insert_with(|| state.clone()) == state,
                "call {call}"
            );
            line.jobs.push((new.to_string(), ledger, true));
            if inside {
                make_room(&mut line);
            }
            line.upgrade(&new, &Json::Null);
            let linked = if inside {
                subject(&line)
            } else {
                line.order(1)
            };
            assert!(linked.contains(r#""D""#), "call {call}: {linked}");
            if crash.is_some() && !stopped {
                assert!(call > 4, "{call}");
                break;
            }
        }
    }
}

#[test]
fn a_plain_apply_notes_nothing() {
    let mut line = Line::empty();
    line.apply(&v1(), r#"{"rowsModes": {"f_clients": "none"}}"#);
    assert_eq!(line.order(0), r#"{"code":"1"}"#);
    let (_, ledger, _) = line.jobs.last().expect("a job");
    let cells = ledger.iter();
    let noted = cells.filter(|entry| matches!(entry, crate::workspace::ledger::Entry::Cells(_)));
    assert_eq!(noted.count(), 0);
}
