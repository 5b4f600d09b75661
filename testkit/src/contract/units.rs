//! A unit is written whole or not at all; sequences.

use tplkit::problem::Code;
use tplkit::workspace::ledger::Entry;
use tplkit::workspace::{Change, CommitError, Id, New, RecordKind, Target as _};

use super::subject::{config, merge, removals, same, unit};
use super::{Case, CaseResult, Subject, Workspaces};

pub(super) fn cases<W: Workspaces>() -> Vec<Case<W>> {
    vec![
        Case {
            name: "a refused change leaves nothing of its unit",
            run: |w| Box::pin(all_or_nothing(w)),
        },
        Case {
            name: "units between refused ones are written whole, and the refused ones not at all",
            run: |w| Box::pin(refused_between(w)),
        },
        Case {
            name: "a sequence moves from where it stands",
            run: |w| Box::pin(sequences(w)),
        },
    ]
}

async fn all_or_nothing<W: Workspaces>(workspaces: &W) -> CaseResult {
    let mut subject = Subject::new(workspaces).await;
    let table = subject.table("t", &["k*", "n"]).await?;
    let (feature, column) = (table.id, table.columns[1].id);
    let doomed = subject.table("u", &["a"]).await?.id;
    let data = [r#"{"k":"1"}"#, r#"{"k":"2"}"#, r#"{"k":"3"}"#];
    let ids = subject.insert(feature, &data).await?;
    subject.insert(doomed, &["{}"]).await?;
    let move_on = |from, to| Change::MoveSequence {
        feature,
        column,
        from,
        to,
    };
    subject
        .commit(vec![move_on(1, 4)], Some(Entry::Completed))
        .await?;
    let before = (
        subject.structure().await?,
        subject.digests(feature).await?,
        subject.digests(doomed).await?,
        subject.ledger().await?,
    );
    let new = subject.feature("new");
    let child = New::Column {
        feature: new.id,
        column: subject.column("a", 1),
    };
    let new_id = new.id;
    let changes = vec![
        Change::Create(New::Feature(new)),
        Change::Create(child),
        Change::InsertRows {
            feature: new_id,
            rows: subject.rows(&["{}"]),
        },
        Change::Configure {
            kind: RecordKind::Feature,
            id: feature,
            config: config("icon", "x"),
        },
        Change::InsertRows {
            feature,
            rows: subject.rows(&[r#"{"k":"4"}"#]),
        },
        Change::UpdateRows {
            feature,
            rows: vec![merge(ids[0], r#"{"k":"5","n":"x"}"#)],
        },
        Change::RemoveRows {
            feature,
            rows: removals(&ids[1..2]),
        },
        move_on(4, 9),
        Change::Remove {
            kind: RecordKind::Feature,
            id: doomed,
            force: true,
        },
        Change::Remove {
            kind: RecordKind::Column,
            id: column,
            force: true,
        },
    ];
    // Refused by the last change, then by one in the middle, then by the first.
    let refused = Change::Publish {
        workflow: subject.id(),
    };
    for at in [changes.len(), changes.len() / 2, 0] {
        let mut unit = changes.clone();
        unit.insert(at, refused.clone());
        subject.refused(Code::NotFound, unit).await?;
        same("the structure", &subject.structure().await?, &before.0)?;
        same(
            "what rows hold",
            &subject.digests(feature).await?,
            &before.1,
        )?;
        same("what rows hold", &subject.digests(doomed).await?, &before.2)?;
        same("the ledger", &subject.ledger().await?, &before.3)?;
        same(
            "the sequence",
            &subject.sequence(feature, column).await?,
            &4,
        )?;
    }
    // Unique values are what they were, too.
    let rows = subject.rows(&[data[1]]);
    let insert = Change::InsertRows { feature, rows };
    subject.refused(Code::UniqueViolation, vec![insert]).await?;
    subject
        .insert(feature, &[r#"{"k":"4"}"#, r#"{"k":"5"}"#])
        .await?;
    // And without the change at fault all of it is written.
    let mut changes = changes;
    changes.retain(
        |change| !matches!(change, Change::InsertRows { feature: id, .. } if *id == feature),
    );
    changes.retain(|change| !matches!(change, Change::UpdateRows { .. }));
    subject.write(changes).await?;
    let names: Vec<String> = (subject.structure().await?.features)
        .into_iter()
        .map(|feature| feature.name)
        .collect();
    same("tables", &names.len(), &2)?;
    same(
        "rows of a new table",
        &subject.digests(new_id).await?.len(),
        &1,
    )
}

async fn refused_between<W: Workspaces>(workspaces: &W) -> CaseResult {
    let mut subject = Subject::new(workspaces).await;
    let feature = subject.table("t", &["k*"]).await?.id;
    let mut expected: Vec<Id> = subject.insert(feature, &[r#"{"k":"0"}"#]).await?;
    let mut reported = Vec::new();
    let texts = ["1", "2", "1", "3", "0"].map(|key| format!(r#"{{"k":"{key}"}}"#));
    for (at, text) in texts.iter().enumerate() {
        let rows = subject.rows(&["{}", text]);
        let ids: Vec<Id> = rows.iter().map(|row| row.id).collect();
        let uid = at.to_string();
        let insert = Change::InsertRows { feature, rows };
        let unit = unit(vec![insert], Some(Entry::Closed { uid }));
        match subject.target.commit(unit).await {
            Ok(()) => {
                reported.push(None);
                expected.extend::<Vec<Id>>(ids);
            }
            Err(CommitError::Refused(refused)) => {
                reported.push(Some((refused.code, refused.row)));
            }
            Err(error) => return Err(format!("a unit: {error}")),
        }
        // What is reported has happened, and nothing besides.
        let held = subject.digests(feature).await?;
        let held: Vec<Id> = held.into_iter().map(|(id, _)| id).collect();
        same("rows", &held, &expected)?;
    }
    let taken = Some((Code::UniqueViolation, Some(1)));
    let right = [None, None, taken, None, taken];
    same("what is reported of units", &reported, &right.to_vec())?;
    let uids = [0, 1, 3].map(|at: usize| Entry::Closed {
        uid: at.to_string(),
    });
    same("the ledger", &subject.ledger().await?, &uids.to_vec())
}

async fn sequences<W: Workspaces>(workspaces: &W) -> CaseResult {
    let mut subject = Subject::new(workspaces).await;
    let table = subject.table("t", &["a", "b"]).await?;
    let (feature, column) = (table.id, table.columns[0].id);
    let other = table.columns[1].id;
    let move_on = |from, to| Change::MoveSequence {
        feature,
        column,
        from,
        to,
    };
    let rewind = |from, to| Change::RewindSequence {
        feature,
        column,
        from,
        to,
    };
    same("a sequence", &subject.sequence(feature, column).await?, &1)?;
    subject.write(vec![move_on(1, 6), move_on(6, 8)]).await?;
    same("a sequence", &subject.sequence(feature, column).await?, &8)?;
    same("another", &subject.sequence(feature, other).await?, &1)?;
    for from in [1, 6, 9] {
        let moved = vec![move_on(from, 20)];
        subject.refused(Code::Conflict, moved).await?;
    }
    same("a sequence", &subject.sequence(feature, column).await?, &8)?;
    // Somebody else took numbers since: they stay taken.
    subject.write(vec![rewind(6, 1)]).await?;
    same("a sequence", &subject.sequence(feature, column).await?, &8)?;
    subject.write(vec![rewind(8, 6), rewind(6, 1)]).await?;
    same("a sequence", &subject.sequence(feature, column).await?, &1)?;
    subject.write(vec![move_on(1, 2)]).await
}
