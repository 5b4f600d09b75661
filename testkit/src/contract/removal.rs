//! Taking away: rows that were edited stay, records go with what is in them.

use tplkit::json::Object;
use tplkit::problem::Code;
use tplkit::workspace::{Automation, Change, Id, Module, New, Rail, RecordKind, Removal};

use super::subject::{config, digest, merge, removals, same};
use super::{Case, CaseResult, Subject, Workspaces};

pub(super) fn cases<W: Workspaces>() -> Vec<Case<W>> {
    vec![
        Case {
            name: "a row that was edited is not taken away unless forced",
            run: |w| Box::pin(rows(w)),
        },
        Case {
            name: "a table with rows is not taken away unless forced, and goes with everything",
            run: |w| Box::pin(tables(w)),
        },
        Case {
            name: "records of every kind are taken away, and those that are gone are not an error",
            run: |w| Box::pin(records(w)),
        },
    ]
}

async fn rows<W: Workspaces>(workspaces: &W) -> CaseResult {
    let mut subject = Subject::new(workspaces).await;
    let feature = subject.table("t", &["a", "b"]).await?.id;
    let data = [r#"{"a":1,"b":"x"}"#, r#"{"a":2}"#, r#"{"a":3}"#, "{}"];
    let ids = subject.insert(feature, &data).await?;
    let update = Change::UpdateRows {
        feature,
        rows: vec![merge(ids[1], r#"{"a":5}"#)],
    };
    subject.write(vec![update]).await?;
    let before = subject.digests(feature).await?;
    let known = |at: usize, data: &str| Removal {
        id: ids[at],
        digest: Some(digest(data)),
    };
    let remove = |rows: Vec<Removal>| vec![Change::RemoveRows { feature, rows }];
    // Order and spelling do not matter; another value does.
    let first = known(0, r#"{"b":"x","a":1.0,"c":null}"#);
    let all = vec![first.clone(), known(1, data[1])];
    let refused = subject.refused(Code::NotEmpty, remove(all)).await?;
    same("the row at fault", &refused.row, &Some(1))?;
    same("what rows hold", &subject.digests(feature).await?, &before)?;
    let gone = Removal {
        id: subject.id(),
        digest: Some(digest("{}")),
    };
    let forced = removals(&ids[1..2]);
    let all = [vec![first, gone], forced].concat();
    subject.write(remove(all.clone())).await?;
    same(
        "what rows hold",
        &subject.digests(feature).await?,
        &before[2..].to_vec(),
    )?;
    subject.write(remove(all)).await?;
    // A table that is gone has lost its rows already.
    let nowhere = Change::RemoveRows {
        feature: subject.id(),
        rows: removals(&ids),
    };
    subject.write(vec![nowhere]).await
}

async fn tables<W: Workspaces>(workspaces: &W) -> CaseResult {
    let mut subject = Subject::new(workspaces).await;
    let table = subject.table("t", &["a"]).await?;
    let (feature, column) = (table.id, table.columns[0].id);
    let view = New::View {
        feature,
        view: subject.view("v", 1),
    };
    let numbered = Change::MoveSequence {
        feature,
        column,
        from: 1,
        to: 5,
    };
    subject.write(vec![Change::Create(view), numbered]).await?;
    let ids = subject.insert(feature, &["{}", "{}"]).await?;
    let before = (subject.structure().await?, subject.digests(feature).await?);
    let remove = |force: bool| Change::Remove {
        kind: RecordKind::Feature,
        id: feature,
        force,
    };
    subject.refused(Code::NotEmpty, vec![remove(false)]).await?;
    same("the structure", &subject.structure().await?, &before.0)?;
    same(
        "what rows hold",
        &subject.digests(feature).await?,
        &before.1,
    )?;
    // Rows that go first are not in the way.
    let empty = Change::RemoveRows {
        feature,
        rows: removals(&ids),
    };
    let again: Vec<Change> = vec![
        empty,
        remove(false),
        Change::Create(New::Feature(tplkit::workspace::Feature {
            columns: Vec::new(),
            ..table.clone()
        })),
        Change::Create(New::Column {
            feature,
            column: table.columns[0].clone(),
        }),
    ];
    subject.write(again).await?;
    same(
        "the table",
        &subject.structure().await?.features,
        &vec![table],
    )?;
    same("a sequence", &subject.sequence(feature, column).await?, &1)?;
    subject.insert(feature, &["{}"]).await?;
    subject.write(vec![remove(true)]).await?;
    let left = subject.structure().await?.features;
    same("tables", &left, &vec![])?;
    subject.write(vec![remove(false), remove(true)]).await
}

async fn records<W: Workspaces>(workspaces: &W) -> CaseResult {
    let mut subject = Subject::new(workspaces).await;
    let before = subject.structure().await?;
    let table = subject.table("t", &["a", "b"]).await?;
    let view = subject.view("v", 1);
    let ids: Vec<Id> = (0..5).map(|_| subject.id()).collect();
    let rail = |id: Id, name: &str| Rail {
        id,
        name: name.to_owned(),
        label: String::new(),
        order: 1,
        config: Vec::new(),
    };
    let module = Module {
        id: ids[0],
        name: "m".to_owned(),
        label: String::new(),
        icon: None,
        order: 1,
        config: Object::new(),
        rails: Vec::new(),
    };
    let automation = Automation {
        id: ids[3],
        name: "w".to_owned(),
        trigger_config: Object::new(),
        graph_config: Object::new(),
        active: false,
        draft: true,
        has_draft: false,
    };
    let news = [
        New::View {
            feature: table.id,
            view: view.clone(),
        },
        New::Module(module),
        New::Rail {
            module: ids[0],
            rail: rail(ids[1], "r"),
        },
        New::Rail {
            module: ids[0],
            rail: rail(ids[2], "s"),
        },
        New::Workflow(automation),
        New::Workspace {
            id: ids[4],
            name: "another".to_owned(),
            label: String::new(),
        },
    ];
    subject
        .write(news.into_iter().map(Change::Create).collect())
        .await?;
    subject.insert(table.id, &[r#"{"a":"x","b":"y"}"#]).await?;
    let remove = |kind: RecordKind, id: Id| Change::Remove {
        kind,
        id,
        force: false,
    };
    // Rows keep the cells of a column that goes; rails go with their module.
    let all = vec![
        remove(RecordKind::View, view.id),
        remove(RecordKind::Rail, ids[1]),
        remove(RecordKind::Column, table.columns[0].id),
        remove(RecordKind::Workflow, ids[3]),
        remove(RecordKind::Workspace, ids[4]),
        remove(RecordKind::Module, ids[0]),
    ];
    subject.write(all.clone()).await?;
    let read = subject.structure().await?;
    let mut left = table.clone();
    left.columns.remove(0);
    same("tables", &read.features, &vec![left])?;
    same("modules", &read.modules, &vec![])?;
    same("automations", &read.automations, &vec![])?;
    let rows = subject.page(table.id, None, 5).await?;
    same(
        "a cell without a column",
        &rows[0].data.cell("a"),
        &Some("\"x\""),
    )?;
    subject.write(all).await?;
    let gone = Change::Remove {
        kind: RecordKind::Feature,
        id: table.id,
        force: true,
    };
    let config = Change::Restore {
        kind: RecordKind::Column,
        id: table.columns[1].id,
        current: config("a", 1i64),
        config: config("b", 1i64),
    };
    let rewind = Change::RewindSequence {
        feature: table.id,
        column: table.columns[1].id,
        from: 1,
        to: 1,
    };
    // An undo meets what people have taken away.
    subject.write(vec![gone, config, rewind]).await?;
    same("the structure", &subject.structure().await?, &before)
}
