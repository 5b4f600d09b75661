//! Looking rows up by a value.

use tplkit::workspace::{Id, Lookup as _};

use super::subject::same;
use super::{Case, CaseResult, Subject, Workspaces};

pub(super) fn cases<W: Workspaces>() -> Vec<Case<W>> {
    vec![Case {
        name: "a value finds the first row that holds it",
        run: |w| Box::pin(matching(w)),
    }]
}

async fn matching<W: Workspaces>(workspaces: &W) -> CaseResult {
    let mut subject = Subject::new(workspaces).await;
    let feature = subject.table("t", &["k"]).await?.id;
    let ids = subject
        .insert(
            feature,
            &[
                r#"{"k":null}"#,
                "{}",
                r#"{"k":"a"}"#,
                r#"{"k":"A"}"#,
                r#"{"k":"a"}"#,
                r#"{"k":1}"#,
                r#"{"k":"1"}"#,
                r#"{"k":""}"#,
                r#"{"k":" a"}"#,
                r#"{"k":"\"\\é"}"#,
                r#"{"k":[1,"a"]}"#,
                r#"{"other":"x"}"#,
            ],
        )
        .await?;
    let queries: [(&str, Option<usize>); 14] = [
        ("\"a\"", Some(2)),
        ("\"A\"", Some(3)),
        ("\"b\"", None),
        ("1", Some(5)),
        ("1.0", Some(5)),
        ("\"1\"", Some(6)),
        ("\"\"", Some(7)),
        ("\" a\"", Some(8)),
        ("\"a \"", None),
        ("\"\\u0022\\\\\\u00e9\"", Some(9)),
        ("[1,\"a\"]", Some(10)),
        ("null", None),
        ("true", None),
        ("\"a\"", Some(2)),
    ];
    let values: Vec<String> = queries.iter().map(|(value, _)| (*value).into()).collect();
    let found = subject.target.matching(feature, "k", &values).await;
    let found = found.map_err(|error| format!("rows cannot be looked up: {error}"))?;
    same("the number of results", &found.len(), &queries.len())?;
    for ((value, expected), found) in queries.iter().zip(&found) {
        let found = found.as_ref().map(|row| row.id);
        let expected: Option<Id> = expected.map(|at| ids[at]);
        same(&format!("the row for {value}"), &found, &expected)?;
    }
    let whole = found[0].as_ref().and_then(|row| row.data.cell("k"));
    same("the cell of a row found", &whole, &Some("\"a\""))?;
    let nowhere = subject.target.matching(feature, "none", &values).await;
    let nowhere = nowhere.map_err(|error| format!("rows cannot be looked up: {error}"))?;
    same("rows by no column", &nowhere, &vec![None; values.len()])
}
