//! What people change between the plan of an upgrade and its units stays, and is reported (`upgrade` 3.6.1).

use jiff::Timestamp;
use serde_json::{Value as Json, json};

use super::killed::attempt;
use super::{Line, args, client, conflicts, label, upgrade_body, v2};
use crate::apply::test_packages::{checked, request, uid};
use crate::apply::{ApplyError, Minter, Report, ResolveInput, resolve, run_from};
use crate::crashing::{Crash, Error, Memory};
use crate::definitions::Definitions;
use crate::problem::Code;
use crate::workspace::RecordKind::{Column, Feature, View};
use crate::workspace::ledger::{Entry, MovedLeaf};
use crate::workspace::{Source as _, Target as _, ready};

/// A label, a column after another one, a view and a cell are other ones.
fn new() -> Json {
    v2(|package| {
        args(package, "f_clients")["label"] = "Clients".into();
        args(package, "f_orders")["label"] = "Orders".into();
        args(package, "c_clients_name")["order"] = 9.into();
        args(package, "v_orders")["label"] = "View".into();
        client(package, 0)["city"] = "Berlin".into();
        client(package, 1)["city"] = "Ulm".into();
    })
}

/// An upgrade whose decisions were taken before people came. Where its first unit is refused with that, it is
/// decided anew.
fn decided_before(line: &mut Line, people: impl Fn(&mut Line), code: Option<Code>) -> Report {
    let text = new().to_string();
    let refused = {
        let package = checked(&text);
        let structure = ready(line.memory.structure()).expect("a structure");
        let definitions = Definitions::embedded();
        let wanted = request(&upgrade_body(&Json::Null));
        let minter = Minter::at(Timestamp::UNIX_EPOCH, 0xABC_9998);
        let approved = line.past(|past| {
            resolve(
                ResolveInput {
                    package: &package,
                    request: &wanted,
                    destination: &structure,
                    past,
                    definitions,
                },
                minter,
            )
            .expect("approved")
        });
        people(line);
        let mut memory = std::mem::replace(&mut line.memory, Memory::new(super::nothing()));
        let ran = line.past(|past| {
            let mut unwatched = |_| {};
            let payloads = &package.payloads;
            let ran = run_from(
                &mut memory,
                &approved,
                payloads,
                past,
                definitions,
                &mut unwatched,
            );
            ready(ran)
        });
        line.memory = memory;
        ran
    };
    match refused {
        Ok(report) => {
            assert_eq!(code, None);
            line.jobs.push((text, line.memory.next_job(), true));
            return report;
        }
        Err(ApplyError::Refused { code: found, .. }) => assert_eq!(Some(found), code),
        Err(other) => panic!("{other:?}"),
    }
    goes_on(line, &text).expect("a report")
}

/// One attempt; what it wrote is the line's when it came to its end.
fn goes_on(line: &mut Line, text: &str) -> Result<Report, ApplyError<Error>> {
    let mut memory = std::mem::replace(&mut line.memory, Memory::new(super::nothing()));
    let report = line.past(|past| attempt(&mut memory, past, text));
    line.memory = memory;
    if report.is_ok() {
        line.jobs
            .push((text.to_owned(), line.memory.next_job(), true));
    }
    report
}

fn places(moved: &[MovedLeaf]) -> Vec<[&str; 2]> {
    moved
        .iter()
        .map(|one| {
            let path = one.path.as_deref().or(one.column.as_deref());
            [one.reference.as_str(), path.unwrap_or_default()]
        })
        .collect()
}

#[test]
fn a_leaf_stays_and_everything_else_is_written() {
    let mut line = Line::new();
    let people = |line: &mut Line| line.edit(Feature, "clients", label("Since"));
    let report = decided_before(&mut line, people, Some(Code::Conflict));
    let moved = MovedLeaf {
        kind: Some(Feature),
        reference: "f_clients".to_owned(),
        uid: None,
        id: Some(line.get(Feature, "clients").id),
        path: Some("label".to_owned()),
        column: None,
        count: None,
    };
    assert_eq!(report.moved, [moved]);
    assert!(report.is_partial());
    assert_eq!(line.get(Feature, "clients").called(), "Since");
    assert_eq!(line.get(Feature, "orders").called(), "Orders");
    assert_eq!(report.rows["f_clients"].updated, 2);
    // It keeps its base, so that it is asked the next time.
    let plan = line.plan(&new(), &upgrade_body(&Json::Null));
    assert_eq!(conflicts(&plan), [("changed", "f_clients", "label")]);
}

#[test]
fn another_leaf_of_the_same_record_is_no_conflict() {
    let mut line = Line::new();
    let people =
        |line: &mut Line| line.edit(View, "orders", super::config("rowHeight", &json!("tall")));
    let report = decided_before(&mut line, people, None);
    assert_eq!(report.moved, []);
    assert_eq!(line.get(View, "orders").called(), "View");
}

