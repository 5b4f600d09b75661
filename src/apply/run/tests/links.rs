use super::{applied, counts, dropped};
use crate::apply::test_plan::{TestPlan, cells, linked, nothing, row, stored, to, to_all};
use crate::apply::{LinkWork, Mode};
use crate::crashing::Memory;
use crate::workspace::ledger::Entry;

const LINK: &str = "to linked_select linkfield";
const MANY: &str = r#"to linked_select linkfield {"isMultiSelect":true}"#;

/// Two tables: `a` with an identity that is minted, and `b` with the rows given.
fn into_a(columns: &[&str], rows: Vec<String>) -> TestPlan {
    let targets = vec![
        row(1, r#"{"code":"one"}"#),
        row(2, r#"{"code":"two"}"#),
        row(3, "{}"),
    ];
    TestPlan::new()
        .table("a", &["id text id", "code"], targets)
        .table("b", columns, rows)
}

fn minted(memory: &crate::crashing::Memory, row: usize) -> String {
    let rows = memory.state().rows;
    let rows = rows.values().next().expect("rows");
    rows[row].data.cell("id").expect("minted").to_owned()
}

#[test]
fn a_link_cell_holds_what_the_target_row_holds_at_the_destination() {
    let refs = format!(r#"{{"to":{}}}"#, to(2, "f_a", "id"));
    let by_code = format!(r#"{{"to":{}}}"#, to(1, "$f_a", "code"));
    let rows = vec![
        linked(11, r#"{"to":"old"}"#, &refs),
        linked(12, r#"{"to":"old"}"#, &by_code),
        row(13, r#"{"to":"free text"}"#),
    ];
    let (memory, report) = applied(&into_a(&[LINK], rows));
    let id = minted(&memory, 1);
    assert_eq!(
        cells(&memory, 1),
        [
            format!(r#"{{"to":{id}}}"#),
            r#"{"to":"one"}"#.to_owned(),
            r#"{"to":"free text"}"#.to_owned()
        ]
    );
    assert_eq!(dropped(&report), []);
}

#[test]
fn without_a_value_column_a_cell_holds_the_id_of_the_row() {
    let refs = to(2, "f_a", "id").replace(r#","valueColumn":"id""#, "");
    let rows = vec![linked(11, r#"{"to":"x"}"#, &format!(r#"{{"to":{refs}}}"#))];
    let (memory, _) = applied(&into_a(&[LINK], rows));
    let id = memory.state().rows.values().next().expect("rows")[1].id;
    assert_eq!(cells(&memory, 1), [format!(r#"{{"to":"{id}"}}"#)]);
}

#[test]
fn a_link_without_a_target_is_emptied_and_counted_once_per_column() {
    let missing = format!(r#"{{"to":{}}}"#, to(9, "f_a", "id"));
    let valueless = format!(r#"{{"to":{}}}"#, to(3, "f_a", "code"));
    let elsewhere = format!(r#"{{"to":{}}}"#, to(1, "f_b", "id"));
    let rows = vec![
        linked(11, r#"{"n":"x","to":"1"}"#, &missing),
        linked(12, r#"{"to":"2"}"#, &valueless),
        linked(13, r#"{"to":"3"}"#, &elsewhere),
    ];
    let (memory, report) = applied(&into_a(&["n", LINK], rows));
    assert_eq!(cells(&memory, 1), [r#"{"n":"x"}"#, "{}", "{}"]);
    // The last one is a link inside the table, which has no such row either.
    assert_eq!(dropped(&report), [("rows[].data.to".to_owned(), 3)]);
    assert_eq!(report.unresolved[0].uid, "rows of b");
}

#[test]
fn required_is_not_asked_of_cells_that_were_emptied() {
    let missing = format!(r#"{{"to":{}}}"#, to(9, "f_a", "id"));
    let required = r#"to linked_select linkfield {"required":true}"#;
    let rows = vec![linked(11, r#"{"to":"1"}"#, &missing)];
    let (memory, report) = applied(&into_a(&[required], rows));
    assert_eq!(cells(&memory, 1), ["{}"]);
    assert_eq!(report.errors, []);
}

#[test]
fn a_list_is_linked_one_to_one_and_wholly_or_not_at_all() {
    let whole = format!(r#"{{"to":{}}}"#, to_all(&[2, 1], "f_a", "code"));
    let broken = format!(r#"{{"to":{}}}"#, to_all(&[2, 9], "f_a", "code"));
    let rows = vec![
        linked(11, r#"{"to":["x","y"]}"#, &whole),
        linked(12, r#"{"to":["x","y"]}"#, &broken),
    ];
    let (memory, report) = applied(&into_a(&[MANY], rows));
    assert_eq!(cells(&memory, 1), [r#"{"to":["two","one"]}"#, "{}"]);
    assert_eq!(dropped(&report), [("rows[].data.to".to_owned(), 1)]);
}

#[test]
fn elements_without_a_target_keep_their_place() {
    let refs = format!(r#"{{"to":{}}}"#, to_all(&[1, 2], "f_a", "code"));
    let rows = vec![linked(11, r#"{"to":["free","one",7.0,"two"]}"#, &refs)];
    let (memory, report) = applied(&into_a(&[MANY], rows));
    assert_eq!(cells(&memory, 1), [r#"{"to":["free","one",7,"two"]}"#]);
    assert_eq!(dropped(&report), []);
}

#[test]
fn what_cannot_be_aligned_keeps_its_links_and_counts() {
    // The automatic identity does not travel: which element was which is not known.
    let refs = format!(r#"{{"to":{}}}"#, to_all(&[2, 1], "f_a", "id"));
    let rows = vec![linked(11, r#"{"to":["x","free","y"]}"#, &refs)];
    let (memory, report) = applied(&into_a(&[MANY], rows));
    let ids = [minted(&memory, 1), minted(&memory, 0)];
    assert_eq!(
        cells(&memory, 1),
        [format!(r#"{{"to":[{},{}]}}"#, ids[0], ids[1])]
    );
    assert_eq!(dropped(&report), [("rows[].data.to".to_owned(), 1)]);
}

#[test]
fn an_identity_of_the_source_without_a_row_is_emptied_and_counted() {
    let one = format!(r#"{{"to":{}}}"#, to(2, "f_a", "id"));
    let some = format!(r#"{{"to":{}}}"#, to_all(&[2], "f_a", "id"));
    let rows = vec![
        row(11, r#"{"to":1}"#),
        row(12, r#"{"to":[1,7]}"#),
        linked(13, r#"{"to":[1,3]}"#, &some),
        linked(14, r#"{"to":3}"#, &one),
        row(15, r#"{"to":[]}"#),
        row(16, r#"{"to":null}"#),
    ];
    let (memory, report) = applied(&into_a(&[LINK], rows).by_source_identity(1, 0));
    let id = minted(&memory, 1);
    assert_eq!(
        cells(&memory, 1),
        [
            "{}".to_owned(),
            "{}".to_owned(),
            format!(r#"{{"to":[{id}]}}"#),
            format!(r#"{{"to":{id}}}"#),
            r#"{"to":[]}"#.to_owned(),
            r#"{"to":null}"#.to_owned()
        ]
    );
    assert_eq!(dropped(&report), [("rows[].data.to".to_owned(), 3)]);
    let required = r#"to linked_select linkfield {"required":true}"#;
    let rows = vec![row(11, r#"{"to":1}"#)];
    let (memory, report) = applied(&into_a(&[required], rows).by_source_identity(1, 0));
    assert_eq!(cells(&memory, 1), ["{}"]);
    assert_eq!(counts(&report, "b").inserted, 1);
}

#[test]
fn an_identity_of_the_source_within_its_table_is_emptied_too() {
    let refs = format!(r#"{{"to":{}}}"#, to(1, "f_a", "id"));
    let rows = vec![
        row(1, r#"{"to":"gone"}"#),
        linked(2, r#"{"to":"old"}"#, &refs),
    ];
    let sample = TestPlan::new()
        .table("a", &["id text id", LINK], rows)
        .by_source_identity(0, 1);
    let (memory, report) = applied(&sample);
    let id = minted(&memory, 0);
    let rows = memory.state().rows;
    let linked: Vec<_> = rows
        .values()
        .flatten()
        .map(|row| row.data.cell("to"))
        .collect();
    assert_eq!(linked, [None, Some(id.as_str())]);
    assert_eq!(dropped(&report), [("rows[].data.to".to_owned(), 1)]);
    assert_eq!(counts(&report, "a").linked, Some(1));
}

#[test]
fn the_shape_of_the_value_decides_not_the_config() {
    let one = format!(r#"{{"to":{}}}"#, to(1, "f_a", "code"));
    let list = format!(r#"{{"to":{}}}"#, to_all(&[1], "f_a", "code"));
    let single = vec![linked(11, r#"{"to":"x"}"#, &one)];
    let (memory, _) = applied(&into_a(&[MANY], single));
    assert_eq!(cells(&memory, 1), [r#"{"to":"one"}"#]);
    let (memory, _) = applied(&into_a(&[LINK], vec![linked(11, r#"{"to":["x"]}"#, &list)]));
    assert_eq!(cells(&memory, 1), [r#"{"to":["one"]}"#]);
}

#[test]
fn links_inside_a_table_are_written_at_its_end() {
    let refs = |n| format!(r#"{{"to":{}}}"#, to(n, "f_a", "code"));
    let mut rows = vec![
        linked(0, r#"{"code":"0","to":"x"}"#, &refs(600)),
        linked(1, r#"{"code":"1","to":"x"}"#, &refs(0)),
        linked(2, r#"{"code":"2","to":"x"}"#, &refs(2)),
        linked(3, r#"{"code":"3","to":"x"}"#, &refs(4)),
        linked(4, r#"{"code":"4","to":"x"}"#, &refs(3)),
        linked(5, r#"{"code":"5","to":"x"}"#, &refs(999)),
    ];
    rows.extend((6..=600).map(|n| row(n, &format!(r#"{{"code":"{n}"}}"#))));
    let (memory, report) = applied(&TestPlan::new().table("a", &["code", LINK], rows));
    assert_eq!(
        cells(&memory, 0)[..6],
        [
            r#"{"code":"0","to":"600"}"#,
            r#"{"code":"1","to":"0"}"#,
            r#"{"code":"2","to":"2"}"#,
            r#"{"code":"3","to":"4"}"#,
            r#"{"code":"4","to":"3"}"#,
            r#"{"code":"5"}"#,
        ]
    );
    assert_eq!(counts(&report, "a").linked, Some(5));
    assert_eq!(dropped(&report), [("rows[].data.to".to_owned(), 1)]);
}

#[test]
fn only_links_to_rows_of_a_later_batch_wait_for_the_end() {
    let refs = |all: &[u32]| format!(r#"{{"to":{}}}"#, to_all(all, "f_a", "code"));
    let link = |n: u32, all: &[u32]| {
        let old: Vec<&str> = all.iter().map(|_| "\"x\"").collect();
        let data = format!(r#"{{"code":"{n}","to":[{}]}}"#, old.join(","));
        linked(n, &data, &refs(all))
    };
    let mut rows: Vec<String> = (0..=600)
        .map(|n| row(n, &format!(r#"{{"code":"{n}"}}"#)))
        .collect();
    for (at, to) in [
        (0, &[600][..]),
        (1, &[0, 1]),
        (2, &[499, 3]),
        (3, &[0, 999]),
        (501, &[1, 600]),
    ] {
        rows[at as usize] = link(at, to);
    }
    let (mut memory, report) = applied(&TestPlan::new().table("a", &["code", MANY], rows));
    let all = cells(&memory, 0);
    assert_eq!(
        [0, 1, 2, 3, 501].map(|at| all[at].as_str()),
        [
            r#"{"code":"0","to":["600"]}"#,
            r#"{"code":"1","to":["0","1"]}"#,
            r#"{"code":"2","to":["499","3"]}"#,
            r#"{"code":"3"}"#,
            r#"{"code":"501","to":["1","600"]}"#,
        ]
    );
    assert_eq!(counts(&report, "a").linked, Some(4));
    assert_eq!(dropped(&report), [("rows[].data.to".to_owned(), 1)]);
    let ledger = memory.next_job();
    let reported: Vec<(Vec<u32>, Vec<u32>)> = ledger
        .iter()
        .filter_map(|entry| match entry {
            Entry::Rows(rows) => {
                let early_links = rows.early_links.iter();
                Some((early_links.map(|row| row.position).collect(), Vec::new()))
            }
            Entry::Links(links) => {
                let rows = links.rows.iter();
                Some((Vec::new(), rows.map(|row| row.position).collect()))
            }
            _ => None,
        })
        .collect();
    assert_eq!(
        reported,
        [
            (vec![1, 2], Vec::new()),
            (vec![501], Vec::new()),
            (Vec::new(), vec![0, 3])
        ]
    );
}

#[test]
fn links_inside_a_table_are_whole_lists_too() {
    let refs = |all: &[u32]| format!(r#"{{"to":{}}}"#, to_all(all, "f_a", "code"));
    let rows = vec![
        linked(0, r#"{"code":"0","to":["1","0"]}"#, &refs(&[1, 0])),
        linked(1, r#"{"code":"1","to":["1","9"]}"#, &refs(&[1, 9])),
    ];
    let (memory, report) = applied(&TestPlan::new().table("a", &["code", MANY], rows));
    assert_eq!(
        cells(&memory, 0),
        [r#"{"code":"0","to":["1","0"]}"#, r#"{"code":"1"}"#]
    );
    assert_eq!(counts(&report, "a").linked, Some(1));
    assert_eq!(dropped(&report), [("rows[].data.to".to_owned(), 1)]);
}

#[test]
fn a_link_that_would_repeat_a_unique_value_stays_empty() {
    let refs = |n| format!(r#"{{"to":{}}}"#, to(n, "f_a", "code"));
    let rows = vec![
        linked(0, r#"{"code":"0","to":"x"}"#, &refs(1)),
        linked(1, r#"{"code":"1","to":"x"}"#, &refs(1)),
    ];
    let unique = r#"to linked_select linkfield {"unique":true}"#;
    let (memory, report) = applied(&TestPlan::new().table("a", &["code", unique], rows));
    assert_eq!(
        cells(&memory, 0),
        [r#"{"code":"0","to":"1"}"#, r#"{"code":"1"}"#]
    );
    assert_eq!((report.errors[0].first, report.errors[0].last), (1, 1));
    assert_eq!(dropped(&report), [("rows[].data.to".to_owned(), 1)]);
    assert_eq!(counts(&report, "a").linked, Some(1));
}

#[test]
fn of_two_tables_that_point_at_each_other_the_first_loses_its_links() {
    let refs = |n, table| format!(r#"{{"to":{}}}"#, to(n, table, "code"));
    let sample = TestPlan::new()
        .table(
            "a",
            &["code", LINK],
            vec![linked(1, r#"{"code":"a","to":"b"}"#, &refs(2, "f_b"))],
        )
        .table(
            "b",
            &["code", LINK],
            vec![linked(2, r#"{"code":"b","to":"a"}"#, &refs(1, "f_a"))],
        );
    let (memory, report) = applied(&sample);
    assert_eq!(cells(&memory, 0), [r#"{"code":"a"}"#]);
    assert_eq!(cells(&memory, 1), [r#"{"code":"b","to":"a"}"#]);
    assert_eq!(dropped(&report), [("rows[].data.to".to_owned(), 1)]);
    assert_eq!(counts(&report, "a").linked, None);
}

#[test]
fn links_to_a_failed_row_or_into_mode_none_are_dropped() {
    let refs = |n| format!(r#"{{"to":{}}}"#, to(n, "f_a", "code"));
    let rows = vec![linked(11, r#"{"to":"1"}"#, &refs(1))];
    let none = into_a(&[LINK], rows.clone()).mode(0, Mode::None);
    let mut failed = into_a(&[LINK], rows);
    failed.rows[0][0] = row(1, r#"{"code":3}"#);
    for sample in [none, failed] {
        let (memory, report) = applied(&sample);
        assert_eq!(cells(&memory, 1), ["{}"]);
        assert_eq!(dropped(&report), [("rows[].data.to".to_owned(), 1)]);
    }
}

#[test]
fn cells_of_a_skipped_dependency_are_emptied_and_reported() {
    let rows = vec![
        row(1, r#"{"to":"x"}"#),
        row(2, r#"{"to":["x"]}"#),
        row(3, r#"{"to":""}"#),
        row(4, "{}"),
    ];
    let skipped = LinkWork::Skipped {
        dependency: "f_far".to_owned(),
    };
    let required = r#"to linked_select linkfield {"required":false}"#;
    let mut sample = TestPlan::new()
        .table("a", &[required], rows)
        .link(0, 0, skipped);
    let (memory, report) = applied(&sample);
    // Nothing that pointed anywhere was emptied in the third.
    assert_eq!(cells(&memory, 0), ["{}", "{}", r#"{"to":null}"#, "{}"]);
    let [entry] = report.unresolved.as_slice() else {
        panic!("{:?}", report.unresolved);
    };
    assert_eq!(entry.reason, "dependencia_saltada");
    assert_eq!(entry.path, "rows[].data.to");
    assert_eq!((entry.count, entry.required), (Some(2), None));
    assert_eq!(entry.reference.as_deref(), Some("f_far"));
    // Whether it was required is known from the config that was emptied with it.
    sample.approved.unresolved = vec![crate::apply::UnresolvedEntry {
        path: "config.linkedFeatureId".to_owned(),
        required: Some(true),
        ..entry.clone()
    }];
    let (_, report) = applied(&sample);
    assert_eq!(report.unresolved[1].required, Some(true));
}

#[test]
fn cells_with_identities_of_rows_that_stayed_behind_are_emptied_and_counted() {
    let rows = vec![
        row(1, r#"{"to":"x","by":"free"}"#),
        row(2, r#"{"to":["x","y"]}"#),
        row(3, r#"{"to":7}"#),
        row(4, r#"{"to":null}"#),
        row(5, "{}"),
    ];
    let by = "by linked_select linkfield";
    let sample = TestPlan::new()
        .table("a", &[LINK, by], rows)
        .link(0, 0, LinkWork::Absent)
        .link(0, 1, LinkWork::Data);
    let (memory, report) = applied(&sample);
    assert_eq!(
        cells(&memory, 0),
        [r#"{"by":"free"}"#, "{}", "{}", r#"{"to":null}"#, "{}"]
    );
    assert_eq!(dropped(&report), [("rows[].data.to".to_owned(), 3)]);
}

#[test]
fn links_by_the_identity_of_a_mapped_table_stay_where_it_has_them() {
    let mut state = nothing();
    let mapped = TestPlan::new().table("m", &["key text id"], Vec::new());
    let mut memory = Memory::new(state.clone());
    mapped.run(&mut memory);
    state.structure = memory.state().structure;
    state.structure.features[0].id = super::super::super::test_plan::id(0x99);
    state.rows.insert(
        state.structure.features[0].id,
        vec![
            stored(1, r#"{"key":"here"}"#),
            stored(2, r#"{"key":"too"}"#),
        ],
    );
    let rows = vec![
        row(1, r#"{"to":"here","by":"free"}"#),
        row(2, r#"{"to":"away"}"#),
        row(3, r#"{"to":["here","too"]}"#),
        row(4, r#"{"to":["here","away"]}"#),
        row(5, r#"{"to":""}"#),
        row(6, r#"{"to":"Here"}"#),
    ];
    let identity = LinkWork::Identity {
        feature: state.structure.features[0].id,
        column: "key".to_owned(),
    };
    let by = "by linked_select linkfield";
    let sample = TestPlan::new()
        .table("a", &[LINK, by], rows)
        .link(0, 0, identity)
        .link(0, 1, LinkWork::Data);
    let mut memory = Memory::new(state);
    let report = sample.run(&mut memory);
    assert_eq!(
        cells(&memory, 0),
        [
            r#"{"to":"here","by":"free"}"#,
            "{}",
            r#"{"to":["here","too"]}"#,
            "{}",
            r#"{"to":null}"#,
            "{}"
        ]
    );
    assert_eq!(dropped(&report), [("rows[].data.to".to_owned(), 3)]);
}
