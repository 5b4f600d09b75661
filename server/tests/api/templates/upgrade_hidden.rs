//! Rows and leaves that whoever upgrades may not see or decide: compared by the job, never shown.

use serde_json::{Value, json};

use super::shop::{Shop, applied, apply, named, rows, working, workspace};
use super::upgrade::args;
use crate::api::client::{Client, Response};
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    hidden_rows_are_one_entry_and_are_upgraded,
    a_kept_refusal_shows_no_cell_that_was_hidden_since,
    a_kept_undo_reports_no_table_that_was_hidden_since,
    visibility_is_for_those_who_may_decide_it,
);

/// A template that an administrator applied, and its package with other names of clients.
struct Scene {
    _world: World,
    editor: Client,
    admin: Client,
    template: String,
    there: String,
    clients: String,
    _working: super::shop::Working,
}

impl Scene {
    async fn new(place: Place) -> Scene {
        let world = World::new(place).await;
        let working = working(&world);
        let editor = world.as_user("editor@acme.test");
        let admin = world.as_user("admin@acme.test");
        let shop = Shop::new(&editor, world.acme);
        let template = shop.template(&editor, &admin, &json!({"rows": "all"}));
        let there = workspace(&admin, world.acme);
        applied(&admin, &template, &json!({"workspaceId": there})).await;
        let clients = named(&admin, &there, "clients").expect("a table");
        Scene {
            _world: world,
            editor,
            admin,
            template,
            there,
            clients,
            _working: working,
        }
    }

    fn publish(&self, change: impl FnOnce(&mut Value)) {
        let kept = format!("/v1/templates/{}/package", self.template);
        let mut package = self.admin.get(&kept).expect(200).json();
        change(&mut package);
        self.admin
            .json("PUT", &kept, &package.to_string())
            .expect(200);
    }

    fn body(&self, more: &Value) -> Value {
        let mut body = json!({"workspaceId": self.there, "upgrade": true});
        for (key, value) in more.as_object().expect("an object") {
            body[key] = value.clone();
        }
        body
    }

    fn plan(&self, client: &Client, more: &Value) -> Value {
        let path = format!("/v1/templates/{}/plan", self.template);
        client.post(&path, &self.body(more)).expect(200).json()
    }

    fn names(&self) -> Vec<Value> {
        let rows = rows(&self.admin, &self.clients);
        rows.iter().map(|row| row["name"].clone()).collect()
    }
}

fn rename(package: &mut Value, names: [&str; 2]) {
    for entry in package["payloads"].as_array_mut().expect("payloads") {
        for row in entry["rows"].as_array_mut().expect("rows") {
            match row["data"].get("code").and_then(Value::as_str) {
                Some("a") => row["data"]["name"] = names[0].into(),
                Some("b") => row["data"]["name"] = names[1].into(),
                _ => {}
            }
        }
    }
}

fn replayed(response: &Response) -> bool {
    response.header("idempotency-replayed") == Some("true")
}

async fn a_kept_refusal_shows_no_cell_that_was_hidden_since(place: Place) {
    let scene = Scene::new(place).await;
    let Scene { editor, admin, .. } = &scene;
    let path = format!("/v1/features/{}", scene.clients);
    let first = admin.items(&format!("{path}/rows"))[0].clone();
    let of = format!("{path}/rows/{}", first["id"].as_str().expect("an id"));
    let mut data = first["data"].clone();
    data["name"] = "Secret".into();
    admin.patch(&of, &json!({"data": data})).expect(200);
    scene.publish(|package| rename(package, ["A", "B"]));
    let body = scene.body(&json!({}));
    let keyed = || {
        let path = format!("/v1/templates/{}/apply", scene.template);
        let headers = [
            ("content-type", "application/json"),
            ("idempotency-key", "k"),
        ];
        let sent = body.to_string();
        let response = editor.send("POST", &path, &headers, Some(sent.as_bytes()));
        response.refused(422, "upgrade_conflicts")
    };
    let shown = keyed();
    assert!(shown.body.contains("Secret"), "{shown:?}");
    let again = keyed();
    assert!(replayed(&again));
    assert_eq!(again.body, shown.body);
    let own = json!({"config": {"rowAccess": "own"}});
    admin.patch(&path, &own).expect(200);
    let hidden = keyed();
    assert!(!hidden.body.contains("Secret"), "{hidden:?}");
    let today = apply(editor, &scene.template, &body);
    assert_eq!(hidden.body, today.body);
}

async fn a_kept_undo_reports_no_table_that_was_hidden_since(place: Place) {
    let scene = Scene::new(place).await;
    let Scene { editor, admin, .. } = &scene;
    scene.publish(|package| rename(package, ["A", "B"]));
    let job = applied(admin, &scene.template, &scene.body(&json!({}))).await;
    let path = format!("/v1/template-jobs/{}", job["id"].as_str().expect("an id"));
    let undo = || {
        let path = format!("{path}/undo");
        let key = [("idempotency-key", "k")];
        editor.send("POST", &path, &key, None).expect(200)
    };
    let done = undo();
    let again = undo();
    assert!(replayed(&again));
    assert_eq!(again.body, done.body);
    let own = json!({"config": {"rowAccess": "own"}});
    let clients = format!("/v1/features/{}", scene.clients);
    admin.patch(&clients, &own).expect(200);
    let hidden = undo();
    assert!(replayed(&hidden));
    let rows = |report: &Value| report["rows"].as_object().map_or(0, serde_json::Map::len);
    let hidden = hidden.json()["report"].clone();
    assert!(rows(&hidden) < rows(&done.json()["report"]), "{hidden}");
    let today = editor.get(&path).expect(200).json();
    assert_eq!(hidden, today["report"]);
}

