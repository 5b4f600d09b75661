//! What a job wrote is taken back.

use serde_json::json;

use super::shop::{Shop, applied, feature, named, row, rows, working, workspace};
use crate::api::client::{Answer, Client};
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_job_is_taken_back_once,
    what_people_did_since_is_not_lost_by_accident,
    each_job_takes_back_its_own,
    who_may_undo,
);

fn undo(client: &Client, job: &serde_json::Value, query: &str) -> Answer {
    let path = format!(
        "/v1/template-jobs/{}/undo{query}",
        job["id"].as_str().expect("an id")
    );
    client.send("POST", &path, &[], None)
}

async fn scene(world: &World, client: &Client) -> (String, String) {
    let shop = Shop::new(client, world.acme);
    let admin = world.as_user("admin@acme.test");
    let template = shop.template(client, &admin, &json!({"rows": "all"}));
    (template, workspace(client, world.acme))
}

async fn a_job_is_taken_back_once(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let editor = world.as_user("editor@acme.test");
    let (template, there) = scene(&world, &editor).await;
    feature(&editor, &there, "Mine");
    let before = world.counts().await;
    let job = applied(&editor, &template, &json!({"workspaceId": there})).await;
    assert_ne!(world.counts().await, before);
    let undone = undo(&editor, &job, "").expect(200).json();
    assert_eq!(
        (&undone["id"], &undone["status"]),
        (&job["id"], &json!("undone"))
    );
    assert_eq!(
        (&undone["report"], &undone["locked_until"]),
        (&job["report"], &json!(null))
    );
    assert_eq!(world.counts().await, before);
    undo(&editor, &job, "").refused(409, "conflict");
    undo(&editor, &job, "?force=true").refused(409, "conflict");
    // Under a key it is answered again.
    let job = applied(&editor, &template, &json!({"workspaceId": there})).await;
    let path = format!(
        "/v1/template-jobs/{}/undo",
        job["id"].as_str().expect("an id")
    );
    let send = || {
        editor
            .send("POST", &path, &[("idempotency-key", "k")], None)
            .expect(200)
    };
    let (first, second) = (send(), send());
    assert_eq!(first.body, second.body);
    assert_eq!(second.header("idempotency-replayed"), Some("true"));
}

async fn what_people_did_since_is_not_lost_by_accident(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let editor = world.as_user("editor@acme.test");
    let (template, there) = scene(&world, &editor).await;
    let job = applied(&editor, &template, &json!({"workspaceId": there})).await;
    let clients = named(&editor, &there, "clients").expect("a table");
    row(&editor, &clients, &json!({"code": "mine"}));
    let refused = undo(&editor, &job, "").refused(409, "not_empty");
    assert!(
        refused.json()["detail"]
            .as_str()
            .expect("text")
            .contains("clients"),
        "{refused:?}"
    );
    assert_eq!(rows(&editor, &clients).len(), 3);
    // The job is as it was, and free.
    let path = format!("/v1/template-jobs/{}", job["id"].as_str().expect("an id"));
    assert_eq!(editor.get(&path).expect(200).json()["status"], "completed");
    undo(&editor, &job, "?force=true").expect(200);
    assert!(named(&editor, &there, "clients").is_none());
    // A row that somebody edited is somebody's, too.
    let job = applied(&editor, &template, &json!({"workspaceId": there})).await;
    let orders = named(&editor, &there, "orders").expect("a table");
    let first = editor.items(&format!("/v1/features/{orders}/rows"))[0]["id"].clone();
    let path = format!(
        "/v1/features/{orders}/rows/{}?merge=true",
        first.as_str().expect("an id")
    );
    editor
        .patch(&path, &json!({"data": {"title": "edited"}}))
        .expect(200);
    undo(&editor, &job, "").refused(409, "not_empty");
    undo(&editor, &job, "?force=true").expect(200);
}

async fn each_job_takes_back_its_own(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let editor = world.as_user("editor@acme.test");
    let (template, there) = scene(&world, &editor).await;
    let none = json!({"workspaceId": there, "includeRows": false});
    let first = applied(&editor, &template, &none).await;
    let second = applied(&editor, &template, &json!({"workspaceId": there})).await;
    let clients = named(&editor, &there, "clients").expect("a table");
    assert_eq!(rows(&editor, &clients).len(), 2);
    undo(&editor, &second, "").expect(200);
    assert_eq!(rows(&editor, &clients).len(), 0);
    undo(&editor, &first, "").expect(200);
    assert!(named(&editor, &there, "clients").is_none());
}

async fn who_may_undo(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let editor = world.as_user("editor@acme.test");
    let (template, there) = scene(&world, &editor).await;
    let job = applied(&editor, &template, &json!({"workspaceId": there})).await;
    undo(&world.as_user("viewer@acme.test"), &job, "").refused(403, "forbidden");
    undo(&world.as_user("stranger@other.test"), &job, "").refused(404, "not_found");
    undo(&world.as_key(&["read", "write"]), &job, "").refused(403, "missing_scope");
    let path = format!(
        "/v1/template-jobs/{}/undo",
        job["id"].as_str().expect("an id")
    );
    editor
        .post(&path, &json!({}))
        .refused(422, "validation_failed");
    for query in ["?force=yes", "?force=true&force=true", "?x=1"] {
        undo(&editor, &job, query).refused(422, "validation_failed");
    }
    let missing = format!("/v1/template-jobs/{}/undo", world.context.id());
    editor
        .send("POST", &missing, &[], None)
        .refused(404, "not_found");
    // Whoever may, whoever asked for the job.
    undo(&world.as_key(&["write", "structure"]), &job, "").expect(200);
}
