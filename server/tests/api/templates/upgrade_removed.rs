//! An upgrade after people removed what others link to.

use serde_json::{Value, json};

use super::shop::{Shop, applied, named, rows, working, workspace};
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(an_upgrade_goes_on_where_people_removed_a_linked_table);

/// The rows of a package, table by table.
fn all_rows(package: &mut Value) -> impl Iterator<Item = &mut Value> {
    let entries = package["payloads"].as_array_mut().expect("payloads");
    let entries = entries.iter_mut();
    entries.flat_map(|entry| entry["rows"].as_array_mut().expect("rows").iter_mut())
}

async fn an_upgrade_goes_on_where_people_removed_a_linked_table(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let editor = world.as_user("editor@acme.test");
    let admin = world.as_user("admin@acme.test");
    let shop = Shop::new(&editor, world.acme);
    let template = shop.template(&editor, &admin, &json!({"rows": "all"}));
    let kept = format!("/v1/templates/{template}/package");
    let mut package = admin.get(&kept).expect(200).json();
    let items = package["manifest"]["items"].as_array_mut().expect("items");
    for item in items.iter_mut().filter(|item| item["kind"] == "rows") {
        item["dataClass"] = "reference".into();
    }
    admin.json("PUT", &kept, &package.to_string()).expect(200);
    let there = workspace(&editor, world.acme);
    applied(&editor, &template, &json!({"workspaceId": there})).await;
    let clients = named(&editor, &there, "clients").expect("a table");
    let orders = named(&editor, &there, "orders").expect("a table");
    let mut expected = rows(&editor, &orders);
    editor
        .delete(&format!("/v1/features/{clients}?force=true"))
        .expect(204);
    for row in all_rows(&mut package) {
        if row["data"]["title"] == "one" {
            row["data"]["title"] = "first".into();
        }
    }
    admin.json("PUT", &kept, &package.to_string()).expect(200);

    let upgrade = json!({"workspaceId": there, "upgrade": true});
    let path = format!("/v1/templates/{template}/plan");
    let plan = editor.post(&path, &upgrade).expect(200).json();
    assert_eq!(plan["refusals"], json!([]), "{plan}");
    assert_eq!(plan["kept"][0]["because"], "removed_here", "{plan}");
    let job = applied(&editor, &template, &upgrade).await;
    let tables = plan["rows"].as_object().expect("tables");
    let updates: u64 = tables.values().filter_map(|of| of["update"].as_u64()).sum();
    let report = job["report"]["rows"].as_object().expect("tables");
    let updated: u64 = report
        .values()
        .filter_map(|of| of["updated"].as_u64())
        .sum();
    assert_eq!((updates, updated), (1, 1), "{job}");
    // What linked to the table stays as it was.
    for row in expected.iter_mut().filter(|row| row["title"] == "one") {
        row["title"] = "first".into();
    }
    assert_eq!(rows(&editor, &orders), expected);
    assert_eq!(named(&editor, &there, "clients"), None);
}
