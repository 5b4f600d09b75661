//! Runs give away nothing of rows that are hidden from who reads them.

use serde_json::{Value, json};

use super::{Stage, runs, write};
use crate::api::workflows::{PATH, path, workflow};
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
    let watch = Stage::on(&guarded, &["created"], &[]);
    let body = json!({"workspace_id": stage.model.workspace, "name": "a", "is_draft": false,
        "trigger_config": watch, "graph_config": {"steps": steps}});
    let it = workflow(&owner.create(PATH, &body));
    assert!(stage.world.switch(&it, true).await);
    owner.create(
        &Stage::rows(&guarded),
        &json!({"data": {"note": "hushhush"}}),
    );
    stage.run_due().await;
    let whole = runs(&owner, &it).remove(0);
    assert!(whole.to_string().contains("hushhush"));
    let listed = stage.editor.get(&path(&it, "/runs")).expect(200);
    assert!(!listed.body.contains("hushhush"), "{listed:?}");
    let run = runs(&stage.editor, &it).remove(0);
    assert!(!run.to_string().contains("hushhush"), "{run}");
    assert_eq!(
        (&run["status"], &run["row_id"]),
        (&json!("failed"), &Value::Null)
    );
    assert_eq!(
        (&run["steps"][0]["status"], &run["steps"][0]["input"]),
        (&json!("succeeded"), &Value::Null)
    );
    assert_eq!(
        run["error"],
        json!({"code": "validation_failed", "detail": null})
    );
}
