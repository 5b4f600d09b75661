//! Unique columns: what collides, and who is notified.

use tplkit::problem::Code;
use tplkit::workspace::{Change, Id, New, RecordKind, Refused};

use super::subject::{config, merge, removals, same};
use super::{Case, CaseResult, Subject, Workspaces};

pub(super) fn cases<W: Workspaces>() -> Vec<Case<W>> {
    vec![
        Case {
            name: "a repeated value is refused, with its row and column",
            run: |w| Box::pin(repeated(w)),
        },
        Case {
            name: "empty cells and values of other kinds do not collide",
            run: |w| Box::pin(apart(w)),
        },
        Case {
            name: "a value is free again when its row lets it go",
            run: |w| Box::pin(freed(w)),
        },
        Case {
            name: "rows that change together take the values that they give up",
            run: |w| Box::pin(moved(w)),
        },
        Case {
            name: "identity columns are unique, and so is what becomes unique",
            run: |w| Box::pin(becoming(w)),
        },
    ]
}

async fn repeated<W: Workspaces>(workspaces: &W) -> CaseResult {
    let mut subject = Subject::new(workspaces).await;
    let feature = subject.table("t", &["a", "código*"]).await?.id;
    let stored = r#"{"código":"K"}"#;
    let ids = subject
        .insert(feature, &[stored, r#"{"código":5}"#])
        .await?;
    let before = subject.digests(feature).await?;
    let collisions: [(usize, &[&str]); 8] = [
        (1, &[r#"{"código":"L"}"#, stored]),
        (2, &[r#"{"código":"L"}"#, "{}", r#"{"código":"L"}"#]),
        (0, &[r#"{"código":"\u004b"}"#]),
        (0, &[r#"{"código":5.0}"#]),
        (0, &[r#"{"código":50e-1}"#]),
        (1, &[r#"{"código":""}"#, r#"{"código":""}"#]),
        (1, &[r#"{"código":[1,"a"]}"#, r#"{"código":[1.0,"a"]}"#]),
        (
            1,
            &[r#"{"código":{"x":1,"y":2}}"#, r#"{"código":{"y":2,"x":1}}"#],
        ),
    ];
    for (row, data) in collisions {
        let rows = subject.rows(data);
        let insert = Change::InsertRows { feature, rows };
        let refused = subject.refused(Code::UniqueViolation, vec![insert]).await?;
        let expected = Refused::repeated(row, "código".to_owned());
        same("why it is refused", &refused, &expected)?;
    }
    let rows = vec![merge(ids[0], r#"{"a":"x"}"#), merge(ids[1], stored)];
    let update = Change::UpdateRows { feature, rows };
    let refused = subject.refused(Code::UniqueViolation, vec![update]).await?;
    let expected = Refused::repeated(1, "código".to_owned());
    same("why it is refused", &refused, &expected)?;
    same("what rows hold", &subject.digests(feature).await?, &before)
}

async fn apart<W: Workspaces>(workspaces: &W) -> CaseResult {
    let mut subject = Subject::new(workspaces).await;
    let feature = subject.table("t", &["k*"]).await?.id;
    let other = subject.table("u", &["k*"]).await?.id;
    let data = [
        "{}",
        "{}",
        r#"{"k":null}"#,
        r#"{"k":null}"#,
        r#"{"k":1}"#,
        r#"{"k":"1"}"#,
        r#"{"k":1.5}"#,
        r#"{"k":true}"#,
        r#"{"k":"true"}"#,
        r#"{"k":"a"}"#,
        r#"{"k":"A"}"#,
        r#"{"k":"a "}"#,
        r#"{"k":"é"}"#,
        r#"{"k":"e\u0301"}"#,
        r#"{"k":[1]}"#,
        r#"{"k":[1,1]}"#,
    ];
    let ids = subject.insert(feature, &data).await?;
    subject.insert(other, &[data[4], data[9]]).await?;
    // A row does not collide with itself.
    let rows = vec![merge(ids[4], r#"{"k":1.0}"#), merge(ids[9], data[9])];
    subject
        .write(vec![Change::UpdateRows { feature, rows }])
        .await?;
    let held = subject.digests(feature).await?.len();
    same("rows", &held, &data.len())
}

async fn freed<W: Workspaces>(workspaces: &W) -> CaseResult {
    let mut subject = Subject::new(workspaces).await;
    let feature = subject.table("t", &["k*"]).await?.id;
    let (a, b) = (r#"{"k":"a"}"#, r#"{"k":"b"}"#);
    let ids = subject.insert(feature, &[a]).await?;
    let update = Change::UpdateRows {
        feature,
        rows: vec![merge(ids[0], b)],
    };
    subject.write(vec![update]).await?;
    let again = subject.insert(feature, &[a]).await?;
    // Within one unit: gone first, then there again.
    let rows = subject.rows(&[a, b]);
    let kept: Vec<Id> = rows.iter().map(|row| row.id).collect();
    let gone = Change::RemoveRows {
        feature,
        rows: removals(&[ids[0], again[0]]),
    };
    subject
        .write(vec![gone, Change::InsertRows { feature, rows }])
        .await?;
    // What a refused unit would have taken is not taken.
    let (c, d) = (r#"{"k":"c"}"#, r#"{"k":"d"}"#);
    let rows = subject.rows(&[c, d, a]);
    let refused = Change::InsertRows { feature, rows };
    subject
        .refused(Code::UniqueViolation, vec![refused])
        .await?;
    let last = subject.insert(feature, &[c, d]).await?;
    let held = subject.digests(feature).await?;
    let held: Vec<Id> = held.iter().map(|(id, _)| *id).collect();
    same("rows", &held, &[kept, last].concat())
}

async fn moved<W: Workspaces>(workspaces: &W) -> CaseResult {
    let mut subject = Subject::new(workspaces).await;
    let feature = subject.table("t", &["k*", "l*", "text"]).await?.id;
    // So large that stores look at them in parts.
    let text = "x".repeat(900_000);
    let data = |k: u64, l: u64| format!(r#"{{"k":{k},"l":{l},"text":"{text}"}}"#);
    let stored: Vec<String> = (0..4).map(|at| data(at, at + 10)).collect();
    let stored: Vec<&str> = stored.iter().map(String::as_str).collect();
    let ids = subject.insert(feature, &stored).await?;
    let update = |cells: [&str; 4]| Change::UpdateRows {
        feature,
        rows: ids
            .iter()
            .zip(cells)
            .map(|(id, cells)| merge(*id, cells))
            .collect(),
    };
    // In a circle, and in a row to what nobody holds.
    let around = [
        r#"{"k":3,"l":11}"#,
        r#"{"k":0,"l":12}"#,
        r#"{"k":1,"l":13}"#,
        r#"{"k":2,"l":14}"#,
    ];
    subject.write(vec![update(around)]).await?;
    let insert = |subject: &mut Subject<W::Target>, data| Change::InsertRows {
        feature,
        rows: subject.rows(&[data]),
    };
    for (data, column) in [(r#"{"k":3}"#, "k"), (r#"{"l":14}"#, "l")] {
        let again = insert(&mut subject, data);
        let refused = subject.refused(Code::UniqueViolation, vec![again]).await?;
        same("the column", &refused.column.as_deref(), &Some(column))?;
    }
    // What one gives up only one other takes, and what stays nobody.
    for (cells, row) in [
        ([r#"{"k":7}"#, r#"{"k":3}"#, "{}", r#"{"k":3}"#], 3),
        ([r#"{"k":0}"#, r#"{"k":3}"#, r#"{"k":2}"#, "{}"], 2),
        ([r#"{"k":2}"#, "{}", "{}", "{}"], 0),
    ] {
        let refused = subject.refused(Code::UniqueViolation, vec![update(cells)]);
        same("the row at fault", &refused.await?.row, &Some(row))?;
    }
    let freed = insert(&mut subject, r#"{"k":9,"l":10}"#);
    subject.write(vec![freed]).await?;
    let back = [r#"{"k":0}"#, r#"{"k":1}"#, r#"{"k":2}"#, r#"{"k":3}"#];
    subject.write(vec![update(back)]).await
}

async fn becoming<W: Workspaces>(workspaces: &W) -> CaseResult {
    let mut subject = Subject::new(workspaces).await;
    let table = subject.table("t", &["k"]).await?;
    let feature = table.id;
    let mut identity = subject.column("id", 2);
    "id".clone_into(&mut identity.default_component);
    let added = Change::Create(New::Column {
        feature,
        column: identity,
    });
    // A column and the rows that it checks may come in one unit.
    let rows = subject.rows(&[r#"{"id":"1","k":"x"}"#]);
    subject
        .write(vec![added, Change::InsertRows { feature, rows }])
        .await?;
    let rows = subject.rows(&[r#"{"id":"1"}"#]);
    let insert = Change::InsertRows { feature, rows };
    subject.refused(Code::UniqueViolation, vec![insert]).await?;
    let column = table.columns[0].id;
    let configure = |unique: bool| Change::Configure {
        kind: RecordKind::Column,
        id: column,
        config: config("unique", unique),
    };
    subject.write(vec![configure(true)]).await?;
    let rows = subject.rows(&[r#"{"k":"x"}"#]);
    let insert = Change::InsertRows { feature, rows };
    subject
        .refused(Code::UniqueViolation, vec![insert.clone()])
        .await?;
    subject.write(vec![configure(false), insert]).await
}
