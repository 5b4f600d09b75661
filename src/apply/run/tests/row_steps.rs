use serde_json::json;

use super::{applied, counts};
use crate::apply::Report;
use crate::apply::test_plan::{TestPlan, cells, nothing, row, uid};
use crate::crashing::Memory;
use crate::problem::Code;
use crate::workspace::ledger::Entry;
use crate::workspace::{Change, Id, New, Progress, RowData, RowWrite, Target as _, Unit, ready};

fn sample() -> TestPlan {
    let columns = [
        "id text id",
        r#"code text textfield {"required":true}"#,
        "price currency currencyfield",
    ];
    let rows = vec![
        row(1, r#"{"id":"1","code":"a","price":1}"#),
        row(2, r#"{"id":"2","code":"b"}"#),
    ];
    TestPlan::new().table("a", &columns, rows)
}

#[test]
fn steps_insert_rows_after_those_of_the_package() {
    let sample = sample().inserts(
        0,
        &[r#"{"code" : "c", "price": 1.005}"#, r#"{"code":"$f_a"}"#],
    );
    let (memory, report) = applied(&sample);
    let rows = cells(&memory, 0);
    assert_eq!(rows.len(), 4);
    assert!(
        rows[2].starts_with(r#"{"code":"c","price":1.01,"id":""#),
        "{}",
        rows[2]
    );
    assert!(rows[3].starts_with(r#"{"code":"$f_a","#), "{}", rows[3]);
    let table = counts(&report, "a");
    assert_eq!((table.inserted, table.recorded), (4, Some(4)));
}

#[test]
fn steps_change_rows_by_merging_or_replacing() {
    let merged = sample().updates("a", true, &[(1, r#"{"price":2.005}"#), (2, r#"{"id":""}"#)]);
    let (memory, report) = applied(&merged);
    assert_eq!(
        cells(&memory, 0),
        [
            r#"{"id":"1","code":"a","price":2.01}"#,
            r#"{"id":"2","code":"b"}"#
        ]
    );
    let table = counts(&report, "a");
    assert_eq!(
        (table.inserted, table.updated, table.recorded),
        (2, 2, Some(2))
    );
    let replaced = sample().updates("a", false, &[(1, r#"{"code":"z"}"#)]);
    let (memory, _) = applied(&replaced);
    assert_eq!(cells(&memory, 0)[0], r#"{"code":"z","id":"1"}"#);
    let emptied = sample().updates("a", true, &[(1, r#"{"price":null}"#)]);
    let (memory, _) = applied(&emptied);
    assert_eq!(cells(&memory, 0)[0], r#"{"id":"1","code":"a"}"#);
}

#[test]
fn a_step_that_names_nothing_is_reported_and_stops_nothing() {
    let sample = sample().updates("a", true, &[(9, "{}"), (1, r#"{"price":5}"#)]);
    let (memory, report) = applied(&sample);
    assert_eq!(cells(&memory, 0)[0], r#"{"id":"1","code":"a","price":5}"#);
    let [error] = report.errors.as_slice() else {
        panic!("{:?}", report.errors);
    };
    assert_eq!(
        (error.code, error.first, error.last),
        (Code::NotFound, 0, 0)
    );
    assert!(error.message.contains(&uid(9)), "{}", error.message);
}

#[test]
fn a_change_that_breaks_a_rule_leaves_its_row_alone() {
    let sample = sample().updates("a", true, &[(1, r#"{"code":""}"#), (2, r#"{"price":"x"}"#)]);
    let before = cells(&applied(&self::sample()).0, 0);
    let (memory, report) = applied(&sample);
    assert_eq!(cells(&memory, 0), before);
    let messages: Vec<&str> = report.errors.iter().map(|error| &*error.message).collect();
    assert_eq!(
        messages,
        [
            "rows[0].data.code: the column is required",
            "rows[1].data.price: the column stores numbers"
        ]
    );
    assert_eq!(counts(&report, "a").updated, 0);
}

#[test]
fn a_change_that_repeats_a_unique_value_leaves_its_row_alone() {
    let sample = sample().updates("a", true, &[(1, r#"{"id":"2"}"#), (2, r#"{"price":3}"#)]);
    let (memory, report) = applied(&sample);
    assert_eq!(
        cells(&memory, 0),
        [
            r#"{"id":"1","code":"a","price":1}"#,
            r#"{"id":"2","code":"b","price":3}"#
        ]
    );
    assert_eq!(report.errors[0].code, Code::UniqueViolation);
    assert_eq!(counts(&report, "a").updated, 1);
}

#[test]
fn applying_again_neither_inserts_nor_changes_again() {
    let sample =
        sample()
            .inserts(0, &[r#"{"code":"c"}"#])
            .updates("a", true, &[(1, r#"{"price":2}"#)]);
    let mut memory = Memory::new(nothing());
    sample.run(&mut memory);
    let state = memory.state();
    let earlier = memory.next_job();
    let report = sample.again().try_run(&mut memory, &earlier).expect("runs");
    assert_eq!(memory.state(), state);
    let table = counts(&report, "a");
    assert_eq!((table.inserted, table.skipped, table.updated), (0, 3, 0));
    assert_eq!(table.recorded, None);
}

const FILE: &str = "3f0c5b1e-9f5d-4d8e-8a47-2f5b8d1f0a11";
const OTHER: &str = "9AAA5b1e-9f5d-4d8e-8a47-2f5b8d1f0a22";

fn pictured() -> TestPlan {
    let rows = vec![row(1, r#"{"code":"a"}"#), row(2, r#"{"code":"b"}"#)];
    TestPlan::new().table("a", &["code", "photo file filefield"], rows)
}

/// Somebody attaches a file to the first row, in a column of the package and in one of their own, next to a text that reads
/// like a file's id. Gives what the job wrote, too.
fn attached() -> (Memory, Vec<Entry>) {
    let mut memory = Memory::new(nothing());
    pictured().run(&mut memory);
    let earlier = memory.next_job();
    let state = memory.state();
    let (feature, rows) = state.rows.iter().next().expect("a table");
    let own = |id: u64, name: &str, column_type: &str| {
        let column = json!({"id": Id::from_u64_pair(7, id), "name": name, "label": name, "type": column_type,
            "defaultComponent": "textfield", "order": 10 + id});
        let column = serde_json::from_value(column).expect("a column");
        Change::Create(New::Column {
            feature: *feature,
            column,
        })
    };
    let cells = format!(r#"{{"photo":"{FILE}","own":"{FILE}","link":"{FILE}"}}"#);
    let write = RowWrite {
        id: rows[0].id,
        cells: RowData::parse(&cells).expect("cells"),
        replace: false,
        digest: None,
    };
    let change = Change::UpdateRows {
        feature: *feature,
        rows: vec![write],
    };
    let unit = Unit {
        changes: vec![own(1, "own", "file"), own(2, "link", "text"), change],
        entry: None,
        progress: Progress::default(),
        report: None,
    };
    ready(memory.commit(unit)).expect("people may");
    (memory, earlier)
}

/// Then a step changes both rows.
fn stepped(merge: bool, step: &str) -> (Memory, Report, Vec<Entry>) {
    let (mut memory, earlier) = attached();
    let sample = pictured().again();
    let sample = sample.updates("a", merge, &[(1, step), (2, step)]);
    let report = sample.try_run(&mut memory, &earlier).expect("runs");
    (memory, report, earlier)
}

/// Path and count of what is not carried.
fn not_carried(report: &Report) -> Vec<(&str, Option<u64>)> {
    let entries = report.not_carried.iter();
    entries
        .map(|entry| (entry.path.as_deref().unwrap_or_default(), entry.count))
        .collect()
}

/// Path and count of cells that became null because the package names a file there.
fn emptied(report: &Report) -> Vec<(&str, Option<u64>)> {
    let entries = report.unresolved.iter();
    entries
        .filter(|entry| entry.reason == "nao_exportavel")
        .map(|entry| (&*entry.path, entry.count))
        .collect()
}

/// The job was stopped before its end, and goes on.
fn gone_on(memory: &mut Memory, sample: &TestPlan, earlier: &[Entry]) -> Report {
    let own = memory.next_job().into_iter();
    memory.take_up(own.filter(|entry| *entry != Entry::Completed).collect());
    sample.try_run(memory, earlier).expect("runs")
}

#[test]
fn nothing_brings_a_file_into_a_column_that_only_the_destination_has() {
    let new = format!(r#"{{"code":"c","own":"{OTHER}","link":"{OTHER}","none":"{OTHER}"}}"#);
    let expected = [("rows[].data.own", Some(1))];
    // A step inserts the row, or the package has it.
    for by_step in [true, false] {
        let (mut memory, earlier) = attached();
        let sample = if by_step {
            pictured().again().inserts(0, &[&new])
        } else {
            let rows = vec![
                row(1, r#"{"code":"a"}"#),
                row(2, r#"{"code":"b"}"#),
                row(3, &new),
            ];
            let plan = TestPlan::new();
            plan.table("a", &["code", "photo file filefield"], rows)
                .again()
        };
        let report = sample.try_run(&mut memory, &earlier).expect("runs");
        let cell = format!(r#"{{"code":"c","own":null,"link":"{OTHER}","none":"{OTHER}"}}"#);
        assert_eq!(cells(&memory, 0)[2], cell, "{by_step}");
        assert_eq!(emptied(&report), expected, "{by_step}");
        assert!(report.errors.is_empty(), "{:?}", report.errors);
        let report = gone_on(&mut memory, &sample, &earlier);
        assert_eq!(emptied(&report), expected, "{by_step}");
    }
    // A step changes rows, one of which has a file there.
    for merge in [true, false] {
        let step = format!(r#"{{"code":"z","own":"{OTHER}"}}"#);
        let (memory, report, _) = stepped(merge, &step);
        let rows = cells(&memory, 0);
        assert!(rows[0].contains(&format!(r#""own":"{FILE}""#)), "{rows:?}");
        assert!(!rows[1].contains(OTHER), "{rows:?}");
        assert_eq!(emptied(&report), expected, "{merge}");
    }
}

#[test]
fn a_step_never_writes_over_a_file() {
    const TEXT: &str = r#""b.pdf""#;
    let id = format!(r#""{OTHER}""#);
    for merge in [true, false] {
        for (photo, own, kept) in [
            (TEXT, "null", &[("rows[].data.photo", Some(1))][..]),
            ("null", TEXT, &[("rows[].data.own", Some(1))]),
            (&id, &id, &[]),
        ] {
            let step = format!(r#"{{"code":"z","photo":{photo},"own":{own}}}"#);
            let (memory, report, _) = stepped(merge, &step);
            let rows = cells(&memory, 0);
            for cell in ["code\":\"z", "photo\":\"3f0c", "own\":\"3f0c"] {
                assert!(rows[0].contains(cell), "{merge} {step}: {}", rows[0]);
            }
            // Where no file is, the step writes as ever, and in a column of files no id.
            let cell = format!(r#""photo":{photo}"#);
            assert_eq!(
                rows[1].contains(&cell),
                photo == TEXT || photo == "null" && !merge
            );
            assert_eq!(not_carried(&report), kept, "{merge} {step}");
            assert_eq!(counts(&report, "a").updated, 2);
            assert!(report.errors.is_empty(), "{:?}", report.errors);
        }
    }
    // A text is none, whatever it reads like.
    for merge in [true, false] {
        let (memory, report, _) = stepped(merge, r#"{"code":"z","link":"x"}"#);
        assert!(cells(&memory, 0)[0].contains(r#""link":"x""#));
        assert_eq!(not_carried(&report), []);
    }
    // A row that a step replaces keeps the files that the step does not name.
    let (memory, report, _) = stepped(false, r#"{"code":"z"}"#);
    let first = format!(r#"{{"code":"z","photo":"{FILE}","own":"{FILE}"}}"#);
    assert_eq!(cells(&memory, 0), [&*first, r#"{"code":"z"}"#]);
    assert_eq!(not_carried(&report), []);
}

#[test]
fn a_job_that_goes_on_says_which_files_its_steps_have_left() {
    let step = r#"{"photo":"b.pdf"}"#;
    let (mut memory, report, earlier) = stepped(true, step);
    let expected = [("rows[].data.photo", Some(1))];
    assert_eq!(not_carried(&report), expected);
    let sample = pictured().again();
    let sample = sample.updates("a", true, &[(1, step), (2, step)]);
    let report = gone_on(&mut memory, &sample, &earlier);
    assert_eq!(not_carried(&report), expected);
}
