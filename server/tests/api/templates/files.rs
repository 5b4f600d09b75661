//! Jobs and cells that use files: what a job never writes over, and what its undo gives back.

use std::time::Duration;

use serde_json::{Value, json};
use tplkit_server::files::sweep::Sweep;
use uuid::Uuid;

use super::shop::{Shop, Working, applied, named, working, workspace};
use crate::api::client::Client;
use crate::api::model::id;
use crate::api::rows::{of_file, person, seed_file};
use crate::api::workflows::steps as notifies;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_column_that_had_another_type_has_its_uses_again,
    a_use_comes_back_only_to_a_file_that_is_there,
    a_step_of_a_job_never_writes_over_a_use,
    a_row_brings_no_file_into_a_column_of_the_people,
    a_package_chooses_no_file_for_an_automation,
    a_mail_that_an_upgrade_takes_away_keeps_its_file_for_the_undo,
    an_upgrade_takes_no_automation_away_to_which_people_attached_a_file,
    two_upgrades_in_a_row_give_back_the_use_that_the_first_one_ended,
);

const USES: &str = "SELECT count(*) FROM file_uses WHERE file_id = $1";
const HOLDS: &str = "SELECT count(*) FROM file_holds WHERE file_id = $1";
const THERE: &str = "SELECT count(*) FROM files WHERE id = $1";

/// Clients with a picture at the source, applied elsewhere, where the first of them uses a file.
struct Scene {
    world: World,
    editor: Client,
    admin: Client,
    shop: Shop,
    template: String,
    there: String,
    /// At the destination.
    clients: String,
    row: String,
    file: Uuid,
    _working: Working,
}

impl Scene {
    async fn new(place: Place) -> Scene {
        let world = World::new(place).await;
        let at_work = working(&world);
        let editor = world.as_user("editor@acme.test");
        let admin = world.as_user("admin@acme.test");
        let shop = Shop::new(&editor, world.acme);
        let photo = json!({"label": "photo", "type": "file"});
        editor.create(&format!("/v1/features/{}/columns", shop.clients), &photo);
        let template = shop.template(&editor, &admin, &json!({"rows": "all"}));
        let there = workspace(&editor, world.acme);
        applied(&editor, &template, &json!({"workspaceId": there})).await;
        let clients = named(&editor, &there, "clients").expect("a table");
        let rows = editor.items(&format!("/v1/features/{clients}/rows"));
        let first = rows.iter().find(|row| row["data"]["code"] == "a");
        let row = id(first.expect("a row"));
        let in_workspace = (world.acme, there.parse().expect("an id"));
        let file = seed_file(&world, in_workspace, person(&editor)).await;
        let scene = Scene {
            world,
            editor,
            admin,
            shop,
            template,
            there,
            clients,
            row,
            file,
            _working: at_work,
        };
        scene.attach("photo");
        scene
    }

    fn attach(&self, column: &str) {
        let path = format!("{}?merge=true", self.row_path());
        let attached = json!({"data": {column: self.file}});
        self.editor.patch(&path, &attached).expect(200);
    }

    fn row_path(&self) -> String {
        format!("/v1/features/{}/rows/{}", self.clients, self.row)
    }

    fn cells(&self) -> Value {
        let row = self.editor.get(&self.row_path()).expect(200).json();
        row["data"].clone()
    }

    /// How many cells use the file, and how many ledgers hold it.
    async fn counts(&self) -> (i64, i64) {
        (
            of_file(&self.world, USES, self.file).await,
            of_file(&self.world, HOLDS, self.file).await,
        )
    }

    fn package(&self) -> (String, Value) {
        let path = format!("/v1/templates/{}/package", self.template);
        let package = self.admin.get(&path).expect(200).json();
        (path, package)
    }

