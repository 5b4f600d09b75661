//! Automations that an undo publishes: they see what whoever asked for the undo sees, not who started the job.

use std::time::Duration;

use serde_json::{Value, json};
use tplkit_server::auth::Role;
use tplkit_server::jobs::Undo;
use tplkit_server_testkit::jobs as fixtures;

use super::shop;
use super::upgrade::args;
use super::upgrade_automations::without_automation;
use crate::api::client::Client;
use crate::api::model::{id, uuid};
use crate::api::rows::person;
use crate::api::runs::{Stage, runs, write};
use crate::api::workflows::{PATH, workflow};
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    an_undo_gives_nobody_the_visibility_of_who_started_the_job,
    what_an_undo_publishes_outlives_who_upgraded,
    a_worker_ends_an_undo_for_who_asked_for_it,
    an_automation_that_comes_back_is_of_who_asked_for_it,
);

/// What nobody but administrators and its creator may read.
const WORD: &str = "hushhush";

/// An automation that counts rows which one person alone sees, applied by that person and live.
struct Scene {
    stage: Stage,
    owner: Client,
    template: String,
    there: String,
    it: String,
    /// A row of it starts the automation.
    watched: String,
    /// What is written here everybody reads.
    out: String,
    _working: shop::Working,
}

impl Scene {
    async fn new(place: Place) -> Scene {
        let stage = Stage::new(place).await;
        let owner = stage.world.as_user("owner@acme.test");
        let (watched, hidden, out) = (stage.model.feature.clone(), stage.table(), stage.table());
        let steps = json!([
            {"key": "feature.read", "id": "stp_000000000001", "config": {"featureId": hidden}},
            write("insert", &out, &[("n", json!("{{vars.steps.stp_000000000001.count}}"))]),
            {"key": "notify", "config": {"scopeType": "organization", "title": "one"}},
        ]);
        stage
            .fires(&Stage::on(&watched, &["created"], &[]), &steps)
            .await;
        let source = shop::Shop {
            workspace: stage.model.workspace.clone(),
            clients: watched,
            orders: out,
        };
        let template = source.template(&owner, &owner, &json!({}));
        let working = shop::working(&stage.world);
        let there = shop::workspace(&owner, stage.world.acme);
        let job = shop::applied(&owner, &template, &json!({"workspaceId": there})).await;
        assert_eq!(job["report"]["published"], 1, "{job}");
        let active = owner.items(&format!("{PATH}?workspace_id={there}&active=true"));
        let version = &active[0];
        let config = |step: usize| &version["graph_config"]["steps"][step]["config"];
        let text = |value: &Value| value.as_str().expect("an id").to_owned();
        let hidden = text(&config(0)["featureId"]);
        let data = json!({"data": {"note": WORD}});
        owner.create(&Stage::rows(&hidden), &data);
        let own = json!({"config": {"rowAccess": "own"}});
        owner
            .patch(&format!("/v1/features/{hidden}"), &own)
            .expect(200);
        Scene {
            it: workflow(version),
            watched: text(&version["trigger_config"]["config"]["featureId"]),
            out: text(&config(1)["targetFeatureId"]),
            stage,
            owner,
            template,
            there,
            _working: working,
        }
    }

    /// An editor writes a row: how many of the hidden rows the run sees.
    async fn seen(&self) -> Value {
        self.stage.row(&self.watched, &json!({"note": "x"}));
        self.stage.run_due().await;
        let run = runs(&self.owner, &self.it).pop().expect("a run");
        assert_eq!(run["status"], "succeeded", "{run}");
        run["steps"][0]["output"]["count"].clone()
    }

    /// The steps in force.
    fn steps(&self) -> Vec<Value> {
        let path = format!("{PATH}?workspace_id={}&active=true", self.there);
        let steps = self.owner.items(&path)[0]["graph_config"]["steps"].clone();
        steps.as_array().expect("a list").clone()
    }

    /// The author changes the package.
    fn publish(&self, change: impl FnOnce(&mut Value)) {
        let kept = format!("/v1/templates/{}/package", self.template);
        let mut package = self.owner.get(&kept).expect(200).json();
        change(&mut package);
        let package = package.to_string();
        self.owner.json("PUT", &kept, &package).expect(200);
    }

    async fn upgraded(&self, client: &Client, decisions: &Value) -> Value {
        let body = json!({"workspaceId": self.there, "upgrade": true, "decisions": decisions});
        shop::applied(client, &self.template, &body).await
    }

    fn undo(client: &Client, job: &Value) {
        let undo = format!("/v1/template-jobs/{}/undo", id(job));
        client.send("POST", &undo, &[], None).expect(200);
    }
}

