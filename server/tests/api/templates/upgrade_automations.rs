//! Automations of an upgrade: versions that are published at the end, drafts that wait for somebody.

use serde_json::{Value, json};
use tplkit_server::automation::{RunExecutor, Settings};

use super::shop::{applied, apply, column, feature, finished, working, workspace};
use super::upgrade::args;
use crate::api::client::Client;
use crate::api::model::id;
use crate::api::runs::runs;
use crate::api::workflows::{PATH, body, workflow};
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_version_is_published_and_taken_back_by_another,
    a_paused_one_stays_paused_and_drafts_of_people_stay,
    another_target_leaves_a_draft_without_its_secret,
    one_that_comes_back_runs_its_own_steps,
);

/// An automation that speaks to a server, applied, whole and live.
struct Scene {
    world: World,
    admin: Client,
    template: String,
    there: String,
    workflow: String,
    connection: String,
    _working: super::shop::Working,
}

const STEP: &str = "stp_aaaaaaaaaaaa";

impl Scene {
    async fn new(place: Place) -> Scene {
        let world = World::new(place).await;
        let working = working(&world);
        let admin = world.as_user("admin@acme.test");
        for name in ["erp", "other"] {
            let sql = "INSERT INTO main.connections {into $1} (organization_id, id, name, kind, url, \
                 created_at, updated_at) VALUES ($1, $2, $3, 'http', 'https://example.test', 0, 0)";
            let parameters = vec![world.acme.into(), world.context.id().into(), name.into()];
            world.sql(sql, parameters).await;
        }
        let from = workspace(&admin, world.acme);
        let config = json!({"connectionName": "erp", "path": "/", "bearerToken": "hush"});
        let body = json!({"workspace_id": from, "name": "Flow", "is_draft": false,
            "trigger_config": {"type": "manual"},
            "graph_config": {"steps": [{"key": "http.request", "id": STEP, "config": config}]}});
        let made = admin.create("/v1/workflows-v2", &body);
        assert!(
            world
                .switch(made["workflow_id"].as_str().expect("an id"), true)
                .await
        );
        let path = format!("/v1/workspaces/{from}/export");
        let package = admin.post(&path, &json!({})).expect(200);
        let parsed = package.json();
        let connection = parsed["manifest"]["dependencies"][0]["ref"].as_str();
        let connection = connection.expect("a ref").to_owned();
        let made = admin.json("POST", "/v1/templates/import", &package.body);
        let template = id(&made.expect(201).json());
        let there = workspace(&admin, world.acme);
        let mut scene = Scene {
            world,
            admin,
            template,
            there,
            workflow: String::new(),
            connection,
            _working: working,
        };
        let first = scene
            .body(&json!({"resolutions": {&scene.connection: {"action": "map", "id": "erp"}}}));
        let job = applied(&scene.admin, &scene.template, &first).await;
        assert_eq!(job["report"]["published"], 0, "{job}");
        let all = scene.versions();
        scene.workflow = all[0]["workflow_id"].as_str().expect("an id").to_owned();
        // Somebody enters the secret.
        scene.publish_draft().expect(200);
        assert!(scene.switch(true).await);
        let config = json!({"connectionName": "erp", "path": "/", "bearerToken": "s3cret"});
        scene.draft(&config);
        scene.publish_draft().expect(200);
        scene
    }

    fn body(&self, more: &Value) -> Value {
        let mut body = json!({"workspaceId": self.there});
        for (key, value) in more.as_object().expect("an object") {
            body[key] = value.clone();
        }
        body
    }

    fn upgrade(&self, more: &Value) -> Value {
        let mut body = self.body(more);
        body["upgrade"] = true.into();
        body
    }

    async fn switch(&self, on: bool) -> bool {
        self.world.switch(&self.workflow, on).await
    }

    /// All versions, the newest first.
    fn versions(&self) -> Vec<Value> {
        let path = format!("/v1/workflows-v2?workspace_id={}&limit=200", self.there);
        let mut all = self.admin.items(&path);
        all.sort_by_key(|one| std::cmp::Reverse(one["version"].as_i64()));
        all
    }

    fn draft(&self, config: &Value) -> Value {
        let path = format!("/v1/workflows-v2/{}/versions", self.workflow);
        let graph = json!({"steps": [{"key": "http.request", "id": STEP, "config": config}]});
        self.admin.create(&path, &json!({"graph_config": graph}))
    }

