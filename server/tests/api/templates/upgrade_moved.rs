//! People change things between the plan of an upgrade and its units, ask twice, or change the template.

use serde_json::{Value, json};

use super::shop::{Shop, applied, apply, finished, named, rows, working, workspace};
use super::upgrade::args;
use crate::api::client::Client;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    what_people_change_before_the_units_stays_and_is_reported,
    what_decides_the_rest_speaks_of_what_the_plan_saw,
    what_was_to_go_stays_when_people_changed_it_since,
    of_two_upgrades_at_once_one_waits,
    a_template_that_changed_since_the_plan_is_no_longer_what_was_planned,
);

/// A template that was applied, and its package with other labels, another order and other cells.
struct Scene {
    world: World,
    editor: Client,
    admin: Client,
    template: String,
    there: String,
    clients: String,
    orders: String,
}

impl Scene {
    async fn new(place: Place) -> Scene {
        let world = World::new(place).await;
        let working = working(&world);
        let editor = world.as_user("editor@acme.test");
        let admin = world.as_user("admin@acme.test");
        let shop = Shop::new(&editor, world.acme);
        let template = shop.template(&editor, &admin, &json!({"rows": "all"}));
        let there = workspace(&editor, world.acme);
        applied(&editor, &template, &json!({"workspaceId": there})).await;
        working.ends();
        let clients = named(&editor, &there, "clients").expect("a table");
        let orders = named(&editor, &there, "orders").expect("a table");
        let scene = Scene {
            world,
            editor,
            admin,
            template,
            there,
            clients,
            orders,
        };
        scene.publish(|package| {
            args(package, "create_feature", "clients")["label"] = "Customers".into();
            args(package, "create_feature", "orders")["label"] = "Sales".into();
            args(package, "create_column", "code")["order"] = 9.into();
            for entry in package["payloads"].as_array_mut().expect("payloads") {
                for row in entry["rows"].as_array_mut().expect("rows") {
                    if row["data"].get("code").is_some() {
                        row["data"]["name"] = "New name".into();
                    }
                }
            }
        });
        scene
    }

    /// The author brings another version.
    fn publish(&self, change: impl FnOnce(&mut Value)) {
        let kept = format!("/v1/templates/{}/package", self.template);
        let mut package = self.admin.get(&kept).expect(200).json();
        change(&mut package);
        self.admin
            .json("PUT", &kept, &package.to_string())
            .expect(200);
    }

    fn upgrade(&self) -> Value {
        json!({"workspaceId": self.there, "upgrade": true})
    }

    fn plan(&self) -> Value {
        let path = format!("/v1/templates/{}/plan", self.template);
        self.editor.post(&path, &self.upgrade()).expect(200).json()
    }

    fn label(&self, feature: &str) -> Value {
        let found = self.editor.get(&format!("/v1/features/{feature}"));
        found.expect(200).json()["label"].clone()
    }

    /// The columns of clients, in order: names and ids.
    fn columns(&self) -> Vec<(String, String)> {
        let path = format!("/v1/features/{}/columns", self.clients);
        let columns = self.editor.get(&path).expect(200).json();
        let columns = columns.as_array().expect("a list").iter();
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        columns
            .map(|column| (text(&column["name"]), text(&column["id"])))
            .collect()
    }
}

