//! What cells of rows are compared with: the base moves by the job that wrote a row or compared it.

use serde_json::{Value, json};

use super::shop::{Shop, Working, applied, named, working, workspace};
use crate::api::client::Client;
use crate::api::model::id;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_job_without_rows_moves_no_base_of_cells,
    a_row_that_was_gone_for_a_version_has_the_base_that_it_had,
    an_undone_upgrade_takes_its_base_along_although_a_plain_apply_came_after_it,
    what_was_set_up_by_hand_stays_the_base_of_rows_that_a_version_lacks,
);

/// A workspace to which the first version of a template was applied.
struct Scene {
    _working: Working,
    _world: World,
    editor: Client,
    admin: Client,
    template: String,
    first: Value,
    there: String,
}

impl Scene {
    async fn new(place: Place) -> Scene {
        let scene = Scene::unapplied(place).await;
        scene.applied(&json!({})).await;
        scene
    }

    async fn unapplied(place: Place) -> Scene {
        let world = World::new(place).await;
        let working = working(&world);
        let editor = world.as_user("editor@acme.test");
        let admin = world.as_user("admin@acme.test");
        let shop = Shop::new(&editor, world.acme);
        let template = shop.template(&editor, &admin, &json!({"rows": "all"}));
        let first = admin.get(&format!("/v1/templates/{template}/package"));
        let there = workspace(&editor, world.acme);
        Scene {
            _working: working,
            first: first.expect(200).json(),
            _world: world,
            editor,
            admin,
            template,
            there,
        }
    }

    /// The author brings a version.
    fn publish(&self, package: &Value) {
        let kept = format!("/v1/templates/{}/package", self.template);
        self.admin
            .json("PUT", &kept, &package.to_string())
            .expect(200);
    }

    /// The first version with another name of a client.
    fn renamed(&self, name: &str) -> Value {
        let mut package = self.first.clone();
        for row in clients(&mut package)["rows"].as_array_mut().expect("rows") {
            if row["data"]["code"] == "a" {
                row["data"]["name"] = name.into();
            }
        }
        package
    }

    fn body(&self, more: &Value) -> Value {
        let mut body = json!({"workspaceId": self.there});
        for (key, value) in more.as_object().expect("an object") {
            body[key] = value.clone();
        }
        body
    }

    async fn applied(&self, more: &Value) -> Value {
        applied(&self.editor, &self.template, &self.body(more)).await
    }

    fn plan(&self) -> Value {
        let path = format!("/v1/templates/{}/plan", self.template);
        let body = self.body(&json!({"upgrade": true}));
        self.editor.post(&path, &body).expect(200).json()
    }

    fn rows(&self) -> Vec<Value> {
        let feature = named(&self.editor, &self.there, "clients").expect("a table");
        self.editor.items(&format!("/v1/features/{feature}/rows"))
    }

    /// The name of the client that versions differ in.
    fn name(&self) -> Value {
        let rows = self.rows();
        let row = rows.iter().find(|row| row["data"]["code"] == "a");
        row.expect("a row")["data"]["name"].clone()
    }

    /// Somebody gives that client a name.
    fn edit(&self, name: &str) {
        let feature = named(&self.editor, &self.there, "clients").expect("a table");
        let rows = self.rows();
        let row = rows.iter().find(|row| row["data"]["code"] == "a");
        let row = row.expect("a row");
        let path = format!("/v1/features/{feature}/rows/{}", id(row));
        let body = json!({"data": {"code": "a", "name": name}}).to_string();
        self.editor.json("PATCH", &path, &body).expect(200);
    }
}

fn clients(package: &mut Value) -> &mut Value {
    let entries = package["payloads"].as_array_mut().expect("payloads");
    let mut entries = entries.iter_mut();
    let entry = entries.find(|entry| entry["rows"][0]["data"]["code"].is_string());
    entry.expect("an entry")
}

