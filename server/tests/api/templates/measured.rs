//! Upgrades that make columns stricter than cells are.

use serde_json::{Value, json};

use super::shop::{Shop, applied, apply, named, rows, working, workspace};
use super::upgrade::args;
use crate::api::client::Client;
use crate::api::model::id;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    cells_are_measured_as_the_upgrade_leaves_them,
    cells_that_do_not_fit_a_type_are_lost_and_come_back,
    places_that_the_caller_does_not_see_are_not_shown,
);

/// A shop that was applied, and what it takes to go on.
struct Applied {
    template: String,
    workspace: String,
    clients: String,
    package: Value,
}

impl Applied {
    async fn new(world: &World, editor: &Client, admin: &Client) -> Applied {
        let shop = Shop::new(editor, world.acme);
        let template = shop.template(editor, admin, &json!({"rows": "all"}));
        let there = workspace(editor, world.acme);
        applied(editor, &template, &json!({"workspaceId": there})).await;
        let path = format!("/v1/templates/{template}/package");
        Applied {
            clients: named(editor, &there, "clients").expect("a table"),
            package: admin.get(&path).expect(200).json(),
            workspace: there,
            template,
        }
    }

    /// The package with other names of clients.
    fn name(&mut self, column: impl FnOnce(&mut Value), names: &[Value; 2]) {
        column(args(&mut self.package, "create_column", "name"));
        let entries = self.package["payloads"].as_array_mut().expect("payloads");
        let mut names = names.iter();
        for entry in entries {
            for row in entry["rows"].as_array_mut().expect("rows") {
                if row["data"].get("code").is_some() {
                    row["data"]["name"] = names.next().expect("a name").clone();
                }
            }
        }
    }

    fn put(&self, admin: &Client) {
        let path = format!("/v1/templates/{}/package", self.template);
        let text = self.package.to_string();
        admin.json("PUT", &path, &text).expect(200);
    }

    fn plan(&self, editor: &Client, body: &Value) -> Value {
        let path = format!("/v1/templates/{}/plan", self.template);
        editor.post(&path, body).expect(200).json()
    }

    /// Somebody adds a client.
    fn add(&self, editor: &Client, data: &Value) -> String {
        let path = format!("/v1/features/{}/rows", self.clients);
        id(&editor.create(&path, &json!({"data": data})))
    }
}

fn reference(plan: &Value) -> String {
    let reference = plan["conflicts"][0]["ref"].as_str();
    reference.unwrap_or_else(|| panic!("{plan}")).to_owned()
}

async fn cells_are_measured_as_the_upgrade_leaves_them(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let editor = world.as_user("editor@acme.test");
    let admin = world.as_user("admin@acme.test");
    let mut shop = Applied::new(&world, &editor, &admin).await;
    // Both clients have one name, which the package makes two.
    shop.name(
        |name| name["config"] = json!({"unique": true, "required": true}),
        &[json!("X"), json!("Y")],
    );
    shop.put(&admin);
    let mut body = json!({"workspaceId": shop.workspace, "upgrade": true});
    let plan = shop.plan(&editor, &body);
    assert_eq!(plan["refusals"], json!([]), "{plan}");
    let row = shop.add(&editor, &json!({"code": "c"}));
    let plan = shop.plan(&editor, &body);
    let conflict = &plan["conflicts"][0];
    assert_eq!(
        (&conflict["code"], &conflict["count"], &conflict["places"]),
        (&json!("required_empty"), &json!(1), &json!([row])),
        "{plan}"
    );
    apply(&editor, &shop.template, &body).refused(422, "upgrade_conflicts");
    body["decisions"] = json!({reference(&plan): {"config.required": "theirs"}});
    let job = applied(&editor, &shop.template, &body).await;
    assert_eq!(job["report"]["structure_updated"], 2, "{job}");
    let report = &job["report"];
    assert_eq!(
        (&report["moved"], &report["decided"]),
        (&Value::Null, &json!(1))
    );
    let repeated = json!({"data": {"code": "d", "name": "X"}});
    let path = format!("/v1/features/{}/rows", shop.clients);
    editor
        .post(&path, &repeated)
        .refused(409, "unique_violation");
    let undo = format!("/v1/template-jobs/{}/undo", id(&job));
    editor.send("POST", &undo, &[], None).expect(200);
    editor
        .post(&path, &json!({"data": {"code": "d", "name": "N"}}))
        .expect(201);
}

async fn cells_that_do_not_fit_a_type_are_lost_and_come_back(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let editor = world.as_user("editor@acme.test");
    let admin = world.as_user("admin@acme.test");
    let mut shop = Applied::new(&world, &editor, &admin).await;
    shop.add(&editor, &json!({"code": "c", "name": "Anna"}));
    let before = rows(&editor, &shop.clients);
    shop.name(
        |name| {
            name["type"] = json!("number");
            name["defaultComponent"] = json!("numberfield");
        },
        &[json!(1), json!(2)],
    );
    shop.put(&admin);
    let mut body = json!({"workspaceId": shop.workspace, "upgrade": true});
    let plan = shop.plan(&editor, &body);
    assert_eq!(plan["conflicts"][0]["code"], "type_change_loses", "{plan}");
    body["decisions"] = json!({reference(&plan): "theirs"});
    let refused = apply(&editor, &shop.template, &body)
        .refused(422, "destructive")
        .json();
    assert_eq!(refused["cells"], 1, "{refused}");
    assert_eq!(rows(&editor, &shop.clients), before);
    body["allowDestructive"] = json!(true);
    let job = applied(&editor, &shop.template, &body).await;
    let names: Vec<Value> = rows(&editor, &shop.clients)
        .iter()
        .map(|row| row["name"].clone())
        .collect();
    assert_eq!(names, [json!(1), json!(2), Value::Null], "{job}");
    let undo = format!("/v1/template-jobs/{}/undo", id(&job));
    editor.send("POST", &undo, &[], None).expect(200);
    assert_eq!(rows(&editor, &shop.clients), before);
}

async fn places_that_the_caller_does_not_see_are_not_shown(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let editor = world.as_user("editor@acme.test");
    let admin = world.as_user("admin@acme.test");
    let mut shop = Applied::new(&world, &editor, &admin).await;
    let feature = format!("/v1/features/{}", shop.clients);
    admin
        .patch(&feature, &json!({"config": {"rowAccess": "own"}}))
        .expect(200);
    let hidden = shop.add(&admin, &json!({"code": "c"}));
    let own = shop.add(&editor, &json!({"code": "d"}));
    shop.name(
        |name| name["config"] = json!({"required": true}),
        &[json!("N"), json!("N")],
    );
    shop.put(&admin);
    let body = json!({"workspaceId": shop.workspace, "upgrade": true});
    for (client, places) in [(&editor, json!([own])), (&admin, json!([hidden, own]))] {
        let plan = shop.plan(client, &body);
        let conflict = &plan["conflicts"][0];
        assert_eq!(conflict["places"], places, "{plan}");
        assert_eq!(conflict["count"], 2, "{plan}");
    }
    assert!(!shop.plan(&editor, &body).to_string().contains(&hidden));
    // What is counted is decided, whoever sees it.
    let row = format!("{feature}/rows/{own}");
    editor.delete(&row).expect(204);
    let plan = shop.plan(&editor, &body);
    let conflict = &plan["conflicts"][0];
    assert_eq!(
        (&conflict["count"], &conflict["places"]),
        (&json!(1), &Value::Null),
        "{plan}"
    );
    apply(&editor, &shop.template, &body).refused(422, "upgrade_conflicts");
}
