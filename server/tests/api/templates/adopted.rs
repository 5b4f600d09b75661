//! Upgrades of workspaces that people set up by hand, and the package that they did it by.

use serde_json::{Value, json};

use super::shop::{Shop, applied, apply, finished, rows, working, workspace};
use super::upgrade::args;
use crate::api::client::Client;
use crate::api::model::id;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    what_was_set_up_by_hand_is_upgraded_and_stays,
    a_base_that_is_none_is_refused,
    rows_that_the_caller_does_not_see_are_not_adopted,
    a_job_keeps_the_base_that_it_was_given,
    a_base_that_is_laid_out_anew_is_the_one_that_was_planned_with,
);

/// A shop that people set up, and a template of it that nobody applied there.
struct Scene {
    world: World,
    editor: Client,
    admin: Client,
    shop: Shop,
    template: String,
    /// The package by which people did it.
    base: Value,
}

impl Scene {
    async fn new(place: Place) -> Scene {
        let world = World::new(place).await;
        let editor = world.as_user("editor@acme.test");
        let admin = world.as_user("admin@acme.test");
        let shop = Shop::new(&editor, world.acme);
        let selection = json!({"rows": "all", "identity": {"name": "shop", "semver": "1.0.0"}});
        let template = shop.template(&editor, &admin, &selection);
        let base = admin.get(&format!("/v1/templates/{template}/package"));
        let base = base.expect(200).json();
        Scene {
            world,
            editor,
            admin,
            shop,
            template,
            base,
        }
    }

    /// The author brings another version.
    fn publish(&self, change: impl FnOnce(&mut Value)) {
        let mut package = self.base.clone();
        package["manifest"]["semver"] = "2.0.0".into();
        change(&mut package);
        let kept = format!("/v1/templates/{}/package", self.template);
        self.admin
            .json("PUT", &kept, &package.to_string())
            .expect(200);
    }

    fn body(&self, more: &Value) -> Value {
        let mut body = json!({"workspaceId": self.shop.workspace, "upgrade": true});
        for (key, value) in more.as_object().expect("an object") {
            body[key] = value.clone();
        }
        body
    }

    fn based(&self) -> Value {
        self.body(&json!({"base": self.base}))
    }

    fn plan(&self, client: &Client, body: &Value) -> Value {
        let path = format!("/v1/templates/{}/plan", self.template);
        client.post(&path, body).expect(200).json()
    }

    fn label(&self, feature: &str) -> Value {
        let found = self.editor.get(&format!("/v1/features/{feature}"));
        found.expect(200).json()["label"].clone()
    }

    fn drift(&self) -> Value {
        let (there, template) = (&self.shop.workspace, &self.template);
        let path = format!("/v1/workspaces/{there}/templates/{template}/drift?rows=true");
        self.editor.get(&path).expect(200).json()
    }

    fn undo(&self, job: &Value, query: &str) -> crate::api::client::Response {
        let path = format!("/v1/template-jobs/{}/undo{query}", id(job));
        self.editor.send("POST", &path, &[], None)
    }
}

/// Other labels, another name of the client `a`, and a client more.
fn next(package: &mut Value) {
    let items = package["manifest"]["items"].as_array_mut().expect("items");
    let of_rows = |item: &&mut Value| item["kind"] == "rows" && item["count"] == 2;
    items.iter_mut().find(of_rows).expect("rows")["count"] = 3.into();
    args(package, "create_feature", "clients")["label"] = "Customers".into();
    args(package, "create_feature", "orders")["label"] = "Sales".into();
    for entry in package["payloads"].as_array_mut().expect("payloads") {
        let rows = entry["rows"].as_array_mut().expect("rows");
        let client = rows.iter_mut().find(|row| row["data"]["code"] == "a");
        if let Some(client) = client {
            client["data"]["name"] = "New name".into();
            let mut more = client.clone();
            more["uid"] = "u_00000000-0000-4000-8000-00000000c0de".into();
            more["data"]["code"] = "c".into();
            more["data"]["name"] = "More".into();
            if more["data"].get("id").is_some() {
                more["data"]["id"] = "another".into();
            }
            rows.push(more);
            entry["count"] = 3.into();
        }
    }
}

