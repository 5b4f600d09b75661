//! An upgrade taken back that put siblings into another order.

use serde_json::{Value as Json, json};

use super::dropped::{columns, named, siblings};
use super::{Line, args, config, upgrade_body, v1, v2, with};
use crate::apply::undo_in_units;
use crate::workspace::RecordKind::{Column, Feature, Module, Rail};
use crate::workspace::ledger::{Entry, MovedLeaf};
use crate::workspace::{RecordKind, ready};

/// `name`, `city`, `note` backwards.
fn backwards() -> Json {
    v2(|package| {
        for (reference, order) in [("name", 30), ("city", 20), ("note", 10)] {
            args(package, &format!("c_clients_{reference}"))["order"] = order.into();
        }
    })
}

fn number(line: &mut Line, kind: RecordKind, name: &str, order: i64) {
    line.edit(kind, name, |record| record.order = Some(order));
}

fn listed(left: &[MovedLeaf]) -> Vec<(RecordKind, &str, &str)> {
    let places = left.iter().map(|one| {
        let path = one.path.as_deref().unwrap_or_default();
        (one.kind.expect("a kind"), one.reference.as_str(), path)
    });
    places.collect()
}

/// The ledger as it was before ledgers held siblings of an order.
fn forget_siblings(line: &mut Line) {
    for (_, ledger, _) in &mut line.jobs {
        for entry in ledger {
            if let Entry::Structure(structure) = entry {
                structure.siblings.clear();
            }
        }
    }
}

#[test]
fn an_order_that_nobody_touched_is_what_it_was() {
    for size in [1, 2000] {
        let mut line = Line::new();
        let before = line.memory.state();
        line.upgrade(&backwards(), &Json::Null);
        assert_eq!(named(&columns(&line)), ["note", "city", "name"]);
        let (_, ledger, _) = line.jobs.pop().expect("a job");
        line.memory.take_up(ledger);
        let mut go_on = |_| true;
        let undone = undo_in_units(&mut line.memory, false, size, &mut go_on);
        ready(undone).expect("undone");
        assert!(line.memory.state() == before, "units of {size}");
    }
}

#[test]
fn an_order_that_people_changed_since_refuses_and_stays() {
    for old_ledger in [false, true] {
        let mut line = Line::new();
        line.upgrade(&backwards(), &Json::Null);
        if old_ledger {
            forget_siblings(&mut line);
        }
        let [first, ..] = &columns(&line)[..] else {
            panic!("columns");
        };
        let front = first.1 - 1;
        number(&mut line, Column, "city", front);
        let theirs = columns(&line);
        assert_eq!(named(&theirs), ["city", "note", "name"]);
        let refused = line.undo(false).expect_err("refused");
        assert!(refused.contains("1 leaf changed since"), "{refused}");
        let left = line.undo(true).expect("undone");
        if !old_ledger {
            assert_eq!(listed(&left), [(Feature, "f_clients", "order.columns")]);
            assert_eq!(left[0].id, Some(line.get(Feature, "clients").id));
        }
        assert_eq!(left.len(), 1);
        assert_eq!(columns(&line), theirs);
    }
}

#[test]
fn an_order_that_people_took_back_themselves_is_no_loss() {
    let mut line = Line::new();
    line.upgrade(&backwards(), &Json::Null);
    for (name, order) in [("name", 100), ("city", 200), ("note", 300)] {
        number(&mut line, Column, name, order);
    }
    let theirs = columns(&line);
    let left = line.undo(false).expect("undone");
    assert_eq!((left.len(), columns(&line)), (0, theirs));
}

#[test]
fn other_numbers_are_no_other_order() {
    let mut line = Line::new();
    line.upgrade(&backwards(), &Json::Null);
    for (name, order) in [("note", 100), ("city", 200), ("name", 300)] {
        number(&mut line, Column, name, order);
    }
    line.undo(false).expect("undone");
    assert_eq!(named(&columns(&line)), ["name", "city", "note"]);
    // Nor is it drift.
    assert_eq!(line.plan(&v1(), &upgrade_body(&Json::Null)).update, []);
}

#[test]
fn what_people_added_stands_after_what_it_stood_after() {
    let mut line = Line::new();
    line.upgrade(&backwards(), &Json::Null);
    let note = line.get(Column, "note");
    let mut own = note.clone();
    own.id = crate::workspace::Id::from_u128(u128::MAX - 7);
    own.name = "own".to_owned();
    own.order = note.order;
    super::person(
        &mut line.memory,
        vec![crate::workspace::Change::Create(
            own.new_record().expect("a column"),
        )],
    );
    assert_eq!(named(&columns(&line)), ["note", "own", "city", "name"]);
    line.undo(false).expect("undone");
    assert_eq!(named(&columns(&line)), ["name", "city", "note", "own"]);
}

#[test]
fn what_came_in_between_leaves_no_trace_in_the_order() {
    let new = v2(|package| {
        let rail = json!({"moduleId": "$m_m", "name": "t", "label": "t", "order": 1, "config": [{"views": ["$v_orders"]}]});
        with(package, "create_rail", "r_t", rail);
        args(package, "r_r")["order"] = 2.into();
        args(package, "r_s")["order"] = 3.into();
    });
    let mut line = Line::new();
    let before = line.memory.state();
    line.upgrade(&new, &Json::Null);
    let rails = |line: &Line| siblings(line, Rail, &line.get(Module, "m"));
    assert_eq!(named(&rails(&line)), ["t", "r", "s"]);
    // Another leaf of one of them is nothing to the order.
    line.edit(Rail, "s", config("theirs", &json!(1)));
    line.undo(false).expect("undone");
    let numbers = |line: &Line| -> Vec<i64> { rails(line).iter().map(|rail| rail.1).collect() };
    assert_eq!(named(&rails(&line)), ["r", "s"]);
    let stood = before.structure.modules[0].rails.iter();
    assert_eq!(
        numbers(&line),
        stood.map(|rail| rail.order).collect::<Vec<_>>()
    );
}

#[test]
fn modules_are_siblings_of_the_workspace() {
    let two = |package: &mut Json, order: i64| {
        let module =
            json!({"workspaceId": "$workspace", "name": "n", "label": "n", "order": order});
        with(package, "create_module", "m_n", module);
        args(package, "m_m")["order"] = 5.into();
    };
    let mut line = Line::of(&v2(|package| two(package, 6)));
    let before = line.memory.state();
    let new = v2(|package| two(package, 1));
    line.upgrade(&new, &Json::Null);
    let modules = |line: &Line| siblings(line, Module, &line.get(Module, "m"));
    assert_eq!(named(&modules(&line)), ["n", "m"]);
    line.undo(false).expect("undone");
    assert!(line.memory.state() == before);
    // People put a third between, and then these around it.
    line.upgrade(&new, &Json::Null);
    number(&mut line, Module, "m", -9);
    let left = line.undo(false).expect("it is as it was");
    assert_eq!((left.len(), named(&modules(&line))), (0, vec!["m", "n"]));
}
