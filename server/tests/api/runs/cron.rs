//! What the clock begins: one run for each due instant, whoever looks.

use serde_json::{Value, json};
use tplkit_server::automation::bring_back_schedules;

use super::Stage;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    two_workers_begin_one_run_for_each_instant,
    a_schedule_goes_with_its_version,
    what_was_due_at_a_publication_has_its_run,
    a_named_timer_is_a_rhythm,
    what_was_due_when_a_timer_changes_has_its_run,
    a_clock_that_was_far_ahead_silences_no_schedule,
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
    let mut automations = Vec::new();
    // The first stands in the hour that is skipped in March, the second in the one that comes twice in
    // November, the last goes with the time that passes.
    for (config, a_day) in [
        (json!({"mode": "daily", "atTime": "02:30"}), 1),
        (json!({"mode": "daily", "atTime": "01:30"}), 1),
        (json!({"mode": "hourly"}), 24),
    ] {
        let mut config = config;
        config["timezone"] = json!("America/New_York");
        automations.push((stage.fires(&cron(&config), &steps(&stage)).await, a_day));
    }
    let (one, other) = (stage.executor(), stage.executor());
    let run_due = || async {
        let (a, b) = tokio::join!(one.run_due(), other.run_due());
        a.expect("runs") + b.expect("runs")
    };
    // To the eves of 10 March and of 3 November 2024, and by half hours over three days each, which have
    // as many hours as three others: 48 steps are 24 hours that pass.
    for days in [115, 238 - 3] {
        stage.world.wait(days * 24 * HOUR);
        run_due().await;
        let mut before = Vec::new();
        for (it, _) in &automations {
            before.push(stage.runs_of(it).await);
        }
        let mut executed = 0;
        for _ in 0..(3 * 48) {
            stage.world.wait(HOUR / 2);
            executed += run_due().await;
        }
        for ((it, a_day), before) in automations.iter().zip(before) {
            assert_eq!(stage.runs_of(it).await - before, 3 * a_day, "{it}");
        }
        assert_eq!(executed, 3 * (1 + 1 + 24));
    }
    let twice = "SELECT due_at FROM workflow_runs GROUP BY workflow_id, due_at HAVING count(*) > 1";
    assert_eq!(stage.world.sql(twice, vec![]).await.len(), 0);
}

async fn a_schedule_goes_with_its_version(place: Place) {
    let stage = Stage::new(place).await.lasting();
    let it = stage
        .fires(&cron(&json!({"mode": "hourly"})), &steps(&stage))
        .await;
    assert_eq!(stage.run_due().await, 0, "nothing is due yet");
    stage.world.wait(HOUR);
    assert_eq!(stage.run_due().await, 1);
    let run = stage.run(&it);
    assert_eq!(
        (&run["trigger"], &run["row_id"], &run["status"]),
        (&json!("cron"), &Value::Null, &json!("succeeded"))
    );
    // An instant that was due when another version came is not lost, and not begun twice.
    stage.world.wait(HOUR);
    stage
        .editor
        .post_to(&it, "/versions", &json!({"name": "b"}))
        .expect(201);
    stage.editor.post_to(&it, "/apply", &json!({})).expect(200);
    assert_eq!(stage.run_due().await, 1);
    assert_eq!(stage.run_due().await, 0);
    stage.world.switch(&it, false).await;
    stage.world.wait(5 * HOUR);
    assert_eq!(stage.run_due().await, 0, "paused");
    stage.world.switch(&it, true).await;
    assert_eq!(
        stage.run_due().await,
        0,
        "what passed meanwhile is not made up for"
    );
    stage.world.wait(HOUR);
    assert_eq!(stage.run_due().await, 1);
    // Who activates it once more moves nothing.
    stage.world.switch(&it, false).await;
    stage.world.switch(&it, true).await;
    stage.world.wait(HOUR);
    stage.world.switch(&it, true).await;
    assert_eq!(stage.run_due().await, 1);
    assert_eq!(stage.runs(&it).len(), 4);
}

