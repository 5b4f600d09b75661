//! What people changed in what a template made, and what a workspace holds of templates.

use serde_json::{Value, json};

use super::shop::{Shop, applied, named, row, working, workspace};
use crate::api::client::{Client, Response};
use crate::api::model::id;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    what_people_changed_is_listed,
    only_another_package_in_the_catalog_is_newer,
    separate_copies_are_lines_of_their_own,
    a_job_of_the_same_template_under_another_id_names_a_line,
    rows_that_are_hidden_are_not_counted,
    rows_of_who_asked_before_are_not_counted,
    secrets_that_are_missing_are_counted,
);

/// `…/templates` of a workspace, or what lies below it.
fn path(workspace: &str, tail: &str) -> String {
    format!("/v1/workspaces/{workspace}/templates{tail}")
}

fn get_drift(client: &Client, workspace: &str, template: &str, query: &str) -> Response {
    client.get(&path(workspace, &format!("/{template}/drift{query}")))
}

fn undo(client: &Client, job: &Value) {
    let path = format!("/v1/template-jobs/{}/undo", id(job));
    client.send("POST", &path, &[], None).expect(200);
}

async fn what_people_changed_is_listed(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let admin = world.as_user("admin@acme.test");
    let editor = world.as_user("editor@acme.test");
    let viewer = world.as_user("viewer@acme.test");
    let shop = Shop::new(&editor, world.acme);
    let template = shop.template(
        &editor,
        &admin,
        &json!({"rows": "all", "identity": {"name": "shop"}}),
    );
    let there = workspace(&editor, world.acme);
    get_drift(&viewer, &there, &template, "").refused(404, "not_found");
    let page = viewer.get(&path(&there, "")).expect(200).json();
    assert_eq!(page, json!({"items": [], "next_cursor": null}));
    let job = applied(&editor, &template, &json!({"workspaceId": there})).await;
    let none = get_drift(&viewer, &there, &template, "?rows=true")
        .expect(200)
        .json();
    let counts = json!({"added": 0, "deleted": 0, "changed": 0});
    let tables: Vec<&Value> = none["rows"].as_object().expect("tables").values().collect();
    assert_eq!(tables, [&counts, &counts], "{none}");
    let empty = json!([]);
    for list in ["changed", "removed", "added", "cells"] {
        assert_eq!(none[list], empty, "{none}");
    }
    assert_eq!(
        (&none["drift"], &none["base"]["job_id"]),
        (&json!(false), &job["id"])
    );
    assert_eq!(
        (&none["template_id"], &none["cells_more"]),
        (&json!(template), &json!(0))
    );

    let clients = named(&editor, &there, "clients").expect("a table");
    let feature = format!("/v1/features/{clients}");
    editor
        .patch(&feature, &json!({"label": "Ours"}))
        .expect(200);
    row(&editor, &clients, &json!({"code": "c"}));
    let view = json!({"feature_id": clients, "label": "Mine", "type": "table"});
    let view = editor.create("/v1/views", &view);
    let found = get_drift(&viewer, &there, &template, "").expect(200).json();
    let reference = found["changed"][0]["ref"].clone();
    assert_eq!(
        found["changed"],
        json!([{"kind": "feature", "ref": reference, "id": clients, "path": "label",
                "base": "Clients", "ours": "Ours"}])
    );
    assert_eq!(
        found["added"],
        json!([{"kind": "view", "id": id(&view), "parent_ref": reference, "name": "mine", "label": "Mine"}])
    );
    let table = reference.as_str().expect("a ref");
    assert_eq!(
        found["rows"][table],
        json!({"added": 1, "deleted": 0, "changed": 0})
    );
    assert!(
        found["drift"] == true && found.get("cells").is_none(),
        "{found}"
    );
    let one = viewer.get(&path(&there, "")).expect(200).json();
    let item = &one["items"][0];
    assert_eq!(
        (
            &item["template_id"],
            &item["line"],
            &item["job_id"],
            &item["drift"],
            &item["name"]
        ),
        (
            &json!(template),
            &job["id"],
            &job["id"],
            &json!(true),
            &json!("shop")
        )
    );
    assert_eq!(
        (&item["newer"], &item["semver"]),
        (&Value::Null, &Value::Null)
    );

    // The catalog has another package, and then none.
    let kept = format!("/v1/templates/{template}/package");
    let mut package = admin.get(&kept).expect(200).json();
    package["manifest"]["semver"] = "1.2.0".into();
    admin.json("PUT", &kept, &package.to_string()).expect(200);
    let newer = |client: &Client| client.items(&path(&there, ""))[0]["newer"].clone();
    assert_eq!(newer(&viewer), "1.2.0");
    admin
        .send("DELETE", &format!("/v1/templates/{template}"), &[], None)
        .expect(204);
    assert_eq!(newer(&viewer), Value::Null);
    assert_eq!(viewer.items(&path(&there, ""))[0]["name"], "shop");
    get_drift(&viewer, &there, &template, "").expect(200);

    get_drift(&viewer, &there, &template, &format!("?job={}", id(&job))).expect(200);
    get_drift(&viewer, &there, &template, &format!("?job={template}")).refused(404, "not_found");
    get_drift(&viewer, &there, &template, "?job=1").refused(422, "validation_failed");
    get_drift(&viewer, &there, &template, "?rows=1").refused(422, "validation_failed");
    let path = format!("/v1/template-jobs/{}/undo?force=true", id(&job));
    editor.send("POST", &path, &[], None).expect(200);
    get_drift(&viewer, &there, &template, "").refused(404, "not_found");
    get_drift(&viewer, &there, &template, &format!("?job={}", id(&job))).refused(409, "conflict");
}

