//! Jobs that write into tables that people have.

use serde_json::json;

use super::world::{attempt, cells, link, nothing, person};
use crate::apply::test_packages::{Pack, feature, id};
use crate::apply::{UndoError, undo};
use crate::crashing::Memory;
use crate::json::Value;
use crate::workspace::memory::State;
use crate::workspace::{Change, RowData, RowWrite, StoredRow, ready};

/// A column and rows for a table that the package does not bring, and a table that points at them.
fn visits() -> Pack {
    let note = json!({"featureId": "$f_clients", "name": "note", "label": "Note", "type": "text", "defaultComponent": "textfield", "order": 5});
    let mut pack = Pack::new()
        .table("visits")
        .create("create_column", "c_clients_note", note)
        .column("visits", "client", "linked_select", link("clients", "id"))
        .rows(
            "visits",
            None,
            &[
                (json!({"client": 1}), json!(null)),
                (json!({"client": 9}), json!(null)),
            ],
        );
    pack.external = vec!["f_clients", "c_clients_id"];
    let uses = [
        (1001, "featureId"),
        (1002, "config.linkedFeatureId"),
        (1002, "config.linkedValueColumn"),
    ];
    let mut pack = pack.far_table("clients", &["id"], false, &uses);
    pack.dependencies[0]["identity"]["columns"][0]["type"] = "number".into();
    pack
}

/// Clients with a number each, in the workspace or shared.
fn clients(shared: bool) -> State {
    let mut state = nothing();
    let mut table = feature(
        10,
        "clients",
        &[(11, "no", "id"), (12, "note", "textfield")],
    );
    table.is_shared = shared;
    table.columns[0]
        .config
        .insert("idType".to_owned(), "sequence".into());
    table.columns[0].column_type = "number".to_owned();
    if shared {
        state.structure.shared.push(table);
    } else {
        state.structure.features.push(table);
    }
    let data = RowData::trusted(r#"{"no":1,"note":"mine"}"#);
    state
        .rows
        .insert(id(10), vec![StoredRow { id: id(100), data }]);
    state.sequences.insert(id(11), 2);
    state
}

fn request_text() -> String {
    json!({"resolutions": {"f_clients": {"action": "map", "id": id(10), "columns": {"c_clients_id": id(11)}}}}).to_string()
}

/// The same with rows for the mapped table; only a plan written by hand has those.
fn with_rows() -> Pack {
    visits().step(
        "insert_rows",
        json!({"featureId": "$f_clients", "rows": [{"data": {"note": "new"}}, {"data": {"note": "newer"}}]}),
    )
}

#[test]
fn columns_rows_and_numbers_in_a_mapped_table_are_taken_back() {
    for shared in [false, true] {
        let before = clients(shared);
        let mut memory = Memory::new(before.clone());
        let report = attempt(&with_rows(), &request_text(), &mut memory, &[], 1).expect("applied");
        assert_eq!(report.errors, [], "{shared}");
        assert_eq!(report.rows["f_clients"].recorded, Some(2));
        assert_eq!(
            cells(&memory, "clients"),
            [
                r#"{"no":1,"note":"mine"}"#,
                r#"{"note_2":"new","no":2}"#,
                r#"{"note_2":"newer","no":3}"#,
            ],
            "{shared}"
        );
        ready(undo(&mut memory, false)).expect("undone");
        assert_eq!(memory.state(), before, "{shared}");
    }
}

#[test]
fn rows_of_people_in_a_mapped_table_survive_and_edits_refuse_the_undo() {
    let mut memory = Memory::new(clients(false));
    attempt(&with_rows(), &request_text(), &mut memory, &[], 1).expect("applied");
    let data = RowData::trusted(r#"{"no":4,"note":"theirs"}"#);
    let rows = vec![StoredRow { id: id(900), data }];
    person(
        &mut memory,
        vec![Change::InsertRows {
            feature: id(10),
            rows,
        }],
    );
    let own = memory.state().rows[&id(10)]
        .iter()
        .find(|row| row.data.as_str().contains("newer"))
        .expect("written")
        .id;
    let write = RowWrite {
        id: own,
        cells: RowData::trusted(r#"{"note_2":"edited"}"#),
        replace: false,
        digest: None,
    };
    person(
        &mut memory,
        vec![Change::UpdateRows {
            feature: id(10),
            rows: vec![write],
        }],
    );
    let refused = ready(undo(&mut memory, false)).expect_err("edited");
    let UndoError::NotEmpty(lost) = &refused else {
        panic!("{refused}")
    };
    assert_eq!(
        (lost.len(), lost[0].edited.len(), lost[0].foreign),
        (1, 1, 0)
    );
    ready(undo(&mut memory, true)).expect("forced");
    assert_eq!(
        cells(&memory, "clients"),
        [r#"{"no":1,"note":"mine"}"#, r#"{"no":4,"note":"theirs"}"#]
    );
    assert!(
        memory
            .state()
            .structure
            .features
            .iter()
            .all(|feature| feature.name != "visits")
    );
}

#[test]
fn two_jobs_on_one_mapped_table_share_no_number_and_undo_apart() {
    let mut memory = Memory::new(clients(false));
    attempt(&with_rows(), &request_text(), &mut memory, &[], 1).expect("applied");
    let first = memory.next_job();
    let between = memory.state();
    let copy = request_text().replacen('{', r#"{"copy": true, "#, 1);
    attempt(&with_rows(), &copy, &mut memory, &first, 2).expect("copied");
    let mut numbers: Vec<i64> = cells(&memory, "clients")
        .iter()
        .filter_map(
            |row| match Value::parse(row).ok()?.as_object()?.get("no")? {
                Value::Number(number) => number.as_i64(),
                _ => None,
            },
        )
        .collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [1, 2, 3, 4, 5]);
    ready(undo(&mut memory, false)).expect("the second is undone");
    assert_eq!(memory.state(), between);
    memory.take_up(first);
    ready(undo(&mut memory, false)).expect("the first is undone");
    assert_eq!(memory.state(), clients(false));
}

#[test]
fn a_number_that_a_later_job_went_on_from_is_not_given_out_twice() {
    let mut memory = Memory::new(clients(false));
    attempt(&with_rows(), &request_text(), &mut memory, &[], 1).expect("applied");
    let first = memory.next_job();
    let copy = request_text().replacen('{', r#"{"copy": true, "#, 1);
    attempt(&with_rows(), &copy, &mut memory, &first, 2).expect("copied");
    let second = memory.next_job();
    memory.take_up(first);
    ready(undo(&mut memory, false)).expect("the first goes first");
    assert_eq!(memory.state().sequence(id(11)), 6);
    memory.take_up(second);
    ready(undo(&mut memory, false)).expect("then the second");
    assert_eq!(cells(&memory, "clients"), [r#"{"no":1,"note":"mine"}"#]);
}

#[test]
fn numbers_of_the_mapped_table_stay_where_it_has_them() {
    let mut memory = Memory::new(clients(false));
    let report = attempt(&visits(), &request_text(), &mut memory, &[], 1).expect("applied");
    assert_eq!(cells(&memory, "visits"), [r#"{"client":1}"#, "{}"]);
    let reported = report.unresolved.iter();
    let reported: Vec<_> = reported
        .map(|e| (e.path.as_str(), e.reason.as_str(), e.count))
        .collect();
    assert_eq!(
        reported,
        [("rows[].data.client", "row_ref_dropped", Some(1))]
    );
}
