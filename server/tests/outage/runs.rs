//! Runs that an outage meets: their processes have not ended, so it is no crash, however often it comes.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, UnixStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tplkit_server::automation::{RunExecutor, Settings};
use tplkit_server::context::{Context, SystemClock};
use tplkit_server::store::Store;

use crate::api::model::id;
use crate::api::runs::{Stage, ended, key};
use crate::cluster::{self, Cluster};
use crate::sinks::SlowPartner;
use crate::stores::{Place, run};

const LEASE: Duration = Duration::from_secs(1);

/// Who executes runs of the stage, on a store of its own.
fn executor(stage: &Stage, store: &Store, lease: Duration) -> RunExecutor {
    let settings = Settings {
        lease,
        secret_key: Some(key()),
        // The partners are on this machine.
        allow_private: true,
        ..Settings::default()
    };
    let context = Context::new(Arc::new(SystemClock));
    let app = &stage.world.app;
    RunExecutor::new(store, &context, &app.tables, &app.runs, settings)
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

/// The run, when it has ended. The server may still notice that its connections are gone.
fn has_ended(stage: &Stage, run: &str) -> Option<Value> {
    let response = stage.editor.get(&format!("/v1/workflow-runs/{run}"));
    let run = (response.status == 200).then(|| response.json())?;
    run["finished_at"].is_string().then_some(run)
}

async fn succeeds(stage: &Stage, run: &str) {
    let mut found = None;
    until("the end of the run", || {
        found = has_ended(stage, run);
        found.is_some()
    })
    .await;
    let found = found.expect("has ended");
    assert_eq!(ended(&found), ("succeeded", ""), "{found}");
}

/// How many crashes the only run counts.
async fn crashes(stage: &Stage) -> i64 {
    let runs = stage.world.sql("SELECT crashes FROM workflow_runs", vec![]);
    runs.await[0].get(0).expect("a number")
}

#[test]
fn a_run_outlasts_any_number_of_outages() {
    let Some(programs) = cluster::programs() else {
        return;
    };
    let mut cluster = Cluster::start(programs).expect("starts");
    let place = Place::at(cluster.url("postgres"));
    run(Some(place), |place| async move {
        let stage = Stage::new(place).await;
        // One for each step, as they are to respond one after the other.
        let partners: Vec<_> = (0..4).map(|_| SlowPartner::start()).collect();
        let mut steps = Vec::new();
        for (number, partner) in partners.iter().enumerate() {
            let name = format!("partner{number}");
            stage.connection(&name, "http", &partner.url, None).await;
            let config = json!({"connectionName": name, "path": "/x"});
            steps.push(json!({"key": "http.request", "config": config}));
        }
        let it = stage
            .fires(&json!({"type": "manual"}), &Value::Array(steps))
            .await;
        let begun = stage.editor.post_to(&it, "/runs", &json!({})).expect(202);
        let (stop, stopped) = watch::channel(false);
        let executor = executor(&stage, &stage.world.store, LEASE);
        let working = tokio::spawn(executor.work(stopped));
        for partner in &partners {
            until("a call", || partner.at_once() > 0).await;
            cluster.pause().expect("stops");
            partner.release();
            until("its response", || partner.at_once() == 0).await;
            cluster.resume().expect("starts");
        }
        succeeds(&stage, &id(&begun.json())).await;
        assert_eq!(crashes(&stage).await, 0);
        stop.send(true).expect("somebody works");
        working.await.expect("ends");
    });
}

/// A way to the database that can be cut.
struct Link {
    port: u16,
    /// What goes over it; nothing while it is cut.
    joined: Arc<Mutex<Option<Vec<JoinHandle<()>>>>>,
}

impl Link {
    async fn start() -> Link {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("listens");
        let port = listener.local_addr().expect("an address").port();
        let cluster = cluster::shared().expect("a cluster");
        let socket = cluster.socket().join(".s.PGSQL.5432");
        let joined = Arc::new(Mutex::new(Some(Vec::new())));
        let kept = joined.clone();
        tokio::spawn(async move {
            while let Ok((mut near, _)) = listener.accept().await {
                let mut far = UnixStream::connect(&socket).await.expect("connects");
                if let Some(joined) = kept.lock().expect("whole").as_mut() {
                    joined.push(tokio::spawn(async move {
                        let _ = copy_bidirectional(&mut near, &mut far).await;
                    }));
                }
            }
        });
        Link { port, joined }
    }

    fn cut(&self) {
        let joined = self.joined.lock().expect("whole").take();
        for joined in joined.into_iter().flatten() {
            joined.abort();
        }
    }

    fn restore(&self) {
        *self.joined.lock().expect("whole") = Some(Vec::new());
    }
}

#[test]
fn a_process_that_was_cut_off_takes_back_the_crash_that_another_one_counted() {
    run(Place::plain_postgres(), |place| async move {
        let stage = Stage::new(place).await;
        let link = Link::start().await;
        let name = stage.world.place.database_name();
        let url = format!("postgres://postgres@127.0.0.1:{}/{name}", link.port);
        let far = Store::open(&url).await.expect("opens");
        let partner = SlowPartner::start();
        stage.connection("slow", "http", &partner.url, None).await;
        let steps =
            json!([{"key": "http.request", "config": {"connectionName": "slow", "path": "/x"}}]);
        let it = stage.fires(&json!({"type": "manual"}), &steps).await;
        let begun = stage.editor.post_to(&it, "/runs", &json!({})).expect(202);
        let (stop, stopped) = watch::channel(false);
        let first = tokio::spawn(executor(&stage, &far, LEASE).work(stopped.clone()));
        until("a call", || partner.at_once() == 1).await;

        // Its response comes while nothing can be written.
        link.cut();
        partner.release();
        until("its response", || partner.at_once() == 0).await;
        // Another process takes the run up when the lease has ended.
        let partner = SlowPartner::start();
        stage.connection("slow", "http", &partner.url, None).await;
        let store = &stage.world.store;
        let lease = Settings::default().lease;
        let second = tokio::spawn(executor(&stage, store, lease).work(stopped));
        until("another call", || partner.at_once() == 1).await;
        assert_eq!(crashes(&stage).await, 1);
        link.restore();
        for _ in 0..1200 {
            if crashes(&stage).await == 0 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert_eq!(crashes(&stage).await, 0);
        partner.release();
        succeeds(&stage, &id(&begun.json())).await;
        stop.send(true).expect("somebody works");
        for working in [first, second] {
            working.await.expect("ends");
        }
    });
}