async fn hidden_rows_are_one_entry_and_are_upgraded(place: Place) {
    let scene = Scene::new(place).await;
    let Scene { editor, admin, .. } = &scene;
    let path = format!("/v1/features/{}", scene.clients);
    let own = json!({"config": {"rowAccess": "own"}});
    admin.patch(&path, &own).expect(200);
    let first = admin.items(&format!("{path}/rows"))[0].clone();
    let of = format!("{path}/rows/{}", first["id"].as_str().expect("an id"));
    let named = |name: &str| {
        let mut data = first["data"].clone();
        data["name"] = name.into();
        json!({"data": data})
    };
    admin.patch(&of, &named("Secret")).expect(200);
    assert_eq!(editor.items(&format!("{path}/rows")), Vec::<Value>::new());
    scene.publish(|package| rename(package, ["A", "B"]));

    let plan = scene.plan(editor, &json!({}));
    let reference = plan["conflicts"][0]["ref"].clone();
    let entry = json!({"code": "changed", "kind": "rows", "ref": reference, "id": null, "path": null,
        "base": null, "theirs": null, "ours": null, "count": 1});
    assert_eq!(plan["conflicts"], json!([entry]), "{plan}");
    assert!(!plan.to_string().contains("Secret"), "{plan}");
    let refused = apply(editor, &scene.template, &scene.body(&json!({})));
    let refused = refused.refused(422, "upgrade_conflicts").json();
    assert_eq!(refused["conflicts"], plan["conflicts"]);
    // Who sees the row sees the cell.
    let plan = scene.plan(admin, &json!({}));
    assert_eq!(plan["conflicts"][0]["ours"], "Secret", "{plan}");
    // The word for the ref decides, and `conflicts`.
    let word = json!({"decisions": {reference.as_str().expect("a ref"): "ours"}});
    let job = applied(editor, &scene.template, &scene.body(&word)).await;
    assert_eq!(job["report"]["moved"], Value::Null, "{job}");
    assert_eq!(scene.names(), ["Secret", "B"]);
    scene.publish(|package| rename(package, ["AA", "BB"]));
    let theirs = json!({"conflicts": "theirs"});
    let job = applied(editor, &scene.template, &scene.body(&theirs)).await;
    assert_eq!(scene.names(), ["AA", "BB"]);
    assert!(!job.to_string().contains("Secret"), "{job}");
    // What somebody changed since is reported as a number.
    admin.patch(&of, &named("Since")).expect(200);
    let undo = |query: &str| {
        let id = job["id"].as_str().expect("an id");
        editor.send(
            "POST",
            &format!("/v1/template-jobs/{id}/undo{query}"),
            &[],
            None,
        )
    };
    undo("").refused(409, "not_empty");
    let undone = undo("?force=true").expect(200).json();
    assert_eq!(
        undone["report"]["undo_left"],
        json!([{"ref": reference, "count": 1}]),
        "{undone}"
    );
    assert_eq!(scene.names(), ["Since", "B"]);
}

async fn visibility_is_for_those_who_may_decide_it(place: Place) {
    let scene = Scene::new(place).await;
    let Scene { editor, admin, .. } = &scene;
    scene.publish(|package| {
        let steps = package["manifest"]["plan"]["steps"].as_array();
        let mut steps = steps.expect("steps").clone();
        let created = steps
            .iter()
            .find(|step| step["tool"] == "create_feature" && step["args"]["name"] == "clients");
        let reference = created.expect("a step")["ref"].as_str().expect("a ref");
        let feature = format!("${reference}");
        let uid = "u_00000000-0000-4000-8000-0000000000aa";
        let config = json!({"uid": uid, "tool": "update_feature", "args": {"featureId": feature, "config": {"rowAccess": "own"}}});
        steps.push(config);
        package["manifest"]["plan"]["steps"] = steps.into();
        args(package, "create_feature", "clients")["label"] = "Customers".into();
    });
    let access = || {
        let path = format!("/v1/features/{}", scene.clients);
        let found = admin.get(&path).expect(200).json();
        (found["label"].clone(), found["config"]["rowAccess"].clone())
    };
    let plan = scene.plan(editor, &json!({}));
    let updates = |plan: &Value| {
        let updates = plan["update"].as_array().expect("a list").iter();
        updates.map(|one| one["path"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(updates(&plan), ["label"], "{plan}");
    let kept = &plan["kept"][0];
    assert_eq!(
        (&kept["path"], &kept["because"]),
        (&json!("config.rowAccess"), &json!("forbidden"))
    );
    // A decision at the leaf is not theirs to take either.
    let decided = json!({"decisions": {kept["ref"].as_str().expect("a ref"): {"config.rowAccess": "theirs"}}});
    let plan = scene.plan(editor, &decided);
    assert_eq!(updates(&plan), ["label"], "{plan}");
    let job = applied(editor, &scene.template, &scene.body(&json!({}))).await;
    assert_eq!(job["report"]["kept"][0]["because"], "forbidden", "{job}");
    assert_eq!(access(), (json!("Customers"), Value::Null));
    // It kept its base, so that an administrator gets it.
    assert_eq!(
        updates(&scene.plan(admin, &json!({}))),
        ["config.rowAccess"]
    );
    applied(admin, &scene.template, &scene.body(&json!({}))).await;
    assert_eq!(access(), (json!("Customers"), json!("own")));
}
