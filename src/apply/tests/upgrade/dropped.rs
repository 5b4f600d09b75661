//! Columns and tables that go with what they hold, and come back.

use serde_json::{Value as Json, json};

use super::super::world::link;
use super::{Line, args, codes, config, upgrade_body, v1, v2, with, without};
use crate::apply::test_packages::Pack;
use crate::apply::{Preview, UndoProgress, undo_in_units};
use crate::crashing::Crash;
use crate::workspace::RecordKind::{Column, Feature, Module, Rail, View};
use crate::workspace::ledger::Entry;
use crate::workspace::{AnyRecord, RecordKind, ready};

/// Clients without their notes.
pub(super) fn noteless() -> Json {
    v2(|package| {
        without(package, "c_clients_note");
        for row in 0..3 {
            let cells = super::client(package, row).as_object_mut();
            cells.expect("cells").shift_remove("note");
        }
        package["payloads"][0]["columns"] = json!(["name", "city"]);
    })
}

/// Clients without their cities, and with the columns around them in another order.
fn cityless_backwards() -> Json {
    v2(|package| {
        without(package, "c_clients_city");
        for row in 0..3 {
            let cells = super::client(package, row).as_object_mut();
            cells.expect("cells").shift_remove("city");
        }
        package["payloads"][0]["columns"] = json!(["name", "note"]);
        args(package, "c_clients_name")["order"] = 99.into();
    })
}

/// Siblings in their order: names and numbers.
pub(super) fn siblings(line: &Line, kind: RecordKind, parent: &AnyRecord) -> Vec<(String, i64)> {
    let structure = line.memory.state().structure;
    let all = AnyRecord::siblings(&structure, kind, Some(parent.id)).into_iter();
    all.map(|one| (one.name, one.order.unwrap_or_default()))
        .collect()
}

pub(super) fn columns(line: &Line) -> Vec<(String, i64)> {
    siblings(line, Column, &line.get(Feature, "clients"))
}

pub(super) fn named(siblings: &[(String, i64)]) -> Vec<&str> {
    siblings.iter().map(|(name, _)| name.as_str()).collect()
}

/// Without orders, and without what shows them.
fn orderless() -> Json {
    v2(|package| {
        for reference in [
            "f_orders",
            "c_orders_code",
            "c_orders_client",
            "v_orders",
            "w_flow",
            "r_r",
            "r_s",
        ] {
            without(package, reference);
        }
        let payloads = package["payloads"].as_array_mut().expect("payloads");
        payloads.truncate(1);
        let mut rows = 0;
        let items = package["manifest"]["items"].as_array_mut().expect("items");
        items.retain(|item| {
            rows += usize::from(item["kind"] == "rows");
            item["kind"] != "rows" || rows == 1
        });
    })
}

pub(super) fn allowed(decisions: &Json) -> String {
    json!({"upgrade": true, "allowDestructive": true, "decisions": decisions}).to_string()
}

/// What would be lost, by ref: cells and rows.
fn lost(plan: &Preview) -> Vec<(&str, Option<u64>, Option<u64>)> {
    let refusals = plan.refusals.iter();
    let lost = refusals.filter(|refusal| refusal.code.as_str() == "destructive");
    lost.map(|refusal| {
        let reference = refusal.reference.as_deref().unwrap_or_default();
        (reference, refusal.cells, refusal.rows)
    })
    .collect()
}

#[test]
fn what_would_be_lost_is_counted_and_refused_until_it_is_allowed() {
    let mut line = Line::new();
    line.cells(1, &json!({"note": null}));
    let decided = json!({"c_clients_note": "delete"});
    let plan = line.plan(&noteless(), &upgrade_body(&Json::Null));
    let left = &plan.left[0];
    assert_eq!((left.cells, left.rows, left.delete), (Some(2), None, false));
    assert_eq!(plan.refusals, []);
    let plan = line.plan(&noteless(), &upgrade_body(&decided));
    assert_eq!(lost(&plan), [("c_clients_note", Some(2), None)]);
    assert!(
        plan.refusals[0]
            .detail
            .starts_with("`decisions.c_clients_note`: ")
    );
    let plan = line.plan(&noteless(), &allowed(&decided));
    assert_eq!(plan.refusals, []);
    // All of them at once.
    let both = json!({"f_orders": "delete", "r_r": "delete"});
    let plan = line.plan(&orderless(), &upgrade_body(&both));
    assert_eq!(lost(&plan), [("f_orders", None, Some(1))]);
}

