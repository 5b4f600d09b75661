//! Tests of tables of several batches, some of which are refused.

use super::contested::Contested;
use super::resume::{everything, without_attempts};
use super::{applied, counts, dropped};
use crate::apply::ApplyError;
use crate::apply::test_plan::{TestPlan, cells, linked, nothing, row, to};
use crate::crashing::{Crash, Memory};
use crate::problem::Code;
use crate::workspace::{Target as _, ledger, ready};

/// A table of four batches whose second one is refused, with links in all directions, and rows of another
/// table that point into it.
fn refused_in_the_middle() -> TestPlan {
    let mut rows: Vec<String> = (0..1700)
        .map(|n| row(n, &format!(r#"{{"code":"c{n}"}}"#)))
        .collect();
    rows[700] = row(700, r#"{"code":"c3"}"#);
    // Backwards and forwards, out of the refused batch and into it.
    let links = [
        (10, 5),
        (20, 600),
        (30, 1600),
        (510, 1),
        (1100, 702),
        (1101, 12),
        (1102, 1500),
    ];
    for (from, at) in links {
        let refs = format!(r#"{{"to":{}}}"#, to(at, "f_a", "no"));
        rows[from as usize] = linked(from, &format!(r#"{{"code":"c{from}","to":1}}"#), &refs);
    }
    let others = [3, 800, 1600].map(|at| {
        let refs = format!(r#"{{"to":{}}}"#, to(at, "f_a", "code"));
        linked(5000 + at, r#"{"to":"x"}"#, &refs)
    });
    let columns = [
        r#"code text textfield {"unique":true}"#,
        r#"no number id {"idType":"sequence"}"#,
        "to linked_select linkfield",
    ];
    TestPlan::new().table("a", &columns, rows).table(
        "b",
        &["to linked_select linkfield"],
        others.into(),
    )
}

#[test]
fn a_refused_row_in_the_middle_takes_nothing_with_it() {
    let mut memory = Memory::new(nothing());
    let report = refused_in_the_middle()
        .try_run(&mut memory, &[])
        .expect("runs");
    let rows = cells(&memory, 0);
    // One row is not there.
    let cell = |position: usize| rows[position - usize::from(position > 700)].as_str();
    assert_eq!(rows.len(), 1699);
    assert_eq!(cell(0), r#"{"code":"c0","no":1}"#);
    assert_eq!(cell(499), r#"{"code":"c499","no":500}"#);
    assert_eq!(cell(1000), r#"{"code":"c1000","no":1000}"#);
    assert_eq!(cell(1699), r#"{"code":"c1699","no":1699}"#);
    assert_eq!(cell(10), r#"{"code":"c10","no":11,"to":6}"#);
    assert_eq!(cell(20), r#"{"code":"c20","no":21,"to":601}"#);
    assert_eq!(cell(30), r#"{"code":"c30","no":31,"to":1600}"#);
    assert_eq!(cell(510), r#"{"code":"c510","no":511,"to":2}"#);
    assert_eq!(cell(1100), r#"{"code":"c1100","no":1100,"to":702}"#);
    assert_eq!(cell(1101), r#"{"code":"c1101","no":1101,"to":13}"#);
    assert_eq!(cell(1102), r#"{"code":"c1102","no":1102,"to":1500}"#);
    assert_eq!(
        cells(&memory, 1),
        [r#"{"to":"c3"}"#, r#"{"to":"c800"}"#, r#"{"to":"c1600"}"#]
    );
    let table = counts(&report, "a");
    assert_eq!((table.inserted, table.failed), (1699, 1));
    assert_eq!((table.linked, table.recorded), (Some(7), Some(1699)));
    let [error] = report.errors.as_slice() else {
        panic!("{:?}", report.errors);
    };
    assert_eq!((error.first, error.last), (700, 700));
    assert_eq!(error.code, Code::UniqueViolation);
    assert!(error.message.starts_with("rows[700].data.code: "));
    assert_eq!(dropped(&report), []);
}

/// A table whose last batch is refused before another one, with links into both.
fn refused_at_the_end() -> TestPlan {
    let mut rows: Vec<String> = (0..700)
        .map(|n| row(n, &format!(r#"{{"code":"c{n}"}}"#)))
        .collect();
    rows[650] = row(650, r#"{"code":"c3"}"#);
    let others = (0..600).map(|n| {
        // Into the first batch and the last one, and to rows of their own table.
        let refs = match n {
            10 => to(3, "f_a", "code"),
            11 => to(690, "f_a", "code"),
            12 => to(5005, "f_b", "no"),
            13 => to(5590, "f_b", "no"),
            _ => return row(5000 + n, "{}"),
        };
        linked(5000 + n, r#"{"to":"x"}"#, &format!(r#"{{"to":{refs}}}"#))
    });
    let last = [5003, 5599].map(|at| {
        let refs = format!(r#"{{"to":{}}}"#, to(at, "f_b", "no"));
        linked(1000 + at, r#"{"to":1}"#, &refs)
    });
    let code = r#"code text textfield {"unique":true}"#;
    let number = r#"no number id {"idType":"sequence"}"#;
    let link = "to linked_select linkfield";
    TestPlan::new()
        .table("a", &[code], rows)
        .table("b", &[number, link], others.collect())
        .table("c", &[link], last.into())
}

#[test]
fn a_refused_row_at_the_end_takes_nothing_of_the_next_table_with_it() {
    let mut memory = Memory::new(nothing());
    let report = refused_at_the_end()
        .try_run(&mut memory, &[])
        .expect("runs");
    assert_eq!(cells(&memory, 0).len(), 699);
    let rows = cells(&memory, 1);
    assert_eq!(rows.len(), 600);
    assert_eq!(rows[0], r#"{"no":1}"#);
    assert_eq!(rows[10], r#"{"to":"c3","no":11}"#);
    assert_eq!(rows[11], r#"{"to":"c690","no":12}"#);
    assert_eq!(rows[12], r#"{"no":13,"to":6}"#);
    assert_eq!(rows[13], r#"{"no":14,"to":591}"#);
    assert_eq!(rows[599], r#"{"no":600}"#);
    assert_eq!(cells(&memory, 2), [r#"{"to":4}"#, r#"{"to":600}"#]);
    let tables = ["a", "b", "c"].map(|table| counts(&report, table));
    let inserted = tables
        .each_ref()
        .map(|table| (table.inserted, table.failed));
    assert_eq!(inserted, [(699, 1), (600, 0), (2, 0)]);
    assert_eq!(tables[1].linked, Some(2), "each once");
    let [error] = report.errors.as_slice() else {
        panic!("{:?}", report.errors);
    };
    assert_eq!((error.first, error.last), (650, 650));
    assert_eq!(dropped(&report), []);
}

/// A list of links to a later batch of its own table and into the next one, the rows of which have one code
/// or two.
fn mixed(codes: [&str; 2]) -> TestPlan {
    let (own, next) = (to(510, "f_a", "code"), to(1000, "f_b", "code"));
    let refs = format!(r#"{{"to":{{"rows":[{own},{next}]}}}}"#);
    let mut rows: Vec<String> = (0..520)
        .map(|n| row(n, &format!(r#"{{"code":"c{n}"}}"#)))
        .collect();
    rows[1] = linked(1, r#"{"code":"c1","to":["x","y"]}"#, &refs);
    let others = (1000..).zip(codes);
    let others = others.map(|(uid, code)| row(uid, &format!(r#"{{"code":"{code}"}}"#)));
    let code = r#"code text textfield {"unique":true}"#;
    let list = r#"to linked_select linkfield {"isMultiSelect":true}"#;
    let tables = TestPlan::new().table("a", &[code, list], rows);
    tables.table("b", &[code], others.collect())
}

/// Whether rows of the next table enter or not.
#[test]
fn a_table_is_complete_before_the_next_one_has_rows() {
    for (codes, entered) in [(["d1", "d2"], 2), (["d1", "d1"], 1)] {
        let mut memory = Memory::new(nothing());
        let report = mixed(codes).try_run(&mut memory, &[]).expect("runs");
        assert_eq!(cells(&memory, 1).len(), entered);
        assert_eq!(cells(&memory, 0)[1], r#"{"code":"c1"}"#, "{codes:?}");
        assert_eq!(dropped(&report), [("rows[].data.to".to_owned(), 1)]);
    }
}

/// Tables between others that have no rows, or of which none enter.
fn gaps() -> TestPlan {
    let rows = |from: u32, count| (from..from + count).map(|n| row(n, r#"{"code":"c"}"#));
    let table = |sample: TestPlan, name, from, count| {
        sample.table(name, &["code"], rows(from, count).collect())
    };
    let sample = table(TestPlan::new(), "a", 0, 700);
    let sample = table(sample, "empty", 1000, 0);
    let sample = table(sample, "b", 2000, 3);
    let sample = table(sample, "out", 3000, 4);
    table(sample, "c", 4000, 2).left_out(3)
}

#[test]
fn tables_without_rows_stand_in_nobodys_way() {
    let mut memory = Memory::new(nothing());
    let report = gaps().try_run(&mut memory, &[]).expect("runs");
    let inserted = ["a", "empty", "b", "c"].map(|table| counts(&report, table).inserted);
    assert_eq!(inserted, [700, 0, 3, 2]);
    let stored = [0, 1, 2, 4].map(|table| cells(&memory, table).len());
    assert_eq!(stored, [700, 0, 3, 2]);
}

/// A table with a link that waits for it to be complete, before another one.
#[test]
fn only_what_is_written_is_reported_as_done() {
    let mut rows: Vec<String> = (0..600).map(|n| row(n, r#"{"code":"c"}"#)).collect();
    let refs = format!(r#"{{"to":{}}}"#, to(590, "f_a", "code"));
    rows[10] = linked(10, r#"{"code":"c","to":"x"}"#, &refs);
    let others = (1000..1600).map(|n| row(n, r#"{"code":"c"}"#)).collect();
    let columns = ["code", "to linked_select linkfield"];
    let sample = TestPlan::new()
        .table("a", &columns, rows)
        .table("b", &["code"], others);
    let (mut memory, mut reported) = (Memory::new(nothing()), Vec::new());
    let ran = sample.watched(&mut memory, &[], &mut |progress| reported.push(progress));
    ran.expect("runs");
    let rows = reported.iter().filter(|progress| progress.phase == "rows");
    let rows: Vec<u64> = rows.map(|reported| reported.done).collect();
    // Two batches, the link that waited, the end of the table, two batches.
    assert_eq!(rows, [500, 600, 600, 600, 1100, 1200]);
}

/// A table of four batches: the second has a row that cannot enter, the third is refused.
fn two_that_do_not_enter() -> TestPlan {
    let mut rows: Vec<String> = (0..1700)
        .map(|n| row(n, &format!(r#"{{"code":"c{n}"}}"#)))
        .collect();
    rows[700] = row(700, r#"{"code":2}"#);
    rows[1200] = row(1200, r#"{"code":"c3"}"#);
    let columns = [
        r#"code text textfield {"unique":true}"#,
        r#"no number id {"idType":"sequence"}"#,
    ];
    TestPlan::new().table("a", &columns, rows)
}

#[test]
fn every_row_that_does_not_enter_is_reported_once_and_takes_no_number() {
    let mut memory = Memory::new(nothing());
    let report = two_that_do_not_enter()
        .try_run(&mut memory, &[])
        .expect("runs");
    let rows = cells(&memory, 0);
    assert_eq!(rows.len(), 1698);
    assert_eq!(rows[500], r#"{"code":"c500","no":501}"#);
    assert_eq!(rows[1697], r#"{"code":"c1699","no":1698}"#);
    let errors = report.errors.iter();
    let errors: Vec<_> = errors
        .map(|error| (error.first, error.last, error.code))
        .collect();
    let (unfit, repeated) = (errors[0], errors[1]);
    assert_eq!(errors.len(), 2);
    assert_eq!((unfit.0, unfit.2), (unfit.1, Code::ValidationFailed));
    assert_eq!(repeated, (1200, 1200, Code::UniqueViolation));
    let table = counts(&report, "a");
    assert_eq!((table.inserted, table.failed), (1698, 2));
}

/// The first batch enters at its second try.
#[test]
fn a_batch_that_enters_after_all_numbers_its_links_anew() {
    let mut contested = Contested::before([1]);
    let report = refused_in_the_middle()
        .try_run(&mut contested, &[])
        .expect("runs");
    let rows = cells(&contested.memory, 0);
    assert_eq!(rows.len(), 1699);
    assert_eq!(rows[0], r#"{"code":"c0","no":2}"#);
    assert_eq!(rows[10], r#"{"code":"c10","no":12,"to":7}"#);
    assert_eq!(rows[20], r#"{"code":"c20","no":22,"to":602}"#);
    assert_eq!(rows[30], r#"{"code":"c30","no":32,"to":1601}"#);
    assert_eq!(rows[1698], r#"{"code":"c1699","no":1700}"#);
    let table = counts(&report, "a");
    assert_eq!((table.inserted, table.failed), (1699, 1));
    assert_eq!((table.linked, table.recorded), (Some(7), Some(1699)));
    assert_eq!(report.errors.len(), 1);
}

/// Numbers that somebody takes between any two batches are neither given twice nor left out.
#[test]
fn a_number_that_somebody_takes_is_nobody_elses() {
    let rows: Vec<String> = (0..1700).map(|n| row(n, "{}")).collect();
    let sample = TestPlan::new().table("a", &[r#"no number id {"idType":"sequence"}"#], rows);
    for contested in 1..=4 {
        let mut target = Contested::before([contested]);
        let report = sample.try_run(&mut target, &[]).expect("runs");
        let taken = (contested as u64 - 1) * 500 + 1;
        let expected = (1..=1701).filter(|number| *number != taken);
        let expected: Vec<String> = expected.map(|no| format!(r#"{{"no":{no}}}"#)).collect();
        assert_eq!(cells(&target.memory, 0), expected, "{contested}");
        assert_eq!(counts(&report, "a").inserted, 1700);
        assert_eq!(report.errors, [], "{contested}");
    }
}

#[test]
fn a_refused_row_leaves_no_trace_in_the_ledger() {
    let refs = format!(r#"{{"to":{}}}"#, to(1, "f_a", "code"));
    let rows = vec![
        row(1, r#"{"code":"x"}"#),
        linked(2, r#"{"code":"y","to":"x"}"#, &refs),
        row(3, r#"{"code":"x"}"#),
    ];
    let columns = [
        r#"code text textfield {"unique":true}"#,
        "to linked_select linkfield",
    ];
    let (memory, report) = applied(&TestPlan::new().table("a", &columns, rows));
    assert_eq!(counts(&report, "a").failed, 1);
    let entries = ready(memory.ledger()).expect("reads");
    let [
        ledger::Entry::Structure(_),
        ledger::Entry::Rows(rows),
        ledger::Entry::Closed { .. },
        ledger::Entry::Completed,
    ] = entries.as_slice()
    else {
        panic!("{entries:?}");
    };
    let positions: Vec<u32> = rows.rows.iter().map(|row| row.position).collect();
    assert_eq!(positions, [0, 1]);
}

#[test]
fn links_that_entered_along_with_their_rows_are_closed() {
    let refs = format!(r#"{{"to":{}}}"#, to(1, "f_a", "code"));
    let rows = vec![
        row(1, r#"{"code":"x"}"#),
        linked(2, r#"{"code":"y","to":"x"}"#, &refs),
    ];
    let columns = ["code", "to linked_select linkfield"];
    let (memory, report) = applied(&TestPlan::new().table("a", &columns, rows));
    assert_eq!(counts(&report, "a").linked, Some(1));
    let entries = ready(memory.ledger()).expect("reads");
    assert!(
        matches!(
            entries.as_slice(),
            [
                ledger::Entry::Structure(_),
                ledger::Entry::Rows(_),
                ledger::Entry::Closed { .. },
                ledger::Entry::Completed
            ]
        ),
        "{entries:?}"
    );
}

/// How far a job is, is what is written: it never goes back and ends where it should.
#[test]
fn the_progress_of_a_job_goes_up_to_its_total() {
    for sample in [
        refused_in_the_middle(),
        refused_at_the_end(),
        gaps(),
        two_that_do_not_enter(),
        everything(),
    ] {
        let mut memory = Memory::new(nothing());
        let mut reported = Vec::new();
        let ran = sample.watched(&mut memory, &[], &mut |progress| reported.push(progress));
        ran.expect("runs");
        let rows = reported.iter().filter(|progress| progress.phase == "rows");
        let rows: Vec<(u64, u64)> = rows
            .map(|reported| (reported.done, reported.total))
            .collect();
        assert!(rows.is_sorted(), "{rows:?}");
        let entries = ready(memory.ledger()).expect("reads");
        let other = |entry: &&ledger::Entry| {
            use ledger::Entry::{Completed, Published, Structure};
            matches!(entry, Structure(_) | Published { .. } | Completed)
        };
        let others = entries.iter().filter(other).count();
        assert_eq!(rows.len(), entries.len() - others, "once for each unit");
        let last = rows.last().expect("rows");
        assert_eq!(last.0, last.1);
    }
}

#[test]
fn a_crash_at_any_call_changes_nothing_in_the_end() {
    let samples = [
        refused_in_the_middle(),
        refused_at_the_end(),
        mixed(["d"; 2]),
        gaps(),
        everything(),
    ];
    for sample in samples {
        let (whole, report) = applied(&sample);
        let (state, report) = (whole.state(), without_attempts(report));
        for call in 0..whole.calls() - 1 {
            for written in [false, true] {
                let mut memory = Memory::new(nothing());
                memory.crash_at(Crash { call, written });
                let stopped = sample.try_run(&mut memory, &[]).expect_err("crashed");
                assert!(matches!(stopped, ApplyError::Store { .. }), "{stopped}");
                memory.recover();
                let resumed = sample.try_run(&mut memory, &[]).expect("goes on");
                assert_eq!(memory.state(), state, "{call} {written}");
                assert_eq!(without_attempts(resumed), report, "{call} {written}");
            }
        }
    }
}

#[test]
fn whoever_is_fenced_stops() {
    let mut memory = Memory::new(nothing());
    memory.fence();
    let stopped = refused_in_the_middle().try_run(&mut memory, &[]);
    assert!(matches!(stopped, Err(ApplyError::Fenced)));
    assert_eq!(memory.state(), nothing());
}
