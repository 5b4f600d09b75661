//! How large and how long a run may become, and that every run and every step of it ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};
use tplkit_server::automation::Settings;
use tplkit_server::context::Clock;

use super::{Stage, code, ended, write};
use crate::api::model::uuid;
use crate::api::workflows::{PATH, path, workflow};
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    values_do_not_double_for_ever,
    values_do_not_nest_for_ever,
    rows_that_nest_too_deep_are_not_read,
    a_value_may_be_as_large_as_the_bound,
    records_and_variables_have_a_bound,
    large_rows_are_read_in_parts,
    a_run_stores_no_more_than_it_may,
    a_run_does_no_more_steps_than_it_may,
    a_run_has_so_much_processor_time,
    a_dry_run_that_writes_has_little_time,
    a_dry_run_has_little_time_for_many_rows,
    a_dry_run_shows_the_beginning_of_a_large_envelope,
    a_run_that_crashes_is_given_up,
    a_step_that_waited_is_skipped,
);

/// How large a value may be.
const VALUE: usize = 1 << 20;

fn manual() -> Value {
    json!({"type": "manual"})
}

fn set(name: &str, value: &str) -> Value {
    json!({"key": "var.set", "config": {"name": name, "value": value}})
}

impl Stage {
    /// A draft of an editor, which needs nobody to activate it, executed dry.
    async fn dry(&self, steps: &Value) -> Value {
        let body = json!({"workspace_id": self.model.workspace, "name": "d",
            "trigger_config": manual(), "graph_config": {"steps": steps}});
        let draft = workflow(&self.editor.create(PATH, &body));
        self.editor
            .post_to(&draft, "/runs", &json!({"dry_run": true}))
            .expect(202);
        self.run_due().await;
        self.run(&draft)
    }

    /// The same for real.
    async fn wet(&self, steps: &Value) -> Value {
        let it = self.fires(&manual(), steps).await;
        self.editor.post_to(&it, "/runs", &json!({})).expect(202);
        self.run_due().await;
        self.run(&it)
    }

    async fn both(&self, steps: &Value) -> [Value; 2] {
        [self.dry(steps).await, self.wet(steps).await]
    }
}

fn steps(run: &Value) -> &[Value] {
    run["steps"].as_array().expect("a list")
}

fn statuses(run: &Value) -> Vec<&str> {
    let steps = steps(run).iter();
    steps
        .map(|step| step["status"].as_str().expect("a status"))
        .collect()
}

/// That a run ended as too large at the step of that number.
fn too_large(run: &Value, at: usize) {
    assert_eq!((ended(run).0, code(run)), ("failed", "run_too_large"));
    assert!(
        ended(run).1.contains(&format!("step {at} ")),
        "{}",
        run["error"]
    );
    assert_eq!(steps(run).len(), at + 1);
    assert_eq!(code(&steps(run)[at]), "run_too_large");
    let before = &statuses(run)[..at];
    assert!(before.iter().all(|status| *status == "succeeded"));
}

async fn values_do_not_double_for_ever(place: Place) {
    let stage = Stage::new(place).await;
    let mut doubling = vec![set("x", "0123456789")];
    doubling.extend((0..26).map(|_| set("x", "{{vars.x}}{{vars.x}}")));
    for run in stage.both(&json!(doubling)).await {
        // Ten bytes, doubled seventeen times, are more than a mebibyte.
        too_large(&run, 17);
        assert!(run.to_string().len() < 10 << 20);
    }
    // The same in what is written, sent and compared: nothing of it is done.
    let mut half: Vec<Value> = doubling[..17].to_vec();
    let out = &stage.model.feature;
    for step in [
        write("insert", out, &[("note", json!("{{vars.x}}{{vars.x}}"))]),
        write(
            "insert",
            out,
            &[("note", json!({"a": ["{{vars.x}}", "{{vars.x}}"]}))],
        ),
        json!({"key": "notify", "config": {"scopeType": "organization", "title": "{{vars.x}}{{vars.x}}"}}),
        json!({"key": "switch", "config": {"subject": "{{vars.x}}{{vars.x}}", "routes": []}}),
        json!({"key": "ifElse", "config": {"condition": {"subject": "expression",
            "expression": "{{vars.x}}{{vars.x}}", "op": "isEmpty"}, "then": [], "else": []}}),
        json!({"key": "feature.read", "config": {"featureId": out, "filterGroup": {"combinator": "and",
            "rules": [{"columnName": "note", "operator": "equals", "value": "{{vars.x}}{{vars.x}}"}]}}}),
    ] {
        half.push(step);
        too_large(&stage.dry(&json!(half)).await, 17);
        half.pop();
    }
    assert_eq!(stage.all(out), [Value::Null; 0]);
}

