//! What holds up a run holds up nobody else: a partner that does not respond, long work.

use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use tplkit_server::automation::{RunExecutor, Settings};
use tplkit_server::context::{Clock, Context};

use super::integrations::settings;
use super::{Stage, code, ended, runs};
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
    a_dry_run_keeps_nobody_from_writing,
    a_dry_run_ends_when_its_starter_is_gone,
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
pub(super) async fn until(what: &str, mut there: impl FnMut() -> bool) {
    for _ in 0..1200 {
        if there() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{what} did not come about");
}

/// Whoever executes runs until it is stopped.
pub(super) struct Worker {
    stop: watch::Sender<bool>,
    working: JoinHandle<()>,
}

impl Worker {
    pub(super) fn start(executor: RunExecutor) -> Worker {
        let (stop, stopped) = watch::channel(false);
        let working = tokio::spawn(executor.work(stopped));
        Worker { stop, working }
    }

    pub(super) async fn stop(self) {
        self.stop.send(true).expect("somebody works");
        self.working.await.expect("ends");
    }
}

/// How many runs processes hold.
async fn leased(stage: &Stage) -> usize {
    let sql = "SELECT id FROM workflow_runs WHERE lease_owner IS NOT NULL";
    stage.world.sql(sql, vec![]).await.len()
}

/// Waits until processes hold so many runs.
async fn until_leased(stage: &Stage, runs: usize) {
    for _ in 0..1200 {
        if leased(stage).await == runs {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

fn status(client: &Client, run: &str) -> Value {
    let path = format!("/v1/workflow-runs/{run}");
    client.get(&path).expect(200).json()["status"].clone()
}

async fn a_slow_partner_keeps_no_other_organization_waiting(place: Place) {
    let stage = Stage::new(place).await;
    let partner = SlowPartner::start();
    let it = waiting(&stage, &partner).await;
    let worker = Worker::start(stage.executor_with(settings()));
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
    worker.stop().await;
}

async fn runs_that_wait_for_a_call_are_given_back_at_the_end(place: Place) {
    let stage = Stage::new(place).await;
    let partner = SlowPartner::start();
    let it = waiting(&stage, &partner).await;
    let (stop, stopped) = watch::channel(false);
    let working = tokio::spawn(stage.executor_with(settings()).work(stopped));
    until("sixteen calls", || partner.at_once() == 16).await;
    stop.send(true).expect("somebody works");
    until_leased(&stage, 16).await;
    // Those that have a call in flight hold on to it; nobody begins another one.
    assert_eq!(leased(&stage).await, 16);
    assert_eq!(partner.keys().len(), 16);
    partner.release();
    working.await.expect("ends");
    assert_eq!(leased(&stage).await, 0);
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
    until_leased(&stage, 96).await;
    // Each holds as many runs as it may, and could begin sixteen calls by itself.
    assert_eq!(leased(&stage).await, 96);
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

/// A clock that holds the thread of a dry run when it looks at it for its second step.
#[derive(Debug)]
struct HoldingClock {
    clock: Context,
    looks: Mutex<Looks>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Looks {
    count: usize,
    released: bool,
}

impl HoldingClock {
    /// Before come the looks of the attempt, of the run, and of the first step.
    const HELD: usize = 4;

    fn holds(&self) -> bool {
        self.looks.lock().expect("whole").count >= HoldingClock::HELD
    }

    fn release(&self) {
        self.looks.lock().expect("whole").released = true;
        self.changed.notify_all();
    }

    fn hold(&self) {
        let mut looks = self.looks.lock().expect("whole");
        looks.count += 1;
        if looks.count == HoldingClock::HELD {
            let released = self.changed.wait_while(looks, |looks| !looks.released);
            drop(released.expect("whole"));
        }
    }
}

impl Clock for HoldingClock {
    fn now(&self) -> Timestamp {
        // What a dry run does in a transaction of SQLite, it does on the thread of that.
        if let Some("low-priority" | "store-writer") = thread::current().name() {
            self.hold();
        }
        self.clock.clock().now()
    }
}

/// A dry run that a clock holds in the middle, and who executes it.
struct HeldDryRun {
    clock: Arc<HoldingClock>,
    run: String,
    worker: Worker,
}

impl HeldDryRun {
    fn begin(stage: &Stage, workflow: &str) -> HeldDryRun {
        let clock = Arc::new(HoldingClock {
            clock: stage.world.context.clone(),
            looks: Mutex::default(),
            changed: Condvar::new(),
        });
        let worker = Worker::start(stage.executor_by(clock.clone()));
        let body = json!({"dry_run": true});
        let begun = stage.editor.post_to(workflow, "/runs", &body);
        HeldDryRun {
            clock,
            run: id(&begun.expect(202).json()),
            worker,
        }
    }
}

async fn a_dry_run_keeps_nobody_from_writing(place: Place) {
    let stage = Stage::new(place).await;
    let feature = stage.model.feature.clone();
    stage.row(&feature, &json!({"n": 1}));
    let read = json!({"key": "feature.read", "config": {"featureId": feature}});
    let it = stage.published(&json!({"type": "manual"}), &json!([read, read]));
    let HeldDryRun { clock, run, worker } = HeldDryRun::begin(&stage, &it);
    until("the second step", || clock.holds()).await;

    let (editor, rows) = (stage.editor.clone(), Stage::rows(&feature));
    let insert = thread::spawn(move || editor.create(&rows, &json!({"data": {"n": 2}})));
    until("the row", || insert.is_finished()).await;
    insert.join().expect("enters");
    assert_eq!(status(&stage.editor, &run), "running");

    clock.release();
    until("the end of the run", || {
        status(&stage.editor, &run) == "succeeded"
    })
    .await;
    // Each step sees what is there at its turn, as in a run for real.
    let run = stage.run(&it);
    let counts = [0, 1].map(|step| run["steps"][step]["output"]["count"].clone());
    assert_eq!(counts, [json!(1), json!(2)]);
    worker.stop().await;
}

async fn a_dry_run_ends_when_its_starter_is_gone(place: Place) {
    let stage = Stage::new(place).await;
    let feature = stage.model.feature.clone();
    let read = json!({"key": "feature.read", "config": {"featureId": feature}});
    let it = stage.published(&json!({"type": "manual"}), &json!([read, read, read, read]));
    let HeldDryRun { clock, run, worker } = HeldDryRun::begin(&stage, &it);
    until("a later step", || clock.holds()).await;

    let owner = stage.world.as_user("owner@acme.test");
    let me = stage.editor.get("/v1/me").expect(200).json();
    let members = stage.world.path("/members");
    owner.delete(&format!("{members}/{}", id(&me))).expect(204);
    // Rights are looked up again after a second.
    stage.world.wait(2);
    clock.release();
    until("the end of the run", || status(&owner, &run) == "failed").await;
    let run = runs(&owner, &it).pop().expect("a run");
    assert_eq!(code(&run), "starter_lost_access", "{run}");
    worker.stop().await;
}