async fn what_people_change_before_the_units_stays_and_is_reported(place: Place) {
    let scene = Scene::new(place).await;
    let Scene { editor, .. } = &scene;
    let accepted = apply(editor, &scene.template, &scene.upgrade());
    // A leaf, a cell, and the column next to the one that the package moves.
    let feature = format!("/v1/features/{}", scene.clients);
    editor
        .patch(&feature, &json!({"label": "Since"}))
        .expect(200);
    let path = format!("/v1/features/{}/rows?limit=200", scene.clients);
    let row = editor.items(&path)[0].clone();
    let of = format!(
        "/v1/features/{}/rows/{}",
        scene.clients,
        row["id"].as_str().expect("an id")
    );
    let mut data = row["data"].clone();
    data["name"] = "Since".into();
    editor.patch(&of, &json!({"data": data})).expect(200);
    let columns = scene.columns();
    let moved = &columns
        .iter()
        .find(|(name, _)| name == "name")
        .expect("a column")
        .1;
    editor
        .patch(
            &format!("/v1/features/{}/columns/{moved}", scene.clients),
            &json!({"order": -5}),
        )
        .expect(200);
    let before = scene.columns();

    let _working = working(&scene.world);
    let job = finished(editor, accepted).await;
    assert_eq!(job["status"], "completed", "{job}");
    let report = &job["report"];
    let moved = report["moved"].as_array().expect("a list");
    let places: Vec<[&Value; 3]> = moved
        .iter()
        .map(|one| [&one["kind"], &one["path"], &one["column"]])
        .collect();
    let none = &Value::Null;
    let (feature, label, order, name) = (
        &json!("feature"),
        &json!("label"),
        &json!("order.columns"),
        &json!("name"),
    );
    assert_eq!(
        places,
        [
            [feature, label, none],
            [feature, order, none],
            [none, none, name]
        ],
        "{report}"
    );
    assert_eq!(moved[2]["id"], row["id"]);
    assert_eq!(scene.label(&scene.clients), "Since");
    assert_eq!(scene.columns(), before);
    // Everything else is written.
    assert_eq!(scene.label(&scene.orders), "Sales");
    let names: Vec<Value> = rows(editor, &scene.clients)
        .iter()
        .map(|row| row["name"].clone())
        .collect();
    assert_eq!(names, ["Since", "New name"]);
    // It is asked the next time, with the base of before.
    let plan = scene.plan();
    let conflicts = plan["conflicts"].as_array().expect("a list");
    let codes: Vec<&Value> = conflicts.iter().map(|one| &one["code"]).collect();
    assert_eq!(codes, ["changed"; 3], "{plan}");
    assert_eq!(conflicts[2]["base"], "N");
}

/// Changes the name of a client.
fn rename(scene: &Scene, at: usize, name: &str) {
    let path = format!("/v1/features/{}/rows", scene.clients);
    let row = scene.editor.items(&format!("{path}?limit=200"))[at].clone();
    let mut data = row["data"].clone();
    data["name"] = name.into();
    let of = format!("{path}/{}", row["id"].as_str().expect("an id"));
    scene.editor.patch(&of, &json!({"data": data})).expect(200);
}

async fn what_decides_the_rest_speaks_of_what_the_plan_saw(place: Place) {
    let scene = Scene::new(place).await;
    let relabel = |feature: &str, label: &str| {
        let path = format!("/v1/features/{feature}");
        let body = json!({"label": label});
        scene.editor.patch(&path, &body).expect(200);
    };
    relabel(&scene.clients, "Ours");
    rename(&scene, 0, "Ours");
    let mut body = scene.upgrade();
    body["conflicts"] = "theirs".into();
    let accepted = apply(&scene.editor, &scene.template, &body);
    relabel(&scene.orders, "Since");
    rename(&scene, 1, "Since");
    let _working = working(&scene.world);
    let job = finished(&scene.editor, accepted).await;
    assert_eq!(job["status"], "completed", "{job}");
    let moved = job["report"]["moved"].as_array().expect("a list").iter();
    let moved: Vec<[&Value; 2]> = moved.map(|one| [&one["path"], &one["column"]]).collect();
    let none = &Value::Null;
    assert_eq!(
        moved,
        [[&json!("label"), none], [none, &json!("name")]],
        "{job}"
    );
    assert_eq!(scene.label(&scene.clients), "Customers");
    assert_eq!(scene.label(&scene.orders), "Since");
    let names = rows(&scene.editor, &scene.clients);
    let names: Vec<&Value> = names.iter().map(|row| &row["name"]).collect();
    assert_eq!(names, ["New name", "Since"]);
}

