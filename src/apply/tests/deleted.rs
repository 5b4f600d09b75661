//! Tests: records of a job are deleted between two jobs, and between two attempts at one job.

use super::world::{attempt, cells, created, delete, nothing, person, shop, structure_text};
use crate::apply::undo;
use crate::crashing::{Crash, Memory};
use crate::json::Value;
use crate::workspace::ledger::{Created, Entry};
use crate::workspace::{Change, New, RecordKind, Target as _, ready};

const ORDERS: [&str; 2] = [
    r#"{"code":"1","client":2,"after":"2"}"#,
    r#"{"code":"2","client":1}"#,
];

fn applied() -> (Memory, Vec<Entry>) {
    let mut memory = Memory::new(nothing());
    let report = attempt(&shop(), "{}", &mut memory, &[], 1).expect("applied");
    assert_eq!(
        (report.rows["f_orders"].linked, report.published),
        (Some(1), 1)
    );
    assert_eq!(cells(&memory, "orders"), ORDERS);
    let ledger = ready(memory.ledger()).expect("a ledger");
    (memory, ledger)
}

/// Whether everything that the package brings is there, and nothing points at what is gone.
#[track_caller]
fn check_complete(memory: &Memory, gone: &Created) {
    let what = &gone.reference;
    let text = structure_text(memory);
    assert!(
        !text.contains(&gone.id.to_string()),
        "{what} dangles: {text}"
    );
    let structure = memory.state().structure;
    assert_eq!(structure.features.len(), 2, "{what}");
    for feature in &structure.features {
        let expected = if feature.name == "orders" {
            (3, 1)
        } else {
            (2, 0)
        };
        assert_eq!(
            (feature.columns.len(), feature.views.len()),
            expected,
            "{what}"
        );
    }
    assert_eq!(structure.automations.len(), 1, "{what}");
    assert!(structure.automations[0].active, "{what}");
    assert_eq!(
        (structure.modules.len(), structure.modules[0].rails.len()),
        (1, 1),
        "{what}"
    );
    let orders = structure
        .features
        .iter()
        .find(|f| f.name == "orders")
        .expect("orders");
    let (view, module) = (orders.views[0].id, &structure.modules[0]);
    assert_eq!(
        module.rails[0].config[0]["views"],
        Value::List(vec![view.to_string().as_str().into()]),
        "{what}"
    );
    assert_eq!(
        module.config["defaultRailId"],
        module.rails[0].id.to_string().as_str().into(),
        "{what}"
    );
    assert_eq!(
        structure.workspace.config["defaultModuleId"],
        module.id.to_string().as_str().into(),
        "{what}"
    );
}

#[test]
fn what_a_person_deleted_comes_back_and_nothing_points_at_what_is_gone() {
    let (_, ledger) = applied();
    for gone in created(&ledger) {
        let (mut memory, first) = applied();
        delete(&mut memory, &gone);
        let before = memory.state();
        memory.next_job();
        attempt(&shop(), "{}", &mut memory, &first, 2).expect("applied again");
        check_complete(&memory, &gone);
        assert_eq!(cells(&memory, "clients").len(), 2, "{}", gone.reference);
        assert_eq!(cells(&memory, "orders").len(), 2, "{}", gone.reference);

        let second = memory.next_job();
        let after = memory.state();
        let earlier = [first, second.clone()].concat();
        let report = attempt(&shop(), "{}", &mut memory, &earlier, 3).expect("a third time");
        assert_eq!(memory.state(), after, "{}", gone.reference);
        assert_eq!(
            (report.rows["f_orders"].skipped, report.published),
            (2, 0),
            "{}",
            gone.reference
        );

        memory.take_up(second);
        ready(undo(&mut memory, false)).expect("undone");
        assert_eq!(memory.state(), before, "{}", gone.reference);
    }
}

#[test]
fn a_job_that_goes_on_creates_anew_what_a_person_deleted_meanwhile() {
    let (whole_run, ledger) = applied();
    let calls = whole_run.calls();
    for gone in created(&ledger) {
        // The structure is written at the fourth call.
        for call in 4..=calls {
            let mut memory = Memory::new(nothing());
            memory.crash_at(Crash {
                call,
                written: true,
            });
            let _ = attempt(&shop(), "{}", &mut memory, &[], 1);
            memory.recover();
            delete(&mut memory, &gone);
            let at = format!("{} at {call}", gone.reference);
            let report = attempt(&shop(), "{}", &mut memory, &[], 1).expect("resumed");
            check_complete(&memory, &gone);
            assert_eq!(cells(&memory, "clients").len(), 2, "{at}");
            assert_eq!(cells(&memory, "orders").len(), 2, "{at}");
            for (table, counts) in &report.rows {
                assert_eq!(counts.inserted + counts.skipped, 2, "{at} {table}");
                assert_eq!(counts.recorded, Some(2), "{at} {table}");
            }
            assert_eq!(report.errors, [], "{at}");
            let again = memory.state();
            attempt(&shop(), "{}", &mut memory, &[], 1).expect("the same pass again");
            assert_eq!(memory.state(), again, "{at}");
            ready(undo(&mut memory, false)).expect("undone");
            assert_eq!(memory.state(), nothing(), "{at}");
        }
    }
}

