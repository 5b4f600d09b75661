//! Lines: which jobs go on from each other, and what becomes of that when some of them are undone.

use std::thread;

use serde_json::{Value, json};
use tplkit_server::app::Config;

use super::shop::{Shop, applied, apply, named, rows, working, workspace};
use super::upgrade::args;
use crate::api::client::{Client, Response};
use crate::api::model::id;
use crate::api::world::{PASSWORD, World};
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_job_keeps_its_line_when_the_copy_before_it_is_undone,
    a_job_after_the_undo_of_a_copy_goes_on_with_what_stands,
    jobs_of_older_programs_have_the_lines_that_they_bound_to,
    two_templates_of_one_identity_do_not_upgrade_one_line_at_once,
    an_upgrade_that_was_cancelled_before_it_wrote_holds_off_no_undo,
    of_many_upgrades_of_one_line_at_once_one_makes_a_job,
    a_line_is_one_of_each_template_that_was_applied_to_it,
);

/// A shop in the catalog, as one template or as several of one `manifest.id`.
struct Scene {
    world: World,
    admin: Client,
    editor: Client,
    templates: Vec<String>,
    package: Value,
    there: String,
}

impl Scene {
    async fn new(place: Place, templates: usize) -> Scene {
        let world = World::new(place).await;
        let admin = world.as_user("admin@acme.test");
        let editor = world.as_user("editor@acme.test");
        let shop = Shop::new(&editor, world.acme);
        let body = json!({"rows": "all", "identity": {"name": "shop", "semver": "1.0.0"}});
        let path = format!("/v1/workspaces/{}/export", shop.workspace);
        let mut package = editor.post(&path, &body).expect(200).json();
        package["manifest"]["id"] = "shop-000000".into();
        let import = format!("/v1/templates/import?organization_id={}", world.acme);
        let templates = (0..templates).map(|_| {
            let made = admin.json("POST", &import, &package.to_string());
            id(&made.expect(201).json())
        });
        Scene {
            templates: templates.collect(),
            there: workspace(&editor, world.acme),
            world,
            admin,
            editor,
            package,
        }
    }

    /// The author brings a second version: another label, and another name of the client `a`.
    fn publish(&self, template: &str) {
        let mut package = self.package.clone();
        package["manifest"]["semver"] = "2.0.0".into();
        args(&mut package, "create_feature", "orders")["label"] = "Sales".into();
        for entry in package["payloads"].as_array_mut().expect("payloads") {
            for row in entry["rows"].as_array_mut().expect("rows") {
                if row["data"]["code"] == "a" {
                    row["data"]["name"] = "New name".into();
                }
            }
        }
        let path = format!("/v1/templates/{template}/package");
        self.admin
            .json("PUT", &path, &package.to_string())
            .expect(200);
    }

    fn body(&self, more: &Value) -> Value {
        let mut body = json!({"workspaceId": self.there});
        for (key, value) in more.as_object().expect("an object") {
            body[key] = value.clone();
        }
        body
    }

    fn upgrade_from(&self, job: &Value) -> Value {
        self.body(&json!({"upgrade": true, "baseJob": job["id"]}))
    }

    async fn applied(&self, more: &Value) -> Value {
        applied(&self.editor, &self.templates[0], &self.body(more)).await
    }

    fn plan(&self, template: &str, body: &Value) -> Value {
        let path = format!("/v1/templates/{template}/plan");
        self.editor.post(&path, body).expect(200).json()
    }

    fn undo(&self, job: &Value) -> Response {
        let path = format!("/v1/template-jobs/{}/undo", id(job));
        self.editor.send("POST", &path, &[], None)
    }

    fn lines(&self) -> Vec<Value> {
        let path = format!("/v1/workspaces/{}/templates", self.there);
        self.editor.items(&path)
    }

    /// The first and the newest job of each line, with the version of that.
    fn states(&self) -> Vec<[Value; 3]> {
        let lines = self.lines().into_iter();
        let of = |one: &Value| ["line", "job_id", "semver"].map(|member| one[member].clone());
        lines.map(|one| of(&one)).collect()
    }

    fn drift(&self, template: &str, query: &str) -> Response {
        let there = &self.there;
        let path = format!("/v1/workspaces/{there}/templates/{template}/drift{query}");
        self.editor.get(&path)
    }
}

fn state(first: &Value, newest: &Value, semver: &str) -> [Value; 3] {
    [first["id"].clone(), newest["id"].clone(), semver.into()]
}