    /// The next version has another type for pictures, and is applied: gives the job.
    async fn retyped(&self, kind: &str, component: &str) -> Value {
        let columns = format!("/v1/features/{}/columns", self.shop.clients);
        let all = self.editor.get(&columns).expect(200).json();
        let mut all = all.as_array().expect("a list").iter();
        let photo = all.find(|column| column["name"] == "photo");
        let path = format!("{columns}/{}", id(photo.expect("a column")));
        let other = json!({"type": kind, "default_component": component});
        self.editor.patch(&path, &other).expect(200);
        let export = format!("/v1/workspaces/{}/export", self.shop.workspace);
        let onto = json!({"onto": self.template});
        let package = self.editor.post(&export, &onto).expect(200);
        let (path, _) = self.package();
        self.admin.json("PUT", &path, &package.body).expect(200);
        let mut body =
            json!({"workspaceId": self.there, "upgrade": true, "allowDestructive": true});
        let plan = format!("/v1/templates/{}/plan", self.template);
        let plan = self.editor.post(&plan, &body).expect(200).json();
        // Cells that do not fit are lost.
        for conflict in plan["conflicts"].as_array().expect("a list") {
            let [of, path] = [&conflict["ref"], &conflict["path"]];
            let [of, path] = [of, path].map(|text| text.as_str().expect("a text"));
            body["decisions"][of][path] = "theirs".into();
        }
        let job = applied(&self.editor, &self.template, &body).await;
        let columns = format!("/v1/features/{}/columns", self.clients);
        let all = self.editor.get(&columns).expect(200).json();
        let mut all = all.as_array().expect("a list").iter();
        let photo = all.find(|column| column["name"] == "photo");
        assert_eq!(photo.expect("a column")["type"], kind, "{job}");
        job
    }

    fn undo(&self, job: &Value) {
        let path = format!("/v1/template-jobs/{}/undo", id(job));
        self.editor.send("POST", &path, &[], None).expect(200);
    }

    /// Removes what nothing has used for a while.
    async fn sweep(&self) {
        sweep(&self.world).await;
    }
}

/// Removes what nothing has used for a while.
async fn sweep(world: &World) {
    let sweep = Sweep {
        store: world.store.clone(),
        place: None,
        context: world.context.clone(),
        grace: Duration::from_secs(100),
    };
    sweep.run().await.expect("sweeps");
}

async fn a_column_that_had_another_type_has_its_uses_again(place: Place) {
    let scene = Scene::new(place).await;
    let before = scene.cells();
    let path = format!("/v1/files/{}", scene.file);
    for (kind, component) in [("text", "textfield"), ("number", "numberfield")] {
        assert_eq!(scene.counts().await, (1, 0));
        let job = scene.retyped(kind, component).await;
        assert_eq!(scene.counts().await, (0, 1), "{job}");
        // What waits in the ledger holds the file, against a delete and against the sweeper.
        scene.editor.delete(&path).refused(409, "not_empty");
        scene.world.wait(200);
        scene.sweep().await;
        assert_eq!(of_file(&scene.world, THERE, scene.file).await, 1);
        scene.undo(&job);
        assert_eq!(scene.counts().await, (1, 0), "{kind}");
        assert_eq!(scene.cells(), before, "{kind}");
    }
    scene.editor.delete(&path).refused(409, "not_empty");
}

async fn a_use_comes_back_only_to_a_file_that_is_there(place: Place) {
    let scene = Scene::new(place).await;
    let before = scene.cells();
    let job = scene.retyped("text", "textfield").await;
    let path = format!("/v1/files/{}?force=true", scene.file);
    scene.editor.delete(&path).expect(204);
    scene.undo(&job);
    assert_eq!(scene.counts().await, (0, 0));
    // The text is there as it was, and nothing more.
    assert_eq!(scene.cells(), before);
    let path = format!("/v1/files/{}", scene.file);
    scene.editor.get(&path).refused(404, "not_found");
}

async fn a_step_of_a_job_never_writes_over_a_use(place: Place) {
    let scene = Scene::new(place).await;
    // A column of the people of that place, of which no package knows.
    let own = json!({"label": "own", "type": "file"});
    let columns = format!("/v1/features/{}/columns", scene.clients);
    scene.editor.create(&columns, &own);
    scene.attach("own");
    assert_eq!(scene.counts().await, (2, 0));
    let before = scene.cells();
    // A plan that somebody wrote replaces the row.
    let (path, mut package) = scene.package();
    let payloads = package["payloads"].as_array().expect("payloads").iter();
    let mut rows = payloads.flat_map(|entry| entry["rows"].as_array().expect("rows"));
    let first = rows.find(|row| row["data"]["code"] == "a");
    let uid = first.expect("a row")["uid"].clone();
    package["manifest"]["plan"]["metadata"]["source"] = "manual".into();
    let steps = package["manifest"]["plan"]["steps"].as_array_mut();
    let data = json!({"code": "a", "name": "Z", "photo": "b.pdf"});
    steps.expect("steps").push(json!({
        "uid": "u_e6085d3f-c29b-4714-8fa1-3b5c90d7e284", "tool": "update_row",
        "args": {"rowId": uid, "data": data},
    }));
    scene
        .admin
        .json("PUT", &path, &package.to_string())
        .expect(200);
    let body = json!({"workspaceId": scene.there});
    let plan = format!("/v1/templates/{}/plan", scene.template);
    let planned = scene.editor.post(&plan, &body).expect(200).json();
    let job = applied(&scene.editor, &scene.template, &body).await;
    for not_carried in [&planned["not_carried"], &job["report"]["not_carried"]] {
        let entries = not_carried.as_array().expect("a list");
        let [entry] = entries.as_slice() else {
            panic!("{entries:?}")
        };
        assert_eq!(
            (&entry["path"], &entry["count"]),
            (&json!("rows[].data.photo"), &json!(1))
        );
    }
    let cells = scene.cells();
    assert_eq!(cells["name"], "Z", "{job}");
    for column in ["photo", "own"] {
        assert_eq!(cells[column], json!(scene.file), "{column}");
    }
    assert_eq!(scene.counts().await, (2, 0));
    scene.undo(&job);
    assert_eq!(scene.cells(), before);
    assert_eq!(scene.counts().await, (2, 0));
}

