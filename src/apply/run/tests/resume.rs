use super::{applied, counts, dropped};
use crate::apply::test_plan::{TestPlan, cells, id, linked, nothing, row, to, to_all};
use crate::apply::{Mode, Report};
use crate::crashing::{Crash, Memory};
use crate::workspace::{Change, Progress, Removal, Target as _, Unit, ready};

const LINK: &str = "to linked_select linkfield";
const MANY: &str = "many linked_select linkfield";
const SEQUENCE: &str = r#"no number id {"idType":"sequence"}"#;

/// A package that has one of everything.
pub(super) fn everything() -> TestPlan {
    let to_a = |n| to(n, "f_a", "no");
    let mut a: Vec<String> = (0..510)
        .map(|n| row(n, &format!(r#"{{"code":"{n}"}}"#)))
        .collect();
    a[3] = linked(
        3,
        r#"{"code":"3","to":1}"#,
        &format!(r#"{{"to":{}}}"#, to_a(509)),
    );
    a[4] = linked(
        4,
        r#"{"code":"4","to":1}"#,
        &format!(r#"{{"to":{}}}"#, to_a(77_777)),
    );
    for n in 5..510 {
        let refs = format!(r#"{{"to":{}}}"#, to_a(n - 1));
        a[n as usize] = linked(n, &format!(r#"{{"code":"{n}","to":1}}"#), &refs);
    }
    let mut b: Vec<String> = (2000..2510)
        .map(|n| {
            let refs = format!(r#"{{"to":{}}}"#, to_a(n - 2000));
            linked(n, &format!(r#"{{"u":"{n}","to":5}}"#), &refs)
        })
        .collect();
    // Its value appears twice.
    b[509] = row(2509, r#"{"u":"2000"}"#);
    let c = vec![
        linked(
            3000,
            r#"{"k":"x","many":["1","2"]}"#,
            &format!(r#"{{"many":{}}}"#, to_all(&[1, 509], "f_a", "code")),
        ),
        linked(
            3001,
            r#"{"k":"y","many":["1","2"]}"#,
            &format!(r#"{{"many":{}}}"#, to_all(&[2000, 2509], "f_b", "u")),
        ),
        row(3002, r#"{"k":"x"}"#),
    ];
    let state = nothing();
    TestPlan::new()
        .configured(&state, r#"{"sequence":"changed"}"#)
        .table("a", &["code", SEQUENCE, LINK], a)
        .table(
            "b",
            &[r#"u text textfield {"unique":true}"#, LINK, "id text id"],
            b,
        )
        .table("c", &["k", MANY], c)
        .mode(
            2,
            Mode::MissingByKey {
                column: "k".to_owned(),
            },
        )
        .automation("one")
        .automation("two")
        .inserts(0, &[r#"{"code":"step"}"#])
        .updates("a", true, &[(5, r#"{"code":"five"}"#), (88_888, "{}")])
}

/// The report of an uninterrupted run, as an interrupted one must be too: rows that an earlier
/// attempt wrote count as written.
pub(super) fn without_attempts(mut report: Report) -> Report {
    for table in report.rows.values_mut() {
        table.inserted += std::mem::take(&mut table.skipped);
    }
    report
}

#[test]
fn everything_is_as_expected_without_a_crash() {
    let (memory, report) = applied(&everything());
    let table = counts(&report, "a");
    assert_eq!((table.inserted, table.updated), (511, 1));
    assert_eq!((table.linked, table.recorded), (Some(506), Some(511)));
    let table = counts(&report, "b");
    assert_eq!((table.inserted, table.failed), (509, 1));
    let table = counts(&report, "c");
    assert_eq!((table.inserted, table.existing), (2, 1));
    assert_eq!(report.published, 2);
    assert_eq!(
        dropped(&report),
        [
            ("rows[].data.to".to_owned(), 1),
            ("rows[].data.many".to_owned(), 1)
        ]
    );
    assert_eq!(report.errors.len(), 2);
    assert_eq!(cells(&memory, 2)[0], r#"{"k":"x","many":["1","509"]}"#);
    assert_eq!(cells(&memory, 0)[3], r#"{"code":"3","no":4,"to":510}"#);
}

#[test]
fn a_crash_at_any_call_changes_nothing_in_the_end() {
    let sample = everything();
    let (whole, report) = applied(&sample);
    let (state, report) = (whole.state(), without_attempts(report));
    assert!(whole.calls() > 15, "{}", whole.calls());
    for call in 0..whole.calls() {
        for written in [false, true] {
            let mut memory = Memory::new(nothing());
            memory.crash_at(Crash { call, written });
            sample.try_run(&mut memory, &[]).expect_err("crashed");
            memory.recover();
            let resumed = sample.run(&mut memory);
            assert_eq!(memory.state(), state, "{call} {written}");
            if written && call + 1 == whole.calls() {
                // The job was complete: this was the same pass once more.
                assert_eq!(resumed.published, 0);
                continue;
            }
            assert_eq!(without_attempts(resumed), report, "{call} {written}");
        }
    }
}

#[test]
fn a_job_that_crashes_again_and_again_comes_to_the_same_end() {
    let sample = everything();
    let (whole, report) = applied(&sample);
    for step in [1, 2, 3, 5] {
        let mut memory = Memory::new(nothing());
        let mut crashes = 0;
        let last = loop {
            // A little further every time, now before and now after the effect.
            memory.crash_at(Crash {
                call: step + crashes / 2,
                written: crashes % 2 == 0,
            });
            match sample.try_run(&mut memory, &[]) {
                Ok(report) => break report,
                Err(_) => crashes += 1,
            }
            assert!(crashes < 200, "no progress");
        };
        assert!(crashes > 5);
        assert_eq!(memory.state(), whole.state());
        assert_eq!(without_attempts(last), without_attempts(report.clone()));
    }
}

#[test]
fn the_same_pass_over_a_completed_job_changes_nothing() {
    let sample = everything();
    let (mut memory, first) = applied(&sample);
    let state = memory.state();
    let report = sample.run(&mut memory);
    assert_eq!(memory.state(), state);
    assert_eq!(report.published, 0);
    let table = counts(&report, "a");
    assert_eq!((table.inserted, table.skipped), (0, 511));
    assert_eq!((table.linked, table.updated), (None, 0));
    assert_eq!(table.recorded, Some(511));
    assert_eq!(report.unresolved, first.unresolved);
    let completed = memory.next_job();
    let ends = completed
        .iter()
        .filter(|entry| matches!(entry, crate::workspace::ledger::Entry::Completed));
    assert_eq!(ends.count(), 1);
}

#[test]
fn applying_again_changes_nothing() {
    let sample = everything();
    let (mut memory, _) = applied(&sample);
    let state = memory.state();
    let earlier = memory.next_job();
    let report = sample.again().try_run(&mut memory, &earlier).expect("runs");
    assert_eq!(memory.state(), state);
    let table = counts(&report, "a");
    assert_eq!((table.inserted, table.skipped), (0, 511));
    assert_eq!((table.recorded, table.linked), (None, None));
    assert_eq!(report.published, 0);
}

fn remove(memory: &mut Memory, table: u128, row: usize) {
    let feature = id(table);
    let state = memory.state();
    let change = Change::RemoveRows {
        feature,
        rows: vec![Removal {
            id: state.rows[&feature][row].id,
            digest: None,
        }],
    };
    let unit = Unit {
        changes: vec![change],
        entry: None,
        progress: Progress::default(),
        report: None,
    };
    ready(memory.commit(unit)).expect("removes");
}

#[test]
fn a_row_that_a_person_deleted_stays_deleted_and_links_to_it_drop() {
    let refs = |n| format!(r#"{{"to":{}}}"#, to(n, "f_a", "code"));
    let mut sample = TestPlan::new()
        .table(
            "a",
            &["code"],
            vec![row(1, r#"{"code":"1"}"#), row(2, r#"{"code":"2"}"#)],
        )
        .table("b", &[LINK], vec![linked(11, r#"{"to":"1"}"#, &refs(1))]);
    let mut memory = Memory::new(nothing());
    sample.run(&mut memory);
    remove(&mut memory, 0x1000, 0);
    let earlier = memory.next_job();
    sample = sample.again();
    // The package has grown since.
    sample.rows[1].push(linked(12, r#"{"to":"1"}"#, &refs(1)));
    sample.rows[1].push(linked(13, r#"{"to":"2"}"#, &refs(2)));
    let report = sample.try_run(&mut memory, &earlier).expect("runs");
    assert_eq!(cells(&memory, 0), [r#"{"code":"2"}"#]);
    assert_eq!(cells(&memory, 1), [r#"{"to":"1"}"#, "{}", r#"{"to":"2"}"#]);
    let table = counts(&report, "a");
    assert_eq!((table.inserted, table.skipped), (0, 2));
    assert_eq!(counts(&report, "b").inserted, 2);
    assert_eq!(dropped(&report), [("rows[].data.to".to_owned(), 1)]);
}

#[test]
fn links_follow_what_a_person_made_of_a_row_since() {
    let refs = format!(r#"{{"to":{}}}"#, to(1, "f_a", "code"));
    let sample = TestPlan::new()
        .table("a", &["code"], vec![row(1, r#"{"code":"1"}"#)])
        .table("b", &[LINK], vec![linked(11, r#"{"to":"1"}"#, &refs)]);
    let mut memory = Memory::new(nothing());
    // Structure, the rows of `a`; then the store fails.
    memory.crash_at(Crash {
        call: 3,
        written: false,
    });
    sample.try_run(&mut memory, &[]).expect_err("crashed");
    memory.recover();
    let row = memory.state().rows[&id(0x1000)][0].id;
    let change = Change::UpdateRows {
        feature: id(0x1000),
        rows: vec![crate::workspace::RowWrite {
            id: row,
            cells: crate::workspace::RowData::trusted(r#"{"code":"edited"}"#),
            replace: false,
            digest: None,
        }],
    };
    let unit = Unit {
        changes: vec![change],
        entry: None,
        progress: Progress::default(),
        report: None,
    };
    ready(memory.commit(unit)).expect("edits");
    sample.run(&mut memory);
    assert_eq!(cells(&memory, 1), [r#"{"to":"edited"}"#]);
}

#[test]
fn a_row_that_goes_before_its_table_is_complete_stops_no_links() {
    let refs = |n| format!(r#"{{"to":{}}}"#, to(n, "f_a", "code"));
    let rows = vec![
        linked(1, r#"{"code":"1","to":"x"}"#, &refs(2)),
        linked(2, r#"{"code":"2","to":"x"}"#, &refs(2)),
        linked(3, r#"{"code":"3","to":"x"}"#, &refs(1)),
    ];
    let sample = TestPlan::new().table("a", &["code", LINK], rows);
    let mut memory = Memory::new(nothing());
    memory.crash_at(Crash {
        call: 3,
        written: false,
    });
    sample.try_run(&mut memory, &[]).expect_err("crashed");
    memory.recover();
    assert_eq!(cells(&memory, 0).len(), 3);
    remove(&mut memory, 0x1000, 0);
    let report = sample.run(&mut memory);
    assert_eq!(
        cells(&memory, 0),
        [r#"{"code":"2","to":"2"}"#, r#"{"code":"3"}"#]
    );
    assert_eq!(counts(&report, "a").linked, Some(1));
}

#[test]
fn rows_of_a_table_that_was_made_anew_enter_again() {
    let sample = TestPlan::new().table("a", &["code"], vec![row(1, r#"{"code":"1"}"#)]);
    let mut memory = Memory::new(nothing());
    sample.run(&mut memory);
    let earlier = memory.next_job();
    let mut memory = Memory::new(nothing());
    let mut fresh = TestPlan::new().table("x", &["code"], Vec::new()).table(
        "a",
        &["code"],
        vec![row(1, r#"{"code":"1"}"#)],
    );
    fresh.approved.tables.remove(0);
    let report = fresh.try_run(&mut memory, &earlier).expect("runs");
    assert_eq!(counts(&report, "a").inserted, 1);
}
