//! Upgrades that take columns and tables away with what they hold, and give them back.

use serde_json::{Value, json};
use tplkit_server::automation::{RunExecutor, Settings};

use super::shop::{AppliedShop, Shop, applied, apply, finished, named, row, working, workspace};
use crate::api::client::Client;
use crate::api::model::id;
use crate::api::rows::{of_file, person, seed_file};
use crate::api::workflows::{self, PATH};
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    what_goes_is_counted_allowed_and_given_back,
    what_people_wrote_into_since_the_plan_stays,
    uses_of_files_that_go_are_given_back,
    a_table_that_comes_back_is_watched_again,
);

/// The column of that name.
fn column(client: &Client, feature: &str, name: &str) -> Option<Value> {
    let columns = client
        .get(&format!("/v1/features/{feature}/columns"))
        .expect(200)
        .json();
    let mut columns = columns.as_array().expect("a list").iter();
    columns.find(|column| column["name"] == name).cloned()
}

/// The rows of a table as the API returns them, with their times.
fn documents(client: &Client, feature: &str) -> Vec<Value> {
    client.items(&format!("/v1/features/{feature}/rows?limit=200"))
}

async fn what_goes_is_counted_allowed_and_given_back(place: Place) {
    let AppliedShop {
        world,
        editor,
        admin,
        shop,
        template,
        there,
        ..
    } = &AppliedShop::new(place).await;
    let clients = named(editor, there, "clients").expect("a table");
    let orders = named(editor, there, "orders").expect("a table");
    // Somebody else adds an order, and changes it.
    let rows = format!("/v1/features/{orders}/rows");
    let added = admin.create(&rows, &json!({"data": {"title": "by hand"}}));
    admin
        .patch(
            &format!("{rows}/{}", id(&added)),
            &json!({"data": {"title": "by hand, twice"}}),
        )
        .expect(200);

    // The author takes the orders and the names of clients away.
    let source = named(editor, &shop.workspace, "clients").expect("a table");
    let name = column(editor, &source, "name").expect("a column");
    let paths = [
        format!("/v1/features/{}?force=true", shop.orders),
        format!("/v1/features/{source}/columns/{}?force=true", id(&name)),
    ];
    for path in paths {
        editor.delete(&path).expect(204);
    }
    let export = format!("/v1/workspaces/{}/export", shop.workspace);
    let package = editor.post(&export, &json!({"onto": template})).expect(200);
    let kept = format!("/v1/templates/{template}/package");
    admin.json("PUT", &kept, &package.body).expect(200);

    let plan_path = format!("/v1/templates/{template}/plan");
    let mut request_body = json!({"workspaceId": there, "upgrade": true});
    let plan = editor.post(&plan_path, &request_body).expect(200).json();
    assert_eq!(plan["refusals"], json!([]), "{plan}");
    let left = plan["left"].as_array().expect("a list");
    let of = |kind: &str| left.iter().find(|left| left["kind"] == kind).expect(kind);
    assert_eq!(
        (&of("feature")["rows"], &of("column")["cells"]),
        (&json!(4), &json!(2)),
        "{plan}"
    );
    let (table_ref, column_ref) = (&of("feature")["ref"], &of("column")["ref"]);
    let [table_ref, column_ref] = [table_ref, column_ref].map(|one| one.as_str().expect("a ref"));
    request_body["decisions"] = json!({table_ref: "delete", column_ref: "delete"});
    let refused = apply(editor, template, &request_body)
        .refused(422, "destructive")
        .json();
    assert_eq!(
        (&refused["cells"], &refused["rows"]),
        (&json!(2), &json!(4))
    );
    let paths = refused["errors"].as_array().expect("errors").iter();
    let mut paths: Vec<&str> = paths.filter_map(|error| error["path"].as_str()).collect();
    paths.sort_unstable();
    let mut expected = [table_ref, column_ref].map(|one| format!("decisions.{one}"));
    expected.sort_unstable();
    assert_eq!(paths, expected);
    let plan = editor.post(&plan_path, &request_body).expect(200).json();
    let codes = plan["refusals"].as_array().expect("refusals").iter();
    let codes: Vec<&Value> = codes.map(|refusal| &refusal["code"]).collect();
    assert_eq!(codes, ["destructive", "destructive"]);
    assert_eq!(editor.items("/v1/template-jobs").len(), 1, "no job");

    let before = (
        documents(admin, &orders),
        documents(admin, &clients),
        column(editor, &clients, "name").expect("a column")["id"].clone(),
    );
    request_body["allowDestructive"] = json!(true);
    let job = applied(editor, template, &request_body).await;
    assert_eq!(job["report"]["decided"], 2, "{job}");
    assert_eq!(named(editor, there, "orders"), None);
    assert_eq!(column(editor, &clients, "name"), None);
    let undo = format!("/v1/template-jobs/{}/undo", id(&job));
    // Somebody needs the name meanwhile.
    let ours = json!({"workspace_id": there, "name": "orders", "label": "Ours"});
    let ours = editor.create("/v1/features", &ours);
    let refused = editor.send("POST", &undo, &[], None);
    let refused = refused.refused(409, "conflict").json();
    let detail = refused["detail"].as_str().expect("a detail");
    assert!(
        detail.contains("orders") && detail.contains("Rename or delete what has it now"),
        "{detail}"
    );
    let renamed = editor.patch(
        &format!("/v1/features/{}", id(&ours)),
        &json!({"name": "others"}),
    );
    renamed.expect(200);
    editor.send("POST", &undo, &[], None).expect(200);
    assert_eq!(named(editor, there, "orders").as_deref(), Some(&*orders));
    let after = (
        documents(admin, &orders),
        documents(admin, &clients),
        column(editor, &clients, "name").expect("a column")["id"].clone(),
    );
    assert_eq!(after, before);
    // A row belongs to whom it belonged to.
    let sql = "SELECT created_by FROM rows WHERE id = $1";
    let added: uuid::Uuid = id(&added).parse().expect("an id");
    let owner = world.sql(sql, vec![added.into()]).await;
    let owner: Option<uuid::Uuid> = owner[0].get(0).expect("an id");
    let me = admin.get("/v1/me").expect(200).json();
    assert_eq!(me["id"], owner.expect("an owner").to_string());
}

