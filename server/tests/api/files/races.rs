//! Deletes of files next to what uses them and what takes their workspace away.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tplkit_server::files::sweep::Sweep;

use super::{bytes_of, made, of};
use crate::api::client::Response;
use crate::api::model::{Model, id};
use crate::api::workflows::{PATH, graph};
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_file_is_used_or_deleted_and_never_both,
    a_file_is_used_or_swept_and_never_both,
    what_is_deleted_next_to_its_workspace_is_counted_once,
);

const USES: &str = "SELECT file_id FROM file_uses UNION ALL SELECT file_id FROM file_holds";

/// Two requests at the same time.
fn both(
    one: impl Fn() -> Response + Sync,
    other: impl Fn() -> Response + Sync,
) -> (Response, Response) {
    thread::scope(|scope| {
        let one = scope.spawn(&one);
        let other = scope.spawn(&other);
        (
            one.join().expect("responds"),
            other.join().expect("responds"),
        )
    })
}

async fn a_file_is_used_or_deleted_and_never_both(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let model = Model::new(&owner, world.acme);
    owner.create(&model.columns(), &json!({"label": "photo", "type": "file"}));
    let rows = format!("/v1/features/{}/rows", model.feature);
    let cell = |file: &str| owner.post(&rows, &json!({"data": {"photo": file}}));
    let version = |file: &str| {
        let config =
            json!({"to": "a@b.test", "subject": "s", "body": "b", "attachmentFileId": file});
        let steps = json!([{"key": "email.send", "config": config}]);
        let body = json!({
            "workspace_id": model.workspace, "name": "a", "is_draft": true,
            "trigger_config": {"type": "manual"}, "graph_config": graph(&steps),
        });
        owner.post(PATH, &body)
    };
    for number in 0..16 {
        let file = made(&owner, &model.workspace, "f", b"x");
        let named = id(&file);
        let (used, deleted) = both(
            || {
                if number % 2 == 0 {
                    cell(&named)
                } else {
                    version(&named)
                }
            },
            || owner.delete(&of(&file)),
        );
        let keeps: Vec<Value> = world
            .sql(USES, vec![])
            .await
            .iter()
            .filter_map(|row| row.get::<uuid::Uuid>(0).ok())
            .map(|file| json!(file))
            .filter(|kept| *kept == file["id"])
            .collect();
        match used.status {
            201 => {
                deleted.refused(409, "not_empty");
                assert_eq!(keeps.len(), 1);
            }
            422 => {
                deleted.expect(204);
                assert_eq!(keeps.len(), 0);
            }
            _ => panic!("{used:?}"),
        }
    }
}

async fn a_file_is_used_or_swept_and_never_both(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let model = Model::new(&owner, world.acme);
    owner.create(&model.columns(), &json!({"label": "photo", "type": "file"}));
    let rows = format!("/v1/features/{}/rows", model.feature);
    for _ in 0..16 {
        let file = made(&owner, &model.workspace, "f", b"x");
        let sweep = Sweep {
            store: world.store.clone(),
            place: world.app.files.place.clone(),
            context: world.context.clone(),
            grace: Duration::from_secs(100),
        };
        // Its grace is over.
        world.wait(100);
        let sweeping = tokio::spawn(async move { sweep.run().await.expect("sweeps") });
        let used = owner.post(&rows, &json!({"data": {"photo": id(&file)}}));
        sweeping.await.expect("ends");
        match used.status {
            201 => drop(owner.get(&bytes_of(&file)).expect(200)),
            422 => drop(owner.get(&of(&file)).refused(404, "not_found")),
            _ => panic!("{used:?}"),
        }
    }
}

async fn what_is_deleted_next_to_its_workspace_is_counted_once(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    for _ in 0..8 {
        let workspace = Model::new(&owner, world.acme).workspace;
        let files: Vec<Value> = (0..6)
            .map(|_| made(&owner, &workspace, "f", b"some bytes"))
            .collect();
        let (gone, _) = both(
            || owner.delete(&format!("/v1/workspaces/{workspace}?force=true")),
            || {
                let mut last = owner.get(&of(&files[0]));
                for file in &files {
                    last = owner.delete(&of(file));
                    assert!([204, 404].contains(&last.status), "{last:?}");
                }
                last
            },
        );
        gone.expect(204);
        let organization = owner.get(&world.path("")).expect(200).json();
        assert_eq!(organization["file_bytes"], 0);
    }
}
