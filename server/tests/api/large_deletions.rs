//! Tables and workspaces with many rows are deleted in parts, next to those who write.

use serde_json::{Value, json};

use super::client::Client;
use super::model::{Model, id};
use super::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_table_with_many_rows_goes,
    a_workspace_with_many_rows_goes,
    who_may_not_delete_removes_no_row,
);

/// More than go with their table in one transaction.
const ROWS: usize = 10_500;

/// Fills a table with rows that each have a value of a unique column.
fn fill(client: &Client, feature: &str) {
    let unique = json!({"label": "K", "type": "number", "config": {"unique": true}});
    let columns = format!("/v1/features/{feature}/columns");
    let name = client.create(&columns, &unique)["name"].clone();
    let name = name.as_str().expect("a name");
    let numbers: Vec<usize> = (0..ROWS).collect();
    for part in numbers.chunks(500) {
        let rows: Vec<Value> = part
            .iter()
            .map(|number| json!({"data": {name: number}}))
            .collect();
        let path = format!("/v1/features/{feature}/rows:batch");
        client.post(&path, &json!({"rows": rows})).expect(201);
    }
}

async fn count(world: &World) -> i64 {
    let counted = world.sql("SELECT count(*) FROM rows", vec![]).await;
    counted[0].get(0).expect("a number")
}

async fn a_table_with_many_rows_goes(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let model = Model::new(&editor, world.acme).with_row(&editor);
    let body = json!({"workspace_id": model.workspace, "label": "Large"});
    let large = id(&editor.create("/v1/features", &body));
    fill(&editor, &large);
    let path = format!("/v1/features/{large}");
    editor.delete(&path).refused(409, "not_empty");
    assert_eq!(count(&world).await, 10_501);
    editor.delete(&format!("{path}?force=true")).expect(204);
    editor.get(&path).refused(404, "not_found");
    // What is next to it stays.
    assert_eq!(count(&world).await, 1);
    let values = world.sql("SELECT count(*) FROM row_values", vec![]).await;
    assert_eq!(values[0].get::<i64>(0), Ok(0));
}

async fn a_workspace_with_many_rows_goes(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let model = Model::new(&editor, world.acme).with_row(&editor);
    fill(&editor, &model.feature);
    let path = format!("/v1/workspaces/{}?force=true", model.workspace);
    editor.delete(&path).expect(204);
    assert!(world.counts().await.iter().all(|(_, count)| *count == 0));
}

async fn who_may_not_delete_removes_no_row(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let model = Model::new(&editor, world.acme);
    fill(&editor, &model.feature);
    let path = format!("/v1/features/{}?force=true", model.feature);
    let viewer = world.as_user("viewer@acme.test");
    viewer.delete(&path).refused(403, "forbidden");
    let stranger = world.as_user("stranger@other.test");
    stranger.delete(&path).refused(404, "not_found");
    editor
        .delete(&format!("{path}&other=1"))
        .refused(422, "validation_failed");
    assert_eq!(count(&world).await, 10_500);
}

#[cfg(unix)]
mod postgres_alone {
    use std::thread;
    use std::time::Duration;

    use tokio_postgres::NoTls;

    use serde_json::json;
    use tplkit_server::jobs;
    use tplkit_server::store::{Scope, StoreError};
    use uuid::Uuid;

    use super::{Client, Model, Place, World, fill};
    use crate::api::runs::Stage;
    use crate::stores;

    async fn connect(place: &Place) -> tokio_postgres::Client {
        let connected = tokio_postgres::connect(&place.url, NoTls).await;
        let (client, connection) = connected.expect("connects");
        tokio::spawn(connection);
        client
    }

