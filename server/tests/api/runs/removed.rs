//! Runs of a workspace that is deleted: one that ends meanwhile, and many that have ended.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::json;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tplkit_server::store::{Scope, StoreError};

use super::Stage;
use crate::cluster;
use crate::stores::{Place, run};

/// A transaction that keeps rows from others until it is released.
struct Held {
    ends: oneshot::Sender<()>,
    ended: JoinHandle<Result<(), StoreError>>,
}

impl Held {
    async fn release(self) {
        self.ends.send(()).expect("is awaited");
        self.ended.await.expect("ends").expect("is done");
    }
}

/// Keeps what a statement locks in the organization `$1`.
async fn hold(stage: &Stage, locks: &'static str) -> Held {
    let (begins, begun) = oneshot::channel();
    let (ends, end) = oneshot::channel::<()>();
    let input = (stage.world.acme, Arc::new(Mutex::new(Some((begins, end)))));
    let store = stage.world.store.clone();
    let ended = tokio::spawn(async move {
        let held: Result<(), StoreError> = store
            .write(
                &Scope::Operator,
                input,
                move |tx, (organization, channels)| {
                    Box::pin(async move {
                        tx.query(locks, &[(*organization).into()]).await?;
                        let channels = channels.lock().expect("nobody panics").take();
                        let (begins, end) = channels.expect("it runs once");
                        begins.send(()).expect("is awaited");
                        end.await.expect("is asked to end");
                        Ok(())
                    })
                },
            )
            .await;
        held
    });
    begun.await.expect("it begins");
    Held { ends, ended }
}

/// Waits until so many transactions of the database wait for others.
async fn until_waiting(name: &str, count: &str) {
    let waiting = "SELECT count(*) FROM pg_stat_activity \
         WHERE datname = current_database() AND wait_event_type = 'Lock'";
    let cluster = cluster::shared().expect("it is there");
    for _ in 0..500 {
        if cluster.psql_in(name, waiting).expect("a result") == count {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{count} transactions do not wait");
}

#[test]
fn the_end_of_a_run_takes_its_locks_in_the_order_of_its_removal() {
    run(Place::plain_postgres(), |place| async {
        let stage = Stage::new(place).await;
        let steps = json!([{"key": "delay", "config": {"seconds": 60}}]);
        let it = stage.fires(&json!({"type": "manual"}), &steps).await;
        stage.editor.post_to(&it, "/runs", &json!({})).expect(202);
        assert_eq!(stage.run_due().await, 1);
        let name = stage.world.place.database_name().to_owned();

        // Somebody holds the step that both are about to write.
        let held = hold(
            &stage,
            "SELECT number FROM workflow_steps WHERE organization_id = $1 {lock}",
        )
        .await;

        // The run ends first, and then it is removed as with its workspace. The removal would be the one to find a
        // deadlock: the end of a run is tried again, and nobody would see it.
        stage.world.wait(60);
        let executor = stage.executor();
        let ending = tokio::spawn(async move { executor.run_due().await });
        until_waiting(&name, "1").await;
        let database = name.clone();
        let removing = thread::spawn(move || {
            let sql = "SET deadlock_timeout = '500ms'; DELETE FROM main.workflow_runs";
            let cluster = cluster::shared().expect("it is there");
            cluster.psql_in(&database, sql)
        });
        until_waiting(&name, "2").await;
        held.release().await;
        assert_eq!(ending.await.expect("ends"), Ok(1));
        removing
            .join()
            .expect("ends")
            .expect("removes without a deadlock");
        assert!(stage.runs(&it).is_empty());
    });
}

/// Somebody keeps a table, which the deletion of the workspace has to wait for, and its finished runs go before.
#[test]
fn finished_runs_go_in_transactions_of_their_own() {
    run(Place::plain_postgres(), |place| async {
        let stage = Stage::new(place).await;
        let steps = json!([{"key": "delay", "config": {"seconds": 0}}]);
        let it = stage.fires(&json!({"type": "manual"}), &steps).await;
        stage.editor.post_to(&it, "/runs", &json!({})).expect(202);
        stage.run_due().await;
        let name = stage.world.place.database_name().to_owned();
        let ask = |sql: &str| {
            let cluster = cluster::shared().expect("it is there");
            cluster.psql_in(&name, sql).expect("a result")
        };
        ask("INSERT INTO main.workflow_runs \
             SELECT (jsonb_populate_record(run, jsonb_build_object('id', gen_random_uuid()))).* \
             FROM main.workflow_runs AS run, generate_series(1, 2500)");

        let held = hold(
            &stage,
            "SELECT id FROM features WHERE organization_id = $1 {share features}",
        )
        .await;

        let (editor, workspace) = (stage.editor.clone(), stage.model.workspace.clone());
        let path = format!("/v1/workspaces/{workspace}?force=true");
        let deleting = thread::spawn(move || editor.delete(&path).expect(204));
        until_waiting(&name, "1").await;
        assert_eq!(ask("SELECT count(*) FROM main.workflow_runs"), "501");
        held.release().await;
        deleting.join().expect("deletes");
        assert_eq!(ask("SELECT count(*) FROM main.workflow_runs"), "0");
    });
}