async fn what_people_wrote_into_since_the_plan_stays(place: Place) {
    let world = World::new(place).await;
    let at_work = working(&world);
    let editor = world.as_user("editor@acme.test");
    let admin = world.as_user("admin@acme.test");
    let shop = Shop::new(&editor, world.acme);
    let template = shop.template(&editor, &admin, &json!({"rows": "all"}));
    let there = workspace(&editor, world.acme);
    applied(&editor, &template, &json!({"workspaceId": there})).await;
    at_work.ends();
    let orders = named(&editor, &there, "orders").expect("a table");
    let gone = format!("/v1/features/{}?force=true", shop.orders);
    editor.delete(&gone).expect(204);
    let export = format!("/v1/workspaces/{}/export", shop.workspace);
    let package = editor.post(&export, &json!({"onto": template})).expect(200);
    let kept = format!("/v1/templates/{template}/package");
    admin.json("PUT", &kept, &package.body).expect(200);

    let plan_path = format!("/v1/templates/{template}/plan");
    let mut request_body = json!({"workspaceId": there, "upgrade": true, "allowDestructive": true});
    let plan = editor.post(&plan_path, &request_body).expect(200).json();
    let table = |left: &Value| {
        let mut left = left.as_array().expect("a list").iter();
        left.find(|left| left["kind"] == "feature").cloned()
    };
    let left = table(&plan["left"]).expect("a table");
    let reference = left["ref"].as_str().expect("a ref");
    request_body["decisions"] = json!({reference: "delete"});
    let accepted = apply(&editor, &template, &request_body);
    let rows = format!("/v1/features/{orders}/rows");
    admin.create(&rows, &json!({"data": {"title": "since"}}));
    let before = documents(&admin, &orders);
    let _at_work = working(&world);
    let job = finished(&editor, accepted).await;
    assert_eq!(job["status"], "completed", "{job}");
    let report = &job["report"];
    assert_eq!(report["moved"][0]["ref"], reference, "{job}");
    assert_eq!(report["moved"][0]["id"], orders.as_str(), "{job}");
    assert_eq!(
        (
            &report["decided"],
            &table(&report["left"]).expect("left")["delete"]
        ),
        (&json!(0), &json!(false)),
        "{job}"
    );
    assert_eq!(documents(&admin, &orders), before);
    // Whoever decides again has seen all of it.
    let plan = editor.post(&plan_path, &request_body).expect(200).json();
    assert_eq!(
        table(&plan["left"]).expect("left")["rows"],
        json!(before.len())
    );
    applied(&editor, &template, &request_body).await;
    assert_eq!(named(&editor, &there, "orders"), None);
}

