//! Runs give away nothing of rows that are hidden from who reads them.

use serde_json::{Value, json};

use super::{Stage, write};
use crate::api::workflows::path;
use crate::stores::{Place, on_both_stores};

on_both_stores!(of_guarded_rows_a_run_tells_nothing);

async fn of_guarded_rows_a_run_tells_nothing(place: Place) {
    let stage = Stage::new(place).await;
    let (guarded, out) = (stage.model.feature.clone(), stage.table());
    let owner = stage.world.as_user("owner@acme.test");
    owner
        .patch(
            &format!("/v1/features/{guarded}"),
            &json!({"config": {"rowAccess": "own"}}),
        )
        .expect(200);
    let steps = json!([
        {"key": "notify", "config": {"scopeType": "organization", "title": "{{record.note}}"}},
        write("insert", &out, &[("n", json!("{{record.note}}"))]),
    ]);
    let it = stage
        .fires(&Stage::on(&guarded, &["created"], &[]), &steps)
        .await;
    owner.create(
        &Stage::rows(&guarded),
        &json!({"data": {"note": "hushhush"}}),
    );
    stage.settle().await;
    let read = |client: &crate::api::client::Client| client.get(&path(&it, "/runs")).expect(200);
    assert!(read(&owner).body.contains("hushhush"));
    let seen = read(&stage.editor);
    assert!(!seen.body.contains("hushhush"), "{seen:?}");
    let run = seen.json()["items"][0].clone();
    assert_eq!(
        (&run["status"], &run["row_id"]),
        (&json!("failed"), &Value::Null)
    );
    assert_eq!(
        (&run["steps"][0]["status"], &run["steps"][0]["input"]),
        (&json!("succeeded"), &Value::Null)
    );
    assert!(run["error"].is_string());
    let one = format!("/v1/workflow-runs/{}", run["id"].as_str().expect("an id"));
    assert!(!stage.editor.get(&one).expect(200).body.contains("hushhush"));
}