/// The catalog and a job put a package together in different ways.
async fn only_another_package_in_the_catalog_is_newer(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let admin = world.as_user("admin@acme.test");
    let editor = world.as_user("editor@acme.test");
    let shop = Shop::new(&editor, world.acme);
    for rows in ["none", "all"] {
        let selection = json!({"rows": rows, "identity": {"semver": "1.0.0"}});
        let template = shop.template(&editor, &admin, &selection);
        let record = format!("/v1/templates/{template}");
        let kept = format!("{record}/package");
        let mut package = admin.get(&kept).expect(200).json();
        // A job keeps no member that no version of the format knows.
        package["another"] = 1.into();
        admin.json("PUT", &kept, &package.to_string()).expect(200);
        let there = workspace(&editor, world.acme);
        let newer = || editor.items(&path(&there, ""))[0]["newer"].clone();
        for upgrade in [false, true] {
            let body = json!({"workspaceId": there, "upgrade": upgrade});
            applied(&editor, &template, &body).await;
            assert_eq!(newer(), Value::Null, "{rows}, {upgrade}");
        }
        // Who sees it is nothing that an upgrade would bring.
        for visibility in ["public", "org"] {
            admin
                .patch(&record, &json!({"visibility": visibility}))
                .expect(200);
            assert_eq!(newer(), Value::Null, "{rows}, {visibility}");
        }
        admin
            .patch(&record, &json!({"label": "Another"}))
            .expect(200);
        assert_eq!(newer(), "1.0.0", "{rows}");
    }
}

async fn separate_copies_are_lines_of_their_own(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let admin = world.as_user("admin@acme.test");
    let editor = world.as_user("editor@acme.test");
    let shop = Shop::new(&editor, world.acme);
    let template = shop.template(&editor, &admin, &json!({"rows": "all"}));
    let there = workspace(&editor, world.acme);
    let plain = json!({"workspaceId": there});
    let first = applied(&editor, &template, &plain).await;
    let again = applied(&editor, &template, &plain).await;
    let copy = applied(
        &editor,
        &template,
        &json!({"workspaceId": there, "copy": true}),
    )
    .await;
    let lines = editor.items(&path(&there, ""));
    let differences: Vec<(&Value, &Value)> = lines
        .iter()
        .map(|one| (&one["line"], &one["job_id"]))
        .collect();
    assert_eq!(
        differences,
        [(&first["id"], &again["id"]), (&copy["id"], &copy["id"])]
    );
    let page = editor.get(&path(&there, "?limit=1")).expect(200).json();
    let cursor = page["next_cursor"].as_str().expect("a cursor");
    let next = editor
        .get(&path(&there, &format!("?limit=1&cursor={cursor}")))
        .expect(200)
        .json();
    assert_eq!(
        (&next["items"][0], &next["next_cursor"]),
        (&lines[1], &Value::Null)
    );

    let clients = named(&editor, &there, "clients").expect("a table");
    editor
        .patch(
            &format!("/v1/features/{clients}"),
            &json!({"label": "Ours"}),
        )
        .expect(200);
    let drifts = |query: &str| {
        get_drift(&editor, &there, &template, query)
            .expect(200)
            .json()["drift"]
            .clone()
    };
    assert_eq!(drifts(""), false, "the newest line");
    assert_eq!(drifts(&format!("?job={}", id(&first))), true);
    undo(&editor, &copy);
    assert_eq!(drifts(""), true);
}

/// The same by its `manifest.id`.
async fn a_job_of_the_same_template_under_another_id_names_a_line(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let admin = world.as_user("admin@acme.test");
    let editor = world.as_user("editor@acme.test");
    let shop = Shop::new(&editor, world.acme);
    let templates = ["shop", "shop-2", "other"].map(|name| {
        let body = json!({"rows": "all", "identity": {"name": name}});
        let template = shop.template(&editor, &admin, &body);
        let kept = format!("/v1/templates/{template}/package");
        let mut package = admin.get(&kept).expect(200).json();
        let id = if name == "other" { "other" } else { "shop" };
        package["manifest"]["id"] = format!("{id}-000000").into();
        admin.json("PUT", &kept, &package.to_string()).expect(200);
        template
    });
    let [shop, again, other] = templates.each_ref();
    let there = workspace(&editor, world.acme);
    let job = applied(&editor, shop, &json!({"workspaceId": there})).await;
    let of = format!("?job={}", id(&job));
    for template in [shop, again] {
        let drift = get_drift(&editor, &there, template, &of).expect(200).json();
        assert_eq!(
            (&drift["base"]["job_id"], &drift["template_id"]),
            (&job["id"], &json!(template))
        );
    }
    get_drift(&editor, &there, other, &of).refused(404, "not_found");
    undo(&editor, &job);
    get_drift(&editor, &there, again, &of).refused(409, "conflict");
}

