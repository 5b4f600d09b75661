//! Automations that name what whoever upgrades does not see, or what is gone: by hand they could not save such a version,
//! so the one that the upgrade writes waits as a draft.

use serde_json::{Value, json};
use tplkit_server::auth::Role;

use super::shop::{Working, applied, working, workspace};
use super::upgrade::args;
use crate::api::client::Client;
use crate::api::model::id;
use crate::api::rows::{person, seed_file};
use crate::api::workflows::{PATH, workflow};
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_version_with_a_file_that_is_not_seen_waits,
    a_version_for_somebody_who_left_waits,
);

/// An automation that sends a mail and notifies, applied and live.
struct Scene {
    world: World,
    admin: Client,
    template: String,
    there: String,
    it: String,
    _working: Working,
}

impl Scene {
    async fn new(place: Place) -> Scene {
        let world = World::new(place).await;
        let working = working(&world);
        let admin = world.as_user("admin@acme.test");
        let from = workspace(&admin, world.acme);
        let mail = json!({"to": "a@b.test", "subject": "one", "body": "b", "attachmentFileId": ""});
        let everybody = json!({"scopeType": "organization", "title": "t"});
        let notify = json!({"key": "notify", "config": everybody});
        let steps = json!([{"key": "email.send", "config": mail}, notify]);
        let body = json!({"workspace_id": from, "name": "Flow", "is_draft": false,
            "trigger_config": {"type": "manual"}, "graph_config": {"steps": steps}});
        let made = workflow(&admin.create(PATH, &body));
        assert!(world.switch(&made, true).await);
        let export = format!("/v1/workspaces/{from}/export");
        let package = admin.post(&export, &json!({})).expect(200);
        let made = admin.json("POST", "/v1/templates/import", &package.body);
        let template = id(&made.expect(201).json());
        let there = workspace(&admin, world.acme);
        let job = applied(&admin, &template, &json!({"workspaceId": there})).await;
        assert_eq!(job["report"]["published"], 1, "{job}");
        let mut scene = Scene {
            world,
            admin,
            template,
            there,
            it: String::new(),
            _working: working,
        };
        scene.it = workflow(&scene.in_force());
        scene
    }

    /// The version that fires.
    fn in_force(&self) -> Value {
        let path = format!("{PATH}?workspace_id={}&active=true", self.there);
        self.admin.items(&path)[0].clone()
    }

    fn subject(&self) -> Value {
        self.in_force()["graph_config"]["steps"][0]["config"]["subject"].clone()
    }

    /// An administrator publishes a version with another step.
    fn publish(&self, step: usize, change: impl FnOnce(&mut Value)) -> Value {
        let mut graph = self.in_force()["graph_config"].clone();
        change(&mut graph["steps"][step]["config"]);
        let version = json!({"graph_config": graph});
        let draft = self.admin.post_to(&self.it, "/versions", &version);
        draft.expect(201);
        self.release();
        version
    }

    /// The newest draft takes the place of what is in force.
    fn release(&self) {
        let applied = self.admin.post_to(&self.it, "/apply", &json!({}));
        applied.expect(200);
    }

    /// The author gives the mail another subject.
    fn retitle(&self, subject: &str) {
        let kept = format!("/v1/templates/{}/package", self.template);
        let mut package = self.admin.get(&kept).expect(200).json();
        let args = args(&mut package, "create_workflow_v2", "Flow");
        args["graphConfig"]["steps"][0]["config"]["subject"] = subject.into();
        let package = package.to_string();
        self.admin.json("PUT", &kept, &package).expect(200);
    }

    fn upgrade(&self) -> Value {
        json!({"workspaceId": self.there, "upgrade": true})
    }

    fn plan(&self, client: &Client) -> Value {
        let path = format!("/v1/templates/{}/plan", self.template);
        let plan = client.post(&path, &self.upgrade()).expect(200).json();
        assert_eq!(plan["refusals"], json!([]), "{plan}");
        plan
    }

    /// The upgrade of that person is planned and done as a draft that waits for one field.
    async fn waits(&self, client: &Client, path: &str) {
        let before = self.in_force();
        let plan = self.plan(client);
        assert_eq!(plan["go_live"], json!([]), "{plan}");
        let because = json!([{"path": path, "reason": "step_config_invalid"}]);
        assert_eq!(plan["stays_draft"][0]["because"], because, "{plan}");
        let job = applied(client, &self.template, &self.upgrade()).await;
        let report = &job["report"];
        assert_eq!(report["published"], 0, "{job}");
        assert_eq!(report["not_published"], plan["stays_draft"], "{job}");
        assert_eq!(self.in_force(), before);
    }

    /// That of a person who sees everything goes live.
    async fn goes_live(&self, client: &Client) {
        let plan = self.plan(client);
        assert_eq!(plan["go_live"][0]["name"], "Flow", "{plan}");
        let job = applied(client, &self.template, &self.upgrade()).await;
        assert_eq!(job["report"]["published"], 1, "{job}");
    }
}

async fn a_version_with_a_file_that_is_not_seen_waits(place: Place) {
    let scene = Scene::new(place).await;
    let Scene { world, admin, .. } = &scene;
    let editor = world.as_user("editor@acme.test");
    let there = scene.there.parse().expect("an id");
    let file = seed_file(world, (world.acme, there), person(admin)).await;
    let version = scene.publish(0, |mail| mail["attachmentFileId"] = json!(file));
    let by_hand = editor.post_to(&scene.it, "/versions", &version);
    by_hand.refused(422, "invalid_automation");
    scene.retitle("two");
    let path = "graphConfig.steps.0.config.attachmentFileId";
    scene.waits(&editor, path).await;
    assert_eq!(scene.subject(), "one");
    // Somebody who sees the file publishes what waits.
    scene.release();
    assert_eq!(scene.subject(), "two");
    scene.retitle("three");
    scene.goes_live(admin).await;
    assert_eq!(scene.subject(), "three");
}

async fn a_version_for_somebody_who_left_waits(place: Place) {
    let scene = Scene::new(place).await;
    let Scene { world, admin, .. } = &scene;
    world.person("second@acme.test").await;
    let second = world
        .member(world.acme, "second@acme.test", Role::Viewer)
        .await;
    scene.publish(1, |config| {
        *config = json!({"scopeType": "user", "scopeId": second, "title": "t"});
    });
    scene.retitle("two");
    scene.goes_live(admin).await;
    let owner = world.as_user("owner@acme.test");
    let member = world.path(&format!("/members/{second}"));
    owner.delete(&member).expect(204);
    scene.retitle("three");
    let path = "graphConfig.steps.1.config.scopeId";
    scene.waits(admin, path).await;
    assert_eq!(scene.subject(), "two");
}