    fn publish_draft(&self) -> crate::api::client::Response {
        let path = format!("/v1/workflows-v2/{}/apply", self.workflow);
        self.admin.send("POST", &path, &[], None)
    }

    /// The author gives the step another path.
    fn publish(&self, path: &str) {
        let kept = format!("/v1/templates/{}/package", self.template);
        let mut package = self.admin.get(&kept).expect(200).json();
        let args = args(&mut package, "create_workflow_v2", "Flow");
        args["graphConfig"]["steps"][0]["config"]["path"] = path.into();
        self.admin
            .json("PUT", &kept, &package.to_string())
            .expect(200);
    }

    fn plan(&self, body: &Value) -> Value {
        let path = format!("/v1/templates/{}/plan", self.template);
        self.admin.post(&path, body).expect(200).json()
    }

    fn undo(&self, job: &Value) {
        let path = format!(
            "/v1/template-jobs/{}/undo",
            job["id"].as_str().expect("an id")
        );
        self.admin.send("POST", &path, &[], None).expect(200);
    }
}

/// Its path, its secret as it is shown, whether it is a draft and whether it fires.
fn summary(version: &Value) -> [Value; 4] {
    let config = &version["graph_config"]["steps"][0]["config"];
    [
        config["path"].clone(),
        config["bearerToken"].clone(),
        version["is_draft"].clone(),
        version["is_active"].clone(),
    ]
}

fn is(path: &str, secret: &str, draft: bool, active: bool) -> [Value; 4] {
    [path.into(), secret.into(), draft.into(), active.into()]
}

const MASK: &str = "********";

async fn a_version_is_published_and_taken_back_by_another(place: Place) {
    let scene = Scene::new(place).await;
    let before = scene.versions();
    assert_eq!(summary(&before[0]), is("/", MASK, false, true));
    scene.publish("/new");
    let plan = scene.plan(&scene.upgrade(&json!({})));
    assert_eq!(plan["go_live"][0]["name"], "Flow", "{plan}");
    assert_eq!(plan["stays_draft"], json!([]));
    let job = applied(&scene.admin, &scene.template, &scene.upgrade(&json!({}))).await;
    assert_eq!(job["report"]["published"], 1, "{job}");
    assert_eq!(job["report"]["not_published"], json!([]));
    let after = scene.versions();
    assert_eq!(summary(&after[0]), is("/new", MASK, false, true));
    assert_eq!(after[0]["base_version"], before[0]["version"]);
    assert_eq!(after.len(), before.len() + 1);
    assert_eq!(summary(&after[1]), is("/", MASK, false, false));
    scene.undo(&job);
    let undone = scene.versions();
    assert_eq!(summary(&undone[0]), is("/", MASK, false, true));
    assert_eq!(undone.len(), after.len() + 1);
}

async fn a_paused_one_stays_paused_and_drafts_of_people_stay(place: Place) {
    let scene = Scene::new(place).await;
    let config = json!({"connectionName": "erp", "path": "/ours", "bearerToken": MASK});
    let draft = scene.draft(&config);
    assert!(scene.switch(false).await);
    scene.publish("/new");
    let plan = scene.plan(&scene.upgrade(&json!({})));
    assert_eq!(
        (&plan["go_live"], &plan["conflicts"]),
        (&json!([]), &json!([])),
        "{plan}"
    );
    let job = applied(&scene.admin, &scene.template, &scene.upgrade(&json!({}))).await;
    assert_eq!(job["report"]["published"], 0, "{job}");
    assert_eq!(job["report"]["not_published"], json!([]));
    let all = scene.versions();
    assert_eq!(summary(&all[0]), is("/new", MASK, false, false));
    assert_eq!(all[1]["id"], draft["id"]);
    assert_eq!(summary(&all[1]), is("/ours", MASK, true, false));
    // What it was begun on is in force no more.
    scene.publish_draft().refused(409, "draft_stale");
    assert!(scene.switch(true).await);
    assert_eq!(summary(&scene.versions()[0]), is("/new", MASK, false, true));
}