async fn what_was_due_at_a_publication_has_its_run(place: Place) {
    let stage = Stage::new(place).await.lasting();
    let at = |time: &str| json!({"mode": "daily", "atTime": time});
    let every = |text: &str| json!({"mode": "expression", "expression": text});
    // From 22:13:20 on a schedule, and another an hour later, while nobody executes anything; how many instants wait
    // by then, how many hours pass after that, and how many are due in them.
    for (schedules, waiting, (hours, due)) in [
        (vec![at("22:30"), every("*/5 * * * *")], 1, (1, 12)),
        (vec![at("22:30"), at("05:00")], 1, (7, 1)),
        (vec![every("*/20 * * * *"), at("23:00")], 3, (22, 0)),
        (
            vec![every("*/20 * * * *"), every("*/30 * * * *")],
            3,
            (1, 2),
        ),
        // The one in between is in force for an hour.
        (
            vec![at("22:30"), at("03:00"), every("0 * * * *")],
            1,
            (2, 2),
        ),
    ] {
        let it = stage.fires(&cron(&schedules[0]), &steps(&stage)).await;
        assert_eq!(stage.run_due().await, 0);
        let mut passed = 0;
        for schedule in &schedules[1..] {
            stage.world.wait(HOUR);
            passed += 1;
            let version = json!({"trigger_config": cron(schedule)});
            stage.editor.post_to(&it, "/versions", &version).expect(201);
            stage.editor.post_to(&it, "/apply", &json!({})).expect(200);
        }
        assert_eq!(stage.run_due().await, waiting, "{schedules:?}");
        assert_eq!(stage.run_due().await, 0, "{schedules:?}");
        stage.world.wait(hours * HOUR);
        passed += hours;
        assert_eq!(stage.run_due().await, due, "{schedules:?}");
        stage.world.switch(&it, false).await;
        stage.world.wait((24 - passed) * HOUR);
    }
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
    stage.run_due().await;
    stage.world.wait(24 * HOUR);
    stage.run_due().await;
    assert_eq!(stage.run(&good)["status"], "succeeded");
    let failed = stage.run(&bad);
    assert!(
        super::ended(&failed).1.contains("no such timer"),
        "{failed}"
    );
    // A timer that is set is asked anew, whether there was none or it said something else.
    let hourly = "cron:0 * * * *";
    stage.connection("nope", "timer", hourly, None).await;
    stage.connection("nightly", "timer", hourly, None).await;
    for round in 1..=3 {
        stage.run_due().await;
        assert_eq!(stage.runs(&good).len(), round);
        stage.world.wait(HOUR);
    }
    stage.run_due().await;
    let fired = stage.runs(&bad);
    let well = fired.iter().filter(|run| run["status"] == "succeeded");
    assert_eq!((fired.len(), well.count()), (4, 3));
}

async fn what_was_due_when_a_timer_changes_has_its_run(place: Place) {
    let stage = Stage::new(place).await.lasting();
    stage
        .connection("rhythm", "timer", "cron:30 * * * *", None)
        .await;
    let config = json!({"mode": "profile", "timerProfile": "rhythm"});
    stage.fires(&cron(&config), &steps(&stage)).await;
    assert_eq!(stage.run_due().await, 0);
    stage.world.wait(HOUR);
    stage
        .connection("rhythm", "timer", "cron:* * * * *", None)
        .await;
    assert_eq!(stage.run_due().await, 1);
    assert_eq!(stage.run_due().await, 0);
    stage.world.wait(60);
    assert_eq!(stage.run_due().await, 1);
}

async fn a_clock_that_was_far_ahead_silences_no_schedule(place: Place) {
    const AHEAD: i64 = 400 * 24 * HOUR;
    let stage = Stage::new(place).await.lasting();
    let every = |config: Value| cron(&config);
    let hourly = every(json!({"mode": "hourly"}));
    let once_a_year = json!({"mode": "expression", "expression": "0 0 1 6 *"});
    let before = stage.fires(&hourly, &steps(&stage)).await;
    let rare = stage.fires(&every(once_a_year), &steps(&stage)).await;
    assert_eq!(stage.run_due().await, 0);
    stage.world.wait(HOUR);
    assert_eq!(stage.run_due().await, 1);
    let brought_back =
        async || bring_back_schedules(&stage.world.store, &stage.world.context).await;
    assert_eq!(brought_back().await, Ok(0), "all is as it should be");
    stage.world.wait(AHEAD);
    stage.run_due().await;
    let meanwhile = stage.fires(&hourly, &steps(&stage)).await;
    stage.run_due().await;
    stage.world.wait(-AHEAD);
    let counted = async || {
        [
            stage.runs_of(&before).await,
            stage.runs_of(&meanwhile).await,
            stage.runs_of(&rare).await,
        ]
    };
    let [first, second, third] = counted().await;
    stage.world.wait(HOUR);
    assert_eq!(stage.run_due().await, 0, "nothing is due in a year");
    assert_eq!(brought_back().await, Ok(3));
    assert_eq!(brought_back().await, Ok(0));
    for hours in 1..=3 {
        stage.world.wait(HOUR);
        assert_eq!(stage.run_due().await, 2);
        assert_eq!(
            counted().await,
            [first + hours, second + hours, third],
            "after {hours} hours"
        );
    }
    // A version that is published by then counts at once.
    let oftener = every(json!({"mode": "expression", "expression": "*/30 * * * *"}));
    let version = json!({ "trigger_config": oftener });
    stage
        .editor
        .post_to(&meanwhile, "/versions", &version)
        .expect(201);
    stage
        .editor
        .post_to(&meanwhile, "/apply", &json!({}))
        .expect(200);
    assert_eq!(stage.run_due().await, 0);
    stage.world.wait(HOUR);
    assert_eq!(stage.run_due().await, 3);
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