async fn what_was_set_up_by_hand_is_upgraded_and_stays(place: Place) {
    let scene = Scene::new(place).await;
    let _working = working(&scene.world);
    let (editor, shop) = (&scene.editor, &scene.shop);
    scene.publish(next);
    let feature = |of: &str| format!("/v1/features/{of}");
    editor
        .patch(&feature(&shop.orders), &json!({"label": "Ours"}))
        .expect(200);
    let before = (rows(editor, &shop.clients), rows(editor, &shop.orders));

    let refused = scene.plan(editor, &scene.body(&json!({})));
    let refusal = &refused["refusals"][0];
    assert_eq!(refusal["code"], "no_base");
    let detail = refusal["detail"].as_str().expect("a text");
    assert!(
        detail.contains("`base`") && detail.contains("Apply it"),
        "{detail}"
    );

    let plan = scene.plan(editor, &scene.based());
    assert_eq!(plan["base"], json!({"job_id": null, "semver": "1.0.0"}));
    assert_eq!(plan["create"], json!([]), "{plan}");
    assert_eq!(plan["conflicts"][0]["path"], "label", "{plan}");
    let clients = &plan["rows"]["f_clients"];
    assert_eq!(
        (&clients["insert"], &clients["update"], &clients["skipped"]),
        (&json!(1), &json!(1), &json!(2)),
        "{plan}"
    );
    let refused = apply(editor, &scene.template, &scene.based());
    let refused = refused.refused(422, "upgrade_conflicts").json();
    assert_eq!(refused["conflicts"], plan["conflicts"]);

    let orders = plan["conflicts"][0]["ref"].as_str().expect("a ref");
    let mut decided = scene.based();
    decided["decisions"] = json!({orders: {"label": {"take": "ours", "ours": "Ours"}}});
    let plan = scene.plan(editor, &decided);
    decided["plan"] = plan["digest"].clone();
    let job = applied(editor, &scene.template, &decided).await;
    let report = &job["report"];
    assert_eq!(report["base"], json!({"job_id": null, "semver": "1.0.0"}));
    assert_eq!(report["rows"]["f_clients"]["updated"], 1, "{report}");
    assert_eq!(
        (scene.label(&shop.clients), scene.label(&shop.orders)),
        (json!("Customers"), json!("Ours"))
    );
    assert_eq!(rows(editor, &shop.clients).len(), 3);

    // From now on it is the template's.
    let plain = scene.body(&json!({}));
    let plan = scene.plan(editor, &plain);
    assert_eq!(plan["base"]["job_id"], job["id"]);
    assert_eq!(
        (&plan["update"], &plan["refusals"]),
        (&json!([]), &json!([]))
    );
    let drift = scene.drift();
    let changed: Vec<&Value> = drift["changed"]
        .as_array()
        .expect("a list")
        .iter()
        .collect();
    assert_eq!((changed.len(), &changed[0]["ours"]), (1, &json!("Ours")));
    let counts = json!({"added": 0, "deleted": 0, "changed": 0});
    assert_eq!(drift["rows"]["f_clients"], counts, "{drift}");
    let exists = scene.plan(editor, &scene.based());
    assert_eq!(exists["refusals"][0]["code"], "base_exists");
    apply(editor, &scene.template, &scene.based()).refused(422, "base_exists");

    // What people change since is drift, and refuses the undo, unless it is forced.
    let path = format!("/v1/features/{}/rows", shop.clients);
    let all = editor.items(&format!("{path}?limit=200"));
    let client = all.iter().find(|row| row["data"]["code"] == "a");
    let client = client.expect("a row");
    let mut data = client["data"].clone();
    data["name"] = "Since".into();
    editor
        .patch(&format!("{path}/{}", id(client)), &json!({"data": data}))
        .expect(200);
    let drift = scene.drift();
    assert_eq!(drift["rows"]["f_clients"]["changed"], 1, "{drift}");
    assert_eq!(drift["cells"][0]["ours"], "Since", "{drift}");
    scene.undo(&job, "").refused(409, "not_empty");
    data["name"] = "New name".into();
    editor
        .patch(&format!("{path}/{}", id(client)), &json!({"data": data}))
        .expect(200);
    scene.undo(&job, "").expect(200);
    assert_eq!(scene.label(&shop.clients), "Clients");
    let after = (rows(editor, &shop.clients), rows(editor, &shop.orders));
    assert_eq!(after, before);
    // Nothing is known any more, and it may be adopted once more.
    let plan = scene.plan(editor, &plain);
    assert_eq!(plan["refusals"][0]["code"], "no_base");
    let plan = scene.plan(editor, &scene.based());
    assert_eq!(plan["base"]["job_id"], json!(null));
}

