//! One job of a template at a time in a workspace, and what one that goes on puts in force.

use std::thread;

use serde_json::{Value, json};
use tplkit_server::store::Value as Cell;
use uuid::Uuid;

use super::shop::{Shop, applied, apply, finished, working, workspace};
use crate::api::client::{Client, Response};
use crate::api::model::uuid;
use crate::api::workflows::{self, PATH};
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_live_lease_refuses_even_its_own_job,
    of_many_at_once_one_makes_a_job,
    a_failed_job_goes_on_and_an_undone_one_does_not,
    a_resumed_job_publishes_its_own_version_only,
);

struct Scene {
    world: World,
    editor: Client,
    template: String,
    there: String,
}

impl Scene {
    async fn new(place: Place) -> Scene {
        let world = World::new(place).await;
        let editor = world.as_user("editor@acme.test");
        let shop = Shop::new(&editor, world.acme);
        let admin = world.as_user("admin@acme.test");
        let template = shop.template(&editor, &admin, &json!({"rows": "all"}));
        let there = workspace(&editor, world.acme);
        Scene {
            world,
            editor,
            template,
            there,
        }
    }

    fn apply(&self, job: Option<&Value>) -> Response {
        let mut body = json!({"workspaceId": self.there});
        if let Some(job) = job {
            body["jobId"] = job.clone();
        }
        apply(&self.editor, &self.template, &body)
    }

    /// Lets somebody hold the job for that many seconds from now, or have held it.
    async fn hold(&self, job: &Value, status: &str, seconds: i64) -> String {
        let id: Uuid = job.as_str().expect("an id").parse().expect("a UUID");
        // The clock of the database; SQLite goes by that of the process.
        let sql = "UPDATE main.template_jobs SET lease_owner = $2, status = $3, \
             locked_until = {clock $4} + $5 WHERE id = $1";
        let parameters = vec![
            id.into(),
            self.world.context.id().into(),
            status.into(),
            self.world.context.now().into(),
            Cell::Int(seconds * 1_000_000),
        ];
        self.world.sql(sql, parameters).await;
        let path = format!("/v1/template-jobs/{id}");
        let job = self.editor.get(&path).expect(200).json();
        job["locked_until"].as_str().expect("a deadline").to_owned()
    }
}

async fn a_live_lease_refuses_even_its_own_job(place: Place) {
    let scene = Scene::new(place).await;
    let job = scene.apply(None).expect(202).json()["jobId"].clone();
    // Nobody works on it: with its id it goes on, without it is in the way.
    let refused = scene.apply(None).refused(409, "job_active").json();
    assert_eq!(refused["job_id"], job);
    assert!(refused.get("locked_until").is_none(), "{refused}");
    let accepted = scene.apply(Some(&job)).expect(202).json();
    assert_eq!(accepted, json!({"jobId": job, "status": "pending"}));
    let until = scene.hold(&job, "rows", 3600).await;
    for with in [None, Some(&job)] {
        let refused = scene.apply(with).refused(409, "job_active").json();
        let detail = refused["detail"].as_str().expect("text");
        assert!(detail.contains(&until), "{refused}");
        assert_eq!(
            (&refused["locked_until"], &refused["job_id"]),
            (&json!(until), &job)
        );
        let mut body = json!({"workspaceId": scene.there});
        if let Some(job) = with {
            body["jobId"] = job.clone();
        }
        let executor = format!("/apply/templates/{}", scene.template);
        let problem = scene
            .editor
            .post(&executor, &body)
            .refused(409, "job_active")
            .json();
        let expected = json!({"error": "job_active", "jobId": job, "status": "rows",
            "lockedUntil": until, "detail": problem["detail"]});
        assert_eq!(problem, expected);
    }
    let undo = format!("/v1/template-jobs/{}/undo", job.as_str().expect("an id"));
    scene
        .editor
        .send("POST", &undo, &[], None)
        .refused(409, "job_active");
    // A lease that ran out holds nobody.
    scene.hold(&job, "rows", -1).await;
    scene.apply(None).refused(409, "job_active");
    let accepted = scene.apply(Some(&job)).expect(202).json();
    assert_eq!(accepted, json!({"jobId": job, "status": "rows"}));
    // In another workspace it is in nobody's way, and plans are made all the same.
    let plan = format!("/v1/templates/{}/plan", scene.template);
    let plan = scene
        .editor
        .post(&plan, &json!({"workspaceId": scene.there}))
        .expect(200)
        .json();
    assert_eq!(plan["refusals"][0]["code"], "job_active");
    let elsewhere = workspace(&scene.editor, scene.world.acme);
    apply(
        &scene.editor,
        &scene.template,
        &json!({"workspaceId": elsewhere}),
    )
    .expect(202);
}

