//! What a job remembers: every entry, in order, as it was written.

use tplkit::json::Value;
use tplkit::workspace::ledger::{
    ConfigChange, Created, EarlyLinks, EmptiedColumn, Entry, Links, MovedSequence, RecognisedRows,
    RowDigest, RowName, RowNames, Rows, Updated, Updates, WrittenRow, WrittenStructure,
};
use tplkit::workspace::{Id, RecordKind, RowData};

use super::subject::{digest, same};
use super::{Case, CaseResult, Subject, Workspaces};

pub(super) fn cases<W: Workspaces>() -> Vec<Case<W>> {
    vec![Case {
        name: "the ledger keeps every entry as it was written, in order",
        run: |w| Box::pin(round_trip(w)),
    }]
}

async fn round_trip<W: Workspaces>(workspaces: &W) -> CaseResult {
    let mut subject = Subject::new(workspaces).await;
    let ids: Vec<Id> = (0..4).map(|_| subject.id()).collect();
    let entries = entries(&ids);
    for entry in &entries {
        subject.commit(Vec::new(), Some(entry.clone())).await?;
        // A unit without an entry leaves none. Nothing is written for a job that is undone.
        if *entry != Entry::Undone {
            subject.write(Vec::new()).await?;
        }
    }
    same("the ledger", &subject.ledger().await?, &entries)
}

fn entries(ids: &[Id]) -> Vec<Entry> {
    let config = |text: &str| Value::parse(text).unwrap_or_default();
    let written = |position: u32, data: &str| WrittenRow {
        position,
        id: ids[0],
        digest: digest(data),
    };
    let emptied = EmptiedColumn {
        column: "Preço total".to_owned(),
        count: u64::from(u32::MAX),
        skipped: true,
        file: true,
    };
    vec![
        Entry::Structure(WrittenStructure::default()),
        Entry::Structure(WrittenStructure {
            created: vec![Created {
                reference: "f_clientes".to_owned(),
                kind: RecordKind::Feature,
                id: ids[1],
                name: "clientes_2".to_owned(),
            }],
            replaced: vec![ConfigChange {
                reference: "workspace".to_owned(),
                kind: RecordKind::Workspace,
                id: ids[2],
                before: config(r#"{"b":1,"a":[1.10,1e2,"é\u0001"]}"#),
                after: config(r#"[{"views":[]}]"#),
            }],
            pending_publishes: vec!["w_a".to_owned(), "w_b".to_owned()],
            ..WrittenStructure::default()
        }),
        Entry::Rows(Rows {
            uid: "u_rows".to_owned(),
            feature: ids[1],
            rows: vec![written(0, "{}"), written(u32::MAX, r#"{"a":1}"#)],
            emptied: vec![emptied.clone()],
            sequences: vec![MovedSequence {
                column: ids[3],
                from: 1,
                to: u64::from(u32::MAX) + 1,
            }],
            early_links: vec![EarlyLinks {
                position: u32::MAX,
                cells: 2,
                digest: RowDigest::default(),
            }],
            names: RowNames {
                key: Some("code".to_owned()),
                rows: vec![RowName {
                    uid: u128::MAX,
                    key: RowDigest::default(),
                }],
            },
        }),
        Entry::Recognised(RecognisedRows {
            uid: "u_rows".to_owned(),
            feature: ids[1],
            rows: vec![ids[0]],
            names: RowNames::default(),
            adopted: true,
        }),
        Entry::Rows(Rows {
            uid: "u_rows".to_owned(),
            feature: ids[1],
            rows: Vec::new(),
            emptied: Vec::new(),
            sequences: Vec::new(),
            early_links: Vec::new(),
            names: RowNames::default(),
        }),
        Entry::Links(Links {
            uid: "u_rows".to_owned(),
            feature: ids[1],
            rows: vec![written(1, r#"{"b":"x"}"#)],
            linked: 7,
            emptied: vec![emptied],
        }),
        Entry::Closed {
            uid: "u_rows".to_owned(),
        },
        Entry::Updates(Updates {
            uid: "u_step".to_owned(),
            feature: ids[1],
            emptied: Vec::new(),
            rows: vec![Updated {
                id: ids[0],
                before: RowData::trusted(r#"{"z":"1","a":0.5}"#),
                digest: digest(r#"{"z":"2"}"#),
                files: vec!["picture".to_owned()],
            }],
        }),
        Entry::Published {
            reference: "w_a".to_owned(),
            paused: false,
        },
        Entry::Completed,
        Entry::Undoing {
            done: 7,
            left: Vec::new(),
        },
        Entry::Undone,
    ]
}
