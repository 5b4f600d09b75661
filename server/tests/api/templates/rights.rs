//! A job does what who asked for it may do, for as long as they may.

use serde_json::{Value, json};

use super::shop::{Shop, applied, apply, finished, named, working, workspace};
use crate::api::client::{Client, Response};
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};
use tplkit_server::auth::Role;
use tplkit_server_testkit::jobs as fixtures;
use uuid::Uuid;

on_both_stores!(
    a_job_of_who_lost_the_right_fails_and_others_go_on_with_it,
    who_goes_on_with_an_ended_job_decides_no_more_than_they_may,
    a_job_is_handed_over_to_who_may_less_once_it_has_ended,
    a_job_that_changes_what_its_creator_sees_goes_on,
);

struct Scene {
    world: World,
    owner: Client,
    template: String,
}

impl Scene {
    async fn new(place: Place) -> Scene {
        let world = World::new(place).await;
        let owner = world.as_user("owner@acme.test");
        let shop = Shop::new(&owner, world.acme);
        let template = shop.template(&owner, &owner, &json!({"rows": "all"}));
        Scene {
            world,
            owner,
            template,
        }
    }

    /// An editor of their own, and their id.
    async fn editor(&self, email: &str) -> (Client, String) {
        self.world.person(email).await;
        let id = self
            .world
            .member(self.world.acme, email, Role::Editor)
            .await;
        (self.world.as_user(email), id.to_string())
    }

    /// A key, and its id.
    fn key(&self, more: &Value) -> (Client, String) {
        let mut body = json!({"organization_id": self.world.acme, "name": "k",
            "scopes": ["read", "write", "structure"]});
        for (name, value) in more.as_object().expect("an object") {
            body[name] = value.clone();
        }
        let made = self.owner.post("/v1/api-keys", &body).expect(201).json();
        let text = |key: &str| made[key].as_str().expect("text").to_owned();
        (self.world.nobody.with(&text("key")), text("id"))
    }

    /// A job in a workspace of its own that nobody has taken up.
    fn stopped(&self, client: &Client) -> (Response, String) {
        let there = workspace(&self.owner, self.world.acme);
        let body = json!({"workspaceId": there});
        (apply(client, &self.template, &body).expect(202), there)
    }
}

async fn a_job_of_who_lost_the_right_fails_and_others_go_on_with_it(place: Place) {
    let scene = Scene::new(place).await;
    let owner = &scene.owner;
    let mut jobs = Vec::new();
    let (removed, who) = scene.editor("removed@acme.test").await;
    jobs.push(("removed", scene.stopped(&removed)));
    owner
        .delete(&scene.world.path(&format!("/members/{who}")))
        .expect(204);
    let (demoted, who) = scene.editor("demoted@acme.test").await;
    jobs.push(("demoted", scene.stopped(&demoted)));
    let viewer = json!({"role": "viewer"});
    owner
        .patch(&scene.world.path(&format!("/members/{who}")), &viewer)
        .expect(200);
    let (shut_out, _) = scene.editor("shut-out@acme.test").await;
    jobs.push(("shut out", scene.stopped(&shut_out)));
    let closed = json!({"access": "members"});
    let path = format!("/v1/workspaces/{}", jobs[2].1.1);
    owner.patch(&path, &closed).expect(200);
    let (key, id) = scene.key(&json!({}));
    jobs.push(("deleted", scene.stopped(&key)));
    owner.delete(&format!("/v1/api-keys/{id}")).expect(204);
    let (key, _) = scene.key(&json!({"expires_at": "2023-11-14T22:14:20Z"}));
    jobs.push(("expired", scene.stopped(&key)));
    let (listed, who) = scene.editor("listed@acme.test").await;
    let (still, there) = scene.stopped(&listed);
    let path = format!("/v1/workspaces/{there}");
    owner.patch(&path, &closed).expect(200);
    owner
        .send("PUT", &format!("{path}/members/{who}"), &[], None)
        .expect(204);
    scene.world.wait(61);
    let _working = working(&scene.world);
    for (how, (response, there)) in jobs {
        let job = finished(owner, response).await;
        assert_eq!(job["status"], "failed", "{how}: {job}");
        let error = job["error"].as_object().expect("an error");
        assert_eq!(error["code"], "forbidden", "{how}: {job}");
        assert!(
            error["detail"].is_string() && !error.contains_key("ref"),
            "{how}: {job}"
        );
        let tables = format!("/v1/features?workspace_id={there}");
        assert_eq!(owner.items(&tables).len(), 0, "{how}");
        // Somebody who may goes on with it.
        let body = json!({"workspaceId": there, "jobId": job["id"]});
        let done = finished(owner, apply(owner, &scene.template, &body)).await;
        assert_eq!(
            (&done["status"], &done["id"]),
            (&json!("completed"), &job["id"]),
            "{how}: {done}"
        );
        assert_eq!(done["error"], Value::Null);
        assert_eq!(owner.items(&tables).len(), 2, "{how}");
    }
    // Who still sees a closed workspace loses nothing.
    assert_eq!(finished(owner, still).await["status"], "completed");
}