async fn of_many_at_once_one_makes_a_job(place: Place) {
    let scene = Scene::new(place).await;
    let responses: Vec<Response> = thread::scope(|scope| {
        let requests: Vec<_> = (0..32).map(|_| scope.spawn(|| scene.apply(None))).collect();
        requests
            .into_iter()
            .map(|one| one.join().expect("responds"))
            .collect()
    });
    let made = responses
        .iter()
        .filter(|response| response.status == 202)
        .count();
    assert_eq!(made, 1, "{responses:?}");
    for response in responses
        .into_iter()
        .filter(|response| response.status != 202)
    {
        response.refused(409, "job_active");
    }
    assert_eq!(scene.editor.items("/v1/template-jobs").len(), 1);
}

async fn a_failed_job_goes_on_and_an_undone_one_does_not(place: Place) {
    let scene = Scene::new(place).await;
    let job = scene.apply(None).expect(202).json()["jobId"].clone();
    scene.hold(&job, "failed", -1).await;
    let _working = working(&scene.world);
    let done = finished(&scene.editor, scene.apply(Some(&job))).await;
    assert_eq!((&done["status"], &done["id"]), (&json!("completed"), &job));
    let undo = format!("/v1/template-jobs/{}/undo", job.as_str().expect("an id"));
    let undone = scene
        .editor
        .send("POST", &undo, &[], None)
        .expect(200)
        .json();
    assert_eq!(undone["status"], "undone");
    scene.apply(Some(&job)).refused(409, "conflict");
    let body = json!({"workspaceId": scene.there, "jobId": job});
    let plan = format!("/v1/templates/{}/plan", scene.template);
    let plan = scene.editor.post(&plan, &body).expect(200).json();
    assert_eq!(plan["refusals"][0]["code"], "conflict");
    // Without it a new one begins.
    let new = finished(&scene.editor, scene.apply(None)).await;
    assert_eq!(new["status"], "completed");
    assert_ne!(new["id"], job);
}

/// Lets a job have ended before it published anything.
async fn rewind(world: &World, job: &Value) {
    let id: Cell = uuid(job["id"].as_str().expect("an id")).into();
    let sql =
        "DELETE FROM main.template_job_entries WHERE job_id = $1 AND (entry LIKE $2 OR entry = $3)";
    let published: Cell = r#"{"published"%"#.into();
    let completed: Cell = r#""completed""#.into();
    world.sql(sql, vec![id.clone(), published, completed]).await;
    let sql = "SELECT count(*) FROM template_job_entries WHERE job_id = $1";
    let left = world.sql(sql, vec![id.clone()]).await;
    let left: i64 = left[0].get(0).expect("a number");
    let sql = "UPDATE main.template_jobs SET status = 'failed', entries = $2 WHERE id = $1";
    world.sql(sql, vec![id, left.into()]).await;
}

