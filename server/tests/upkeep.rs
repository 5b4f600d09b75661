//! The background tasks, and the command that does them alone.

use std::time::Duration;

use serde_json::json;
use tplkit_server::background::{
    TaskContext, measure_queue, remove_expired_sessions, remove_kept_responses, remove_old_runs,
};
use tplkit_server::store::{Scope, StoreError};

use crate::api::runs::Stage;
use crate::api::workflows::steps;
use crate::api::world::{PASSWORD, World};
use crate::process::{Serving, database, run as command, stderr};
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    sessions_go_when_nobody_can_use_them_any_more,
    kept_responses_go_after_a_day,
    runs_go_when_they_have_been_kept_long_enough,
    what_waits_is_counted,
);

async fn sessions_go_when_nobody_can_use_them_any_more(place: Place) {
    const DAY: i64 = 24 * 3600;
    let world = World::new(place).await;
    let first = world.token("owner@acme.test", PASSWORD).expect(200).json();
    world.wait(20 * DAY);
    let body = json!({"refresh_token": first["refresh_token"]});
    let second = world.nobody.post("/v1/auth/refresh", &body).expect(200);
    let removed = async || remove_expired_sessions(&world.store, &world.context).await;
    assert_eq!(removed().await, Ok(0));
    world.wait(10 * DAY);
    // The first pair of the family; the second one holds.
    assert_eq!(removed().await, Ok(1));
    assert_eq!(removed().await, Ok(0));
    let body = json!({"refresh_token": second.json()["refresh_token"]});
    world.nobody.post("/v1/auth/refresh", &body).expect(200);
}

async fn kept_responses_go_after_a_day(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let create = |key: &str| {
        let headers = [
            ("content-type", "application/json"),
            ("idempotency-key", key),
        ];
        let body = json!({"organization_id": world.acme, "label": key}).to_string();
        let response = owner.send("POST", "/v1/workspaces", &headers, Some(body.as_bytes()));
        response.expect(201)
    };
    create("first");
    world.wait(3000);
    create("second");
    world.wait(24 * 3600 - 3000 + 1);
    let removed = async || remove_kept_responses(&world.store, &world.context).await;
    assert_eq!(removed().await, Ok(1));
    assert_eq!(removed().await, Ok(0));
    world.wait(3000);
    assert_eq!(removed().await, Ok(1));
}

async fn runs_go_when_they_have_been_kept_long_enough(place: Place) {
    const DAY: u64 = 24 * 3600;
    let stage = Stage::new(place).await.lasting();
    let manual = json!({"type": "manual"});
    let delay = json!([{"key": "delay", "config": {"seconds": 30 * DAY}}]);
    let (short, long) = (
        stage.fires(&manual, &steps()).await,
        stage.fires(&manual, &delay).await,
    );
    for it in [&short, &long] {
        stage.editor.post_to(it, "/runs", &json!({})).expect(202);
    }
    stage.run_due().await;
    let world = &stage.world;
    world.wait(20 * 24 * 3600);
    stage
        .editor
        .post_to(&short, "/runs", &json!({}))
        .expect(202);
    stage.run_due().await;
    let kept = Duration::from_secs(30 * DAY);
    let removed = async || remove_old_runs(&world.store, &world.context, kept).await;
    assert_eq!(removed().await, Ok(0));
    world.wait(11 * 24 * 3600);
    // The first one; the second is eleven days old, and a run that still waits is not finished.
    for age in [31, 11] {
        let sql = "INSERT INTO main.run_chains (organization_id, id, caused, created_at) VALUES ($1, $2, 1, $3)";
        let began = world.context.now() - age * 24 * 3600 * 1_000_000;
        let chain = vec![world.acme.into(), world.context.id().into(), began.into()];
        world.sql(sql, chain).await;
    }
    assert_eq!(removed().await, Ok(1));
    assert_eq!(removed().await, Ok(0));
    assert_eq!((stage.runs(&short).len(), stage.runs(&long).len()), (1, 1));
    let chains = world.sql("SELECT id FROM run_chains", vec![]).await;
    assert_eq!(chains.len(), 1);
    let left = world.store.read(&Scope::Operator, (), |tx, ()| {
        Box::pin(async move {
            Ok(tx
                .query("SELECT run_id FROM workflow_steps {across test}", &[])
                .await?
                .len())
        })
    });
    let left: Result<usize, StoreError> = left.await;
    assert_eq!(left, Ok(2), "the steps go with their run");
    // As many as there may be.
    for _ in 0..250 {
        stage
            .editor
            .post_to(&short, "/runs", &json!({}))
            .expect(202);
    }
    stage.run_due().await;
    world.wait(31 * 24 * 3600);
    assert_eq!(removed().await, Ok(252));
}

async fn what_waits_is_counted(place: Place) {
    let stage = Stage::new(place).await;
    let (world, feature) = (&stage.world, &stage.model.feature);
    let it = stage
        .fires(&Stage::on(feature, &["created"], &[]), &steps())
        .await;
    let task_context = TaskContext {
        store: world.store.clone(),
        context: world.context.clone(),
        metrics: world.app.metrics.clone(),
        tables: world.app.tables.clone(),
        keep_runs: None,
        files: tplkit_server::files::Files::in_place(None),
    };
    let metrics = async || {
        measure_queue(&task_context).await.expect("reads");
        world.app.metrics.text()
    };
    assert!(metrics().await.contains("tplkit_runs_waiting 0\n"));
    stage.row(feature, &json!({}));
    stage.editor.post_to(&it, "/runs", &json!({})).expect(202);
    world.wait(90);
    let text = metrics().await;
    assert!(text.contains("tplkit_runs_waiting 2\n"), "{text}");
    assert!(
        text.contains("tplkit_runs_oldest_waiting_seconds 90"),
        "{text}"
    );
    let executor = stage.executor().counting(world.app.metrics.runs());
    assert_eq!(executor.run_due().await, Ok(2));
    let text = metrics().await;
    assert!(text.contains("tplkit_runs_waiting 0\n"), "{text}");
    assert!(text.contains("tplkit_runs_started_total 2\n"), "{text}");
    let finished = "tplkit_runs_finished_total{status=\"succeeded\"} 2\n";
    assert!(text.contains(finished), "{text}");
}

#[test]
fn a_file_has_one_process() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = database(folder.path());
    let _serving = Serving::start(&database);
    let output = command(&["worker", "--database", &database]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("another process"),
        "{}",
        stderr(&output)
    );
}

#[cfg(unix)]
#[test]
fn a_worker_runs_until_it_is_asked_to_stop() {
    use std::process::{Command, Stdio};
    let folder = tempfile::tempdir().expect("a folder");
    let mut worker = crate::process::command(&["worker", "--database", &database(folder.path())])
        .args(["--log-format", "text"])
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut log = std::io::BufReader::new(worker.stderr.take().expect("a pipe"));
    let mut line = String::new();
    std::io::BufRead::read_line(&mut log, &mut line).expect("a line");
    assert!(line.contains("working"), "{line}");
    let pid = worker.id().to_string();
    let sent = Command::new("kill").args(["-TERM", &pid]).status();
    assert!(sent.expect("kill exists").success());
    assert_eq!(worker.wait().expect("ends").code(), Some(0));
}