#[test]
fn siblings_that_people_moved_stay_where_they_are() {
    let mut line = Line::new();
    // Not the column that the package moves, but the one next to it.
    let people = |line: &mut Line| line.edit(Column, "city", |thing| thing.order = Some(20));
    let report = decided_before(&mut line, people, Some(Code::Conflict));
    assert_eq!(places(&report.moved), [["f_clients", "order.columns"]]);
    let structure = line.memory.state().structure;
    let clients = structure.features.iter().find(|one| one.name == "clients");
    let names = clients.expect("a table").columns.iter();
    let names: Vec<&str> = names.map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["name", "note", "city"]);
    assert_eq!(line.get(Feature, "clients").called(), "Clients");
    let plan = line.plan(&new(), &upgrade_body(&Json::Null));
    assert_eq!(
        conflicts(&plan),
        [("changed", "f_clients", "order.columns")]
    );
}

#[test]
fn what_people_took_away_stays_away() {
    let mut line = Line::new();
    let people = |line: &mut Line| line.remove(View, "orders");
    let report = decided_before(&mut line, people, Some(Code::NotFound));
    assert_eq!(places(&report.moved), [["v_orders", ""]]);
    assert!(line.thing(View, "orders").is_none());
    assert_eq!(line.get(Feature, "clients").called(), "Clients");
    let plan = line.plan(&new(), &upgrade_body(&Json::Null));
    assert_eq!(conflicts(&plan), [("removed_here", "v_orders", "")]);
}

#[test]
fn a_cell_that_people_changed_between_two_units_stays() {
    let text = new().to_string();
    for call in 0.. {
        let mut line = Line::new();
        let written = true;
        line.memory.crash_at(Crash { call, written });
        assert!(goes_on(&mut line, &text).is_err(), "nobody came between");
        line.memory.recover();
        let own = ready(line.memory.ledger()).expect("a ledger");
        if !own.iter().any(|entry| matches!(entry, Entry::Structure(_))) {
            continue;
        }
        line.cells(0, &json!({"city": "Since"}));
        let report = goes_on(&mut line, &text).expect("a report");
        assert_eq!(places(&report.moved), [["f_clients", "city"]]);
        assert_eq!(report.moved[0].uid, Some(uid(6000)));
        let clients = line.clients();
        assert!(
            clients[0].contains("Since") && clients[1].contains("Ulm"),
            "{clients:?}"
        );
        let plan = line.plan(&new(), &upgrade_body(&Json::Null));
        assert_eq!(plan.conflicts.len(), 1);
        assert_eq!(plan.conflicts[0].base.as_str(), Some("Bonn"));
        return;
    }
}

const THEIRS: &str = r#"{"upgrade": true, "conflicts": "theirs"}"#;

#[test]
fn what_decides_the_rest_speaks_of_what_the_plan_saw() {
    let mut line = Line::new();
    line.edit(Feature, "clients", label("Ours"));
    line.cells(0, &json!({"city": "Ours"}));
    let plan = line.plan(&new(), THEIRS);
    assert_eq!(plan.refusals, []);
    line.edit(Feature, "orders", label("Since"));
    line.cells(1, &json!({"city": "Since"}));
    let report = line.apply_planned(&new(), THEIRS, plan);
    let moved = [["f_orders", "label"], ["f_clients", "city"]];
    assert_eq!(places(&report.moved), moved);
    assert_eq!(line.get(Feature, "clients").called(), "Clients");
    assert_eq!(line.get(Feature, "orders").called(), "Since");
    let clients = line.clients();
    assert!(clients[0].contains("Berlin") && clients[1].contains("Since"));
    // They keep their base.
    let plan = line.plan(&new(), &upgrade_body(&Json::Null));
    let asks = conflicts(&plan);
    assert_eq!(asks.len(), 2);
    assert_eq!(plan.conflicts[1].base.as_str(), Some("Kiel"));
}

#[test]
fn what_was_to_go_stays_when_people_changed_it_since() {
    let gone = v2(|package| {
        super::without(package, "r_s");
        args(package, "f_clients")["label"] = "Clients".into();
    });
    let mut line = Line::new();
    let body = upgrade_body(&json!({"r_s": "delete"}));
    let plan = line.plan(&gone, &body);
    assert_eq!(plan.refusals, []);
    assert!(plan.left[0].delete);
    let rail = crate::workspace::RecordKind::Rail;
    line.edit(rail, "s", label("Since"));
    let report = line.apply_planned(&gone, &body, plan);
    assert_eq!(places(&report.moved), [["r_s", ""]]);
    assert!(report.is_partial() && !report.left[0].delete);
    assert_eq!(line.get(rail, "s").called(), "Since");
    assert_eq!(line.get(Feature, "clients").called(), "Clients");
}
