//! Only rows that are refused themselves stay out.

use super::{applied, counts, dropped};
use crate::apply::Mode;
use crate::apply::test_plan::{TestPlan, cells, linked, nothing, row, to, uid};
use crate::crashing::{Crash, Memory};
use crate::problem::Code;

const CODE: &str = r#"code text textfield {"unique":true}"#;
const LINK: &str = "to linked_select linkfield";

fn numbered(rows: std::ops::Range<u32>) -> Vec<String> {
    rows.map(|n| row(n, &format!(r#"{{"code":"c{n}"}}"#)))
        .collect()
}

/// The first row that each error is about, and its code.
fn errors(report: &crate::apply::Report) -> Vec<(u64, u64, Code)> {
    let errors = report.errors.iter();
    errors
        .map(|error| (error.first, error.last, error.code))
        .collect()
}

/// Three rows that are refused for different reasons, and links to them and to their neighbours.
fn mixed() -> TestPlan {
    let mut rows = numbered(0..20);
    rows[3] = row(3, r#"{"code":"c1"}"#);
    rows[7] = row(7, r#"{"code":7}"#);
    rows[11] = row(11, r#"{"code":"c19"}"#);
    let links = (0..20).map(|n| {
        let refs = format!(r#"{{"to":{}}}"#, to(n, "f_a", "code"));
        linked(100 + n, r#"{"to":"x"}"#, &refs)
    });
    TestPlan::new()
        .table("a", &[CODE], rows)
        .table("b", &[LINK], links.collect())
}

#[test]
fn links_to_refused_rows_are_dropped_and_links_to_the_others_stay() {
    let (memory, report) = applied(&mixed());
    assert_eq!(cells(&memory, 0).len(), 17);
    let table = counts(&report, "a");
    assert_eq!((table.inserted, table.failed), (17, 3));
    assert_eq!(
        errors(&report),
        [
            (3, 3, Code::UniqueViolation),
            (7, 7, Code::ValidationFailed),
            (19, 19, Code::UniqueViolation)
        ]
    );
    let uids: Vec<_> = report
        .errors
        .iter()
        .map(|error| error.row_uid.clone())
        .collect();
    assert_eq!(uids, [3, 7, 19].map(|n| Some(uid(n))));
    let links = cells(&memory, 1);
    let empty: Vec<usize> = (0..20).filter(|at| links[*at] == "{}").collect();
    assert_eq!(empty, [3, 7, 19]);
    assert_eq!(links[11], r#"{"to":"c19"}"#);
    assert_eq!(dropped(&report), [("rows[].data.to".to_owned(), 3)]);
}

#[test]
fn a_crash_at_any_call_refuses_the_same_rows() {
    let sample = mixed();
    let (whole, report) = applied(&sample);
    let whole = whole.state();
    for call in 0.. {
        for written in [false, true] {
            let mut memory = Memory::new(nothing());
            memory.crash_at(Crash { call, written });
            let crashed = sample.try_run(&mut memory, &[]).is_err();
            memory.recover();
            let again = sample.try_run(&mut memory, &[]).expect("goes on");
            assert_eq!(memory.state(), whole, "call {call}");
            assert_eq!(errors(&again), errors(&report), "call {call}");
            assert_eq!(counts(&again, "a").failed, 3, "call {call}");
            if !crashed {
                return;
            }
        }
    }
}

#[test]
fn a_hundred_errors_of_a_table_are_listed_and_the_rest_is_counted() {
    let mut rows = numbered(0..1200);
    for at in (0..1200).step_by(5) {
        rows[at] = row(u32::try_from(at).expect("small"), r#"{"code":1}"#);
    }
    let others = vec![row(5000, r#"{"code":1}"#)];
    let sample = TestPlan::new()
        .table("a", &[CODE], rows)
        .table("b", &[CODE], others);
    let (memory, report) = applied(&sample);
    assert_eq!(cells(&memory, 0).len(), 960);
    let table = counts(&report, "a");
    assert_eq!((table.failed, table.errors_more), (240, 140));
    assert_eq!(report.errors.len(), 101);
    assert_eq!(report.errors[99].first, 495);
    assert_eq!(counts(&report, "b").errors_more, 0);
}

#[test]
fn every_row_that_stands_already_is_refused_without_the_others() {
    let sample = TestPlan::new().table("a", &[CODE], numbered(0..1000));
    let mut memory = Memory::new(nothing());
    sample.run(&mut memory);
    // The same table once more, by a job of its own that finds it there.
    let mut second = TestPlan::new().table("a", &[CODE], numbered(400..1600));
    second.approved.structure = crate::apply::StructureWork::default();
    second.approved.tables[0].first_ordinal = 5000;
    memory.next_job();
    let report = second.run(&mut memory);
    let table = counts(&report, "a");
    assert_eq!((table.inserted, table.failed), (600, 600));
    assert_eq!(cells(&memory, 0).len(), 1600);
    assert_eq!(report.errors[0].column.as_deref(), Some("code"));
}

#[test]
fn a_quota_ends_the_table_at_its_exact_row_and_every_later_one() {
    let mut rows = numbered(0..700);
    rows[2] = row(2, r#"{"code":2}"#);
    let refs = format!(r#"{{"to":{}}}"#, to(600, "f_a", "code"));
    let later = vec![linked(5000, r#"{"to":"x"}"#, &refs), row(5001, "{}")];
    let sample = TestPlan::new()
        .table("a", &[CODE], rows)
        .table("b", &[LINK], later)
        .inserts(0, &[r#"{"code":"step"}"#]);
    for quota in [0, 1, 2, 499, 500, 573, 699] {
        let mut memory = Memory::new(nothing());
        memory.limit_rows(quota);
        let report = sample.run(&mut memory);
        assert_eq!(cells(&memory, 0).len() as u64, quota);
        // One row more is refused by its own fault, before the quota is used up.
        let end = quota + u64::from(quota >= 2);
        let failed = [
            (end, 699, Code::QuotaExceeded),
            (0, 1, Code::QuotaExceeded),
            (0, 0, Code::QuotaExceeded),
        ];
        let failed: Vec<_> = failed
            .into_iter()
            .filter(|(first, last, _)| first <= last)
            .collect();
        let found = errors(&report);
        let found: Vec<_> = found
            .into_iter()
            .filter(|error| error.2 == Code::QuotaExceeded)
            .collect();
        assert_eq!(found, failed, "{quota}");
        assert_eq!(counts(&report, "b").failed, 2);
        assert_eq!(counts(&report, "a").failed, 701 - quota, "{quota}");
    }
}

#[test]
fn the_entry_of_a_quota_stands_next_to_a_hundred_others() {
    let rows = (0..400).map(|n| match n {
        0..150 => row(n, r#"{"code":1}"#),
        _ => row(n, &format!(r#"{{"code":"c{n}"}}"#)),
    });
    let mut memory = Memory::new(nothing());
    memory.limit_rows(50);
    let report = TestPlan::new()
        .table("a", &[CODE], rows.collect())
        .run(&mut memory);
    let table = counts(&report, "a");
    assert_eq!(
        (table.inserted, table.failed, table.errors_more),
        (50, 350, 50)
    );
    assert_eq!(report.errors.len(), 101);
    assert_eq!(errors(&report)[100], (200, 399, Code::QuotaExceeded));
}

#[test]
fn a_row_enters_where_the_earlier_one_with_its_key_is_refused() {
    let columns = ["k text textfield", CODE];
    let key = Mode::MissingByKey {
        column: "k".to_owned(),
    };
    let rows = vec![
        row(0, r#"{"k":"x","code":7}"#),
        row(1, r#"{"k":"x","code":"a"}"#),
        row(2, r#"{"k":"x","code":"b"}"#),
        row(3, r#"{"k":"y","code":"a"}"#),
        row(4, r#"{"k":"y","code":"c"}"#),
    ];
    let links = (0..5).map(|n| {
        let refs = format!(r#"{{"to":{}}}"#, to(n, "f_a", "code"));
        linked(100 + n, r#"{"to":"x"}"#, &refs)
    });
    let sample = TestPlan::new()
        .table("a", &columns, rows)
        .table("b", &[LINK], links.collect())
        .mode(0, key);
    let (memory, report) = applied(&sample);
    assert_eq!(
        cells(&memory, 0),
        [r#"{"k":"x","code":"a"}"#, r#"{"k":"y","code":"c"}"#]
    );
    let table = counts(&report, "a");
    assert_eq!((table.inserted, table.existing, table.failed), (2, 1, 2));
    assert_eq!(
        cells(&memory, 1),
        [
            "{}",
            r#"{"to":"a"}"#,
            r#"{"to":"a"}"#,
            "{}",
            r#"{"to":"c"}"#
        ]
    );
}

#[test]
fn numbers_of_no_column_that_cannot_be_kept_are_refused() {
    let long = "1".repeat(80);
    let rows = vec![
        row(0, &format!(r#"{{"gone":[{long}]}}"#)),
        row(1, r#"{"gone":1}"#),
    ];
    let (memory, report) = applied(&TestPlan::new().table("a", &[CODE], rows));
    assert_eq!(cells(&memory, 0), [r#"{"gone":1}"#]);
    assert_eq!(report.errors[0].column.as_deref(), Some("gone"));
}