async fn a_resumed_job_publishes_its_own_version_only(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let admin = world.as_user("admin@acme.test");
    let editor = world.as_user("editor@acme.test");
    let shop = Shop::new(&admin, world.acme);
    let source = admin.create(PATH, &workflows::body(&shop.workspace, false));
    assert!(world.switch(&workflows::workflow(&source), true).await);
    let template = shop.template(&admin, &admin, &json!({"rows": "all"}));
    let there = workspace(&admin, world.acme);
    let job = applied(&admin, &template, &json!({"workspaceId": there})).await;
    assert_eq!(job["report"]["published"], 1, "{job}");
    let versions = || {
        let mut all = editor.items(&format!("{PATH}?workspace_id={there}"));
        all.sort_by_key(|one| one["version"].as_i64());
        all
    };
    let standing = || -> Vec<[Value; 2]> {
        let all = versions().into_iter();
        all.map(|one| ["is_draft", "is_active"].map(|key| one[key].clone()))
            .collect()
    };
    let is = |draft: bool, active: bool| [json!(draft), json!(active)];
    let it = workflows::workflow(&versions()[0]);

    // The job ends with its rows, and the editor publishes what it brought: it runs for them.
    rewind(&world, &job).await;
    let as_draft = "UPDATE main.workflow_versions SET is_draft = $2, is_active = $3, publisher = NULL \
         WHERE workflow_id = $1";
    let of_it: Cell = uuid(&it).into();
    world
        .sql(as_draft, vec![of_it.clone(), true.into(), false.into()])
        .await;
    editor.post_to(&it, "/apply", &json!({})).expect(200);
    let resume = json!({"workspaceId": there, "jobId": job["id"]});
    let resumed = finished(&admin, apply(&admin, &template, &resume)).await;
    assert_eq!(resumed["report"]["published"], 1, "{resumed}");
    assert_eq!(standing(), [is(false, true)]);
    let me = editor.get("/v1/me").expect(200).json();
    let sql = "SELECT publisher FROM workflow_versions WHERE workflow_id = $1 AND version = 1";
    let publisher = world.sql(sql, vec![of_it.clone()]).await;
    let publisher: Option<Uuid> = publisher[0].get(0).expect("an id");
    assert_eq!(me["id"], publisher.expect("a publisher").to_string());

    // They begin another version as well.
    rewind(&world, &job).await;
    world
        .sql(as_draft, vec![of_it.clone(), true.into(), false.into()])
        .await;
    editor.post_to(&it, "/apply", &json!({})).expect(200);
    assert!(world.switch(&it, true).await);
    let other = json!({"graph_config": workflows::graph(&json!([{"key": "notify",
        "config": {"scopeType": "organization", "title": "theirs"}}]))});
    editor.post_to(&it, "/versions", &other).expect(201);
    let resumed = finished(&admin, apply(&admin, &template, &resume)).await;
    assert_eq!(resumed["status"], "completed", "{resumed}");
    assert_eq!(resumed["report"]["published"], 1, "{resumed}");
    assert_eq!(standing(), [is(false, true), is(true, false)]);

    // What they have published by then stays as it is, and runs for whoever published it.
    rewind(&world, &job).await;
    editor.post_to(&it, "/apply", &json!({})).expect(200);
    assert!(world.switch(&it, false).await);
    let resumed = finished(&admin, apply(&admin, &template, &resume)).await;
    assert_eq!(resumed["status"], "completed", "{resumed}");
    let report = &resumed["report"];
    assert_eq!(report["published"], 0, "{resumed}");
    assert_eq!(
        report["not_published"][0]["because"],
        json!([{"path": "", "reason": "workflow_moved"}]),
        "{resumed}"
    );
    assert_eq!(standing(), [is(false, false), is(false, false)]);
    let sql = "SELECT publisher FROM workflow_versions WHERE workflow_id = $1 AND version = 2";
    let publisher = world.sql(sql, vec![of_it]).await;
    let publisher: Option<Uuid> = publisher[0].get(0).expect("an id");
    assert_eq!(me["id"], publisher.expect("a publisher").to_string());
}
