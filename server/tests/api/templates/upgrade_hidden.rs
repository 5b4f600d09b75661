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
    a_package_of_ones_own_shows_nothing_of_hidden_rows,
    a_base_of_ones_own_shows_nothing_of_hidden_rows,
);

/// A template that an administrator applied, and its package with other names of clients.
struct Scene {
    world: World,
    editor: Client,
    admin: Client,
    /// The workspace that it comes from.
    source: String,
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
            world,
            editor,
            admin,
            source: shop.workspace,
            template,
            there,
            clients,
            _working: working,
        }
    }

    fn package(&self) -> Value {
        let kept = format!("/v1/templates/{}/package", self.template);
        self.admin.get(&kept).expect(200).json()
    }

    fn publish(&self, change: impl FnOnce(&mut Value)) {
        let kept = format!("/v1/templates/{}/package", self.template);
        let mut package = self.package();
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
    set_names(package, &names.map(Value::from));
}

fn set_names(package: &mut Value, names: &[Value; 2]) {
    for entry in package["payloads"].as_array_mut().expect("payloads") {
        for row in entry["rows"].as_array_mut().expect("rows") {
            match row["data"].get("code").and_then(Value::as_str) {
                Some("a") => row["data"]["name"] = names[0].clone(),
                Some("b") => row["data"]["name"] = names[1].clone(),
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
    // Where nothing is hidden, whatever has changed is no reason for another response.
    data["name"] = "Else".into();
    admin.patch(&of, &json!({"data": data})).expect(200);
    let again = keyed();
    assert!(replayed(&again));
    assert_eq!(again.body, shown.body);
    let own = json!({"config": {"rowAccess": "own"}});
    admin.patch(&path, &own).expect(200);
    let hidden = keyed();
    assert!(!hidden.body.contains("Secret"), "{hidden:?}");
    let today = apply(editor, &scene.template, &body);
    assert_eq!(hidden.body, today.body);
    // Nor are they shown where nothing is in conflict any more.
    let before = json!({"data": first["data"]});
    admin.patch(&of, &before).expect(200);
    let resolved = keyed();
    assert!(!resolved.body.contains("Secret"), "{resolved:?}");
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

/// Another client of the package, by its code.
fn add_client(package: &mut Value, code: &str) {
    let entries = package["payloads"].as_array_mut().expect("payloads");
    let is_clients = |entry: &&mut Value| entry["rows"][0]["data"].get("code").is_some();
    let entry = entries.iter_mut().find(is_clients).expect("clients");
    let rows = entry["rows"].as_array_mut().expect("rows");
    let mut row = rows[0].clone();
    row["uid"] = "u_00000000-0000-4000-8000-0000000000bb".into();
    row["data"]["code"] = code.into();
    row["data"].as_object_mut().expect("cells").remove("id");
    rows.push(row);
    let count = json!(rows.len());
    entry["count"] = count.clone();
    let uid = entry["itemUid"].clone();
    let items = package["manifest"]["items"].as_array_mut();
    let mut items = items.expect("items").iter_mut();
    let item = items.find(|item| item["uid"] == uid).expect("an item");
    item["count"] = count;
}

/// Packages that would tell of hidden cells what is asked, counted or written because of them.
fn probing(scene: &Scene) -> Vec<(&'static str, Value)> {
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut package = scene.package();
        change(&mut package);
        package
    };
    let another = changed(&|package: &mut Value| rename(package, ["A", "B"]));
    let typed = changed(&|package: &mut Value| {
        set_names(package, &[json!(1), json!(2)]);
        let name = args(package, "create_column", "name");
        name["type"] = json!("number");
        name["defaultComponent"] = json!("numberfield");
    });
    let unique = changed(&|package: &mut Value| {
        rename(package, ["A", "B"]);
        args(package, "create_column", "name")["config"] = json!({"unique": true});
    });
    let more = changed(&|package: &mut Value| add_client(package, "taken"));
    // The author takes the names away.
    let clients = named(&scene.editor, &scene.source, "clients").expect("a table");
    let columns = format!("/v1/features/{clients}/columns");
    let all = scene.editor.get(&columns).expect(200).json();
    let mut all = all.as_array().expect("a list").iter();
    let name = all.find(|column| column["name"] == "name");
    let name = name.expect("a column")["id"].as_str().expect("an id");
    let gone = format!("{columns}/{name}?force=true");
    scene.editor.delete(&gone).expect(204);
    let export = format!("/v1/workspaces/{}/export", scene.source);
    let onto = json!({"onto": scene.template, "rows": "all"});
    let without = scene.editor.post(&export, &onto).expect(200).json();
    vec![
        ("other cells", another),
        ("another type", typed),
        ("unique", unique),
        ("a row more", more),
        ("a column less", without),
    ]
}

async fn a_package_of_ones_own_shows_nothing_of_hidden_rows(place: Place) {
    let scene = Scene::new(place).await;
    let Scene {
        world,
        editor,
        admin,
        ..
    } = &scene;
    let viewer = world.as_user("viewer@acme.test");
    let packages = probing(&scene);
    let path = format!("/v1/features/{}", scene.clients);
    let own = json!({"config": {"rowAccess": "own"}});
    admin.patch(&path, &own).expect(200);
    let rows = format!("{path}/rows");
    assert_eq!(viewer.items(&rows), Vec::<Value>::new());
    let plans = |client: &Client| {
        let plans = packages.iter();
        let plans = plans.map(|(_, package)| scene.plan(client, &json!({"package": package})));
        plans.collect::<Vec<_>>()
    };
    let (seen, whole) = (plans(&viewer), plans(editor));
    // Of a hidden row cells become others, and there is one more.
    let first = admin.items(&rows)[0].clone();
    let of = format!("{rows}/{}", first["id"].as_str().expect("an id"));
    let mut data = first["data"].clone();
    data["name"] = "Secret".into();
    data["code"] = "taken".into();
    admin.patch(&of, &json!({"data": data})).expect(200);
    let more = json!({"data": {"code": "more", "name": "Secret"}});
    admin.post(&rows, &more).expect(201);
    for (at, (now, then)) in plans(&viewer).iter().zip(&seen).enumerate() {
        let how = packages[at].0;
        assert_eq!(now, then, "{how}");
        assert_eq!(now["conflicts"], json!([]), "{how}: {now}");
    }
    // Whoever may apply sees that something is to be decided, and that a plan of theirs has changed.
    for (at, (now, then)) in plans(editor).iter().zip(&whole).enumerate() {
        assert_ne!(now, then, "{}", packages[at].0);
    }
    // What stands in the catalog is planned for everybody.
    scene.publish(|package| rename(package, ["A", "B"]));
    let plan = scene.plan(&viewer, &json!({}));
    assert_eq!(plan["conflicts"][0]["count"], 1, "{plan}");
    assert_eq!(plan, scene.plan(editor, &json!({})));
}

/// Of a workspace that nobody has applied anything to.
async fn a_base_of_ones_own_shows_nothing_of_hidden_rows(place: Place) {
    let scene = Scene::new(place).await;
    let Scene { world, admin, .. } = &scene;
    let viewer = world.as_user("viewer@acme.test");
    let clients = named(admin, &scene.source, "clients").expect("a table");
    let path = format!("/v1/features/{clients}");
    let own = json!({"config": {"rowAccess": "own"}});
    admin.patch(&path, &own).expect(200);
    let base = scene.package();
    let mut package = base.clone();
    let name = args(&mut package, "create_column", "name");
    name["type"] = json!("number");
    name["defaultComponent"] = json!("numberfield");
    set_names(&mut package, &[json!(1), json!(2)]);
    let plan = |client: &Client| {
        let body = json!({"workspaceId": scene.source, "base": base, "package": package});
        scene.plan(client, &body)
    };
    let (seen, whole) = (plan(&viewer), plan(admin));
    let more = json!({"data": {"code": "more", "name": "Secret"}});
    admin.post(&format!("{path}/rows"), &more).expect(201);
    assert_eq!(plan(&viewer), seen);
    assert_eq!(seen["conflicts"], json!([]), "{seen}");
    assert_ne!(plan(admin)["digest"], whole["digest"]);
}