async fn a_job_keeps_its_line_when_the_copy_before_it_is_undone(place: Place) {
    let scene = Scene::new(place, 1).await;
    let _working = working(&scene.world);
    let template = &scene.templates[0];
    let first = scene.applied(&json!({})).await;
    let clients = named(&scene.editor, &scene.there, "clients").expect("a table");
    let copy = scene.applied(&json!({"copy": true})).await;
    scene.publish(template);
    // It goes on with the copy, which is the newest.
    let plain = scene.applied(&json!({})).await;
    let lines = [
        state(&first, &first, "1.0.0"),
        state(&copy, &plain, "2.0.0"),
    ];
    assert_eq!(scene.states(), lines);
    scene.undo(&copy).expect(200);

    let lines = [
        state(&first, &first, "1.0.0"),
        state(&plain, &plain, "2.0.0"),
    ];
    assert_eq!(scene.states(), lines);
    let line = &scene.lines()[0];
    assert_eq!(
        (&line["newer"], &line["drift"]),
        (&json!("2.0.0"), &json!(false))
    );
    let of_first = format!("?rows=true&job={}", id(&first));
    let drift = scene.drift(template, &of_first).expect(200).json();
    assert_eq!(
        (&drift["base"]["job_id"], &drift["drift"]),
        (&first["id"], &json!(false)),
        "{drift}"
    );
    let drift = scene.drift(template, "").expect(200).json();
    assert_eq!(drift["base"]["job_id"], plain["id"]);
    // The first line is at the first version, cells too.
    let upgrade = scene.upgrade_from(&first);
    let plan = scene.plan(template, &upgrade);
    assert_eq!(plan["base"]["job_id"], first["id"]);
    let job = applied(&scene.editor, template, &upgrade).await;
    assert_eq!(job["report"]["structure_updated"], 1, "{job}");
    assert_eq!(rows(&scene.editor, &clients)[0]["name"], "New name");

    // A plain apply goes on with the newest job that stands, and opens a line when there is none.
    scene.undo(&plain).expect(200);
    let again = scene.applied(&json!({})).await;
    assert_eq!(scene.states(), [state(&first, &again, "2.0.0")]);
    for job in [&again, &job, &first] {
        scene.undo(job).expect(200);
    }
    assert_eq!(scene.states(), Vec::<[Value; 3]>::new());
    let new = scene.applied(&json!({})).await;
    assert_eq!(scene.states(), [state(&new, &new, "2.0.0")]);
}

async fn a_job_after_the_undo_of_a_copy_goes_on_with_what_stands(place: Place) {
    let scene = Scene::new(place, 1).await;
    let _working = working(&scene.world);
    let first = scene.applied(&json!({})).await;
    let copy = scene.applied(&json!({"copy": true})).await;
    scene.undo(&copy).expect(200);
    let again = scene.applied(&json!({})).await;
    assert_eq!(scene.states(), [state(&first, &again, "1.0.0")]);
    assert_eq!(again["report"]["rows"]["f_clients"]["skipped"], 2);
}

/// They did not keep them.
async fn jobs_of_older_programs_have_the_lines_that_they_bound_to(place: Place) {
    let scene = Scene::new(place, 1).await;
    let _working = working(&scene.world);
    let undo = |job: &Value| {
        scene.undo(job).expect(200);
        scene.world.wait(1);
    };
    let first = scene.applied(&json!({})).await;
    let copy = scene.applied(&json!({"copy": true})).await;
    let with_copy = scene.applied(&json!({})).await;
    scene.world.wait(1);
    undo(&copy);
    let other = scene.applied(&json!({"copy": true})).await;
    undo(&other);
    undo(&with_copy);
    let with_first = scene.applied(&json!({})).await;
    let third = scene.applied(&json!({"copy": true})).await;
    let with_third = scene.applied(&json!({})).await;
    scene.world.wait(1);
    undo(&third);
    let lines = [
        state(&first, &with_first, "1.0.0"),
        state(&with_third, &with_third, "1.0.0"),
    ];
    assert_eq!(scene.states(), lines);
    let forget = "UPDATE main.template_jobs SET line = NULL WHERE created_at > $1";
    scene.world.sql(forget, vec![0_i64.into()]).await;
    assert_eq!(scene.states(), lines);
}

async fn two_templates_of_one_identity_do_not_upgrade_one_line_at_once(place: Place) {
    let scene = Scene::new(place, 2).await;
    let workers = working(&scene.world);
    let [one, other] = [0, 1].map(|at| scene.templates[at].as_str());
    let first = scene.applied(&json!({})).await;
    let copy = scene.applied(&json!({"copy": true})).await;
    workers.ends();
    scene.publish(one);
    scene.publish(other);
    let upgrade = scene.upgrade_from(&first);
    let active = apply(&scene.editor, one, &upgrade).expect(202).json();
    let refused = apply(&scene.editor, other, &upgrade);
    let refused = refused.refused(409, "job_active").json();
    assert_eq!(refused["job_id"], active["jobId"]);
    let detail = refused["detail"].as_str().expect("a text");
    assert!(
        detail.contains(one) && detail.contains("same line"),
        "{detail}"
    );
    let plan = scene.plan(other, &upgrade);
    assert_eq!(plan["refusals"][0]["code"], "job_active", "{plan}");
    assert_eq!(plan["refusals"][0]["detail"], detail);

    // The other way about, and an undo in that line waits as well; other lines are free.
    let cancel = |job: &Value| {
        let path = format!("/v1/template-jobs/{}/cancel", id(&json!({"id": job})));
        scene.editor.send("POST", &path, &[], None).expect(202);
    };
    cancel(&active["jobId"]);
    let of_other = apply(&scene.editor, other, &upgrade).expect(202).json();
    apply(&scene.editor, one, &upgrade).refused(409, "job_active");
    let again = scene.body(&json!({"upgrade": true, "jobId": active["jobId"]}));
    let refused = apply(&scene.editor, one, &again).refused(409, "job_active");
    assert_eq!(refused.json()["job_id"], of_other["jobId"]);
    let cancelled = json!({"id": active["jobId"]});
    let refused = scene.undo(&cancelled).refused(409, "job_active").json();
    assert_eq!(refused["job_id"], of_other["jobId"]);
    apply(&scene.editor, one, &scene.upgrade_from(&copy)).expect(202);
    // Jobs of older programs are in the way, too.
    let forget = "UPDATE main.template_jobs SET line = NULL WHERE created_at > $1";
    scene.world.sql(forget, vec![0_i64.into()]).await;
    scene.undo(&cancelled).refused(409, "job_active");
}

