//! A partner that does not respond holds up the runs that wait for it, and nobody else's.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::watch;

use tplkit_server::automation::Settings;

use super::integrations::settings;
use super::{Stage, ended};
use crate::api::client::Client;
use crate::api::model::{Model, id};
use crate::api::workflows::{graph, path, workflow};
use crate::sinks::SlowPartner;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_slow_partner_keeps_no_other_organization_waiting,
    runs_that_wait_for_a_call_are_given_back_at_the_end,
    calls_of_several_processes_are_counted_together,
    a_process_that_is_gone_has_no_calls_under_way,
);

const RUNS: usize = 100;

/// An organization whose runs wait for a partner.
async fn waiting(stage: &Stage, partner: &SlowPartner) -> String {
    stage.connection("slow", "http", &partner.url, None).await;
    let steps =
        json!([{"key": "http.request", "config": {"connectionName": "slow", "path": "/x"}}]);
    let it = stage.fires(&json!({"type": "manual"}), &steps).await;
    for _ in 0..RUNS {
        stage.editor.post_to(&it, "/runs", &json!({})).expect(202);
    }
    it
}

/// Waits for something that comes about without anybody's doing. What never does fails the test.
async fn until(what: &str, mut there: impl FnMut() -> bool) {
    for _ in 0..1200 {
        if there() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{what} did not come about");
}

fn status(client: &Client, run: &str) -> Value {
    let path = format!("/v1/workflow-runs/{run}");
    client.get(&path).expect(200).json()["status"].clone()
}

async fn a_slow_partner_keeps_no_other_organization_waiting(place: Place) {
    let stage = Stage::new(place).await;
    let partner = SlowPartner::start();
    let it = waiting(&stage, &partner).await;
    let (stop, stopped) = watch::channel(false);
    let working = tokio::spawn(stage.executor_with(settings()).work(stopped));
    until("sixteen calls", || partner.at_once() == 16).await;

    // Nobody responds to them, and another organization's run goes through all the same.
    let stranger = stage.world.as_user("stranger@other.test");
    let model = Model::new(&stranger, stage.world.other);
    let steps = json!([{"key": "notify", "config": {"scopeType": "organization", "title": "t"}}]);
    let body = json!({"workspace_id": model.workspace, "name": "a", "is_draft": false,
        "trigger_config": {"type": "manual"}, "graph_config": graph(&steps)});
    let theirs = workflow(&stranger.create(crate::api::workflows::PATH, &body));
    assert!(stage.world.switch(&theirs, true).await);
    let run = id(&stranger
        .post_to(&theirs, "/runs", &json!({}))
        .expect(202)
        .json());
    until("the other run", || status(&stranger, &run) == "succeeded").await;
    assert_eq!((partner.at_once(), partner.most()), (16, 16));

    partner.release();
    until("their end", || {
        let runs = stage.editor.items(&path(&it, "/runs?limit=200"));
        runs.iter().all(|run| ended(run).0 == "succeeded")
    })
    .await;
    assert_eq!(partner.most(), 16);
    assert_eq!(partner.keys().len(), RUNS);
    stop.send(true).expect("somebody works");
    working.await.expect("ends");
}

async fn runs_that_wait_for_a_call_are_given_back_at_the_end(place: Place) {
    let stage = Stage::new(place).await;
    let partner = SlowPartner::start();
    let it = waiting(&stage, &partner).await;
    let (stop, stopped) = watch::channel(false);
    let working = tokio::spawn(stage.executor_with(settings()).work(stopped));
    until("sixteen calls", || partner.at_once() == 16).await;
    stop.send(true).expect("somebody works");
    let held = "SELECT id FROM workflow_runs WHERE lease_owner IS NOT NULL";
    for _ in 0..1200 {
        if stage.world.sql(held, vec![]).await.len() == 16 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    // Those that have a call in flight hold on to it; nobody begins another one.
    assert_eq!(stage.world.sql(held, vec![]).await.len(), 16);
    assert_eq!(partner.keys().len(), 16);
    partner.release();
    working.await.expect("ends");
    assert!(stage.world.sql(held, vec![]).await.is_empty());
    assert_eq!(partner.keys().len(), 16);
    // Somebody else goes on, and asks nothing twice.
    stage
        .executor_with(settings())
        .run_due()
        .await
        .expect("runs");
    let runs = stage.editor.items(&path(&it, "/runs?limit=200"));
    assert!(runs.iter().all(|run| ended(run).0 == "succeeded"));
    assert_eq!(partner.keys().len(), RUNS);
    assert_eq!(partner.received(), RUNS);
}

async fn calls_of_several_processes_are_counted_together(place: Place) {
    let stage = Stage::new(place).await;
    let partner = SlowPartner::start();
    let it = waiting(&stage, &partner).await;
    let (stop, stopped) = watch::channel(false);
    let processes = (0..3).map(|_| stage.executor_with(settings()).work(stopped.clone()));
    let working: Vec<_> = processes.map(tokio::spawn).collect();
    until("sixteen calls", || partner.at_once() == 16).await;
    let held = "SELECT id FROM workflow_runs WHERE lease_owner IS NOT NULL";
    for _ in 0..1200 {
        if stage.world.sql(held, vec![]).await.len() == 96 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    // Each holds as many runs as it may, and could begin sixteen calls by itself.
    assert_eq!(stage.world.sql(held, vec![]).await.len(), 96);
    assert_eq!((partner.at_once(), partner.most()), (16, 16));
    partner.release();
    until("their end", || {
        let runs = stage.editor.items(&path(&it, "/runs?limit=200"));
        runs.iter().all(|run| ended(run).0 == "succeeded")
    })
    .await;
    assert_eq!(partner.most(), 16);
    assert_eq!(partner.received(), RUNS);
    stop.send(true).expect("somebody works");
    for working in working {
        working.await.expect("ends");
    }
    let calling = "SELECT id FROM workflow_runs WHERE calling IS NOT NULL";
    assert!(stage.world.sql(calling, vec![]).await.is_empty());
}

async fn a_process_that_is_gone_has_no_calls_under_way(place: Place) {
    let stage = Stage::new(place).await;
    let (gone, partner) = (SlowPartner::start(), SlowPartner::start());
    waiting(&stage, &gone).await;
    let short = Settings {
        lease: Duration::from_secs(1),
        ..settings()
    };
    let (_stop, stopped) = watch::channel(false);
    let working = tokio::spawn(stage.executor_with(short).work(stopped.clone()));
    until("sixteen calls", || gone.at_once() == 16).await;
    working.abort();
    assert!(working.await.expect_err("is gone").is_cancelled());

    // Somebody else makes the same calls, once the leases are over.
    stage.connection("slow", "http", &partner.url, None).await;
    let working = tokio::spawn(stage.executor_with(settings()).work(stopped));
    until("sixteen calls", || partner.at_once() == 16).await;
    assert_eq!(partner.most(), 16);
    working.abort();
    partner.release();
    gone.release();
}