/// The package without the client that versions differ in, and without what points at it.
fn without_client(mut package: Value) -> Value {
    let gone = clients(&mut package)["rows"].as_array().expect("rows");
    let gone = gone.iter().find(|row| row["data"]["code"] == "a");
    let gone = gone.expect("a row")["uid"].clone();
    let mut counts = Vec::new();
    for entry in package["payloads"].as_array_mut().expect("payloads") {
        let rows = entry["rows"].as_array_mut().expect("rows");
        let gone = gone.as_str().expect("a uid");
        rows.retain(|row| !row.to_string().contains(gone));
        let count = rows.len();
        entry["count"] = count.into();
        counts.push((entry["itemUid"].clone(), count));
    }
    let items = package["manifest"]["items"].as_array_mut().expect("items");
    for item in items {
        if let Some((_, count)) = counts.iter().find(|(uid, _)| *uid == item["uid"]) {
            item["count"] = (*count).into();
        }
    }
    package
}

fn upgrade() -> Value {
    json!({"upgrade": true})
}

async fn a_job_without_rows_moves_no_base_of_cells(place: Place) {
    let scene = Scene::new(place).await;
    scene.publish(&scene.renamed("Second"));
    let body = json!({"upgrade": true, "includeRows": false});
    scene.applied(&body).await;
    assert_eq!(scene.name(), "N");
    let job = scene.applied(&upgrade()).await;
    assert_eq!(scene.name(), "Second", "{job}");
}

async fn a_row_that_was_gone_for_a_version_has_the_base_that_it_had(place: Place) {
    let scene = Scene::new(place).await;
    scene.publish(&without_client(scene.first.clone()));
    scene.applied(&upgrade()).await;
    scene.edit("Ours");
    scene.publish(&scene.first);
    assert_eq!(scene.plan()["conflicts"], json!([]));
    scene.publish(&scene.renamed("Second"));
    let plan = scene.plan();
    let conflict = &plan["conflicts"][0];
    assert_eq!(
        [&conflict["base"], &conflict["theirs"], &conflict["ours"]],
        ["N", "Second", "Ours"],
        "{plan}"
    );
    let drift = format!(
        "/v1/workspaces/{}/templates/{}/drift?rows=true",
        scene.there, scene.template
    );
    let drift = scene.editor.get(&drift).expect(200).json();
    assert_eq!(drift["cells"][0]["base"], "N", "{drift}");
}

async fn an_undone_upgrade_takes_its_base_along_although_a_plain_apply_came_after_it(place: Place) {
    let scene = Scene::new(place).await;
    scene.publish(&scene.renamed("Second"));
    let job = scene.applied(&upgrade()).await;
    assert_eq!(scene.name(), "Second");
    scene.applied(&json!({})).await;
    let undo = format!("/v1/template-jobs/{}/undo", id(&job));
    scene.editor.send("POST", &undo, &[], None).expect(200);
    assert_eq!(scene.name(), "N");
    scene.applied(&upgrade()).await;
    assert_eq!(scene.name(), "Second");
}

async fn what_was_set_up_by_hand_stays_the_base_of_rows_that_a_version_lacks(place: Place) {
    let mut scene = Scene::unapplied(place).await;
    // What people set up is what a job of another template made.
    let other = json!({"name": "other", "label": "Other"});
    let mut other_package = scene.first.clone();
    for (key, value) in other.as_object().expect("an object") {
        other_package["manifest"][key] = value.clone();
    }
    let made = scene
        .admin
        .json("POST", "/v1/templates/import", &other_package.to_string());
    let own = std::mem::replace(&mut scene.template, id(&made.expect(201).json()));
    scene.applied(&json!({})).await;
    scene.template = own;
    scene.publish(&without_client(scene.first.clone()));
    scene
        .applied(&json!({"upgrade": true, "base": scene.first}))
        .await;
    scene.edit("Ours");
    scene.publish(&scene.first);
    assert_eq!(scene.plan()["conflicts"], json!([]));
    scene.publish(&scene.renamed("Second"));
    let plan = scene.plan();
    assert_eq!(plan["conflicts"][0]["base"], "N", "{plan}");
}