async fn a_base_that_is_none_is_refused(place: Place) {
    let scene = Scene::new(place).await;
    let editor = &scene.editor;
    scene.publish(next);
    let plan = format!("/v1/templates/{}/plan", scene.template);
    let both = |body: &Value, path: &str| {
        for response in [
            editor.post(&plan, body),
            apply(editor, &scene.template, body),
        ] {
            let refused = response.refused(422, "validation_failed").json();
            assert_eq!(refused["errors"][0]["path"], path, "{refused}");
        }
    };
    for base in [json!(null), json!("x"), json!([])] {
        both(&scene.body(&json!({"base": base})), "base");
    }
    let mut plain = scene.based();
    plain["upgrade"] = false.into();
    both(&plain, "base");
    let broken = scene.body(&json!({"base": {"a": 1}}));
    for response in [
        editor.post(&plan, &broken),
        apply(editor, &scene.template, &broken),
    ] {
        let refused = response.refused(422, "validation_failed").json();
        let error = &refused["errors"][0];
        assert_eq!(
            (&error["code"], &error["path"]),
            (&json!("J003"), &json!("/base")),
            "{refused}"
        );
    }
    // What is wrong in it is reported with its place in the body.
    let mut wrong = scene.base.clone();
    wrong["manifest"]["items"][0]["kind"] = "nothing".into();
    let wrong = scene.body(&json!({"base": wrong}));
    for response in [
        editor.post(&plan, &wrong),
        apply(editor, &scene.template, &wrong),
    ] {
        let refused = response.refused(422, "validation_failed").json();
        let errors = refused["errors"].as_array().expect("a list");
        for error in errors {
            let place = error["path"].as_str().expect("a path");
            assert!(place.starts_with("/base/manifest/"), "{refused}");
            assert_ne!(wrong.pointer(place), None, "{refused}");
        }
    }
    let mut other = scene.base.clone();
    other["manifest"]["name"] = "another".into();
    let other = scene.body(&json!({"base": other}));
    let plan_of_other = scene.plan(editor, &other);
    assert_eq!(
        plan_of_other["refusals"][0]["code"], "base_unrelated",
        "{plan_of_other}"
    );
    apply(editor, &scene.template, &other).refused(422, "base_unrelated");
    assert_eq!(editor.items("/v1/template-jobs"), Vec::<Value>::new());
}

async fn rows_that_the_caller_does_not_see_are_not_adopted(place: Place) {
    let scene = Scene::new(place).await;
    let _working = working(&scene.world);
    let Scene {
        editor,
        admin,
        shop,
        ..
    } = &scene;
    scene.publish(next);
    // Whose rows a table shows is for administrators to say, and those of the shop are the editor's.
    let path = format!("/v1/features/{}", shop.clients);
    admin
        .patch(&path, &json!({"config": {"rowAccess": "own"}}))
        .expect(200);
    let mine = scene.plan(editor, &scene.based());
    let clients = &mine["rows"]["f_clients"];
    assert_eq!(
        (&clients["skipped"], &clients["update"]),
        (&json!(2), &json!(1))
    );
    let second = scene.world.as_user("viewer@acme.test");
    let theirs = scene.plan(&second, &scene.based());
    let clients = &theirs["rows"]["f_clients"];
    assert_eq!(
        (&clients["skipped"], &clients["update"]),
        (&json!(0), &json!(0)),
        "{theirs}"
    );
    assert!(!theirs.to_string().contains("New name"), "{theirs}");
}

async fn a_job_keeps_the_base_that_it_was_given(place: Place) {
    let scene = Scene::new(place).await;
    let editor = &scene.editor;
    scene.publish(next);
    let accepted = apply(editor, &scene.template, &scene.based()).expect(202);
    let job = accepted.json()["jobId"].clone();
    // Nobody works on it yet: it is planned for again by its id, without the base.
    let again = scene.body(&json!({"jobId": job}));
    let plan = scene.plan(editor, &again);
    assert_eq!(
        plan["base"],
        json!({"job_id": null, "semver": "1.0.0"}),
        "{plan}"
    );
    assert_eq!(plan["rows"]["f_clients"]["update"], 1, "{plan}");
    let accepted = apply(editor, &scene.template, &again);
    let _working = working(&scene.world);
    let done = finished(editor, accepted).await;
    assert_eq!(done["status"], "completed", "{done}");
    assert_eq!(done["report"]["rows"]["f_clients"]["inserted"], 1, "{done}");
    assert_eq!(scene.label(&scene.shop.clients), "Customers");
    // Elsewhere the same template is applied as ever.
    let there = workspace(editor, scene.world.acme);
    applied(editor, &scene.template, &json!({"workspaceId": there})).await;
}

async fn a_base_that_is_laid_out_anew_is_the_one_that_was_planned_with(place: Place) {
    let scene = Scene::new(place).await;
    scene.publish(next);
    let plan = scene.plan(&scene.editor, &scene.based());
    assert_eq!(plan["refusals"], json!([]), "{plan}");
    let path = format!("/v1/templates/{}/apply", scene.template);
    let mut body = scene.based();
    body["plan"] = plan["digest"].clone();
    let mut other = body.clone();
    args(&mut other["base"], "create_feature", "clients")["label"] = "Other".into();
    apply(&scene.editor, &scene.template, &other).refused(409, "plan_stale");
    let laid_out = serde_json::to_string_pretty(&body).expect("JSON");
    scene.editor.json("POST", &path, &laid_out).expect(202);
}
