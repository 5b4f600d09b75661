//! A table that came with a dependency and that a later version brings as an item.

use serde_json::{Value, json};

use super::shop::{Shop, applied, feature, named, working, workspace};
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(a_table_that_was_imported_becomes_what_a_later_version_says);

/// What is applied between the version that imports the table and an upgrade to the one that brings it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Between {
    Nothing,
    /// That one, plainly.
    Plain,
    /// An upgrade to a version that does without the table.
    Without,
}

async fn a_table_that_was_imported_becomes_what_a_later_version_says(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let editor = world.as_user("editor@acme.test");
    let admin = world.as_user("admin@acme.test");
    let shop = Shop::new(&editor, world.acme);
    let template = shop.template(&editor, &admin, &json!({"features": [shop.orders]}));
    let package = format!("/v1/templates/{template}/package");
    let first = admin.get(&package).expect(200).body;
    let export = format!("/v1/workspaces/{}/export", shop.workspace);
    let notes = feature(&editor, &shop.workspace, "Notes");
    let without = json!({"features": [notes], "onto": template});
    let without = editor.post(&export, &without).expect(200).body;
    let clients = format!("/v1/features/{}", shop.clients);
    editor
        .patch(&clients, &json!({"label": "Customers"}))
        .expect(200);
    let whole = json!({"features": [shop.orders, shop.clients], "onto": template});
    let second = editor.post(&export, &whole).expect(200).body;
    for between in [Between::Nothing, Between::Plain, Between::Without] {
        let there = workspace(&editor, world.acme);
        let plain = json!({"workspaceId": there});
        let upgrade = json!({"workspaceId": there, "upgrade": true});
        admin.json("PUT", &package, &first).expect(200);
        applied(&editor, &template, &plain).await;
        if between == Between::Without {
            admin.json("PUT", &package, &without).expect(200);
            applied(&editor, &template, &upgrade).await;
        }
        admin.json("PUT", &package, &second).expect(200);
        if between == Between::Plain {
            let job = applied(&editor, &template, &plain).await;
            let left = &job["report"]["not_carried"][0];
            assert_eq!(
                (&left["path"], &left["theirs"]),
                (&json!("label"), &json!("Customers")),
                "{job}"
            );
        }
        applied(&editor, &template, &upgrade).await;
        let clients = named(&editor, &there, "clients").expect("a table");
        let clients = format!("/v1/features/{clients}");
        let table = editor.get(&clients).expect(200).json();
        assert_eq!(table["label"], "Customers", "{table}");
        let columns = editor.get(&format!("{clients}/columns"));
        let columns = columns.expect(200).json();
        let columns = columns.as_array().expect("columns").iter();
        let mut names: Vec<&Value> = columns.map(|column| &column["name"]).collect();
        names.sort_unstable_by_key(|name| name.as_str());
        assert_eq!(names, ["code", "id", "name"]);
        let drift = format!("/v1/workspaces/{there}/templates/{template}/drift");
        let drift = editor.get(&drift).expect(200).json();
        assert_eq!(drift["drift"], false, "{drift}");
    }
}