fn retitled(package: &mut Value) {
    let args = args(package, "create_workflow_v2", "a");
    args["graphConfig"]["steps"][2]["config"]["title"] = "two".into();
}

async fn an_undo_gives_nobody_the_visibility_of_who_started_the_job(place: Place) {
    let scene = Scene::new(place).await;
    let Scene { owner, stage, .. } = &scene;
    let editor = &stage.editor;
    assert_eq!(scene.seen().await, 1);
    // An editor has the automation carry what it finds to where everybody reads it.
    let mut steps = scene.steps();
    let carry = write("insert", &scene.out, &[("note", json!("{{record.note}}"))]);
    steps.push(carry);
    let version = json!({"graph_config": {"steps": steps}});
    editor.post_to(&scene.it, "/versions", &version).expect(201);
    editor.post_to(&scene.it, "/apply", &json!({})).expect(200);
    assert_eq!(scene.seen().await, 0);
    // The owner takes that back, and the editor takes back what the owner did.
    let kept = format!("/v1/templates/{}/package", scene.template);
    let package = owner.get(&kept).expect(200).json();
    let items = package["manifest"]["items"].as_array().expect("items");
    let item = items.iter().find(|item| item["kind"] == "workflow");
    let reference = item.expect("an automation")["ref"].as_str();
    let decisions = json!({reference.expect("a ref"): {"shape": "theirs"}});
    let job = scene.upgraded(owner, &decisions).await;
    assert_eq!(job["report"]["published"], 1, "{job}");
    assert_eq!((scene.steps().len(), scene.seen().await), (3, json!(1)));
    Scene::undo(editor, &job);
    assert_eq!((scene.steps().len(), scene.seen().await), (4, json!(0)));
    let read = editor.get(&format!("{}?limit=200", Stage::rows(&scene.out)));
    assert!(!read.expect(200).body.contains(WORD));
    // Whoever sees the rows and takes it back themselves decides so.
    let job = scene.upgraded(owner, &decisions).await;
    Scene::undo(owner, &job);
    assert_eq!((scene.steps().len(), scene.seen().await), (4, json!(1)));
}

async fn what_an_undo_publishes_outlives_who_upgraded(place: Place) {
    let scene = Scene::new(place).await;
    let Scene { owner, stage, .. } = &scene;
    let world = &stage.world;
    world.person("second@acme.test").await;
    let second = world
        .member(world.acme, "second@acme.test", Role::Editor)
        .await;
    scene.publish(retitled);
    let upgrading = world.as_user("second@acme.test");
    let job = scene.upgraded(&upgrading, &json!({})).await;
    assert_eq!(scene.seen().await, 0);
    let member = world.path(&format!("/members/{second}"));
    owner.delete(&member).expect(204);
    Scene::undo(owner, &job);
    assert_eq!(scene.steps()[2]["config"]["title"], "one");
    assert_eq!(scene.seen().await, 1);
}

async fn a_worker_ends_an_undo_for_who_asked_for_it(place: Place) {
    let scene = Scene::new(place).await;
    let Scene { owner, stage, .. } = &scene;
    let (store, context) = (&stage.world.store, &stage.world.context);
    scene.publish(retitled);
    let job = scene.upgraded(owner, &json!({})).await;
    assert_eq!(scene.seen().await, 1);
    // Whoever asked died before anything was gone.
    let begun = fixtures::job(store, context, uuid(&id(&job))).await;
    let by = person(&stage.editor);
    let undo = Undo::begin(store, context, &begun, by, false, 60_000_000).await;
    let undo = undo.expect("the store works").expect("is free");
    let released = undo.lease.release(store, context, 0).await;
    released.expect("is free");
    let path = format!("/v1/template-jobs/{}", id(&job));
    while owner.get(&path).expect(200).json()["status"] != "undone" {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(scene.steps()[2]["config"]["title"], "one");
    assert_eq!(scene.seen().await, 0);
}

async fn an_automation_that_comes_back_is_of_who_asked_for_it(place: Place) {
    let scene = Scene::new(place).await;
    let Scene { owner, stage, .. } = &scene;
    assert_eq!(scene.seen().await, 1);
    assert!(stage.world.switch(&scene.it, false).await);
    let mut reference = String::new();
    scene.publish(|package| reference = without_automation(package));
    let job = scene.upgraded(owner, &json!({reference: "delete"})).await;
    let all = format!("{PATH}?workspace_id={}", scene.there);
    assert_eq!(owner.items(&all), [Value::Null; 0], "{job}");
    Scene::undo(&stage.editor, &job);
    assert!(stage.world.switch(&scene.it, true).await);
    assert_eq!(scene.seen().await, 0);
}
