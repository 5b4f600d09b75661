//! Entries of a ledger are read back as they were written.

use super::{
    BaseRecord, Cells, CellsOf, Changed, ConfigChange, Created, EarlyLinks, EmptiedColumn, Entry,
    Links, MovedLeaf, MovedSequence, Position, RecognisedRows, RemovedContent, RowDigest, RowName,
    RowNames, Rows, Siblings, Updated, Updates, WrittenRow, WrittenStructure,
};
use crate::workspace::{AnyRecord, KeptRow, RecordKind, RowData};

#[test]
fn every_entry_is_read_back_as_it_was_written() {
    let id = uuid::Uuid::from_u128(7);
    let digest = RowDigest::of(&RowData::trusted(r#"{"a":1}"#));
    let value = |text: &str| crate::json::Value::parse(text).expect("JSON");
    let written = WrittenRow {
        position: 3,
        id,
        digest,
    };
    let emptied = EmptiedColumn {
        column: "to".to_owned(),
        count: 2,
        skipped: true,
        file: true,
    };
    let uid = || "u_1".to_owned();
    let made = |reference: &str| Created {
        reference: reference.to_owned(),
        kind: RecordKind::Feature,
        id,
        name: "a".to_owned(),
    };
    let record = AnyRecord {
        kind: RecordKind::Column,
        id,
        parent: Some(id),
        name: "a".to_owned(),
        label: Some("A".to_owned()),
        icon: None,
        order: Some(-1),
        own_type: Some("number".to_owned()),
        component: None,
        config: value(r#"{"n":1.50}"#),
    };
    let based = || BaseRecord::new("c_a", "a_once", record.clone());
    let names = || RowNames {
        key: Some("code".to_owned()),
        rows: vec![RowName {
            uid: u128::MAX - 5,
            key: digest,
        }],
    };
    // Ledgers of earlier versions are read, too.
    let text = serde_json::to_string(&based()).expect("JSON");
    assert!(text.contains(r#""thing":{"kind":"#), "{text}");
    let entries = vec![
        Entry::Structure(WrittenStructure {
            created: vec![made("f_a")],
            replaced: vec![ConfigChange {
                reference: "workspace".to_owned(),
                kind: RecordKind::Workspace,
                id,
                before: value(r#"{"n":1.50}"#),
                after: value("[{}]"),
            }],
            pending_publishes: vec!["w_a".to_owned()],
            known: vec![made("f_known")],
            changed: vec![Changed {
                reference: "f_a".to_owned(),
                before: record.clone(),
                after: record.clone(),
                draft: Some(id),
            }],
            leaves: 2,
            deleted: vec![based()],
            in_force: vec![id],
            siblings: vec![Siblings {
                kind: RecordKind::Column,
                parent: Some(id),
                reference: Some("f_a".to_owned()),
                positions: vec![Position { id, order: -1 }],
            }],
            shared: vec![id],
            sequences: vec![MovedSequence {
                column: id,
                from: 1,
                to: 8,
            }],
            base: vec![based()],
            adopted: true,
            reported: Some(value(r#"{"decided":1}"#)),
        }),
        Entry::Rows(Rows {
            uid: uid(),
            feature: id,
            rows: vec![written],
            emptied: vec![emptied.clone()],
            sequences: vec![MovedSequence {
                column: id,
                from: 1,
                to: u64::MAX,
            }],
            early_links: vec![EarlyLinks {
                position: 3,
                cells: 2,
                digest,
            }],
            names: names(),
        }),
        Entry::Recognised(RecognisedRows {
            uid: uid(),
            feature: id,
            rows: vec![id],
            names: names(),
            adopted: true,
        }),
        Entry::Links(Links {
            uid: uid(),
            feature: id,
            rows: vec![written],
            linked: 4,
            emptied: vec![emptied],
        }),
        Entry::Closed { uid: uid() },
        Entry::Updates(Updates {
            uid: uid(),
            feature: id,
            emptied: Vec::new(),
            rows: vec![Updated {
                id,
                before: RowData::trusted(r#"{"a":null,"b":"é"}"#),
                digest,
                files: vec!["photo".to_owned()],
            }],
        }),
        Entry::Cells(Cells {
            uid: uid(),
            reference: "f_a".to_owned(),
            feature: id,
            kept: 1,
            decided: 2,
            emptied: Vec::new(),
            part: super::CellsPart::All,
            rows: vec![CellsOf {
                id,
                uid: Some(uid()),
                hidden: true,
                before: RowData::trusted(r#"{"a":null}"#),
                after: RowData::trusted(r#"{"a":1.50}"#),
                digest: Some(digest),
                stays: RowData::trusted("{}"),
                files: vec!["photo".to_owned()],
                not_compared: vec!["note".to_owned()],
                failed: true,
            }],
        }),
        Entry::Taken(RemovedContent {
            feature: id,
            column: Some("a".to_owned()),
            rows: vec![KeptRow {
                id,
                data: RowData::trusted(r#"{"a":1.50}"#),
                created_by: Some(id),
                created_at: Some(-1),
                updated_at: None,
            }],
        }),
        Entry::Published {
            reference: "w_a".to_owned(),
            paused: true,
        },
        Entry::Completed,
        Entry::Undoing {
            done: u64::MAX,
            left: vec![MovedLeaf {
                kind: None,
                reference: "f_a".to_owned(),
                uid: Some(uid()),
                id: Some(id),
                path: None,
                column: Some("a".to_owned()),
                count: None,
            }],
        },
        Entry::Undone,
    ];
    for entry in entries {
        // A variant that is added here has to be added above.
        match &entry {
            Entry::Structure(_)
            | Entry::Rows(_)
            | Entry::Recognised(_)
            | Entry::Links(_)
            | Entry::Closed { .. }
            | Entry::Updates(_)
            | Entry::Cells(_)
            | Entry::Taken(_)
            | Entry::Published { .. }
            | Entry::Completed
            | Entry::Undoing { .. }
            | Entry::Undone => {}
        }
        let text = serde_json::to_string(&entry).expect("writes");
        let read: Entry = serde_json::from_str(&text).expect(&text);
        assert_eq!(read, entry, "{text}");
    }
}
