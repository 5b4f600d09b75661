//! An automation with many runs is deleted: those that have finished go before it, in transactions of their own.

use serde_json::json;

use super::Stage;
use crate::api::workflows::path;
use crate::stores::{Place, run};

/// Makes 2,500 copies of the one run that there is.
fn copy_run(place: &Place) {
    if !place.url.starts_with("sqlite:") {
        place.execute(
            "INSERT INTO main.workflow_runs \
             SELECT (jsonb_populate_record(run, jsonb_build_object('id', gen_random_uuid()))).* \
             FROM main.workflow_runs AS run, generate_series(1, 2500)",
        );
        return;
    }
    let one = "UPDATE one SET id = randomblob(16); INSERT INTO workflow_runs SELECT * FROM one; ";
    place.execute(&format!(
        "BEGIN; CREATE TEMP TABLE one AS SELECT * FROM workflow_runs; {} COMMIT",
        one.repeat(2500)
    ));
}

fn count(stage: &Stage) -> String {
    let count = "SELECT CAST(count(*) AS text) FROM main.workflow_runs";
    stage.world.place.ask(count).trim().to_owned()
}

async fn finished_runs_go_before_their_automation(place: Place) {
    let stage = Stage::new(place).await;
    let steps = json!([{"key": "delay", "config": {"seconds": 0}}]);
    let it = stage.fires(&json!({"type": "manual"}), &steps).await;
    stage.editor.post_to(&it, "/runs", &json!({})).expect(202);
    stage.run_due().await;
    copy_run(&stage.world.place);
    assert_eq!(count(&stage), "2501");

    // Who may not delete it, or not without force, removes no run.
    let automation = path(&it, "");
    let forced = format!("{automation}?force=true");
    stage.editor.delete(&automation).refused(409, "conflict");
    let viewer = stage.world.as_user("viewer@acme.test");
    viewer.delete(&forced).refused(403, "forbidden");
    let wrong = format!("{forced}&other=1");
    let wrong = stage.editor.delete(&wrong);
    wrong.refused(422, "validation_failed");
    assert_eq!(count(&stage), "2501");

    stage.world.place.refuse("DELETE", "workflows");
    let refused = stage.editor.delete(&forced);
    assert!(refused.status >= 500, "{refused:?}");
    assert_eq!(count(&stage), "501");
    stage.world.place.admit("workflows");
    stage.editor.delete(&forced).expect(204);
    assert_eq!(count(&stage), "0");
}

#[test]
fn finished_runs_go_before_their_automation_on_sqlite() {
    run(
        Some(Place::sqlite()),
        finished_runs_go_before_their_automation,
    );
}

#[cfg(unix)]
#[test]
fn finished_runs_go_before_their_automation_on_postgres() {
    run(
        Place::plain_postgres(),
        finished_runs_go_before_their_automation,
    );
}
