use super::contested::Contested;
use super::{applied, counts};
use crate::apply::test_plan::{TestPlan, cells, entry, id, linked, row, to};
use crate::workspace::{Id, ready};

const SEQUENCE: &str = r#"no number id {"idType":"sequence"}"#;

#[test]
fn empty_identities_are_minted_whether_absent_null_or_empty() {
    let rows = vec![
        row(1, "{}"),
        row(2, r#"{"id":null}"#),
        row(3, r#"{"id":"","code":"x"}"#),
        row(4, r#"{"id":"given"}"#),
    ];
    let (memory, _) = applied(&TestPlan::new().table("a", &["id text id", "code"], rows));
    let state = memory.state();
    let ids: Vec<&str> = state.rows[&id(0x1000)]
        .iter()
        .filter_map(|row| row.data.cell("id"))
        .collect();
    assert_eq!(ids.len(), 4);
    let minted = |text: &str| Id::parse_str(text.trim_matches('"')).is_ok();
    assert!(ids[..3].iter().all(|id| minted(id)), "{ids:?}");
    assert_eq!(ids[3], r#""given""#);
    let distinct: std::collections::HashSet<&str> = ids.iter().copied().collect();
    assert_eq!(distinct.len(), 4);
}

#[test]
fn sequences_go_on_from_the_store_and_past_given_values() {
    let rows = vec![
        row(1, "{}"),
        row(2, r#"{"no":7}"#),
        row(3, r#"{"no":""}"#),
        row(4, r#"{"no":3.0}"#),
    ];
    let sample = TestPlan::new().table("a", &[SEQUENCE], rows);
    let (memory, _) = applied(&sample);
    // What rows of the package hold is not minted for others.
    assert_eq!(
        cells(&memory, 0),
        [r#"{"no":8}"#, r#"{"no":7}"#, r#"{"no":9}"#, r#"{"no":3}"#]
    );
    assert_eq!(memory.state().sequence(id(0x1001)), 10);
}

#[test]
fn what_is_minted_is_what_other_tables_hold() {
    let refs = format!(r#"{{"to":{}}}"#, to(2, "f_a", "no"));
    let sample = TestPlan::new()
        .table("a", &[SEQUENCE], vec![row(1, "{}"), row(2, "{}")])
        .table(
            "b",
            &["to linked_select linkfield"],
            vec![linked(11, r#"{"to":1}"#, &refs)],
        );
    let (memory, _) = applied(&sample);
    assert_eq!(cells(&memory, 1), [r#"{"to":2}"#]);
}

#[test]
fn a_number_is_never_shared_with_another_job() {
    let sample = TestPlan::new().table("a", &[SEQUENCE], (0..600).map(|n| row(n, "{}")).collect());
    let mut contested = Contested::before([1, 2, 3]);
    let text = format!("[{}]", sample.rows[0].join(","));
    let payloads = [entry(&text)];
    let report = ready(super::super::run(
        &mut contested,
        &sample.approved,
        &payloads,
        &[],
        crate::definitions::Definitions::embedded(),
        &mut |_| {},
    ))
    .expect("runs");
    assert_eq!(counts(&report, "a").inserted, 600);
    let numbers = cells(&contested.memory, 0);
    // Three numbers were taken by somebody else before the first row got one.
    let expected = (4..604).map(|n| format!(r#"{{"no":{n}}}"#));
    assert!(numbers.iter().cloned().eq(expected), "{:?}", &numbers[..3]);
    assert_eq!(contested.memory.state().sequence(id(0x1001)), 604);
}