#[test]
fn links_hold_after_a_table_was_deleted_between_two_attempts() {
    let (_, ledger) = applied();
    for table in ["f_clients", "f_orders"] {
        let (mut memory, _) = applied();
        let made = created(&ledger);
        let gone = made
            .iter()
            .find(|made| made.reference == table)
            .expect("made");
        delete(&mut memory, gone);
        attempt(&shop(), "{}", &mut memory, &[], 1).expect("resumed");
        assert_eq!(cells(&memory, "orders"), ORDERS, "{table}");
    }
}

#[test]
fn a_job_is_undone_from_wherever_it_was_interrupted() {
    let (whole_run, _) = applied();
    for call in 0..=whole_run.calls() {
        for written in [false, true] {
            let mut memory = Memory::new(nothing());
            memory.crash_at(Crash { call, written });
            let _ = attempt(&shop(), "{}", &mut memory, &[], 1);
            memory.recover();
            ready(undo(&mut memory, false)).expect("undone");
            assert_eq!(memory.state(), nothing(), "{call} {written}");
        }
    }
}

#[test]
fn only_dead_ids_are_replaced_and_what_people_configured_stays() {
    let (mut memory, first) = applied();
    let made = created(&first);
    let id = |reference: &str| {
        made.iter()
            .find(|m| m.reference == reference)
            .expect("made")
            .id
    };
    let mut config = memory.state().structure.workspace.config;
    config.insert("color".to_owned(), "red".into());
    let workspace = Change::Configure {
        kind: RecordKind::Workspace,
        id: memory.state().structure.workspace.id,
        config: Value::Object(config),
    };
    let module = Change::Configure {
        kind: RecordKind::Module,
        id: id("m_m"),
        config: Value::Object(
            [("defaultRailId".to_owned(), "".into())]
                .into_iter()
                .collect(),
        ),
    };
    person(&mut memory, vec![workspace, module]);
    for gone in made
        .iter()
        .filter(|made| ["m_m", "f_orders"].contains(&made.reference.as_str()))
    {
        delete(&mut memory, gone);
    }
    memory.next_job();
    attempt(&shop(), "{}", &mut memory, &first, 2).expect("applied again");
    let structure = memory.state().structure;
    let config = &structure.workspace.config;
    assert_eq!(config["color"], "red".into());
    assert_eq!(
        config["defaultModuleId"],
        structure.modules[0].id.to_string().as_str().into()
    );
    assert!(!structure_text(&memory).contains(&id("f_orders").to_string()));
}

#[test]
fn a_column_comes_back_under_the_name_that_it_had() {
    let mut state = nothing();
    state
        .structure
        .features
        .push(crate::apply::test_packages::feature(70, "orders", &[]));
    let mut memory = Memory::new(state);
    attempt(&shop(), "{}", &mut memory, &[], 1).expect("applied");
    let first = memory.next_job();
    let made = created(&first);
    let orders = made
        .iter()
        .find(|made| made.reference == "f_orders")
        .expect("made");
    assert_eq!(orders.name, "orders_2");
    delete(&mut memory, orders);
    let id = crate::apply::test_packages::id(70);
    person(
        &mut memory,
        vec![Change::Remove {
            kind: RecordKind::Feature,
            id,
            force: true,
        }],
    );
    attempt(&shop(), "{}", &mut memory, &first, 2).expect("applied again");
    let second = ready(memory.ledger()).expect("a ledger");
    assert_eq!(created(&second)[0].name, "orders_2");
}

#[test]
fn a_name_that_a_person_took_meanwhile_is_left_to_them() {
    let (mut memory, first) = applied();
    let made = created(&first);
    let orders = made
        .iter()
        .find(|made| made.reference == "f_orders")
        .expect("made");
    delete(&mut memory, orders);
    let theirs = crate::apply::test_packages::feature(70, "orders", &[]);
    person(&mut memory, vec![Change::Create(New::Feature(theirs))]);
    memory.next_job();
    let report = attempt(&shop(), "{}", &mut memory, &first, 2).expect("applied again");
    let renamed: Vec<_> = report
        .renamed
        .iter()
        .map(|r| (r.from.as_str(), r.to.as_str()))
        .collect();
    assert_eq!(renamed, [("orders", "orders_2")]);
    assert_eq!(cells(&memory, "orders_2").len(), 2);
    assert!(cells(&memory, "orders").is_empty());
}