#[test]
fn a_column_goes_with_its_cells_and_comes_back() {
    let mut line = Line::new();
    line.edit(Column, "note", config("required", &json!(true)));
    let before = line.memory.state();
    let report = line.apply(&noteless(), &allowed(&json!({"c_clients_note": "delete"})));
    assert!(line.thing(Column, "note").is_none());
    assert_eq!(
        (report.left[0].cells, report.left[0].delete),
        (Some(3), true)
    );
    assert_eq!(report.decided, 1);
    // It is not part of the base any more, and the decision is of no use.
    let plan = line.plan(&noteless(), &allowed(&json!({"c_clients_note": "delete"})));
    assert_eq!((plan.left.len(), plan.unused.len()), (0, 1));
    // What is written over it meanwhile is not: the cells of others come back where rows have none.
    line.undo(false).expect("undone");
    assert_eq!(line.memory.state(), before);
}

#[test]
fn what_people_wrote_into_it_since_the_plan_stays_with_all_of_it() {
    let decided = allowed(&json!({"f_orders": "delete"}));
    for more in [true, false] {
        let mut line = Line::new();
        let plan = line.plan(&orderless(), &decided);
        assert_eq!(plan.refusals, []);
        if more {
            line.insert("orders", r#"{"code":"by hand"}"#);
        }
        let report = line.apply_planned(&orderless(), &decided, plan);
        let left = report.left.iter().find(|left| left.kind == Feature);
        assert_eq!(left.map(|left| left.delete), Some(!more));
        assert_eq!(line.thing(Feature, "orders").is_some(), more);
        let moved = report
            .moved
            .iter()
            .filter(|moved| moved.reference == "f_orders");
        assert_eq!(
            (moved.count(), report.is_partial()),
            (usize::from(more), more)
        );
        assert_eq!(report.decided, u64::from(!more));
        if more {
            // Whoever looks again decides about all of it.
            let plan = line.plan(&orderless(), &decided);
            let left = plan.left.iter().find(|left| left.kind == Feature);
            assert_eq!(left.and_then(|left| left.rows), Some(2));
            line.apply_planned(&orderless(), &decided, plan);
            assert!(line.thing(Feature, "orders").is_none());
        }
    }
    // A cell of a column, too.
    let decided = allowed(&json!({"c_clients_note": "delete"}));
    let mut line = Line::new();
    let plan = line.plan(&noteless(), &decided);
    line.cells(1, &json!({"note": "since"}));
    let report = line.apply_planned(&noteless(), &decided, plan);
    assert!(report.is_partial() && !report.left[0].delete);
    assert!(line.clients()[1].contains(r#""note":"since""#));
    // What it does not hold is of no account.
    let plan = line.plan(&noteless(), &decided);
    line.cells(1, &json!({"city": "since"}));
    line.apply_planned(&noteless(), &decided, plan);
    assert!(line.thing(Column, "note").is_none());
}

#[test]
fn cells_come_back_where_rows_have_none() {
    let mut line = Line::new();
    line.apply(&noteless(), &allowed(&json!({"c_clients_note": "delete"})));
    line.cells(0, &json!({"note": null}));
    line.cells(1, &json!({"note": "since"}));
    line.undo(false).expect("undone");
    let notes: Vec<bool> = line
        .clients()
        .iter()
        .zip([r#""note":"1""#, r#""note":"since""#, r#""note":"3""#])
        .map(|(row, note)| row.contains(note))
        .collect();
    assert_eq!(notes, [true; 3]);
}

#[test]
fn a_column_comes_back_to_its_place_among_siblings_that_the_upgrade_moved() {
    for size in [1, 2, 2000] {
        let mut line = Line::new();
        let before = line.memory.state();
        let delete = allowed(&json!({"c_clients_city": "delete"}));
        line.apply(&cityless_backwards(), &delete);
        assert_eq!(named(&columns(&line)), ["note", "name"]);
        let (_, ledger, _) = line.jobs.pop().expect("a job");
        line.memory.take_up(ledger);
        let mut go_on = |_| true;
        let undone = undo_in_units(&mut line.memory, false, size, &mut go_on);
        let undone = ready(undone).expect("undone");
        assert_eq!(undone, UndoProgress::Done(Vec::new()));
        assert_eq!(line.memory.state(), before, "units of {size}");
    }
}

#[test]
fn a_column_comes_back_to_its_place_among_siblings_that_people_gave_other_numbers() {
    let new = v2(|package| {
        *package = cityless_backwards();
        args(package, "c_clients_name")["order"] =
            args(&mut v1(), "c_clients_name")["order"].clone();
    });
    let delete = allowed(&json!({"c_clients_city": "delete"}));
    for [name, note] in [[100, 200], [100, 101], [100, 100], [-100, -50], [-7, -6]] {
        let mut line = Line::new();
        line.apply(&new, &delete);
        line.edit(Column, "name", |column| column.order = Some(name));
        line.edit(Column, "note", |column| column.order = Some(note));
        line.undo(false).expect("undone");
        let found = columns(&line);
        assert_eq!(named(&found), ["name", "city", "note"], "{found:?}");
        // No number of people becomes another one without need.
        assert_eq!(found[0].1, name);
        assert_eq!((found[2].1 == note), note > name + 1, "{found:?}");
    }
    // Whoever moved the columns finds them where they were put.
    let mut line = Line::new();
    line.apply(&new, &delete);
    line.edit(Column, "note", |column| column.order = Some(-1));
    line.undo(false).expect("undone");
    let found = columns(&line);
    assert_eq!(named(&found), ["note", "name", "city"], "{found:?}");
    assert_eq!(found[0].1, -1);
}

#[test]
fn a_navigation_entry_goes_while_others_come_in_and_comes_back() {
    let new = v2(|package| {
        without(package, "r_r");
        let rail = json!({"moduleId": "$m_m", "name": "t", "label": "t", "order": 1, "config": [{"views": ["$v_orders"]}]});
        with(package, "create_rail", "r_t", rail);
    });
    let mut line = Line::new();
    let before = line.memory.state();
    line.upgrade(&new, &json!({"r_r": "delete"}));
    let rails = |line: &Line| siblings(line, Rail, &line.get(Module, "m"));
    assert_eq!(named(&rails(&line)), ["t", "s"]);
    line.undo(false).expect("undone");
    assert_eq!(line.memory.state(), before);
    // People have moved what stood after it.
    line.upgrade(&new, &json!({"r_r": "delete"}));
    line.edit(Rail, "s", |rail| rail.order = Some(0));
    line.undo(false).expect("undone");
    assert_eq!(named(&rails(&line)), ["r", "s"]);
}

#[test]
fn a_table_goes_with_everything_in_it_and_comes_back() {
    let mut line = Line::new();
    let before = line.memory.state();
    let ids: Vec<_> = [(Feature, "orders"), (Column, "code"), (View, "orders")]
        .map(|(kind, name)| line.get(kind, name).id)
        .into();
    let decided = json!({"f_orders": "delete"});
    assert_eq!(line.plan(&orderless(), &allowed(&decided)).refusals, []);
    let report = line.apply(&orderless(), &allowed(&decided));
    let left = report.left.iter().find(|left| left.delete).expect("one");
    assert_eq!((left.reference.as_str(), left.rows), ("f_orders", Some(1)));
    assert!(line.thing(Feature, "orders").is_none());
    assert!(line.thing(Column, "code").is_none());
    let plan = line.plan(&orderless(), &upgrade_body(&Json::Null));
    assert!(plan.left.iter().all(|left| left.kind != Feature));
    line.undo(false).expect("undone");
    assert_eq!(line.memory.state(), before);
    let again: Vec<_> = [(Feature, "orders"), (Column, "code"), (View, "orders")]
        .map(|(kind, name)| line.get(kind, name).id)
        .into();
    assert_eq!(again, ids);
    // Its base is what it was.
    assert_eq!(line.plan(&v1(), &upgrade_body(&Json::Null)).update, []);
}

/// Without the module and what is in it.
fn moduleless() -> Json {
    v2(|package| {
        for reference in ["m_m", "r_r", "r_s"] {
            without(package, reference);
        }
        let steps = package["manifest"]["plan"]["steps"].as_array_mut();
        let steps = steps.expect("steps");
        steps.retain(|step| step["tool"] != "update_workspace");
    })
}

#[test]
fn navigation_entries_stand_next_to_their_module_and_go_alone() {
    let mut line = Line::new();
    line.edit(Rail, "s", super::label("Ours"));
    let before = line.memory.state();
    let plan = line.plan(&moduleless(), &upgrade_body(&Json::Null));
    let left = plan.left.iter().map(|left| left.reference.as_str());
    assert_eq!(left.collect::<Vec<_>>(), ["m_m", "r_r", "r_s"]);
    let all = json!({"m_m": "delete", "r_r": "delete", "r_s": "delete"});
    let plan = line.plan(&moduleless(), &upgrade_body(&all));
    let refused = plan.refusals.iter().map(|one| one.reference.as_deref());
    assert_eq!(codes(&plan.refusals), ["delete_refused"; 2]);
    assert_eq!(refused.collect::<Vec<_>>(), [Some("m_m"), Some("r_s")]);
    let report = line.upgrade(&moduleless(), &json!({"r_r": "delete"}));
    assert_eq!((report.decided, report.unused), (1, vec![]));
    assert!(line.thing(Rail, "r").is_none() && line.thing(Module, "m").is_some());
    let plan = line.plan(&moduleless(), &upgrade_body(&Json::Null));
    assert_eq!(plan.left.len(), 2);
    line.undo(false).expect("undone");
    assert_eq!(line.memory.state(), before);
    // What people removed with its module is not there to be left.
    line.remove(Module, "m");
    let plan = line.plan(&moduleless(), &upgrade_body(&Json::Null));
    assert_eq!(plan.left, []);
}

#[test]
fn what_holds_other_things_stays_and_so_does_what_was_changed() {
    let lost = moduleless();
    let line = Line::new();
    let plan = line.plan(&lost, &allowed(&json!({"m_m": "delete"})));
    assert_eq!(codes(&plan.refusals), ["delete_refused"]);
    assert_eq!(plan.refusals[0].reference.as_deref(), Some("m_m"));
    let viewless = v2(|package| {
        args(package, "r_r")["config"] = json!([{}]);
        args(package, "r_s")["config"] = json!([{}]);
        without(package, "v_orders");
    });
    let mut line = Line::new();
    let plan = line.plan(&viewless, &allowed(&json!({"v_orders": "delete"})));
    assert_eq!(codes(&plan.refusals), [""; 0]);
    line.edit(View, "orders", super::label("Ours"));
    let plan = line.plan(&viewless, &allowed(&json!({"v_orders": "delete"})));
    assert_eq!(codes(&plan.refusals), ["delete_refused"]);
}

/// The next version does not bring the table any more, and links to it all the same.
#[test]
fn what_the_package_uses_stays() {
    let town = link("towns", "name");
    let base = Pack::new()
        .table("clients")
        .table("towns")
        .column("towns", "name", "text", json!(null))
        .column("clients", "town", "linked_select", town.clone());
    let uses = [
        (1001, "config.linkedFeatureId"),
        (1001, "config.linkedValueColumn"),
    ];
    let mut new = Pack::new()
        .table("clients")
        .column("clients", "town", "linked_select", town)
        .far_table("towns", &["name"], false, &uses);
    new.external = vec!["f_towns", "c_towns_name"];
    let [base, new] = [base, new].map(|pack| serde_json::from_str(&pack.text()).expect("JSON"));
    let line = Line::of(&base);
    let (towns, name) = (line.get(Feature, "towns").id, line.get(Column, "name").id);
    let towns = json!({"action": "map", "id": towns, "columns": {"c_towns_name": name}});
    let body = json!({"upgrade": true, "allowDestructive": true,
        "decisions": {"f_towns": "delete"}, "resolutions": {"f_towns": towns}});
    let plan = line.plan(&new, &body.to_string());
    assert_eq!(codes(&plan.refusals), ["delete_refused"]);
    let detail = &plan.refusals[0].detail;
    assert!(detail.contains("the package uses it"), "{detail}");
}

#[test]
fn it_ends_as_one_that_never_stopped_and_is_taken_back_from_anywhere() {
    let new = orderless().to_string();
    let body = allowed(&json!({"f_orders": "delete"}));
    let mut whole = Line::new();
    super::killed::stopped(&mut whole, &new, &body, None);
    let mut stops = 0;
    for written in [false, true] {
        for call in 0.. {
            let mut line = Line::new();
            let before = line.memory.state();
            let crash = Some(Crash { call, written });
            let (ledger, stopped) = super::killed::stopped(&mut line, &new, &body, crash);
            assert!(
                line.memory.state() == whole.memory.state(),
                "call {call}, written {written}"
            );
            if !stopped {
                break;
            }
            stops += 1;
            assert!(ledger.iter().any(|entry| matches!(entry, Entry::Taken(_))));
            line.jobs.push((new.clone(), ledger, true));
            line.undo(false).expect("undone");
            assert!(line.memory.state() == before, "call {call}, {written}");
        }
    }
    assert!(stops > 5, "{stops}");
}