async fn an_upgrade_that_was_cancelled_before_it_wrote_holds_off_no_undo(place: Place) {
    let scene = Scene::new(place, 1).await;
    let workers = working(&scene.world);
    let first = scene.applied(&json!({})).await;
    workers.ends();
    let template = scene.templates[0].as_str();
    scene.publish(template);
    let upgrade = apply(&scene.editor, template, &scene.upgrade_from(&first));
    let upgrade = upgrade.expect(202).json();
    scene.undo(&first).refused(409, "job_active");
    let cancel = format!(
        "/v1/template-jobs/{}/cancel",
        id(&json!({"id": upgrade["jobId"]}))
    );
    scene.editor.send("POST", &cancel, &[], None).expect(202);
    assert_eq!(scene.undo(&first).expect(200).json()["status"], "undone");
}

async fn of_many_upgrades_of_one_line_at_once_one_makes_a_job(place: Place) {
    let scene = Scene::new(place, 2).await;
    let workers = working(&scene.world);
    let first = scene.applied(&json!({})).await;
    workers.ends();
    for template in &scene.templates {
        scene.publish(template);
    }
    // Two servers on one store.
    let token = scene.world.token("editor@acme.test", PASSWORD).expect(200);
    let token = token.json()["access_token"].clone();
    let config = || Config {
        rate: None,
        ..Config::default()
    };
    let store = scene.world.place.open().await;
    let second = scene.world.second_server(store, config()).await;
    let second = second.with(token.as_str().expect("a token"));
    let clients = [&scene.editor, &second];
    let upgrade = scene.upgrade_from(&first);
    let responses: Vec<Response> = thread::scope(|scope| {
        let requests: Vec<_> = (0..16)
            .map(|number| {
                let template = &scene.templates[number % 2];
                let client = clients[number / 2 % 2];
                let upgrade = &upgrade;
                scope.spawn(move || apply(client, template, upgrade))
            })
            .collect();
        let requests = requests.into_iter();
        requests.map(|one| one.join().expect("responds")).collect()
    });
    let made = responses.iter().filter(|response| response.status == 202);
    assert_eq!(made.count(), 1, "{responses:?}");
    let refused = responses.into_iter().filter(|one| one.status != 202);
    for response in refused {
        response.refused(409, "job_active");
    }
    assert_eq!(scene.editor.items("/v1/template-jobs").len(), 2);
}

async fn a_line_is_one_of_each_template_that_was_applied_to_it(place: Place) {
    let scene = Scene::new(place, 3).await;
    let _working = working(&scene.world);
    let [one, other, never] = [0, 1, 2].map(|at| scene.templates[at].as_str());
    let first = scene.applied(&json!({})).await;
    scene.publish(other);
    let upgrade = applied(&scene.editor, other, &scene.upgrade_from(&first)).await;
    let lines = scene.lines();
    assert_eq!(scene.states(), [state(&first, &upgrade, "2.0.0")]);
    assert_eq!(lines[0]["template_id"], other);
    let orders = named(&scene.editor, &scene.there, "orders").expect("a table");
    let path = format!("/v1/features/{orders}");
    scene
        .editor
        .patch(&path, &json!({"label": "Ours"}))
        .expect(200);
    for (template, query) in [
        (one, String::new()),
        (one, format!("?job={}", id(&first))),
        (other, String::new()),
    ] {
        let drift = scene.drift(template, &query).expect(200).json();
        assert_eq!(drift["base"]["job_id"], upgrade["id"], "{drift}");
        assert_eq!(drift["changed"][0]["base"], "Sales", "{drift}");
        assert_eq!(
            (&drift["template_id"], &drift["drift"]),
            (&json!(template), &scene.lines()[0]["drift"])
        );
    }
    scene.drift(never, "").refused(404, "not_found");
    // A line of its own, by which it goes on from then, is the newest of the other one.
    let copy = scene.body(&json!({"copy": true}));
    let copy = applied(&scene.editor, other, &copy).await;
    let base = |template: &str| {
        let drift = scene.drift(template, "").expect(200).json();
        drift["base"]["job_id"].clone()
    };
    assert_eq!(
        (base(one), base(other)),
        (upgrade["id"].clone(), copy["id"].clone())
    );
}
