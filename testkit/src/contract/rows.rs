//! Rows: pages, what is stored, what an update leaves.

use tplkit::problem::Code;
use tplkit::workspace::ledger::RowDigest;
use tplkit::workspace::{Change, Id, LARGE_BATCH, Lookup as _, RowWrite, StoredRow, is_last_batch};

use super::subject::{digest, merge, removals, row, same};
use super::{Case, CaseResult, Subject, Workspaces};

pub(super) fn cases<W: Workspaces>() -> Vec<Case<W>> {
    vec![
        Case {
            name: "rows come in pages by ascending id",
            run: |w| Box::pin(pages(w)),
        },
        Case {
            name: "large rows come in batches that may end early",
            run: |w| Box::pin(large(w)),
        },
        Case {
            name: "a row reads back as it was written",
            run: |w| Box::pin(reads_back(w)),
        },
        Case {
            name: "an id is taken once",
            run: |w| Box::pin(taken(w)),
        },
        Case {
            name: "rows are fetched in the order asked, as far as they exist",
            run: |w| Box::pin(fetch(w)),
        },
        Case {
            name: "an update merges or replaces, and null takes a cell away",
            run: |w| Box::pin(updates(w)),
        },
    ]
}

async fn pages<W: Workspaces>(workspaces: &W) -> CaseResult {
    let mut subject = Subject::new(workspaces).await;
    let feature = subject.table("t", &["a"]).await?.id;
    let other = subject.table("u", &["a"]).await?.id;
    same("no rows", &subject.page(feature, None, 5).await?, &vec![])?;
    let mut rows = subject.rows(&[r#"{"a":"1"}"#, r#"{"a":"2"}"#, r#"{"a":"3"}"#]);
    let between = subject.id();
    let late = subject.rows(&[r#"{"a":"4"}"#, r#"{"a":"5"}"#]);
    // Later ids first.
    for rows in [&late, &rows] {
        let rows = rows.clone();
        subject
            .write(vec![Change::InsertRows { feature, rows }])
            .await?;
    }
    subject.insert(other, &["{}"]).await?;
    rows.extend(late);
    same("all rows", &subject.page(feature, None, 100).await?, &rows)?;
    same(
        "just as many",
        &subject.page(feature, None, 5).await?,
        &rows,
    )?;
    let first = subject.page(feature, None, 2).await?;
    same("the first page", &first, &rows[..2].to_vec())?;
    let after = Some(rows[1].id);
    let second = subject.page(feature, after, 2).await?;
    same("the second page", &second, &rows[2..4].to_vec())?;
    let third = subject.page(feature, Some(rows[3].id), 2).await?;
    same("the last page", &third, &rows[4..].to_vec())?;
    let end = subject.page(feature, Some(rows[4].id), 2).await?;
    same("beyond the end", &end, &vec![])?;
    let from = subject.page(feature, Some(between), 9).await?;
    same("after no row's id", &from, &rows[3..].to_vec())?;
    // The row that a reader stopped at may be gone when it goes on.
    let gone = Change::RemoveRows {
        feature,
        rows: removals(&[rows[1].id]),
    };
    subject.write(vec![gone]).await?;
    let on = subject.page(feature, after, 2).await?;
    same(
        "the page after a row that is gone",
        &on,
        &rows[2..4].to_vec(),
    )
}

async fn large<W: Workspaces>(workspaces: &W) -> CaseResult {
    const LIMIT: usize = 500;
    let mut subject = Subject::new(workspaces).await;
    let feature = subject.table("t", &["a"]).await?.id;
    let text = "large ".repeat(LARGE_BATCH / 24);
    let (large, small) = (format!(r#"{{"a":"{text}"}}"#), r#"{"a":"small"}"#);
    // Small ones first: they do not show how large the others are.
    let mut ids = subject.insert(feature, &[small; 60]).await?;
    for _ in 0..4 {
        ids.extend(subject.insert(feature, &[large.as_str(); 4]).await?);
        ids.extend(subject.insert(feature, &[small; 2]).await?);
    }
    let mut read: Vec<StoredRow> = Vec::new();
    loop {
        let after = read.last().map(|row| row.id);
        let batch = subject.page(feature, after, LIMIT).await?;
        let last = is_last_batch(&batch, LIMIT);
        read.extend(batch);
        if last {
            break;
        }
    }
    let found: Vec<Id> = read.iter().map(|row| row.id).collect();
    same("all rows in order", &found, &ids)?;
    let is_large = |row: &&StoredRow| row.data.as_str() == large;
    same("large rows", &read.iter().filter(is_large).count(), &16)
}

async fn reads_back<W: Workspaces>(workspaces: &W) -> CaseResult {
    let mut subject = Subject::new(workspaces).await;
    let feature = subject.table("t", &["a"]).await?.id;
    let data = [
        "{}",
        r#"{"a":"","b":null,"undeclared":[]}"#,
        r#"{"a":"\"\\\n\t\u0001 é e\u0301 日本 🧾 \u2028","$f_x":"$f_x"}"#,
        r#"{"a":1234567890123456789012345678901234,"b":0.000001,"c":-5}"#,
        r#"{"a":[1,"1",true,{"x":{"y":[]}}],"z":{"b":1,"a":2}}"#,
    ];
    let ids = subject.insert(feature, &data).await?;
    let expected: Vec<(Id, RowDigest)> = ids.into_iter().zip(data.map(digest)).collect();
    same(
        "what rows hold",
        &subject.digests(feature).await?,
        &expected,
    )
}

async fn taken<W: Workspaces>(workspaces: &W) -> CaseResult {
    let mut subject = Subject::new(workspaces).await;
    let feature = subject.table("t", &["a"]).await?.id;
    let ids = subject.insert(feature, &[r#"{"a":"x"}"#]).await?;
    let before = subject.digests(feature).await?;
    let rows = vec![row(ids[0], r#"{"a":"y"}"#)];
    let again = Change::InsertRows { feature, rows };
    subject.refused(Code::Conflict, vec![again]).await?;
    same("what rows hold", &subject.digests(feature).await?, &before)
}

async fn fetch<W: Workspaces>(workspaces: &W) -> CaseResult {
    let mut subject = Subject::new(workspaces).await;
    let feature = subject.table("t", &["a"]).await?.id;
    let other = subject.table("u", &["a"]).await?.id;
    let ids = subject
        .insert(feature, &[r#"{"a":"x"}"#, r#"{"a":"y"}"#])
        .await?;
    let foreign = subject.insert(other, &["{}"]).await?;
    let wanted = [ids[1], subject.id(), ids[0], foreign[0], ids[1]];
    let read = subject.target.fetch(feature, &wanted).await;
    let read = read.map_err(|error| format!("rows cannot be fetched: {error}"))?;
    let (x, y) = (row(ids[0], r#"{"a":"x"}"#), row(ids[1], r#"{"a":"y"}"#));
    let expected = vec![Some(y.clone()), None, Some(x), None, Some(y)];
    same("what was fetched", &read, &expected)
}

async fn updates<W: Workspaces>(workspaces: &W) -> CaseResult {
    let mut subject = Subject::new(workspaces).await;
    let feature = subject.table("t", &["a", "b"]).await?.id;
    let data = [r#"{"a":"1","b":"2"}"#; 4];
    let ids = subject.insert(feature, &data).await?;
    let replace = |id: Id, cells: &str| RowWrite {
        replace: true,
        ..merge(id, cells)
    };
    let rows = vec![
        merge(ids[0], r#"{"b":"3","c":{"x":[1,null]}}"#),
        merge(ids[1], r#"{"a":null,"none":null}"#),
        replace(ids[2], r#"{"b":"3","d":null}"#),
    ];
    let change = Change::UpdateRows { feature, rows };
    subject.write(vec![change.clone()]).await?;
    let after = [
        r#"{"a":"1","b":"3","c":{"x":[1,null]}}"#,
        r#"{"b":"2"}"#,
        r#"{"b":"3"}"#,
        data[3],
    ];
    let expected: Vec<(Id, RowDigest)> = ids.iter().copied().zip(after.map(digest)).collect();
    same(
        "what rows hold",
        &subject.digests(feature).await?,
        &expected,
    )?;
    // A digest does not distinguish null from absent; a key that a merge takes away must be gone.
    let read = subject.page(feature, None, 3).await?;
    for (row, key) in [(&read[1], "a"), (&read[1], "none")] {
        same("a cell that was taken away", &row.data.cell(key), &None)?;
    }
    // The same again is the same.
    subject.write(vec![change]).await?;
    same(
        "what rows hold",
        &subject.digests(feature).await?,
        &expected,
    )?;
    // A row that somebody edited meanwhile is left to them.
    let stale = RowWrite {
        digest: Some(digest(data[0])),
        ..merge(ids[2], r#"{"a":"9"}"#)
    };
    let rows = vec![merge(ids[3], r#"{"a":"9"}"#), stale];
    let edited = Change::UpdateRows { feature, rows };
    let refused = subject.refused(Code::NotEmpty, vec![edited]).await?;
    same("the row at fault", &refused.row, &Some(1))?;
    let rows = vec![merge(ids[3], r#"{"a":"9"}"#), merge(subject.id(), "{}")];
    let missing = Change::UpdateRows { feature, rows };
    let refused = subject.refused(Code::NotFound, vec![missing]).await?;
    same("the row at fault", &refused.row, &Some(1))?;
    same(
        "what rows hold",
        &subject.digests(feature).await?,
        &expected,
    )
}
