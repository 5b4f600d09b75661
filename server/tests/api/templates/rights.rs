//! A job does what who asked for it may do, for as long as they may.

use serde_json::{Value, json};

use super::shop::{Shop, apply, finished, working, workspace};
use crate::api::client::{Client, Response};
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};
use tplkit_server::auth::Role;

on_both_stores!(a_job_of_who_lost_the_right_fails_and_others_go_on_with_it,);

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