/// A step that puts the variable into so many lists, and keeps that.
fn wrap(levels: usize) -> Value {
    json!({"key": "var.set", "config": {"name": "x", "value": wrapped(levels)}})
}

fn wrapped(levels: usize) -> Value {
    (0..levels).fold(json!("{{vars.x}}"), |inner, _| json!([inner]))
}

async fn values_do_not_nest_for_ever(place: Place) {
    let stage = Stage::new(place).await;
    // A stack would end before the list does.
    let mut nesting = vec![set("x", "1")];
    nesting.extend((0..180).map(|_| wrap(100)));
    for run in stage.both(&json!(nesting)).await {
        too_large(&run, 2);
        assert!(ended(&run).1.contains("122 lists"), "{}", run["error"]);
    }
    for run in stage
        .both(&json!([set("x", "1"), wrap(100), wrap(22)]))
        .await
    {
        assert_eq!(ended(&run), ("succeeded", ""));
    }
    let out = &stage.model.feature;
    for step in [
        wrap(23),
        write("insert", out, &[("note", wrapped(23))]),
        write("insert", out, &[("note", json!({"a": wrapped(22)}))]),
    ] {
        let steps = json!([set("x", "1"), wrap(100), step]);
        for run in stage.both(&steps).await {
            too_large(&run, 2);
        }
    }
    assert_eq!(stage.all(out), [Value::Null; 0]);
}

