//! A template whose package is exported anew: rows of before are known by their keys, or refused.

use serde_json::json;

use super::shop::{Shop, applied, apply, named, row, rows, working, workspace};
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    rows_of_a_new_export_are_recognised_or_refused,
    rows_are_recognised_by_the_key_of_the_package_before,
);

/// Codes were the key, and the next package has other uids and no key at all, or names.
async fn rows_are_recognised_by_the_key_of_the_package_before(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let editor = world.as_user("editor@acme.test");
    let admin = world.as_user("admin@acme.test");
    let shop = Shop::new(&editor, world.acme);
    let template = shop.template(&editor, &admin, &json!({"rows": "all"}));
    row(&editor, &shop.clients, &json!({"code": "c", "name": "new"}));
    let path = format!("/v1/workspaces/{}/export", shop.workspace);
    for key in [json!("name"), json!(null)] {
        let there = workspace(&editor, world.acme);
        let body = json!({"workspaceId": there});
        applied(&editor, &template, &body).await;
        let exported = editor.post(&path, &json!({"rows": "all"})).expect(200);
        let mut package = exported.json();
        let entries = package["payloads"].as_array_mut().expect("payloads");
        let orders = entries[1]["featureRef"].as_str().expect("a ref").to_owned();
        let clients = &mut entries[0];
        let reference = clients["featureRef"].as_str().expect("a ref").to_owned();
        clients["keyColumn"] = key.clone();
        clients["keyUnique"] = (!key.is_null()).into();
        let rows_of = clients["rows"].as_array_mut().expect("rows");
        for (row, name) in rows_of.iter_mut().zip(["first", "second", "third"]) {
            row["data"]["name"] = name.into();
        }
        let first = editor.get(&format!("/v1/templates/{template}/package"));
        let first = first.expect(200).body;
        let kept = |template: &str, package: &str| {
            let kept = format!("/v1/templates/{template}/package");
            admin.json("PUT", &kept, package).expect(200);
        };
        kept(&template, &package.to_string());
        let body = json!({"workspaceId": there, "rowsModes": {orders: "none"}});
        let job = applied(&editor, &template, &body).await;
        let counts = &job["report"]["rows"][reference.as_str()];
        assert_eq!(
            (&counts["inserted"], &counts["skipped"]),
            (&json!(1), &json!(2)),
            "{key}: {job}"
        );
        let table = named(&editor, &there, "clients").expect("a table");
        assert_eq!(rows(&editor, &table).len(), 3);
        kept(&template, &first);
    }
}

async fn rows_of_a_new_export_are_recognised_or_refused(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let editor = world.as_user("editor@acme.test");
    let admin = world.as_user("admin@acme.test");
    let shop = Shop::new(&editor, world.acme);
    // Two orders of one title: a table without a key.
    row(&editor, &shop.orders, &json!({"title": "one"}));
    let template = shop.template(&editor, &admin, &json!({"rows": "all"}));
    let there = workspace(&editor, world.acme);
    let body = json!({"workspaceId": there});
    applied(&editor, &template, &body).await;
    let path = format!("/v1/workspaces/{}/export", shop.workspace);
    row(&editor, &shop.clients, &json!({"code": "c", "name": "new"}));
    let package = editor.post(&path, &json!({"rows": "all"})).expect(200);
    let refs: Vec<String> = package.json()["payloads"]
        .as_array()
        .expect("payloads")
        .iter()
        .map(|entry| entry["featureRef"].as_str().expect("a ref").to_owned())
        .collect();
    let kept = format!("/v1/templates/{template}/package");
    admin.json("PUT", &kept, &package.body).expect(200);

    let refused = apply(&editor, &template, &body)
        .refused(422, "rows_unmatched")
        .json();
    assert_eq!(refused["ref"], refs[1].as_str());
    let errors = refused["errors"].as_array().expect("a list");
    assert_eq!(errors.len(), 1, "{refused}");
    assert_eq!(errors[0]["path"], format!("rowsModes.{}", refs[1]));
    assert_eq!(errors[0]["code"], "rows_unmatched");
    assert_eq!(editor.items("/v1/template-jobs").len(), 1);
    let plan = format!("/v1/templates/{template}/plan");
    let plan = editor.post(&plan, &body).expect(200).json();
    assert_eq!(plan["refusals"][0]["code"], "rows_unmatched");
    assert_eq!(plan["refusals"][0]["ref"], refs[1].as_str());

    let modes = json!({refs[1].as_str(): "none"});
    let body = json!({"workspaceId": there, "rowsModes": modes});
    let job = applied(&editor, &template, &body).await;
    let counts = &job["report"]["rows"][refs[0].as_str()];
    assert_eq!(
        (&counts["inserted"], &counts["skipped"]),
        (&json!(1), &json!(2))
    );
    let clients = named(&editor, &there, "clients").expect("a table");
    assert_eq!(rows(&editor, &clients).len(), 3);
    // Each pass takes back its own rows: the second wrote one.
    let undo = |job: &serde_json::Value| {
        let id = job["id"].as_str().expect("an id");
        let path = format!("/v1/template-jobs/{id}/undo");
        editor.send("POST", &path, &[], None).expect(200)
    };
    undo(&job);
    assert_eq!(rows(&editor, &clients).len(), 2);
    let again = applied(&editor, &template, &body).await;
    let counts = &again["report"]["rows"][refs[0].as_str()];
    assert_eq!(
        (&counts["inserted"], &counts["skipped"]),
        (&json!(1), &json!(2))
    );
}
