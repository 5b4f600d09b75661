//! Streaming, sources that fail or change.

use serde_json::json;
use tplkit::context::{FixedClock, Seeded};
use tplkit::definitions::Definitions;
use tplkit::export::{ExportError, Fault, prepare};
use tplkit::workspace::ready;
use tplkit_testkit::crashing::{Crash, Memory};

use crate::exported::{try_export, with_rows};
use crate::space::Space;

fn many() -> Space {
    let mut space = Space::new();
    let a = space.table("a");
    space.text(a, "x");
    for number in 0..1200 {
        space.row(a, &json!({"x": format!("value {number}")}));
    }
    space
}

fn clock() -> FixedClock {
    FixedClock("2026-03-01T09:30:00Z".parse().unwrap())
}

#[test]
fn a_draft_tells_its_contents_and_streams_the_same_bytes() {
    let space = many();
    let (memory, definitions) = (space.memory(), Definitions::embedded());
    let draft = ready(prepare(
        &memory,
        &with_rows(),
        &clock(),
        &mut Seeded::new(5),
        definitions,
    ));
    let draft = draft.unwrap();
    let entry = &draft.package().payloads()[0];
    assert_eq!((entry.count, entry.rows.len()), (1200, 0));
    let mut text = Vec::new();
    ready(draft.write_to(&memory, &mut text)).unwrap();
    let text = String::from_utf8(text).unwrap();
    crate::exported::assert_clean(&text, &[]);
    assert_eq!(text, try_export(&space, &with_rows()).unwrap());
}

#[test]
fn rows_that_change_between_the_readings_are_reported() {
    let mut space = many();
    let (memory, definitions) = (space.memory(), Definitions::embedded());
    let draft = ready(prepare(
        &memory,
        &with_rows(),
        &clock(),
        &mut Seeded::new(5),
        definitions,
    ));
    let draft = draft.unwrap();
    let table = space.state.structure.features[0].id;
    let fails = |space: &Space| {
        let result = ready(draft.write_to(&space.memory(), &mut Vec::new()));
        assert!(
            matches!(result, Err(ExportError::Fault(Fault::Changed(_)))),
            "{result:?}"
        );
    };
    let last = space.state.rows.get_mut(&table).unwrap().pop().unwrap();
    fails(&space);
    let rows = space.state.rows.get_mut(&table).unwrap();
    rows.push(last.clone());
    let first = rows[0].clone();
    rows[0].id = tplkit::workspace::Id::from_u128(1);
    fails(&space);
    let rows = space.state.rows.get_mut(&table).unwrap();
    rows[0].id = first.id;
    rows[0].data = tplkit::workspace::RowData::trusted(r#"{"x":"another"}"#);
    fails(&space);
    space.state.rows.get_mut(&table).unwrap()[0] = first;
    ready(draft.write_to(&space.memory(), &mut Vec::new())).unwrap();
    let mut more = last;
    more.id = tplkit::workspace::Id::max();
    space.state.rows.get_mut(&table).unwrap().push(more);
    fails(&space);
}

#[test]
fn a_source_that_fails_is_reported() {
    let space = many();
    for call in 0..6 {
        let mut memory = Memory::new(space.state.clone());
        memory.crash_at(Crash {
            call,
            written: false,
        });
        let result = ready(tplkit::export::export(
            &memory,
            &with_rows(),
            &clock(),
            &mut Seeded::new(5),
            Definitions::embedded(),
        ));
        assert!(matches!(result, Err(ExportError::Source(_))), "{call}");
    }
}

#[test]
fn futures_can_be_sent() {
    fn sent<T: Send>(_: T) {}
    let (memory, clock) = (Space::new().memory(), clock());
    let selection = with_rows();
    let mut ids = Seeded::new(1);
    sent(tplkit::export::export(
        &memory,
        &selection,
        &clock,
        &mut ids,
        Definitions::embedded(),
    ));
}

#[test]
fn what_is_nested_too_deep_is_refused() {
    let mut space = Space::new();
    let a = space.table("a");
    space.column(a, "j", "json", &json!({}));
    let deep = |depth: usize| format!("{{\"j\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
    space.raw_row(a, &deep(122));
    let text = try_export(&space, &with_rows()).unwrap();
    crate::exported::assert_clean(&text, &[]);
    let row = space.raw_row(a, &deep(123));
    let error = try_export(&space, &with_rows()).expect_err("too deep");
    assert!(
        matches!(error, ExportError::Fault(Fault::TooDeep { .. })),
        "{error:?}"
    );
    let (message, label) = (error.to_string(), &space.table_mut(a).label);
    let place = format!("column \"j\" in row {row} of {label}: more than 128 lists");
    assert!(message.starts_with(&place), "{message}");
}