/// Such rows were stored before cells were held to the same bound.
async fn rows_that_nest_too_deep_are_not_read(place: Place) {
    let stage = Stage::new(place).await;
    let model = &stage.model;
    for (depth, reads) in [(110, true), (123, false), (127, false)] {
        let (open, close) = ("[".repeat(depth), "]".repeat(depth));
        let data = format!(r#"{{"any":{open}{close},"note":"{depth}"}}"#);
        let row = stage.world.row(model, None, &data).await.to_string();
        let read = json!({"key": "feature.read", "config": {"featureId": model.feature, "filterGroup":
            {"combinator": "and", "rules": [{"columnName": "note", "operator": "equals", "value": depth.to_string()}]}}});
        for run in stage.both(&json!([read])).await {
            if reads {
                assert_eq!(ended(&run), ("succeeded", ""));
                assert_eq!(steps(&run)[0]["output"]["count"], 1);
            } else {
                too_large(&run, 0);
                assert!(ended(&run).1.contains(&row), "{}", run["error"]);
            }
        }
    }
}

async fn a_value_may_be_as_large_as_the_bound(place: Place) {
    let stage = Stage::new(place).await;
    // The quotes belong to it.
    let most = "x".repeat(VALUE - 2);
    for run in stage.both(&json!([set("a", &most)])).await {
        assert_eq!(ended(&run).0, "succeeded", "{}", run["error"]);
    }
    let more = format!("{most}x");
    too_large(&stage.dry(&json!([set("a", &more)])).await, 0);
    // What is escaped counts as it is written.
    let escaped = "\n".repeat(VALUE / 2);
    too_large(&stage.dry(&json!([set("a", &escaped)])).await, 0);
}

async fn records_and_variables_have_a_bound(place: Place) {
    let stage = Stage::new(place).await;
    let (feature, out) = (stage.model.feature.clone(), stage.table());
    for _ in 0..10 {
        stage.row(&feature, &json!({"note": "x".repeat(900_000)}));
    }
    let read = |limit: i64, mode: &str| json!({"key": "feature.read", "config": {"featureId": feature, "limit": limit, "mergeMode": mode}});
    for run in stage.both(&json!([read(8, "replace")])).await {
        assert_eq!(ended(&run).0, "succeeded", "{}", run["error"]);
        let records = &steps(&run)[0]["output"]["records"];
        assert_eq!(records.as_array().map(Vec::len), Some(8));
    }
    for run in stage.both(&json!([read(10, "replace")])).await {
        too_large(&run, 0);
    }
    for run in stage
        .both(&json!([read(5, "replace"), read(5, "append")]))
        .await
    {
        too_large(&run, 1);
    }
    // In the place of others there is room for as many again.
    for run in stage
        .both(&json!([read(5, "replace"), read(5, "replace")]))
        .await
    {
        assert_eq!(ended(&run).0, "succeeded", "{}", run["error"]);
    }
    // What was done before stays done, but for a dry run.
    let first = write("insert", &out, &[("n", json!(1))]);
    for run in stage.both(&json!([first, read(10, "replace")])).await {
        too_large(&run, 1);
    }
    assert_eq!(stage.all(&out), [json!({"n": 1})]);
}

async fn large_rows_are_read_in_parts(place: Place) {
    let stage = Stage::new(place).await;
    let feature = &stage.model.feature;
    let large = "x".repeat(1_000_000);
    // Small ones first, so that many are asked for at once when the large ones come.
    for n in 0..70 {
        let row = if n < 40 || n % 4 == 0 {
            json!({"n": n})
        } else {
            json!({"n": n, "status": "large", "note": large})
        };
        stage.row(feature, &row);
    }
    // Which rows have no status is found out row by row.
    let config = json!({"featureId": feature, "filterGroup": {"combinator": "and",
        "rules": [{"columnName": "status", "operator": "isEmpty", "value": null}]}});
    let reading = json!([{"key": "feature.read", "config": config}]);
    let path = format!("{}?limit=200&fields=n,status", Stage::rows(feature));
    let rows = stage.editor.items(&path);
    let small = rows.iter().map(|row| &row["data"]);
    let small: Vec<&Value> = small.filter(|data| data["status"].is_null()).collect();
    assert_eq!(small.len(), 48);
    for run in stage.both(&reading).await {
        assert_eq!(ended(&run), ("succeeded", ""));
        let records = steps(&run)[0]["output"]["records"].as_array();
        let records = records.expect("a list").iter();
        let found: Vec<&Value> = records.map(|record| &record["data"]).collect();
        assert_eq!(found, small);
    }
}

async fn a_run_stores_no_more_than_it_may(place: Place) {
    let stage = Stage::new(place).await;
    let large = "x".repeat(VALUE - 100);
    // Each is stored as it went in and as it came out; eight of them are a little less than the bound.
    let mut many = vec![set("x", &large)];
    many.extend((0..8).map(|_| set("x", "{{vars.x}}")));
    let [dry, wet] = stage.both(&json!(many)).await;
    // What a dry run shows of its envelope is stored, too.
    too_large(&dry, 7);
    too_large(&wet, 8);
    for run in [dry, wet] {
        assert!(run.to_string().len() < 18 << 20);
    }
}

async fn a_run_does_no_more_steps_than_it_may(place: Place) {
    let stage = Stage::new(place).await;
    let many = |count: usize| {
        let steps =
            (0..count).map(|_| json!({"key": "var.set", "config": {"name": "x", "value": 1}}));
        json!(steps.collect::<Vec<_>>())
    };
    let run = stage.dry(&many(10_001)).await;
    too_large(&run, 10_000);
}

async fn a_run_has_so_much_processor_time(place: Place) {
    let stage = Stage::new(place).await;
    for n in 0..3 {
        stage.row(&stage.model.feature, &json!({"n": n}));
    }
    let read = json!({"key": "feature.read", "config": {"featureId": stage.model.feature}});
    let after = json!({"key": "delay", "config": {"seconds": 3}});
    let it = stage
        .fires(&manual(), &json!([read.clone(), after, read]))
        .await;
    let none = Settings {
        processor_time: Duration::ZERO,
        ..Settings::default()
    };
    for body in [json!({}), json!({"dry_run": true})] {
        stage.editor.post_to(&it, "/runs", &body).expect(202);
    }
    stage.executor_with(none).run_due().await.expect("runs");
    for run in stage.runs(&it) {
        assert_eq!(code(&run), "run_too_large", "{run}");
        assert!(ended(&run).1.contains("processor time"), "{run}");
    }
    // What was used before a wait counts after it.
    stage.editor.post_to(&it, "/runs", &json!({})).expect(202);
    stage.run_due().await;
    let sql = "UPDATE main.workflow_runs SET spent = $1 WHERE status = 'running' RETURNING id";
    let spent = 15 * 60 * 1_000_000_i64 + 1;
    assert_eq!(stage.world.sql(sql, vec![spent.into()]).await.len(), 1);
    stage.world.wait(5);
    stage.run_due().await;
    let run = stage.runs(&it).pop().expect("a run");
    assert_eq!(code(&run), "run_too_large", "{run}");
}

/// A clock on which half a second passes whenever somebody looks.
#[derive(Debug)]
struct FastClock(AtomicI64);

impl Clock for FastClock {
    fn now(&self) -> Timestamp {
        let now = self.0.fetch_add(500_000, Ordering::SeqCst);
        Timestamp::from_microsecond(now).expect("in range")
    }
}

async fn a_dry_run_that_writes_has_little_time(place: Place) {
    let stage = Stage::new(place).await;
    let (feature, out) = (stage.model.feature.clone(), stage.table());
    let read = json!({"key": "feature.read", "config": {"featureId": feature}});
    let mut steps_of = vec![read; 10];
    let reads = stage.fires(&manual(), &json!(steps_of)).await;
    steps_of.insert(3, write("insert", &out, &[("n", json!(1))]));
    let writes = stage.fires(&manual(), &json!(steps_of)).await;
    for it in [&reads, &writes] {
        for dry_run in [true, false] {
            let body = json!({"dry_run": dry_run});
            stage.editor.post_to(it, "/runs", &body).expect(202);
        }
    }
    let clock = FastClock(AtomicI64::new(stage.world.context.now()));
    let executor = stage.executor_by(Arc::new(clock));
    assert_eq!(executor.run_due().await.expect("runs"), 4);
    // Nobody waits for those that only read, and each write of a run is over with its step.
    let mut fine = stage.runs(&reads);
    let (dry, wet): (Vec<Value>, Vec<Value>) = stage
        .runs(&writes)
        .into_iter()
        .partition(|run| run["dry_run"] == true);
    fine.extend(wet);
    assert_eq!((dry.len(), fine.len()), (1, 3));
    for run in &fine {
        assert_eq!(ended(run), ("succeeded", ""));
    }
    too_large(&dry[0], 4);
    assert!(
        ended(&dry[0]).1.contains("2 seconds"),
        "{}",
        dry[0]["error"]
    );
    assert_eq!(stage.all(&out), [json!({"n": 1})]);
}

async fn a_dry_run_has_little_time_for_many_rows(place: Place) {
    let stage = Stage::new(place).await;
    let out = stage.table();
    for _ in 0..8 {
        stage.row(&out, &json!({"status": "a", "n": 0}));
    }
    let mut update = write("update", &out, &[("status", json!("a")), ("n", json!(1))]);
    update["config"]["matchColumn"] = json!("status");
    let it = stage.fires(&manual(), &json!([update])).await;
    let body = json!({"dry_run": true});
    stage.editor.post_to(&it, "/runs", &body).expect(202);
    let clock = FastClock(AtomicI64::new(stage.world.context.now()));
    let executor = stage.executor_by(Arc::new(clock));
    assert_eq!(executor.run_due().await.expect("runs"), 1);
    too_large(&stage.run(&it), 0);
    assert!(stage.all(&out).iter().all(|row| row["n"] == 0));
}

async fn a_dry_run_shows_the_beginning_of_a_large_envelope(place: Place) {
    let stage = Stage::new(place).await;
    let steps_of = json!([set("a", "small"), set("b", &"é\n".repeat(40_000))]);
    let run = stage.dry(&steps_of).await;
    assert_eq!(ended(&run).0, "succeeded");
    let steps = steps(&run);
    assert_eq!(
        steps[0]["envelope"],
        json!({"vars": {"a": "small"}, "records": []})
    );
    let cut = &steps[1]["envelope"];
    assert_eq!(cut["cut"], true);
    let text = cut["text"].as_str().expect("a text");
    assert!(
        text.starts_with(r#"{"vars":{"a":"small","b":"é\né"#),
        "{}",
        &text[..60]
    );
    assert!(cut.to_string().len() <= 64 << 10 && text.len() > 32 << 10);
    // The value itself stands with the step that set it.
    assert_eq!(steps[1]["output"]["value"], "é\n".repeat(40_000));
    // A run for real has no such member.
    let run = stage.wet(&steps_of).await;
    assert!(
        run["steps"][0].get("envelope").is_none(),
        "{}",
        run["steps"][0]
    );
}

async fn a_run_that_crashes_is_given_up(place: Place) {
    let stage = Stage::new(place).await.lasting();
    let steps_of = json!([
        {"key": "delay", "config": {"seconds": 60}},
        write("insert", &stage.model.feature, &[("n", json!(1))]),
    ]);
    let it = stage.fires(&manual(), &steps_of).await;
    let crash = async |run: &Value| {
        // Its process held it and is no more.
        let sql = "UPDATE main.workflow_runs SET status = 'running', lease_owner = $1, locked_until = 1, \
             wake_at = NULL WHERE id = $2 RETURNING crashes";
        let id = uuid(run["id"].as_str().expect("an id"));
        let parameters = vec![stage.world.context.id().into(), id.into()];
        let rows = stage.world.sql(sql, parameters).await;
        rows[0].get::<i64>(0).expect("a number")
    };
    let begin = || {
        let begun = stage.editor.post_to(&it, "/runs", &json!({}));
        begun.expect(202).json()
    };
    let read = |run: &Value| {
        let path = format!("/v1/workflow-runs/{}", run["id"].as_str().expect("an id"));
        stage.editor.get(&path).expect(200).json()
    };
    // A wait is not a crash, however often it happens.
    let waits = begin();
    stage.run_due().await;
    for crashes in 0..2 {
        assert_eq!(crash(&waits).await, crashes);
        stage.run_due().await;
        let run = read(&waits);
        assert_eq!(
            (run["status"].as_str(), &statuses(&run)[..]),
            (Some("running"), &["running"][..])
        );
    }
    crash(&waits).await;
    // The third is the last, and nothing is done for it.
    assert_eq!(stage.run_due().await, 0);
    let run = read(&waits);
    assert_eq!((ended(&run).0, code(&run)), ("failed", "abandoned"));
    assert_eq!(statuses(&run), ["skipped"]);
    assert_eq!(run["steps"][0]["error"], Value::Null);
    assert!(run["finished_at"].is_string());
    stage.world.wait(3600);
    assert_eq!(stage.run_due().await, 0);
    assert_eq!(stage.all(&stage.model.feature), [Value::Null; 0]);
    // Two crashes and an end are an end.
    let fine = begin();
    for _ in 0..2 {
        crash(&fine).await;
        stage.run_due().await;
    }
    stage.world.wait(61);
    stage.run_due().await;
    assert_eq!(ended(&read(&fine)).0, "succeeded");
    // What was being done when the process ended has failed with the run.
    let sql = "INSERT INTO main.workflow_steps (organization_id, workspace_id, run_id, number, path, step_id, \
         key, status, input) VALUES ($1, $2, $3, 0, '0', 'stp_a', 'email.send', 'running', 'null')";
    let left = begin();
    let parameters = vec![
        stage.world.acme.into(),
        uuid(&stage.model.workspace).into(),
        uuid(left["id"].as_str().expect("an id")).into(),
    ];
    stage.world.sql(sql, parameters).await;
    let sql = "UPDATE main.workflow_runs SET crashes = 2 WHERE status = 'queued'";
    stage.world.sql(sql, vec![]).await;
    crash(&left).await;
    stage.run_due().await;
    let run = read(&left);
    assert_eq!(code(&run), "abandoned");
    assert_eq!(
        (statuses(&run), code(&run["steps"][0])),
        (vec!["failed"], "abandoned")
    );
}

async fn a_step_that_waited_is_skipped(place: Place) {
    let stage = Stage::new(place).await;
    let owner = stage.world.as_user("owner@acme.test");
    let insert = write("insert", &stage.model.feature, &[("n", json!(1))]);
    let steps_of = json!([insert, {"key": "delay", "config": {"seconds": 5}}, insert]);
    let it = stage.fires(&manual(), &steps_of).await;
    let members = stage.world.path("/members");
    let me = stage.editor.get("/v1/me").expect(200).json();
    let member = format!("{members}/{}", me["id"].as_str().expect("an id"));
    let last = |client: &crate::api::client::Client| {
        let run = super::runs(client, &it).pop();
        run.expect("a run")
    };
    // A starter who may not write any more: what waited goes on, and the write is refused.
    stage.editor.post_to(&it, "/runs", &json!({})).expect(202);
    stage.run_due().await;
    owner.patch(&member, &json!({"role": "viewer"})).expect(200);
    stage.world.wait(6);
    stage.run_due().await;
    let run = last(&owner);
    assert_eq!(
        (ended(&run).0, code(&run)),
        ("failed", "forbidden"),
        "{run}"
    );
    assert_eq!(statuses(&run), ["succeeded", "succeeded", "failed"]);
    assert_eq!(code(&run["steps"][2]), "forbidden");
    // One who does not belong to the organization any more: nothing goes on.
    owner.patch(&member, &json!({"role": "editor"})).expect(200);
    stage.editor.post_to(&it, "/runs", &json!({})).expect(202);
    stage.run_due().await;
    owner.delete(&member).expect(204);
    stage.world.wait(6);
    stage.run_due().await;
    let run = last(&owner);
    assert_eq!(
        (ended(&run).0, code(&run)),
        ("failed", "starter_lost_access"),
        "{run}"
    );
    assert_eq!(statuses(&run), ["succeeded", "skipped"]);
    assert_eq!(
        owner.get(&path(&it, "")).expect(200).json()["is_active"],
        true
    );
}
