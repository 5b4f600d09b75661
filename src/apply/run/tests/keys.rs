use super::{counts, dropped};
use crate::apply::Mode;
use crate::apply::test_plan::{TestPlan, cells, id, linked, nothing, row, stored, to};
use crate::crashing::Memory;
use crate::workspace::StoredRow;
use crate::workspace::memory::State;

/// A destination that has `a` already, with these rows, and a package that brings rows to it.
fn bound(sample: TestPlan, rows: Vec<StoredRow>) -> (TestPlan, State) {
    let mut memory = Memory::new(nothing());
    let mut empty = sample;
    let package = std::mem::take(&mut empty.rows);
    empty.rows = vec![Vec::new(); package.len()];
    empty.run(&mut memory);
    let mut state = memory.state();
    state.rows.insert(id(0x1000), rows);
    let mut sample = empty.again();
    sample.rows = package;
    (sample, state)
}

fn by_key(column: &str) -> Mode {
    Mode::MissingByKey {
        column: column.to_owned(),
    }
}

#[test]
fn keys_are_compared_as_they_are() {
    let rows = vec![
        row(1, r#"{"code":"A"}"#),
        row(2, r#"{"code":"a"}"#),
        row(3, r#"{"code":" a"}"#),
        row(4, r#"{"code":"1"}"#),
        row(5, r#"{"code":"\u0061"}"#),
        row(6, r#"{"n":1}"#),
    ];
    let sample = TestPlan::new()
        .table("a", &["code json jsoneditor", "n number numberfield"], rows)
        .mode(0, by_key("code"));
    let there = vec![stored(1, r#"{"code":"a"}"#), stored(2, r#"{"code":1}"#)];
    let (sample, state) = bound(sample, there);
    let mut memory = Memory::new(state);
    let report = sample.run(&mut memory);
    let table = counts(&report, "a");
    assert_eq!((table.inserted, table.existing), (4, 2));
    assert_eq!(
        cells(&memory, 0)[2..],
        [
            r#"{"code":"A"}"#,
            r#"{"code":" a"}"#,
            r#"{"code":"1"}"#,
            r#"{"n":1}"#
        ]
    );
}

#[test]
fn rows_that_are_left_out_can_be_pointed_at() {
    let refs = |n| format!(r#"{{"to":{}}}"#, to(n, "f_a", "id"));
    let rows = vec![
        row(1, r#"{"code":"x"}"#),
        row(2, r#"{"code":"y"}"#),
        row(3, r#"{"code":"y"}"#),
    ];
    let links = vec![
        linked(11, r#"{"to":"1"}"#, &refs(1)),
        linked(12, r#"{"to":"2"}"#, &refs(2)),
        linked(13, r#"{"to":"3"}"#, &refs(3)),
    ];
    let sample = TestPlan::new()
        .table("a", &["id text id", "code"], rows)
        .table("b", &["to linked_select linkfield"], links)
        .mode(0, by_key("code"));
    let (sample, state) = bound(sample, vec![stored(1, r#"{"id":"mine","code":"x"}"#)]);
    let mut memory = Memory::new(state);
    let report = sample.run(&mut memory);
    let table = counts(&report, "a");
    assert_eq!((table.inserted, table.existing), (1, 2));
    // The second row of one key is not recorded either.
    assert_eq!(table.recorded, Some(1));
    let links = cells(&memory, 1);
    assert_eq!(links[0], r#"{"to":"mine"}"#);
    assert_eq!(links[1], links[2]);
    assert!(links[1].len() > 40, "{}", links[1]);
    assert_eq!(dropped(&report), []);
}

#[test]
fn a_repeated_key_in_a_later_batch_is_existing_too() {
    let mut rows: Vec<String> = (0..500)
        .map(|n| row(n, &format!(r#"{{"code":"{n}"}}"#)))
        .collect();
    rows.push(row(500, r#"{"code":"7"}"#));
    let sample = TestPlan::new()
        .table("a", &["code"], rows)
        .mode(0, by_key("code"));
    let mut memory = Memory::new(nothing());
    let report = sample.run(&mut memory);
    let table = counts(&report, "a");
    assert_eq!((table.inserted, table.existing), (500, 1));
}