async fn rows_that_are_hidden_are_not_counted(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let admin = world.as_user("admin@acme.test");
    let editor = world.as_user("editor@acme.test");
    let viewer = world.as_user("viewer@acme.test");
    let shop = Shop::new(&editor, world.acme);
    let template = shop.template(&editor, &admin, &json!({"rows": "all"}));
    let there = workspace(&editor, world.acme);
    applied(&editor, &template, &json!({"workspaceId": there})).await;
    let orders = named(&editor, &there, "orders").expect("a table");
    let rows = format!("/v1/features/{orders}/rows");
    let own = json!({"config": {"rowAccess": "own"}});
    admin
        .patch(&format!("/v1/features/{orders}"), &own)
        .expect(200);
    admin.create(&rows, &json!({"data": {"title": "of the admin"}}));
    let first = editor.items(&rows)[0].clone();
    let first = format!("{rows}/{}", id(&first));
    editor.send("DELETE", &first, &[], None).expect(204);
    let second = editor.items(&rows)[0].clone();
    editor
        .patch(
            &format!("{rows}/{}", id(&second)),
            &json!({"data": {"title": "changed"}}),
        )
        .expect(200);
    let counts = |client: &Client| {
        let drift = get_drift(client, &there, &template, "?rows=true")
            .expect(200)
            .json();
        let changed = drift["changed"].as_array().expect("a list").iter();
        let reference = changed
            .filter(|one| one["id"] == orders)
            .map(|one| one["ref"].clone())
            .next();
        let reference = reference.expect("a changed table");
        drift["rows"][reference.as_str().expect("a ref")].clone()
    };
    assert_eq!(
        counts(&admin),
        json!({"added": 1, "deleted": 1, "changed": 1})
    );
    assert_eq!(
        counts(&editor),
        json!({"added": 0, "deleted": 1, "changed": 1})
    );
    assert_eq!(
        counts(&viewer),
        json!({"added": 0, "deleted": 0, "changed": 0})
    );
}

/// Who resumes a job of somebody else is who asked for it from then on; the rows that it wrote before are not theirs.
async fn rows_of_who_asked_before_are_not_counted(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let admin = world.as_user("admin@acme.test");
    let editor = world.as_user("editor@acme.test");
    let shop = Shop::new(&editor, world.acme);
    let template = shop.template(&editor, &admin, &json!({"rows": "all"}));
    let there = workspace(&editor, world.acme);
    let body = json!({"workspaceId": there});
    let job = applied(&admin, &template, &body).await;
    let orders = named(&editor, &there, "orders").expect("a table");
    let own = json!({"config": {"rowAccess": "own"}});
    admin
        .patch(&format!("/v1/features/{orders}"), &own)
        .expect(200);
    let again = json!({"workspaceId": there, "jobId": job["id"]});
    applied(&editor, &template, &again).await;
    let rows = format!("/v1/features/{orders}/rows");
    assert_eq!(editor.items(&rows), Vec::<Value>::new());
    let deleted = |client: &Client| {
        let drift = get_drift(client, &there, &template, "").expect(200).json();
        let tables = drift["rows"].as_object().expect("tables").values();
        let deleted = tables.map(|counts| counts["deleted"].as_u64().expect("a number"));
        deleted.sum::<u64>()
    };
    assert_eq!((deleted(&admin), deleted(&editor)), (0, 0));
    // Nor is it theirs to know that one of them goes.
    let first = admin.items(&rows)[0].clone();
    admin.delete(&format!("{rows}/{}", id(&first))).expect(204);
    assert_eq!((deleted(&admin), deleted(&editor)), (1, 0));
}

async fn secrets_that_are_missing_are_counted(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let admin = world.as_user("admin@acme.test");
    let editor = world.as_user("editor@acme.test");
    let shop = Shop::new(&editor, world.acme);
    let partner = json!({"organization_id": world.acme, "name": "erp", "kind": "http",
        "url": "https://partner.example"});
    admin.create("/v1/connections", &partner);
    let request = json!({"key": "http.request", "config": {"connectionName": "erp", "path": "/", "bearerToken": ""}});
    let flow = json!({
        "workspace_id": shop.workspace, "name": "Ask", "is_draft": true,
        "trigger_config": {"type": "manual"}, "graph_config": {"steps": [request]},
    });
    editor.create("/v1/workflows-v2", &flow);
    let template = shop.template(&editor, &admin, &json!({}));
    let there = workspace(&editor, world.acme);
    applied(&editor, &template, &json!({"workspaceId": there})).await;
    let item = editor.items(&path(&there, ""))[0].clone();
    assert_eq!(
        (&item["secrets_missing"], &item["drift"]),
        (&json!(1), &json!(false)),
        "{item}"
    );
}