async fn what_was_to_go_stays_when_people_changed_it_since(place: Place) {
    let scene = Scene::new(place).await;
    // A navigation entry that the template has, and loses.
    let view = json!({"feature_id": scene.clients, "label": "Mine", "type": "table"});
    let view = scene.editor.create("/v1/views", &view);
    let path = format!("/v1/views/{}", view["id"].as_str().expect("an id"));
    let export = |name: &str| {
        let workspace = format!("/v1/workspaces/{}/export", scene.there);
        let package = scene.editor.post(&workspace, &json!({"rows": "all"}));
        let package = package.expect(200).body;
        let made = scene
            .admin
            .json("POST", "/v1/templates/import", &package)
            .expect(201)
            .json();
        assert_ne!(made["id"], Value::Null, "{name}");
        made["id"].as_str().expect("an id").to_owned()
    };
    let template = export("with the view");
    let there = workspace(&scene.editor, scene.world.acme);
    let working_now = working(&scene.world);
    let first = json!({"workspaceId": there});
    applied(&scene.editor, &template, &first).await;
    working_now.ends();
    scene.editor.delete(&path).expect(204);
    let body = json!({"rows": "all", "onto": template});
    let workspace = format!("/v1/workspaces/{}/export", scene.there);
    let package = scene.editor.post(&workspace, &body).expect(200).body;
    let kept = format!("/v1/templates/{template}/package");
    scene.admin.json("PUT", &kept, &package).expect(200);

    let mut upgrade = json!({"workspaceId": there, "upgrade": true});
    let plan = format!("/v1/templates/{template}/plan");
    let plan = scene.editor.post(&plan, &upgrade).expect(200).json();
    let left = &plan["left"][0];
    assert_eq!(left["kind"], "view", "{plan}");
    let reference = left["ref"].as_str().expect("a ref");
    upgrade["decisions"] = json!({reference: "delete"});
    let accepted = apply(&scene.editor, &template, &upgrade);
    let own = format!("/v1/views/{}", left["id"].as_str().expect("an id"));
    let since = json!({"label": "Since"});
    scene.editor.patch(&own, &since).expect(200);
    let _working = working(&scene.world);
    let job = finished(&scene.editor, accepted).await;
    assert_eq!(job["status"], "completed", "{job}");
    let moved = &job["report"]["moved"];
    assert_eq!(moved[0]["ref"], reference, "{job}");
    assert_eq!(moved[0]["id"], left["id"]);
    let view = scene.editor.get(&own).expect(200).json();
    assert_eq!(view["label"], "Since");
    // Asked again, it goes.
    let refused = apply(&scene.editor, &template, &upgrade);
    refused.refused(422, "delete_refused");
}

async fn of_two_upgrades_at_once_one_waits(place: Place) {
    let scene = Scene::new(place).await;
    let ask = || apply(&scene.editor, &scene.template, &scene.upgrade());
    let (one, other) = std::thread::scope(|scope| {
        let other = scope.spawn(ask);
        (ask(), other.join().expect("responds"))
    });
    let (accepted, refused) = if one.status == 202 {
        (one, other)
    } else {
        (other, one)
    };
    refused.refused(409, "job_active");
    let _working = working(&scene.world);
    let job = finished(&scene.editor, accepted).await;
    assert_eq!(job["report"]["structure_updated"], 3, "{job}");
    // Asked once more there is nothing to do, and a job that says so.
    let again = applied(&scene.editor, &scene.template, &scene.upgrade()).await;
    assert_eq!(again["report"]["structure_updated"], 0, "{again}");
}

async fn a_template_that_changed_since_the_plan_is_no_longer_what_was_planned(place: Place) {
    let scene = Scene::new(place).await;
    let planned = |plan: &Value| {
        let mut body = scene.upgrade();
        body["plan"] = plan["digest"].clone();
        body
    };
    let plan = scene.plan();
    scene.publish(|package| {
        args(package, "create_feature", "orders")["label"] = "Revenue".into();
    });
    apply(&scene.editor, &scene.template, &planned(&plan)).refused(409, "plan_stale");
    assert_eq!(scene.editor.items("/v1/template-jobs").len(), 1);
    let plan = scene.plan();
    // A job keeps the package that it was asked for with.
    let accepted = apply(&scene.editor, &scene.template, &planned(&plan));
    scene.publish(|package| {
        args(package, "create_feature", "orders")["label"] = "Later".into();
    });
    let _working = working(&scene.world);
    let job = finished(&scene.editor, accepted).await;
    assert_eq!(job["report"]["moved"], Value::Null, "{job}");
    assert_eq!(scene.label(&scene.orders), "Revenue");
}