async fn another_target_leaves_a_draft_without_its_secret(place: Place) {
    let scene = Scene::new(place).await;
    let before = scene.versions();
    let other = json!({"resolutions": {&scene.connection: {"action": "map", "id": "other"}}});
    let upgrade = scene.upgrade(&other);
    let plan = scene.plan(&upgrade);
    let drafts = &plan["stays_draft"];
    assert_eq!(
        drafts[0]["because"],
        json!([{"path": "graphConfig.steps.0.config.bearerToken", "reason": "redacted"}]),
        "{plan}"
    );
    assert_eq!(
        plan["update"][0]["path"],
        format!("steps.{STEP}.connectionName")
    );
    let job = applied(&scene.admin, &scene.template, &upgrade).await;
    assert_eq!(&job["report"]["not_published"], drafts);
    assert_eq!(job["report"]["published"], 0);
    let after = scene.versions();
    assert_eq!(summary(&after[0]), is("/", "", true, false));
    let connection = &after[0]["graph_config"]["steps"][0]["config"]["connectionName"];
    assert_eq!(connection, "other");
    // What is in force goes on.
    assert_eq!(after[1..], before[..]);
    let path = format!("/v1/workspaces/{}/templates", scene.there);
    let status = scene.admin.items(&path);
    assert_eq!(status[0]["secrets_missing"], 1, "{status:?}");
    // Nothing is left to do, and the draft waits.
    let again = finished(
        &scene.admin,
        apply(&scene.admin, &scene.template, &scene.upgrade(&json!({}))),
    )
    .await;
    assert_eq!(again["report"]["structure_updated"], 0, "{again}");
    scene.undo(&again);
    scene.undo(&job);
    assert_eq!(scene.versions(), before);
}

/// Takes the only automation out of a package, and gives its ref.
pub(super) fn without_automation(package: &mut Value) -> String {
    let items = package["manifest"]["items"].as_array_mut().expect("items");
    let at = items.iter().position(|item| item["kind"] == "workflow");
    let item = items.remove(at.expect("an automation"));
    let reference = item["ref"].as_str().expect("a ref").to_owned();
    let steps = package["manifest"]["plan"]["steps"].as_array_mut();
    let steps = steps.expect("steps");
    steps.retain(|step| step["ref"] != reference.as_str());
    reference
}

async fn one_that_comes_back_runs_its_own_steps(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let admin = world.as_user("admin@acme.test");
    let from = workspace(&admin, world.acme);
    let notes = feature(&admin, &from, "Notes");
    column(&admin, &notes, &json!({"label": "Title", "type": "text"}));
    let source = workflow(&admin.create(PATH, &body(&from, false)));
    assert!(world.switch(&source, true).await);
    let export = format!("/v1/workspaces/{from}/export");
    let package = admin.post(&export, &json!({})).expect(200);
    let made = admin.json("POST", "/v1/templates/import", &package.body);
    let template = id(&made.expect(201).json());
    let mut package = package.json();
    let there = workspace(&admin, world.acme);
    applied(&admin, &template, &json!({"workspaceId": there})).await;
    let all = || admin.items(&format!("{PATH}?workspace_id={there}"));
    let it = workflow(&all()[0]);
    // One executor, as a process has: it remembers what it has run.
    let executor = RunExecutor::new(
        &world.store,
        &world.context,
        &world.app.tables,
        &world.app.runs,
        Settings::default(),
    );
    let run = async || {
        admin.post_to(&it, "/runs", &json!({})).expect(202);
        assert_eq!(executor.run_due().await.expect("runs"), 1);
        let ran = runs(&admin, &it).pop().expect("a run");
        ran["steps"][0]["input"]["title"].clone()
    };
    assert_eq!(run().await, "x");

    let publish = |package: &Value| {
        let kept = format!("/v1/templates/{template}/package");
        let kept = admin.json("PUT", &kept, &package.to_string());
        kept.expect(200);
    };
    let upgrade = json!({"workspaceId": there, "upgrade": true});
    let step =
        &mut args(&mut package, "create_workflow_v2", "an automation")["graphConfig"]["steps"][0];
    step["config"]["title"] = "two".into();
    publish(&package);
    applied(&admin, &template, &upgrade).await;
    assert!(world.switch(&it, false).await);
    let reference = without_automation(&mut package);
    publish(&package);
    let mut delete = upgrade.clone();
    delete["decisions"] = json!({reference: "delete"});
    let job = applied(&admin, &template, &delete).await;
    assert_eq!(all(), [Value::Null; 0], "{job}");
    let undo = format!("/v1/template-jobs/{}/undo", id(&job));
    admin.send("POST", &undo, &[], None).expect(200);
    assert!(world.switch(&it, true).await);
    assert_eq!(all()[0]["version"], 1);
    assert_eq!(run().await, "two");
}