    /// Waits until a statement returns a row.
    async fn until(client: &tokio_postgres::Client, sql: &str) {
        for _ in 0..6000 {
            if !client.query(sql, &[]).await.expect(sql).is_empty() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{sql}: no row in a minute");
    }

    fn delete(client: &Client, path: String) -> thread::JoinHandle<()> {
        let client = client.clone();
        thread::spawn(move || drop(client.delete(&path).expect(204)))
    }

    const WAITS: &str = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() \
         AND wait_event_type = 'Lock'";

    /// Somebody keeps the record, which its deletion has to wait for, and its rows go before.
    #[test]
    fn rows_go_in_transactions_of_their_own() {
        stores::run(Place::plain_postgres(), |place| async move {
            let held = connect(&place).await;
            let world = World::new(place).await;
            let editor = world.as_user("editor@acme.test");
            let model = Model::new(&editor, world.acme);
            fill(&editor, &model.feature);
            let keep = format!(
                "BEGIN; SELECT id FROM main.features WHERE id = '{}' FOR KEY SHARE",
                model.feature
            );
            held.batch_execute(&keep).await.expect(&keep);
            let path = format!("/v1/features/{}?force=true", model.feature);
            let deleted = delete(&editor, path);
            until(&held, WAITS).await;
            let left = "SELECT count(*) FROM main.rows";
            let left: i64 = held.query_one(left, &[]).await.expect(left).get(0);
            assert!((9_000..=10_000).contains(&left), "{left} rows");
            held.batch_execute("COMMIT").await.expect("ends");
            deleted.join().expect("deletes");
        });
    }

    /// Who writes rows keeps their table, then counts them; others write what refers to the workspace.
    #[test]
    fn a_workspace_waits_for_writers_and_they_do_not_wait_for_it() {
        stores::run(Place::plain_postgres(), |place| async move {
            let writer = connect(&place).await;
            let world = World::new(place).await;
            let editor = world.as_user("editor@acme.test");
            let model = Model::new(&editor, world.acme).with_row(&editor);
            let keep = format!(
                "BEGIN; SELECT id FROM main.features WHERE id = '{}' FOR SHARE",
                model.feature
            );
            writer.batch_execute(&keep).await.expect(&keep);
            let path = format!("/v1/workspaces/{}?force=true", model.workspace);
            let deleted = delete(&editor, path);
            until(&writer, WAITS).await;
            let go_on = format!(
                "SELECT shard FROM main.row_counts WHERE feature_id = '{}' FOR UPDATE NOWAIT; \
                 SELECT id FROM main.workspaces WHERE id = '{}' FOR KEY SHARE NOWAIT; COMMIT",
                model.feature, model.workspace
            );
            writer.batch_execute(&go_on).await.expect(&go_on);
            deleted.join().expect("deletes");
        });
    }

    /// An automation that fires for changes of the table, and a draft of it.
    async fn drafted(stage: &Stage) -> String {
        let trigger = Stage::on(&stage.model.feature, &["updated"], &[]);
        let steps = json!([{"key": "delay", "config": {"seconds": 0}}]);
        let it = stage.fires(&trigger, &steps).await;
        let next = json!({"name": "Next"});
        stage.editor.post_to(&it, "/versions", &next).expect(201);
        it
    }

    /// Who deletes a table keeps it, and then what watches it: who publishes keeps nothing else while it waits for it.
    #[test]
    fn publishing_waits_for_the_table_before_the_automation() {
        stores::run(Place::plain_postgres(), |place| async move {
            let (held, other) = (connect(&place).await, connect(&place).await);
            let stage = Stage::new(place).await;
            let it = drafted(&stage).await;
            let keep = format!(
                "BEGIN; SELECT id FROM main.features WHERE id = '{}' FOR UPDATE",
                stage.model.feature
            );
            held.batch_execute(&keep).await.expect(&keep);
            let (editor, published) = (stage.editor.clone(), it.clone());
            let publishing = thread::spawn(move || {
                let publish = editor.post_to(&published, "/apply", &json!({}));
                drop(publish.expect(200));
            });
            until(&other, WAITS).await;
            let go_on = format!(
                "SELECT id FROM main.workflows WHERE id = '{it}' FOR UPDATE NOWAIT; \
                 SELECT feature_id FROM main.workflow_watchers WHERE workflow_id = '{it}' FOR UPDATE NOWAIT; COMMIT"
            );
            held.batch_execute(&go_on).await.expect(&go_on);
            publishing.join().expect("publishes");
        });
    }

    /// A job that was decided about is refused like one that is asked for after the deletion.
    #[test]
    fn an_apply_to_a_workspace_that_goes_meanwhile_finds_none() {
        stores::run(Place::plain_postgres(), |place| async move {
            let (held, other) = (connect(&place).await, connect(&place).await);
            let world = World::new(place).await;
            let owner = world.as_user("owner@acme.test");
            let model = Model::new(&owner, world.acme).with_template(&owner, world.acme);
            let keep = format!(
                "BEGIN; SELECT id FROM main.templates WHERE id = '{}' FOR UPDATE",
                model.template
            );
            held.batch_execute(&keep).await.expect(&keep);
            let client = owner.clone();
            let path = format!("/v1/templates/{}/apply", model.template);
            let body = json!({"workspaceId": model.workspace});
            let applying = thread::spawn(move || client.post(&path, &body));
            until(&other, WAITS).await;
            let path = format!("/v1/workspaces/{}?force=true", model.workspace);
            owner.delete(&path).expect(204);
            held.batch_execute("COMMIT").await.expect("ends");
            let applied = applying.join().expect("asks");
            applied.refused(404, "not_found");
        });
    }

    /// Who deletes a workspace keeps its automations, and then their events: who makes runs of events keeps none while it
    /// waits, and makes those of other automations all the same.
    #[test]
    fn an_automation_that_goes_takes_no_runs_of_others_along() {
        stores::run(Place::plain_postgres(), |place| async move {
            let (held, other) = (connect(&place).await, connect(&place).await);
            let stage = Stage::new(place).await;
            let trigger = Stage::on(&stage.model.feature, &["created"], &[]);
            let steps = json!([{"key": "delay", "config": {"seconds": 0}}]);
            let it = stage.fires(&trigger, &steps).await;
            stage.fires(&trigger, &steps).await;
            stage.row(&stage.model.feature, &json!({"status": "new"}));
            let keep = format!("BEGIN; SELECT id FROM main.workflows WHERE id = '{it}' FOR UPDATE");
            held.batch_execute(&keep).await.expect(&keep);
            let executor = stage.executor();
            let dispatched = tokio::spawn(async move { executor.take_events().await });
            until(&other, WAITS).await;
            let go_on = format!(
                "SELECT id FROM main.workflow_events WHERE workflow_id = '{it}' FOR UPDATE NOWAIT; \
                 DELETE FROM main.workflows WHERE id = '{it}'; COMMIT"
            );
            held.batch_execute(&go_on).await.expect(&go_on);
            assert_eq!(dispatched.await.expect("ends"), Ok(()));
            let runs = "SELECT id FROM workflow_runs";
            assert_eq!(stage.world.sql(runs, vec![]).await.len(), 1);
        });
    }

    /// Who publishes or deletes an automation keeps it, and then its schedule: who begins its run keeps nothing else while
    /// it waits for it.
    #[test]
    fn a_due_run_waits_for_its_automation_before_the_schedule() {
        stores::run(Place::plain_postgres(), |place| async move {
            let (held, other) = (connect(&place).await, connect(&place).await);
            let stage = Stage::new(place).await.lasting();
            let trigger = json!({"type": "cron", "config": {"mode": "hourly"}});
            let steps = json!([{"key": "delay", "config": {"seconds": 0}}]);
            let it = stage.fires(&trigger, &steps).await;
            assert_eq!(stage.run_due().await, 0, "nothing is due yet");
            stage.world.wait(3600);
            let keep = format!("BEGIN; SELECT id FROM main.workflows WHERE id = '{it}' FOR UPDATE");
            held.batch_execute(&keep).await.expect(&keep);
            let executor = stage.executor();
            let executed = tokio::spawn(async move { executor.run_due().await });
            until(&other, WAITS).await;
            let go_on = format!(
                "SELECT due_at FROM main.workflow_schedules WHERE workflow_id = '{it}' FOR UPDATE NOWAIT; COMMIT"
            );
            held.batch_execute(&go_on).await.expect(&go_on);
            assert_eq!(executed.await.expect("ends"), Ok(1));
        });
    }

    /// A worker reads what a job applies in several statements, and the job goes between two of them.
    #[test]
    fn a_job_that_goes_while_its_package_is_read_is_gone() {
        stores::run(Place::plain_postgres(), |place| async move {
            let (held, other) = (connect(&place).await, connect(&place).await);
            let world = World::new(place).await;
            let owner = world.as_user("owner@acme.test");
            let model = Model::new(&owner, world.acme).with_template(&owner, world.acme);
            let model = model.with_job(&world, &owner).await;
            let keep = "BEGIN; LOCK TABLE main.template_job_parts IN ACCESS EXCLUSIVE MODE";
            held.batch_execute(keep).await.expect(keep);
            let job: Uuid = model.job.parse().expect("an id");
            let (store, input) = (world.store.clone(), (world.acme, job));
            let reading = tokio::spawn(async move {
                let read = store.read(&Scope::Operator, input, |tx, (organization, job)| {
                    Box::pin(jobs::read_package(tx, *organization, *job, true))
                });
                let kept: Result<Option<(jobs::JobRequest, _)>, StoreError> = read.await;
                kept.map(|kept| kept.is_some())
            });
            until(&other, WAITS).await;
            let go_on = format!("DELETE FROM main.template_jobs WHERE id = '{job}'; COMMIT");
            held.batch_execute(&go_on).await.expect(&go_on);
            assert_eq!(reading.await.expect("ends"), Ok(false));
        });
    }

    /// Who publishes keeps the automation, and then the files that it attaches.
    #[test]
    fn a_workspace_waits_for_its_automations_before_it_is_touched() {
        stores::run(Place::plain_postgres(), |place| async move {
            let (held, other) = (connect(&place).await, connect(&place).await);
            let stage = Stage::new(place).await;
            let it = drafted(&stage).await;
            let keep = format!("BEGIN; SELECT id FROM main.workflows WHERE id = '{it}' FOR UPDATE");
            held.batch_execute(&keep).await.expect(&keep);
            let path = format!("/v1/workspaces/{}?force=true", stage.model.workspace);
            let deleted = delete(&stage.editor, path);
            until(&other, WAITS).await;
            let go_on = format!(
                "SELECT id FROM main.workspaces WHERE id = '{}' FOR KEY SHARE NOWAIT; COMMIT",
                stage.model.workspace
            );
            held.batch_execute(&go_on).await.expect(&go_on);
            deleted.join().expect("deletes");
        });
    }
}
