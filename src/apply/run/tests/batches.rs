use super::{applied, counts};
use crate::apply::test_plan::{TestPlan, cells, entry, id, nothing, row, uid};
use crate::apply::{ApplyError, Mode};
use crate::crashing::{Error, Memory};
use crate::problem::Code;
use crate::workspace::ledger::Entry;
use crate::workspace::{Progress, ready};

fn numbered(rows: std::ops::Range<u32>) -> Vec<String> {
    rows.map(|n| row(n, &format!(r#"{{"code":"c{n}"}}"#)))
        .collect()
}

fn batches(memory: &mut Memory) -> Vec<usize> {
    let ledger = memory.next_job();
    let sizes = ledger.iter().filter_map(|entry| match entry {
        Entry::Rows(rows) => Some(rows.rows.len()),
        _ => None,
    });
    let sizes = sizes.collect();
    memory.take_up(ledger);
    sizes
}

#[test]
fn rows_enter_in_batches_of_500_in_the_order_of_the_package() {
    let sample = TestPlan::new().table("a", &["code"], numbered(0..1203));
    let (mut memory, report) = applied(&sample);
    assert_eq!(batches(&mut memory), [500, 500, 203]);
    let stored = cells(&memory, 0);
    let expected = (0..1203).map(|n| format!(r#"{{"code":"c{n}"}}"#));
    assert!(stored.iter().cloned().eq(expected));
    let table = counts(&report, "a");
    assert_eq!((table.inserted, table.recorded), (1203, Some(1203)));
    assert_eq!((table.skipped, table.failed, table.linked), (0, 0, None));
}

#[test]
fn large_rows_enter_in_smaller_batches() {
    let sizes = [
        900_000, 900_000, 900_000, 900_000, 900_000, 3_000_000, 1, 1, 1,
    ];
    let rows = (0..).zip(sizes).map(|(n, size)| {
        let text = "x".repeat(size);
        row(n, &format!(r#"{{"code":"{text}"}}"#))
    });
    let sample = TestPlan::new().table("a", &["code"], rows.collect());
    let (mut memory, report) = applied(&sample);
    assert_eq!(batches(&mut memory), [2, 2, 1, 1, 3]);
    let stored = cells(&memory, 0);
    let lengths = stored.iter().map(|cells| cells.len() - 11);
    assert!(lengths.eq(sizes));
    assert_eq!(counts(&report, "a").inserted, 9);
}

#[test]
fn a_unique_violation_fails_its_row_and_no_other() {
    let mut rows = numbered(0..1200);
    rows[700] = row(700, r#"{"code":"c3"}"#);
    let columns = [r#"code text textfield {"unique":true}"#];
    let sample = TestPlan::new().table("a", &columns, rows);
    let (mut memory, report) = applied(&sample);
    assert_eq!(batches(&mut memory), [500, 499, 200]);
    let table = counts(&report, "a");
    assert_eq!((table.inserted, table.failed), (1199, 1));
    let [error] = report.errors.as_slice() else {
        panic!("{:?}", report.errors);
    };
    assert_eq!((error.first, error.last), (700, 700));
    assert_eq!(error.code, Code::UniqueViolation);
    assert_eq!(error.reference, "f_a");
    assert_eq!(error.column.as_deref(), Some("code"));
    assert_eq!(error.row_uid, Some(uid(700)));
    assert!(
        error.message.starts_with("rows[700].data.code: "),
        "{}",
        error.message
    );
}

#[test]
fn a_value_that_cannot_be_stored_fails_its_row() {
    let mut rows = numbered(0..501);
    rows[2] = row(2, r#"{"code":2}"#);
    let (memory, report) = applied(&TestPlan::new().table("a", &["code"], rows));
    let stored = cells(&memory, 0);
    assert_eq!((stored.len(), &*stored[2]), (500, r#"{"code":"c3"}"#));
    let error = &report.errors[0];
    assert_eq!((error.first, error.last), (2, 2));
    assert_eq!(error.code, Code::ValidationFailed);
    assert_eq!(error.message, "rows[2].data.code: the column stores text");
}

#[test]
fn a_required_cell_is_missed_whether_absent_or_empty() {
    for data in ["{}", r#"{"code":null}"#, r#"{"code":""}"#] {
        let columns = [r#"code text textfield {"required":true}"#];
        let sample = TestPlan::new().table("a", &columns, vec![row(0, data)]);
        let (memory, report) = applied(&sample);
        assert_eq!(cells(&memory, 0).len(), 0, "{data}");
        assert_eq!(
            report.errors[0].message,
            "rows[0].data.code: the column is required"
        );
    }
}

#[test]
fn a_column_that_is_left_empty_holds_null() {
    let rows = vec![
        row(0, r#"{"code":"c"}"#),
        row(1, r#"{"code":"","":"of nothing"}"#),
        row(2, "{}"),
    ];
    let mut sample = TestPlan::new().table("a", &["code", "phone"], rows);
    let columns = &mut sample.approved.tables[0].columns;
    for column in columns.iter_mut() {
        column.left_empty = true;
    }
    // The package does not know it, and has no cell for it whatever its rows hold.
    columns[1].package_name = String::new();
    let (memory, report) = applied(&sample);
    assert_eq!(report.errors, []);
    assert_eq!(
        cells(&memory, 0),
        [
            r#"{"code":"c","phone":null}"#,
            r#"{"code":"","":"of nothing","phone":null}"#,
            r#"{"code":null,"phone":null}"#,
        ]
    );
}

#[test]
fn values_are_stored_canonically_and_currency_is_rounded() {
    let columns = [
        "price currency currencyfield",
        "any json jsoneditor",
        "code",
    ];
    let rows = vec![
        row(
            0,
            r#"{"price": 1.005, "any": {"a": [1.50, -0]}, "code": "$f_x"}"#,
        ),
        row(1, r#"{ "code":"\u0041", "price":-2.675,"gone":1.0}"#),
        row(2, r#"{"any":null}"#),
    ];
    let (memory, _) = applied(&TestPlan::new().table("a", &columns, rows));
    assert_eq!(
        cells(&memory, 0),
        [
            r#"{"price":1.01,"any":{"a":[1.5,0]},"code":"$f_x"}"#,
            r#"{"code":"A","price":-2.68,"gone":1}"#,
            r#"{"any":null}"#,
        ]
    );
}

#[test]
fn cells_go_by_the_names_of_the_destination() {
    let mut sample = TestPlan::new().table("a", &["code", "name"], vec![]);
    sample.rows[0] = vec![
        row(0, r#"{"name":"n","code":"c"}"#),
        row(1, r#"{"name":1}"#),
    ];
    sample.approved.tables[0].columns[1].column.name = "name_2".to_owned();
    let (memory, report) = applied(&sample);
    assert_eq!(report.errors[0].column.as_deref(), Some("name_2"));
    assert!(
        report.errors[0]
            .message
            .starts_with("rows[1].data.name_2: ")
    );
    assert_eq!(cells(&memory, 0), [r#"{"name_2":"n","code":"c"}"#]);
}

#[test]
fn no_row_enters_a_table_that_nobody_bound_or_whose_mode_is_none() {
    let mut sample = TestPlan::new()
        .table("a", &["code"], numbered(0..2))
        .table("b", &["code"], numbered(2..4))
        .mode(1, Mode::None);
    sample.approved.tables[0].feature = None;
    let (memory, report) = applied(&sample);
    assert_eq!(memory.state().rows.len(), 0);
    for name in ["a", "b"] {
        assert_eq!(counts(&report, name), crate::apply::TableReport::default());
    }
}

#[test]
fn a_refused_structure_fails_the_job_and_writes_nothing() {
    let sample = TestPlan::new().table("a", &["code"], numbered(0..2));
    let mut state = nothing();
    let mut other = Memory::new(nothing());
    sample.run(&mut other);
    // The name was free when the package was resolved.
    state.structure.features = other.state().structure.features;
    state.structure.features[0].id = id(99);
    let mut memory = Memory::new(state.clone());
    let error = sample.try_run(&mut memory, &[]).expect_err("taken");
    let ApplyError::Refused { code, detail, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!(*code, Code::Conflict);
    assert!(detail.contains("\"a\""), "{detail}");
    assert_eq!(memory.state(), state);
    assert_eq!(memory.next_job(), []);
}

#[test]
fn automations_go_live_at_the_end_and_one_that_is_gone_stops_nothing() {
    let mut sample = TestPlan::new()
        .table("a", &["code"], numbered(0..2))
        .automation("one")
        .automation("two");
    sample.approved.publish[0].id = id(404);
    let (mut memory, report) = applied(&sample);
    assert_eq!(report.published, 1);
    let active: Vec<bool> = memory
        .state()
        .structure
        .automations
        .iter()
        .map(|automation| automation.active)
        .collect();
    assert_eq!(active, [false, true]);
    assert_eq!(report.errors[0].code, Code::NotFound);
    assert_eq!(report.errors[0].reference, "w_one");
    assert_eq!(memory.next_job().last(), Some(&Entry::Completed));
}

/// A server runs it on threads of its own.
fn sent<F: Send>(future: F) -> F {
    future
}

#[test]
fn a_watcher_hears_of_every_unit() {
    let sample = TestPlan::new()
        .table("a", &["code"], numbered(0..501))
        .automation("one");
    let mut memory = Memory::new(nothing());
    let text = format!("[{}]", sample.rows[0].join(","));
    let payloads = [entry(&text)];
    let mut heard: Vec<Progress> = Vec::new();
    let mut watch = |progress| heard.push(progress);
    let run = super::super::run(
        &mut memory,
        &sample.approved,
        &payloads,
        &[],
        crate::definitions::Definitions::embedded(),
        &mut watch,
    );
    ready(sent(run)).expect("runs");
    let heard: Vec<_> = heard.iter().map(|p| (p.phase, p.done, p.total)).collect();
    assert_eq!(
        heard,
        [
            ("structure", 3, 3),
            ("rows", 500, 501),
            ("rows", 501, 501),
            ("publish", 1, 1),
            ("publish", 1, 1)
        ]
    );
}

#[test]
fn a_store_that_does_not_answer_says_what_was_being_done() {
    let sample = TestPlan::new().table("a", &["code"], numbered(0..2));
    let mut memory = Memory::new(nothing());
    memory.crash_at(crate::crashing::Crash {
        call: 2,
        written: false,
    });
    let error = sample.try_run(&mut memory, &[]).expect_err("crashed");
    assert_eq!(
        error.to_string(),
        "the store failed writing rows of \"f_a\"; what is written stays, resume the job to go on"
    );
    let ApplyError::Store { source, .. } = error else {
        panic!("{error}");
    };
    assert_eq!(source, Error::Crashed(2));
}

#[test]
fn a_worker_that_was_overtaken_writes_nothing() {
    let sample = TestPlan::new().table("a", &["code"], numbered(0..2));
    let mut memory = Memory::new(nothing());
    memory.fence();
    let error = sample.try_run(&mut memory, &[]).expect_err("fenced");
    assert!(matches!(error, ApplyError::Fenced));
    assert_eq!(memory.state(), nothing());
    let undone = ready(crate::apply::undo(&mut memory, false));
    assert!(matches!(undone, Err(crate::apply::UndoError::Fenced)));
}
