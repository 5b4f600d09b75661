use super::{applied, counts};
use crate::apply::test_plan::{TestPlan, cells, nothing, row, uid};
use crate::crashing::Memory;
use crate::problem::Code;

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
