//! What the clock begins: one run for each due instant, whoever looks.

use serde_json::{Value, json};

use super::Stage;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    two_workers_begin_one_run_for_each_instant,
    a_schedule_goes_with_its_version,
    a_named_timer_is_a_rhythm,
);

/// 2023-11-14T22:13:20Z, when the world begins.
const HOUR: i64 = 3600;

fn cron(config: &Value) -> Value {
    json!({"type": "cron", "config": config})
}

fn steps(stage: &Stage) -> Value {
    json!([super::write(
        "insert",
        &stage.model.feature,
        &[("note", json!("{{sys.now}}"))]
    )])
}

async fn two_workers_begin_one_run_for_each_instant(place: Place) {
    let stage = Stage::new(place).await.lasting();
    let daily = cron(&json!({"mode": "daily", "atTime": "01:30", "timezone": "America/New_York"}));
    let hourly = cron(&json!({"mode": "hourly", "timezone": "America/New_York"}));
    let daily = stage.fires(&daily, &steps(&stage)).await;
    let hourly = stage.fires(&hourly, &steps(&stage)).await;
    let (one, other) = (stage.player(), stage.player());
    // Over the gap of 10 March and on; the clock goes on by half hours.
    stage.world.wait(115 * 24 * HOUR);
    let settle = || async {
        let (a, b) = tokio::join!(one.settle(), other.settle());
        a.expect("plays") + b.expect("plays")
    };
    settle().await;
    let before = (stage.runs_of(&daily).await, stage.runs_of(&hourly).await);
    let mut played = 0;
    for _ in 0..(6 * 48) {
        stage.world.wait(HOUR / 2);
        played += settle().await;
    }
    let runs = (
        stage.runs_of(&daily).await - before.0,
        stage.runs_of(&hourly).await - before.1,
    );
    assert_eq!(runs, (6, 6 * 24));
    assert_eq!(played, 6 + 6 * 24);
    let twice = "SELECT due_at FROM workflow_runs GROUP BY workflow_id, due_at HAVING count(*) > 1";
    assert_eq!(stage.world.sql(twice, vec![]).await.len(), 0);
}

async fn a_schedule_goes_with_its_version(place: Place) {
    let stage = Stage::new(place).await.lasting();
    let it = stage
        .fires(&cron(&json!({"mode": "hourly"})), &steps(&stage))
        .await;
    assert_eq!(stage.settle().await, 0, "nothing is due yet");
    stage.world.wait(HOUR);
    assert_eq!(stage.settle().await, 1);
    let run = stage.run(&it);
    assert_eq!(
        (&run["trigger"], &run["row_id"], &run["status"]),
        (&json!("cron"), &Value::Null, &json!("succeeded"))
    );
    // An instant that was due when another version came is not lost, and not begun twice.
    stage.world.wait(HOUR);
    stage
        .editor
        .ask(&it, "/versions", &json!({"name": "b"}))
        .expect(201);
    stage.editor.ask(&it, "/apply", &json!({})).expect(200);
    assert_eq!(stage.settle().await, 1);
    assert_eq!(stage.settle().await, 0);
    stage.world.switch(&it, false).await;
    stage.world.wait(5 * HOUR);
    assert_eq!(stage.settle().await, 0, "paused");
    stage.world.switch(&it, true).await;
    assert_eq!(
        stage.settle().await,
        0,
        "what passed meanwhile is not made up for"
    );
    stage.world.wait(HOUR);
    assert_eq!(stage.settle().await, 1);
    assert_eq!(stage.runs(&it).len(), 3);
}

async fn a_named_timer_is_a_rhythm(place: Place) {
    let stage = Stage::new(place).await.lasting();
    stage
        .connection("nightly", "timer", "cron:0 3 * * *", None)
        .await;
    let good = stage
        .fires(
            &cron(&json!({"mode": "profile", "timerProfile": "nightly"})),
            &steps(&stage),
        )
        .await;
    let bad = stage
        .fires(
            &cron(&json!({"mode": "profile", "timerProfile": "nope"})),
            &steps(&stage),
        )
        .await;
    stage.settle().await;
    stage.world.wait(24 * HOUR);
    stage.settle().await;
    assert_eq!(stage.run(&good)["status"], "succeeded");
    let failed = stage.run(&bad);
    assert!(
        super::ended(&failed).1.contains("no such timer"),
        "{failed}"
    );
}

impl Stage {
    /// How many runs an automation has.
    async fn runs_of(&self, workflow: &str) -> i64 {
        let workflow = uuid::Uuid::parse_str(workflow).expect("an id");
        let sql = "SELECT count(*) FROM workflow_runs WHERE workflow_id = $1";
        let rows = self.world.sql(sql, vec![workflow.into()]).await;
        rows[0].get(0).expect("a count")
    }
}