async fn a_row_brings_no_file_into_a_column_of_the_people(place: Place) {
    let scene = Scene::new(place).await;
    let columns = format!("/v1/features/{}/columns", scene.clients);
    for (name, kind) in [("own", "file"), ("link", "text")] {
        let column = json!({"label": name, "type": kind});
        scene.editor.create(&columns, &column);
    }
    let (path, mut package) = scene.package();
    package["manifest"]["plan"]["metadata"]["source"] = "manual".into();
    let clients =
        |step: &&Value| step["tool"] == "create_feature" && step["args"]["name"] == "clients";
    let steps = package["manifest"]["plan"]["steps"].as_array_mut();
    let steps = steps.expect("steps");
    let reference = steps.iter().find(clients).expect("a table")["ref"].clone();
    let feature = format!("${}", reference.as_str().expect("a ref"));
    let data =
        json!({"code": "c", "name": "N", "own": scene.file, "link": scene.file, "none": "x"});
    steps.push(json!({
        "uid": "u_e6085d3f-c29b-4714-8fa1-3b5c90d7e285", "tool": "insert_rows",
        "args": {"featureId": feature, "rows": [{"data": data}]},
    }));
    let package = package.to_string();
    scene.admin.json("PUT", &path, &package).expect(200);
    let body = json!({"workspaceId": scene.there});
    let plan = format!("/v1/templates/{}/plan", scene.template);
    let planned = scene.editor.post(&plan, &body).expect(200).json();
    let job = applied(&scene.editor, &scene.template, &body).await;
    let expected = (&json!("rows[].data.own"), &json!(1));
    for listed in [&planned["not_carried"], &job["report"]["unresolved"]] {
        let entries = listed.as_array().expect("a list").iter();
        let own = entries.filter(|entry| entry["path"] == "rows[].data.own");
        let own: Vec<_> = own.map(|entry| (&entry["path"], &entry["count"])).collect();
        assert_eq!(own, [expected], "{listed}");
    }
    let rows = scene
        .editor
        .items(&format!("/v1/features/{}/rows", scene.clients));
    let row = rows.iter().find(|row| row["data"]["code"] == "c");
    let cells = &row.expect("a row")["data"];
    assert_eq!(cells["own"], Value::Null);
    // A text is none, whatever it reads like.
    assert_eq!(cells["link"], json!(scene.file));
    assert_eq!(cells["none"], "x");
    assert_eq!(scene.counts().await, (1, 0));
}