async fn uses_of_files_that_go_are_given_back(place: Place) {
    const USES: &str = "SELECT count(*) FROM file_uses WHERE file_id = $1";
    const HOLDS: &str = "SELECT count(*) FROM file_holds WHERE file_id = $1";
    let world = World::new(place).await;
    let _working = working(&world);
    let editor = world.as_user("editor@acme.test");
    let admin = world.as_user("admin@acme.test");
    let shop = Shop::new(&editor, world.acme);
    let source = named(&editor, &shop.workspace, "clients").expect("a table");
    for table in [&source, &shop.orders] {
        let photo = json!({"label": "photo", "type": "file"});
        editor.create(&format!("/v1/features/{table}/columns"), &photo);
    }
    let template = shop.template(&editor, &admin, &json!({"rows": "all"}));
    let there = workspace(&editor, world.acme);
    applied(&editor, &template, &json!({"workspaceId": there})).await;
    let in_workspace = (world.acme, there.parse().expect("an id"));
    let file = seed_file(&world, in_workspace, person(&editor)).await;
    let tables = ["clients", "orders"].map(|name| named(&editor, &there, name).expect("a table"));
    for table in &tables {
        let row = id(&documents(&editor, table)[0]);
        let path = format!("/v1/features/{table}/rows/{row}?merge=true");
        let attached = json!({"data": {"photo": file}});
        editor.patch(&path, &attached).expect(200);
    }
    assert_eq!(of_file(&world, USES, file).await, 2);

    // The author takes the orders and the pictures of clients away.
    let photo = id(&column(&editor, &source, "photo").expect("a column"));
    for path in [
        format!("/v1/features/{}?force=true", shop.orders),
        format!("/v1/features/{source}/columns/{photo}?force=true"),
    ] {
        editor.delete(&path).expect(204);
    }
    let export = format!("/v1/workspaces/{}/export", shop.workspace);
    let package = editor.post(&export, &json!({"onto": template})).expect(200);
    let kept = format!("/v1/templates/{template}/package");
    admin.json("PUT", &kept, &package.body).expect(200);
    let mut request_body = json!({"workspaceId": there, "upgrade": true, "allowDestructive": true});
    let plan = editor.post(&format!("/v1/templates/{template}/plan"), &request_body);
    let plan = plan.expect(200).json();
    let mut decisions = json!({});
    for left in plan["left"].as_array().expect("a list") {
        if left["kind"] == "feature" || left["kind"] == "column" {
            decisions[left["ref"].as_str().expect("a ref")] = "delete".into();
        }
    }
    request_body["decisions"] = decisions;
    let job = applied(&editor, &template, &request_body).await;
    assert_eq!(named(&editor, &there, "orders"), None, "{job}");
    let counts = (
        of_file(&world, USES, file).await,
        of_file(&world, HOLDS, file).await,
    );
    assert_eq!(counts, (0, 2), "{job}");
    let undo = format!("/v1/template-jobs/{}/undo", id(&job));
    editor.send("POST", &undo, &[], None).expect(200);
    let counts = (
        of_file(&world, USES, file).await,
        of_file(&world, HOLDS, file).await,
    );
    assert_eq!(counts, (2, 0));
}

async fn a_table_that_comes_back_is_watched_again(place: Place) {
    let AppliedShop {
        world,
        editor,
        admin,
        shop,
        template,
        there,
        ..
    } = &AppliedShop::new(place).await;
    let orders = named(editor, there, "orders").expect("a table");
    // Automations of people watch the table, one of them from a workspace that the editor does not see.
    let owner = world.as_user("owner@acme.test");
    let share = json!({"is_shared": true});
    owner
        .patch(&format!("/v1/features/{orders}"), &share)
        .expect(200);
    let closed = workspace(&owner, world.acme);
    let members = json!({"access": "members"});
    owner
        .patch(&format!("/v1/workspaces/{closed}"), &members)
        .expect(200);
    let mut watching = Vec::new();
    for of in [there, &closed] {
        let mut body = workflows::body(of, false);
        body["trigger_config"] = json!({"type": "record.event",
            "config": {"modes": ["created"], "featureId": orders}});
        let it = workflows::workflow(&owner.create(PATH, &body));
        assert!(world.switch(&it, true).await);
        watching.push(it);
    }
    let executor = RunExecutor::new(
        &world.store,
        &world.context,
        &world.app.tables,
        &world.app.runs,
        Settings::default(),
    );
    row(editor, &orders, &json!({"title": "before"}));
    assert_eq!(executor.run_due().await.expect("runs"), 2);

    let gone = format!("/v1/features/{}?force=true", shop.orders);
    editor.delete(&gone).expect(204);
    let export = format!("/v1/workspaces/{}/export", shop.workspace);
    let package = editor.post(&export, &json!({"onto": template})).expect(200);
    let kept = format!("/v1/templates/{template}/package");
    admin.json("PUT", &kept, &package.body).expect(200);
    let mut request_body = json!({"workspaceId": there, "upgrade": true, "allowDestructive": true});
    let plan = editor.post(&format!("/v1/templates/{template}/plan"), &request_body);
    let plan = plan.expect(200).json();
    let mut left = plan["left"].as_array().expect("a list").iter();
    let table = left.find(|left| left["kind"] == "feature");
    let reference = table.expect("a table")["ref"].as_str().expect("a ref");
    request_body["decisions"] = json!({reference: "delete"});
    let job = applied(editor, template, &request_body).await;
    assert_eq!(named(editor, there, "orders"), None, "{job}");
    let undo = format!("/v1/template-jobs/{}/undo", id(&job));
    editor.send("POST", &undo, &[], None).expect(200);
    assert_eq!(named(editor, there, "orders").as_deref(), Some(&*orders));
    assert_eq!(
        executor.run_due().await.expect("runs"),
        0,
        "rows of the undo"
    );
    row(editor, &orders, &json!({"title": "after"}));
    assert_eq!(executor.run_due().await.expect("runs"), 2);
    for it in &watching {
        assert_eq!(owner.items(&workflows::path(it, "/runs")).len(), 2);
    }
}
