//! `onto`: an export that takes over identity from a template.

use serde_json::{Value, json};
use uuid::Uuid;

use super::shop::{Shop, feature, row};
use crate::api::client::Client;
use crate::api::model::id;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    an_unchanged_workspace_gives_the_same_bytes,
    one_changed_cell_is_one_changed_line,
    what_is_asked_for_goes_before_what_the_template_holds,
    a_template_that_is_not_there_is_refused_like_a_hidden_one,
    an_editor_goes_on_from_what_everybody_sees,
);

/// A shop, a template of it with its rows, and where it is exported.
fn stocked(editor: &Client, admin: &Client, organization: Uuid) -> (Shop, String, String) {
    let shop = Shop::new(editor, organization);
    let selection = json!({"rows": "all", "identity": {"id": "shop", "semver": "1.0.0"}});
    let template = shop.template(editor, admin, &selection);
    let path = format!("/v1/workspaces/{}/export", shop.workspace);
    (shop, template, path)
}

fn package(client: &Client, template: &str) -> String {
    let path = format!("/v1/templates/{template}/package");
    client.get(&path).expect(200).body
}

async fn an_unchanged_workspace_gives_the_same_bytes(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let admin = world.as_user("admin@acme.test");
    let (shop, template, path) = stocked(&editor, &admin, world.acme);
    let stored = package(&editor, &template);
    let body = json!({"onto": template});
    assert_eq!(editor.post(&path, &body).expect(200).body, stored);
    // A table that is new is not what the template holds.
    feature(&editor, &shop.workspace, "Later");
    assert_eq!(editor.post(&path, &body).expect(200).body, stored);
    // The template may be of version 1.
    let mut old: Value = serde_json::from_str(&stored).expect("JSON");
    let manifest = old["manifest"].as_object_mut().expect("a manifest");
    manifest.insert("templateVersion".to_owned(), json!(1));
    for layer in ["source", "items", "dependencies", "unresolved", "redacted"] {
        manifest.remove(layer);
    }
    let import = admin.json("POST", "/v1/templates/import", &old.to_string());
    let first = id(&import.expect(201).json());
    let new = editor.post(&path, &json!({"onto": first})).expect(200);
    let new = new.json();
    let steps = |package: &Value| package["manifest"]["plan"]["steps"].clone();
    assert_eq!(steps(&new), steps(&old));
    assert_eq!(new["payloads"][0]["rows"], old["payloads"][0]["rows"]);
}

async fn one_changed_cell_is_one_changed_line(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let admin = world.as_user("admin@acme.test");
    let (shop, template, path) = stocked(&editor, &admin, world.acme);
    let stored = package(&editor, &template);
    let rows = editor.items(&format!("/v1/features/{}/rows", shop.clients));
    let changed = format!(
        "/v1/features/{}/rows/{}?merge=true",
        shop.clients,
        id(&rows[0])
    );
    let data = json!({"data": {"name": "Other"}});
    editor.patch(&changed, &data).expect(200);
    let new = editor.post(&path, &json!({"onto": template})).expect(200);
    let pairs = stored.lines().zip(new.body.lines());
    let differing: Vec<_> = pairs.filter(|(one, other)| one != other).collect();
    assert_eq!(stored.lines().count(), new.body.lines().count());
    let others = differing.into_iter();
    let others = others.filter(|(line, _)| !line.contains("generatedAt"));
    let others: Vec<_> = others.collect();
    assert_eq!(others.len(), 1, "{others:#?}");
    assert!(others[0].1.contains("Other"), "{others:#?}");
}

async fn what_is_asked_for_goes_before_what_the_template_holds(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let admin = world.as_user("admin@acme.test");
    let (shop, template, path) = stocked(&editor, &admin, world.acme);
    let stored: Value = serde_json::from_str(&package(&editor, &template)).expect("JSON");
    row(&editor, &shop.orders, &json!({"title": "four"}));
    let body = json!({"onto": template, "rows": [shop.clients], "identity": {"semver": "1.1.0"}});
    let new = editor.post(&path, &body).expect(200).json();
    let (old, new) = (&stored["manifest"], &new);
    assert_eq!(new["payloads"].as_array().map(Vec::len), Some(1));
    assert_eq!(new["payloads"][0], stored["payloads"][0]);
    let manifest = &new["manifest"];
    assert_eq!(manifest["semver"], "1.1.0");
    assert_eq!(
        (&manifest["id"], &manifest["name"]),
        (&old["id"], &old["name"])
    );
    assert_eq!(manifest["plan"]["steps"], old["plan"]["steps"]);
}

async fn a_template_that_is_not_there_is_refused_like_a_hidden_one(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let admin = world.as_user("admin@acme.test");
    let (_, template, path) = stocked(&editor, &admin, world.acme);
    let stranger = world.as_user("stranger@other.test");
    let (_, foreign, _) = stocked(&stranger, &stranger, world.other);
    let refusal = |template: &str| {
        let response = editor.post(&path, &json!({"onto": template}));
        let refused = response.refused(422, "validation_failed");
        assert_eq!(refused.json()["errors"][0]["path"], "onto");
        refused.body.replace(template, "…")
    };
    assert_eq!(refusal(&foreign), refusal(&world.context.id().to_string()));
    for body in [
        json!({"onto": null}),
        json!({"onto": "shop"}),
        json!({"onto": [template]}),
    ] {
        let refused = editor.post(&path, &body).refused(422, "validation_failed");
        assert_eq!(refused.json()["errors"][0]["path"], "onto", "{body}");
    }
    // The workspace comes first.
    stranger
        .post(&path, &json!({"onto": foreign}))
        .refused(404, "not_found");
}

async fn an_editor_goes_on_from_what_everybody_sees(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let admin = world.as_user("admin@acme.test");
    let (shop, template, path) = stocked(&editor, &admin, world.acme);
    let own = json!({"config": {"rowAccess": "own"}});
    admin
        .patch(&format!("/v1/features/{}", shop.orders), &own)
        .expect(200);
    // Rows that the caller does not see are not exported because a template has them.
    let viewer = world.as_user("viewer@acme.test");
    let new = viewer.post(&path, &json!({"onto": template})).expect(200);
    let new = new.json();
    assert_eq!(new["payloads"][1]["count"], 0);
    assert_eq!(new["payloads"][0]["count"], 2);
}