/// An upgrade that opens a table is an administrator's to decide, also where an editor goes on with one of theirs.
async fn who_goes_on_with_an_ended_job_decides_no_more_than_they_may(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let editor = world.as_user("editor@acme.test");
    let shop = Shop::new(&owner, world.acme);
    let source = format!("/v1/features/{}", shop.clients);
    let own = json!({"config": {"rowAccess": "own"}});
    owner.patch(&source, &own).expect(200);
    let template = shop.template(&owner, &owner, &json!({"rows": "all"}));
    let there = workspace(&owner, world.acme);
    let work = working(&world);
    applied(&owner, &template, &json!({"workspaceId": there})).await;
    work.ends();
    let clients = named(&owner, &there, "clients").expect("a table");
    let seen = || editor.items(&format!("/v1/features/{clients}/rows"));
    assert_eq!(seen(), Vec::<Value>::new());
    owner.patch(&source, &json!({"config": {}})).expect(200);
    let export = format!("/v1/workspaces/{}/export", shop.workspace);
    let selection = json!({"onto": template, "rows": "all"});
    let package = owner.post(&export, &selection).expect(200);
    let kept = format!("/v1/templates/{template}/package");
    owner.json("PUT", &kept, &package.body).expect(200);

    let mut body = json!({"workspaceId": there, "upgrade": true});
    let job = apply(&owner, &template, &body).expect(202).json()["jobId"].clone();
    let cancel = format!("/v1/template-jobs/{}/cancel", job.as_str().expect("an id"));
    editor.send("POST", &cancel, &[], None).expect(202);
    body["jobId"] = job;
    let plan = format!("/v1/templates/{template}/plan");
    let plan = editor.post(&plan, &body).expect(200).json();
    let forbidden = |of: &Value| {
        let kept = of["kept"].as_array().expect("a list").iter();
        let mut kept = kept.filter(|kept| kept["because"] == "forbidden");
        kept.any(|kept| kept["path"] == "config.rowAccess")
    };
    assert!(forbidden(&plan), "{plan}");
    body["plan"] = plan["digest"].clone();
    let _working = working(&world);
    let done = finished(&editor, apply(&editor, &template, &body)).await;
    assert_eq!(done["status"], "completed", "{done}");
    assert!(forbidden(&done["report"]), "{done}");
    let table = owner.get(&format!("/v1/features/{clients}")).expect(200);
    assert_eq!(table.json()["config"]["rowAccess"], "own");
    assert_eq!(seen(), Vec::<Value>::new());
}

async fn a_job_is_handed_over_to_who_may_less_once_it_has_ended(place: Place) {
    let scene = Scene::new(place).await;
    let World { store, context, .. } = &scene.world;
    let (editor, who) = scene.editor("resumes@acme.test").await;
    let who = Uuid::parse_str(&who).expect("an id");
    let text = |response: Response| {
        let accepted = response.json();
        accepted["jobId"].as_str().expect("an id").to_owned()
    };
    let creator = async |id: &str| {
        let id = Uuid::parse_str(id).expect("an id");
        fixtures::job(store, context, id).await.created_by
    };
    let resume = |client: &Client, there: &str, id: &str| {
        let body = json!({"workspaceId": there, "jobId": id});
        apply(client, &scene.template, &body).expect(202);
    };
    let cancel = |id: &str| {
        let path = format!("/v1/template-jobs/{id}/cancel");
        editor.send("POST", &path, &[], None).expect(202);
    };
    let (response, there) = scene.stopped(&scene.owner);
    let id = text(response);
    // One that waits goes on as it is.
    let asked = creator(&id).await;
    resume(&editor, &there, &id);
    assert_eq!(creator(&id).await, asked);
    cancel(&id);
    resume(&editor, &there, &id);
    assert_eq!(creator(&id).await, Some(who));
    // Who administers goes on with what an editor asked for.
    cancel(&id);
    resume(&scene.owner, &there, &id);
    assert_eq!(creator(&id).await, Some(who));
}

/// A table that the job itself creates is one more of which an editor sees the own rows alone: the attempt that created
/// it ends there, and the job does not.
async fn a_job_that_changes_what_its_creator_sees_goes_on(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let editor = world.as_user("editor@acme.test");
    let shop = Shop::new(&owner, world.acme);
    let own = json!({"config": {"rowAccess": "own"}});
    let source = format!("/v1/features/{}", shop.clients);
    owner.patch(&source, &own).expect(200);
    let template = shop.template(&owner, &owner, &json!({"rows": "all"}));
    let _working = working(&world);
    let there = workspace(&editor, world.acme);
    let job = applied(&editor, &template, &json!({"workspaceId": there})).await;
    assert_eq!(job["error"], Value::Null);
    let clients = named(&editor, &there, "clients").expect("a table");
    let table = editor.get(&format!("/v1/features/{clients}")).expect(200);
    assert_eq!(table.json()["config"]["rowAccess"], "own");
    let counts = job["report"]["rows"].as_object().expect("tables").values();
    let mut inserted: Vec<u64> = counts
        .map(|counts| counts["inserted"].as_u64().expect("a number"))
        .collect();
    inserted.sort_unstable();
    assert_eq!(inserted, [2, 3], "{job}");
    for (name, count) in [("clients", 2), ("orders", 3)] {
        let table = named(&editor, &there, name).expect("a table");
        let rows = editor.items(&format!("/v1/features/{table}/rows"));
        assert_eq!(rows.len(), count, "{name}");
    }
}
