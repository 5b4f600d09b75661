use super::{Memory, MemoryError, State};
use crate::json::{Object, Value};
use crate::problem::Code;
use crate::workspace::ledger::{Entry, RowDigest};
use crate::workspace::{
    Change, Column, CommitError, Feature, Id, Lookup as _, New, Progress, RecordKind, Refused,
    Removal, RowData, RowWrite, Source as _, StoredRow, Target as _, Unit, ready,
};

const TABLE: Id = Id::from_u128(0x10);
const OTHER: Id = Id::from_u128(0x20);

fn id(number: u128) -> Id {
    Id::from_u128(number)
}

fn object(text: &str) -> Object {
    match Value::parse(text) {
        Ok(Value::Object(object)) => object,
        _ => panic!("no object: {text}"),
    }
}

fn column(number: u128, name: &str, config: &str) -> Column {
    Column {
        id: id(number),
        name: name.to_owned(),
        label: name.to_owned(),
        column_type: "text".to_owned(),
        default_component: "textfield".to_owned(),
        order: 1,
        config: object(config),
    }
}

fn feature(feature: Id, name: &str) -> Feature {
    Feature {
        id: feature,
        name: name.to_owned(),
        label: name.to_owned(),
        config: Object::new(),
        is_shared: false,
        columns: vec![
            column(0x11, "code", r#"{"unique":true}"#),
            column(0x12, "note", "{}"),
        ],
        views: Vec::new(),
    }
}

fn row(number: u128, data: &str) -> StoredRow {
    StoredRow {
        id: id(number),
        data: RowData::trusted(data),
    }
}

fn memory() -> Memory {
    let mut state = State::empty(id(1), id(2), "here", "Here");
    state.structure.features.push(feature(TABLE, "table"));
    let rows = vec![row(100, r#"{"code":"a"}"#), row(200, r#"{"code":1}"#)];
    state.rows.insert(TABLE, rows);
    state.sequences.insert(id(0x12), 5);
    Memory::new(state)
}

fn unit(changes: Vec<Change>) -> Unit {
    Unit {
        changes,
        entry: Some(Entry::Completed),
        progress: Progress::default(),
        report: None,
    }
}

fn commit(memory: &mut Memory, changes: Vec<Change>) -> Result<(), Refused> {
    match ready(memory.commit(unit(changes))) {
        Ok(()) => Ok(()),
        Err(CommitError::Refused(refused)) => Err(refused),
        Err(error) => panic!("{error}"),
    }
}

fn insert(rows: Vec<StoredRow>) -> Change {
    Change::InsertRows {
        feature: TABLE,
        rows,
    }
}

fn update(number: u128, cells: &str) -> Change {
    Change::UpdateRows {
        feature: TABLE,
        rows: vec![RowWrite {
            id: id(number),
            cells: RowData::trusted(cells),
            replace: false,
            digest: None,
        }],
    }
}

/// One change of every kind.
fn all_kinds() -> Vec<Change> {
    vec![
        Change::Create(New::Feature(feature(OTHER, "other"))),
        Change::InsertRows {
            feature: OTHER,
            rows: vec![row(1, r#"{"code":"x"}"#)],
        },
        Change::Configure {
            kind: RecordKind::Feature,
            id: TABLE,
            config: Value::Object(object(r#"{"a":1}"#)),
        },
        insert(vec![row(150, r#"{"code":"b"}"#), row(300, "{}")]),
        update(100, r#"{"note":"n","code":"c"}"#),
        Change::MoveSequence {
            feature: TABLE,
            column: id(0x12),
            from: 5,
            to: 9,
        },
        Change::RewindSequence {
            feature: TABLE,
            column: id(0x12),
            from: 9,
            to: 7,
        },
        Change::RemoveRows {
            feature: TABLE,
            rows: vec![Removal {
                id: id(200),
                digest: None,
            }],
        },
        Change::Remove {
            kind: RecordKind::Column,
            id: id(0x12),
            force: false,
        },
        Change::Remove {
            kind: RecordKind::Feature,
            id: OTHER,
            force: true,
        },
    ]
}

#[test]
fn a_unit_is_written_whole_or_not_at_all() {
    let before = memory().state();
    let kinds = all_kinds();
    for count in 0..=kinds.len() {
        let mut memory = memory();
        let mut changes = kinds[..count].to_vec();
        // The last change is refused: the name is taken.
        changes.push(Change::Create(New::Feature(feature(id(0x30), "table"))));
        let refused = commit(&mut memory, changes).expect_err("refused");
        assert_eq!(refused.code, Code::Conflict);
        assert_eq!(memory.state(), before, "{count}");
        assert_eq!(ready(memory.ledger()).expect("reads"), []);
        // What keeps values unique was taken back too.
        let repeated = commit(&mut memory, vec![insert(vec![row(900, r#"{"code":"a"}"#)])]);
        assert_eq!(repeated.expect_err("repeated").code, Code::UniqueViolation);
        commit(&mut memory, vec![insert(vec![row(900, r#"{"code":"b"}"#)])]).expect("free");
    }
    let mut memory = memory();
    commit(&mut memory, kinds).expect("written");
    assert_ne!(memory.state(), before);
    assert_eq!(ready(memory.ledger()).expect("reads"), [Entry::Completed]);
}

#[test]
fn unique_values_stay_unique_by_value() {
    for (data, code) in [
        (r#"{"code":"a"}"#, Some(Code::UniqueViolation)),
        (r#"{"code":"\u0061"}"#, Some(Code::UniqueViolation)),
        (r#"{"code":1.0}"#, Some(Code::UniqueViolation)),
        (r#"{"code":"A"}"#, None),
        (r#"{"code":"1"}"#, None),
        (r#"{"code":null}"#, None),
        (r#"{"note":"a"}"#, None),
    ] {
        let mut memory = memory();
        let rows = vec![row(300, "{}"), row(301, data)];
        let written = commit(&mut memory, vec![insert(rows)]);
        assert_eq!(
            written.as_ref().err().map(|refused| refused.code),
            code,
            "{data}"
        );
        if let Err(refused) = written {
            assert_eq!(
                (refused.row, refused.column.as_deref()),
                (Some(1), Some("code"))
            );
        }
    }
    let rows = vec![row(300, r#"{"code":"z"}"#), row(301, r#"{"code":"z"}"#)];
    let refused = commit(&mut memory(), vec![insert(rows)]).expect_err("twice");
    assert_eq!(refused.row, Some(1));
}

#[test]
fn a_value_is_free_again_when_its_row_changes_or_goes() {
    let mut memory = memory();
    let again = |memory: &mut Memory, number, data: &str| {
        commit(memory, vec![insert(vec![row(number, data)])]).map_err(|refused| refused.code)
    };
    assert_eq!(
        again(&mut memory, 300, r#"{"code":"a"}"#),
        Err(Code::UniqueViolation)
    );
    commit(&mut memory, vec![update(100, r#"{"code":"b"}"#)]).expect("changes");
    assert_eq!(again(&mut memory, 300, r#"{"code":"a"}"#), Ok(()));
    assert_eq!(
        again(&mut memory, 301, r#"{"code":"b"}"#),
        Err(Code::UniqueViolation)
    );
    // A row may keep its value.
    commit(&mut memory, vec![update(100, r#"{"code":"b"}"#)]).expect("keeps");
    let refused = commit(&mut memory, vec![update(100, r#"{"code":"a"}"#)]);
    assert_eq!(refused.expect_err("taken").code, Code::UniqueViolation);
    let removed = Change::RemoveRows {
        feature: TABLE,
        rows: vec![Removal {
            id: id(300),
            digest: None,
        }],
    };
    commit(&mut memory, vec![removed]).expect("goes");
    assert_eq!(again(&mut memory, 301, r#"{"code":"a"}"#), Ok(()));
}

#[test]
fn rows_lie_by_id_whatever_order_units_come_in() {
    let mut memory = memory();
    commit(
        &mut memory,
        vec![insert(vec![row(150, "{}"), row(160, "{}")])],
    )
    .expect("written");
    let rows = ready(memory.rows(TABLE, Some(id(100)), 2)).expect("reads");
    let ids: Vec<Id> = rows.iter().map(|row| row.id).collect();
    assert_eq!(ids, [id(150), id(160)]);
    for rows in [vec![150], vec![400, 400], vec![410, 405], vec![405, 150]] {
        let rows = rows.into_iter().map(|number| row(number, "{}")).collect();
        let refused = commit(&mut memory, vec![insert(rows)]).expect_err("refused");
        assert_eq!(refused.code, Code::Conflict);
    }
}

#[test]
fn digests_guard_what_people_changed() {
    let right = RowDigest::of(&RowData::trusted(r#"{"code":"a","note":null}"#));
    let write = |digest| Change::UpdateRows {
        feature: TABLE,
        rows: vec![RowWrite {
            id: id(100),
            cells: RowData::trusted("{}"),
            replace: true,
            digest: Some(digest),
        }],
    };
    let remove = |digest| Change::RemoveRows {
        feature: TABLE,
        rows: vec![Removal {
            id: id(100),
            digest: Some(digest),
        }],
    };
    for wrong in [write(RowDigest::default()), remove(RowDigest::default())] {
        let refused = commit(&mut memory(), vec![wrong]).expect_err("edited");
        assert_eq!((refused.code, refused.row), (Code::NotEmpty, Some(0)));
    }
    commit(&mut memory(), vec![write(right)]).expect("writes");
    commit(&mut memory(), vec![remove(right)]).expect("removes");
}

#[test]
fn a_table_with_rows_goes_only_by_force() {
    let remove = |force| Change::Remove {
        kind: RecordKind::Feature,
        id: TABLE,
        force,
    };
    let mut memory = memory();
    let refused = commit(&mut memory, vec![remove(false)]).expect_err("full");
    assert_eq!(refused.code, Code::NotEmpty);
    commit(&mut memory, vec![remove(true)]).expect("goes");
    commit(&mut memory, vec![remove(false)]).expect("is gone already");
    assert_eq!(memory.state().rows.len(), 0);
}

#[test]
fn a_sequence_moves_only_from_where_it_stands() {
    let moved = |from| Change::MoveSequence {
        feature: TABLE,
        column: id(0x12),
        from,
        to: 50,
    };
    let rewound = |from| Change::RewindSequence {
        feature: TABLE,
        column: id(0x12),
        from,
        to: 5,
    };
    let mut memory = memory();
    let refused = commit(&mut memory, vec![moved(4)]).expect_err("stands elsewhere");
    assert_eq!(refused.code, Code::Conflict);
    commit(&mut memory, vec![moved(5), rewound(49)]).expect("written");
    assert_eq!(ready(memory.sequence(TABLE, id(0x12))), Ok(Some(50)));
    commit(&mut memory, vec![rewound(50)]).expect("written");
    assert_eq!(ready(memory.sequence(TABLE, id(0x12))), Ok(Some(5)));
    assert_eq!(ready(memory.sequence(TABLE, id(0x99))), Ok(Some(1)));
}

#[test]
fn values_are_looked_up_by_value_and_the_first_row_is_found() {
    let mut memory = memory();
    let rows = vec![row(90, r#"{"note":"n"}"#), row(91, r#"{"note":"n"}"#)];
    commit(&mut memory, vec![insert(rows)]).expect("written");
    let values = ["\"n\"", "\"N\"", "null"].map(str::to_owned);
    let found = ready(memory.matching(TABLE, "note", &values)).expect("reads");
    let ids: Vec<Option<Id>> = found
        .iter()
        .map(|row| row.as_ref().map(|row| row.id))
        .collect();
    assert_eq!(ids, [Some(id(90)), None, None]);
    let fetched = ready(memory.fetch(TABLE, &[id(91), id(92)])).expect("reads");
    assert_eq!(fetched, [Some(row(91, r#"{"note":"n"}"#)), None]);
    let unknown = ready(memory.fetch(OTHER, &[id(91)]));
    assert_eq!(unknown, Err(MemoryError::UnknownFeature(OTHER)));
}

#[test]
fn a_state_is_saved_and_loaded_without_loss() {
    let mut memory = memory();
    let data = r#"{"code":"é\n","note":[1.5,{"a":null}]}"#;
    commit(&mut memory, vec![insert(vec![row(300, data)])]).expect("written");
    let text = memory.state().save().expect("saves");
    let loaded = State::load(&text).expect("loads");
    assert_eq!(loaded, memory.state());
    assert_eq!(loaded.save().expect("saves"), text);
    assert_eq!(Memory::new(loaded).state(), memory.state());
}
