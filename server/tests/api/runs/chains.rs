//! How many runs one run may cause, directly and through others.

use serde_json::{Value, json};

use super::{Stage, code, ended, write};
use crate::api::model::uuid;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_chain_of_events_has_a_length,
    a_chain_of_calls_has_a_length,
    runs_that_nothing_causes_are_no_chain,
);

/// As many as a chain may have.
const LONGEST: i64 = 50_000;

fn manual() -> Value {
    json!({"type": "manual"})
}

/// As if the run had caused so many others.
async fn caused(stage: &Stage, run: &str, count: i64) {
    let sql = "INSERT INTO main.run_chains (organization_id, id, caused, created_at) VALUES ($1, $2, $3, 0)";
    let parameters = vec![stage.world.acme.into(), uuid(run).into(), count.into()];
    stage.world.sql(sql, parameters).await;
}

fn begin(stage: &Stage, workflow: &str) -> String {
    let begun = stage.editor.post_to(workflow, "/runs", &json!({}));
    let begun = begun.expect(202).json();
    begun["id"].as_str().expect("an id").to_owned()
}

async fn a_chain_of_events_has_a_length(place: Place) {
    let stage = Stage::new(place).await;
    let (watched, out) = (stage.model.feature.clone(), stage.table());
    let reacts = stage
        .fires(
            &Stage::on(&watched, &["created"], &[]),
            &json!([write("insert", &out, &[("note", json!("x"))])]),
        )
        .await;
    let insert = write("insert", &watched, &[("note", json!("x"))]);
    let begins = stage
        .fires(&manual(), &json!([insert, insert, insert]))
        .await;
    let run = begin(&stage, &begins);
    caused(&stage, &run, LONGEST - 2).await;
    assert_eq!(stage.run_due().await, 3);
    // The rows are written, and the third starts nothing.
    assert_eq!(stage.all(&watched).len(), 3);
    let runs = stage.runs(&reacts);
    assert_eq!(runs.len(), 3);
    let failed: Vec<_> = runs
        .iter()
        .filter(|run| run["status"] == "failed")
        .collect();
    assert_eq!(failed.len(), 1);
    assert_eq!(code(failed[0]), "too_deep");
    assert!(ended(failed[0]).1.contains("50000"), "{failed:?}");
    assert_eq!(failed[0]["steps"], json!([]));
    assert_eq!(stage.all(&out).len(), 2);
}

async fn a_chain_of_calls_has_a_length(place: Place) {
    let stage = Stage::new(place).await;
    let last = stage
        .fires(
            &manual(),
            &json!([write(
                "insert",
                &stage.model.feature,
                &[("note", json!("x"))]
            )]),
        )
        .await;
    let call =
        |workflow: &str| json!({"key": "automation.run", "config": {"workflowId": workflow}});
    // What a run in the middle calls is counted for the one that began.
    let middle = stage
        .fires(&manual(), &json!([call(&last), call(&last)]))
        .await;
    let begins = stage.fires(&manual(), &json!([call(&middle)])).await;
    let run = begin(&stage, &begins);
    caused(&stage, &run, LONGEST - 2).await;
    assert_eq!(stage.run_due().await, 3);
    let (calling, called) = (stage.run(&middle), stage.runs(&last));
    assert_eq!(calling["status"], "failed");
    assert_eq!(code(&calling), "too_deep");
    assert!(ended(&calling).1.contains("50000"), "{calling}");
    assert_eq!(called.len(), 1);
    assert_eq!(called[0]["status"], "succeeded");
    assert_eq!(stage.all(&stage.model.feature).len(), 1);
}

async fn runs_that_nothing_causes_are_no_chain(place: Place) {
    let stage = Stage::new(place).await;
    let watched = stage.model.feature.clone();
    let out = stage.table();
    stage
        .fires(
            &Stage::on(&watched, &["created"], &[]),
            &json!([write("insert", &out, &[("note", json!("x"))])]),
        )
        .await;
    for _ in 0..3 {
        stage.row(&watched, &json!({}));
    }
    assert_eq!(stage.run_due().await, 3);
    let chains = "SELECT id FROM run_chains";
    assert!(stage.world.sql(chains, vec![]).await.is_empty());
}