async fn a_package_chooses_no_file_for_an_automation(place: Place) {
    let scene = Scene::new(place).await;
    let config = json!({"to": "a@b.test", "subject": "s", "body": "b", "attachmentFileId": ""});
    let body = json!({"workspace_id": scene.shop.workspace, "name": "mail", "is_draft": true,
        "trigger_config": {"type": "manual"},
        "graph_config": {"steps": [{"key": "email.send", "config": config}]}});
    scene.editor.create("/v1/workflows-v2", &body);
    let export = format!("/v1/workspaces/{}/export", scene.shop.workspace);
    let package = scene.editor.post(&export, &json!({})).expect(200);
    let text = package.body;
    // A file that its uploader alone sees would be held by an automation of somebody else.
    for spelled in [
        scene.file.to_string(),
        scene.file.to_string().to_uppercase(),
        scene.file.simple().to_string(),
        "a.pdf".to_owned(),
    ] {
        let with = format!(r#""attachmentFileId":"{spelled}""#);
        let mut wrong: Value = serde_json::from_str(&text).expect("JSON");
        let steps = wrong["manifest"]["plan"]["steps"].as_array_mut();
        let mut steps = steps.expect("steps").iter_mut();
        let mail = steps.find(|step| step["tool"] == "create_workflow_v2");
        let mail = mail.expect("an automation");
        mail["args"]["graphConfig"]["steps"][0]["config"]["attachmentFileId"] = json!(spelled);
        let wrong = wrong.to_string();
        assert!(wrong.contains(&with), "{wrong}");
        let refused = scene.admin.json("POST", "/v1/templates/import", &wrong);
        refused.refused(422, "validation_failed");
    }
    assert_eq!(scene.counts().await, (1, 0));
}

/// The steps of the newest version of the automation in a workspace, and its id.
fn newest(client: &Client, workspace: &str) -> (String, Value) {
    let all = client.items(&format!(
        "/v1/workflows-v2?workspace_id={workspace}&limit=200"
    ));
    let newest = all.iter().max_by_key(|one| one["version"].as_i64());
    let newest = newest.expect("a version");
    let workflow = newest["workflow_id"].as_str().expect("an id");
    (workflow.to_owned(), newest["graph_config"]["steps"].clone())
}

/// A template with an automation that sends mail, applied elsewhere, where somebody attaches a file to it.
struct Mailed {
    world: World,
    admin: Client,
    template: String,
    /// The automation at the source, and its workspace.
    source: [String; 2],
    /// The automation at the destination, and its workspace.
    it: String,
    there: String,
    /// With the file.
    steps: Value,
    file: Uuid,
    _working: Working,
}

impl Mailed {
    async fn new(place: Place) -> Mailed {
        let world = World::new(place).await;
        let at_work = working(&world);
        let admin = world.as_user("admin@acme.test");
        let from = workspace(&admin, world.acme);
        let mut steps = notifies();
        let config = json!({"to": "a@b.test", "subject": "s", "body": "b", "attachmentFileId": ""});
        let mail = json!({"key": "email.send", "config": config});
        steps.as_array_mut().expect("steps").push(mail);
        let body = json!({"workspace_id": from, "name": "Flow", "is_draft": false,
            "trigger_config": {"type": "manual"}, "graph_config": {"steps": steps}});
        admin.create("/v1/workflows-v2", &body);
        let table = json!({"workspace_id": from, "label": "Things"});
        admin.create("/v1/features", &table);
        let export = format!("/v1/workspaces/{from}/export");
        let package = admin.post(&export, &json!({})).expect(200);
        let made = admin.json("POST", "/v1/templates/import", &package.body);
        let template = id(&made.expect(201).json());
        let there = workspace(&admin, world.acme);
        applied(&admin, &template, &json!({"workspaceId": there})).await;
        // Somebody attaches a file.
        let in_workspace = (world.acme, there.parse().expect("an id"));
        let file = seed_file(&world, in_workspace, person(&admin)).await;
        let (it, mut steps) = newest(&admin, &there);
        let versions = format!("/v1/workflows-v2/{it}/versions");
        let publish = format!("/v1/workflows-v2/{it}/apply");
        admin.post(&publish, &json!({})).expect(200);
        assert!(world.switch(&it, true).await);
        steps[1]["config"]["attachmentFileId"] = json!(file);
        let attached = json!({"graph_config": {"steps": steps}});
        admin.create(&versions, &attached);
        admin.post(&publish, &json!({})).expect(200);
        assert_eq!(of_file(&world, HOLDS, file).await, 1);
        let (source, _) = newest(&admin, &from);
        Mailed {
            world,
            admin,
            template,
            source: [source, from],
            it,
            there,
            steps,
            file,
            _working: at_work,
        }
    }

    /// Applies the version of the package that the template has now, and follows it: gives the job.
    async fn upgraded(&self) -> Value {
        let mut body =
            json!({"workspaceId": self.there, "upgrade": true, "allowDestructive": true});
        let plan = format!("/v1/templates/{}/plan", self.template);
        let plan = self.admin.post(&plan, &body).expect(200).json();
        for conflict in plan["conflicts"].as_array().expect("a list") {
            let [of, path] = [&conflict["ref"], &conflict["path"]];
            let [of, path] = [of, path].map(|text| text.as_str().expect("a text"));
            body["decisions"][of][path] = "theirs".into();
        }
        applied(&self.admin, &self.template, &body).await
    }

    /// The file is neither deleted nor swept.
    async fn is_held(&self) {
        assert_eq!(of_file(&self.world, HOLDS, self.file).await, 1);
        let path = format!("/v1/files/{}", self.file);
        self.admin.delete(&path).refused(409, "not_empty");
        self.world.wait(200);
        sweep(&self.world).await;
        assert_eq!(of_file(&self.world, THERE, self.file).await, 1);
    }

    fn undo(&self, job: &Value) {
        let undo = format!("/v1/template-jobs/{}/undo", id(job));
        self.admin.send("POST", &undo, &[], None).expect(200);
    }
}

async fn a_mail_that_an_upgrade_takes_away_keeps_its_file_for_the_undo(place: Place) {
    let mailed = Mailed::new(place).await;
    let (world, admin, it) = (&mailed.world, &mailed.admin, &mailed.it);
    // The next version of the package sends no mail.
    let path = format!("/v1/templates/{}/package", mailed.template);
    let mut package = admin.get(&path).expect(200).json();
    let args = super::upgrade::args(&mut package, "create_workflow_v2", "Flow");
    let left = args["graphConfig"]["steps"].as_array_mut().expect("steps");
    let gone = left.pop().expect("a mail")["id"].clone();
    let items = package["manifest"]["items"].as_array_mut().expect("items");
    for item in items {
        if let Some(ids) = item.get_mut("stepIds").and_then(Value::as_array_mut) {
            ids.retain(|id| *id != gone);
        }
    }
    let package = package.to_string();
    admin.json("PUT", &path, &package).expect(200);
    let job = mailed.upgraded().await;
    let (_, without) = newest(admin, &mailed.there);
    assert_eq!(without.as_array().map(Vec::len), Some(1), "{job}");
    // The undo needs the file, whatever is activated meanwhile.
    assert!(world.switch(it, false).await);
    assert!(world.switch(it, true).await);
    mailed.is_held().await;
    mailed.undo(&job);
    assert_eq!(newest(admin, &mailed.there).1, mailed.steps);
    mailed.is_held().await;
    // Whoever publishes a version without it lets go of it.
    let versions = format!("/v1/workflows-v2/{it}/versions");
    admin.create(&versions, &json!({"graph_config": {"steps": without}}));
    let publish = format!("/v1/workflows-v2/{it}/apply");
    admin.post(&publish, &json!({})).expect(200);
    assert_eq!(of_file(world, HOLDS, mailed.file).await, 0);
    let path = format!("/v1/files/{}", mailed.file);
    admin.delete(&path).expect(204);
}

async fn an_upgrade_takes_no_automation_away_to_which_people_attached_a_file(place: Place) {
    let mailed = Mailed::new(place).await;
    let admin = &mailed.admin;
    // The next version of the package has no automation.
    let [source, from] = &mailed.source;
    admin
        .delete(&format!("/v1/workflows-v2/{source}?force=true"))
        .expect(204);
    let export = format!("/v1/workspaces/{from}/export");
    let onto = json!({"onto": mailed.template});
    let package = admin.post(&export, &onto).expect(200);
    let path = format!("/v1/templates/{}/package", mailed.template);
    admin.json("PUT", &path, &package.body).expect(200);
    // People changed it when they attached the file, so it cannot go, not even while it is paused.
    let body = json!({
        "workspaceId": mailed.there,
        "upgrade": true,
        "allowDestructive": true,
        "decisions": {"w_flow": "delete"},
    });
    let apply = format!("/v1/templates/{}/apply", mailed.template);
    for on in [true, false] {
        mailed.world.switch(&mailed.it, on).await;
        admin.post(&apply, &body).refused(422, "delete_refused");
    }
    assert_eq!(newest(admin, &mailed.there).1, mailed.steps);
    assert!(mailed.world.switch(&mailed.it, true).await);
    mailed.is_held().await;
}

async fn two_upgrades_in_a_row_give_back_the_use_that_the_first_one_ended(place: Place) {
    let scene = Scene::new(place).await;
    let before = scene.cells();
    for (kind, component) in [("number", "numberfield"), ("file", "filefield")] {
        let first = scene.retyped("text", "textfield").await;
        assert_eq!(scene.counts().await, (0, 1), "{first}");
        let second = scene.retyped(kind, component).await;
        // The second one ends no use, and makes none.
        assert_eq!(scene.counts().await, (0, 1), "{second}");
        scene.world.wait(200);
        scene.sweep().await;
        scene.undo(&second);
        // The first one holds the file until it is undone, too.
        assert_eq!(scene.counts().await, (0, 1), "{kind}");
        scene.undo(&first);
        assert_eq!(scene.counts().await, (1, 0), "{kind}");
        assert_eq!(scene.cells(), before, "{kind}");
    }
}
