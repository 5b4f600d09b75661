//! `GET /v1/templates` and one template.

use serde_json::{Value, json};

use crate::api::client::Client;
use crate::api::model::{id, package};
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    the_catalog_is_ones_own_and_what_is_for_everybody,
    a_list_is_filtered_and_goes_on_over_pages,
    a_template_is_read_with_its_manifest,
);

fn import(client: &Client, name: &str, scope: &str) -> String {
    let mut package = package(name);
    package["manifest"]["scope"] = scope.into();
    id(&client.create("/v1/templates/import", &package))
}

async fn the_catalog_is_ones_own_and_what_is_for_everybody(place: Place) {
    let world = World::new(place).await;
    let admin = world.as_user("admin@acme.test");
    let stranger = world.as_user("stranger@other.test");
    let own = import(&admin, "own", "workspace");
    let public = import(&stranger, "public", "workspace");
    let hidden = import(&stranger, "hidden", "workspace");
    let path = format!("/v1/templates/{public}");
    stranger
        .patch(&path, &json!({"visibility": "public"}))
        .expect(200);
    let viewer = world.as_user("viewer@acme.test");
    assert_eq!(viewer.ids("/v1/templates"), [own, public.clone()]);
    for item in viewer.items("/v1/templates") {
        assert!(item.get("manifest").is_none(), "{item}");
    }
    assert_eq!(
        stranger.ids("/v1/templates"),
        [public.clone(), hidden.clone()]
    );
    // Who belongs nowhere sees what is for everybody, whole; who is administrator of the platform, all.
    world.person("alone@acme.test").await;
    let alone = world.as_user("alone@acme.test");
    assert_eq!(alone.ids("/v1/templates"), std::slice::from_ref(&public));
    for tail in ["", "/package", "/payloads"] {
        alone.get(&format!("{path}{tail}")).expect(200);
        let hidden = format!("/v1/templates/{hidden}{tail}");
        alone.get(&hidden).refused(404, "not_found");
        viewer.get(&hidden).refused(404, "not_found");
    }
    let platform = world.platform_admin("platform@tplkit.test").await;
    assert_eq!(platform.ids("/v1/templates").len(), 3);
    platform
        .get(&format!("/v1/templates/{hidden}/package"))
        .expect(200);
    // A write of a visible record is forbidden, of a hidden one nothing is reported.
    let change = json!({"label": "mine"});
    viewer.patch(&path, &change).refused(403, "forbidden");
    admin.patch(&path, &change).refused(403, "forbidden");
    admin.delete(&path).refused(403, "forbidden");
    platform.delete(&path).refused(403, "forbidden");
    let hidden = format!("/v1/templates/{hidden}");
    admin.patch(&hidden, &change).refused(404, "not_found");
    admin.delete(&hidden).refused(404, "not_found");
}

async fn a_list_is_filtered_and_goes_on_over_pages(place: Place) {
    let world = World::new(place).await;
    let admin = world.as_user("admin@acme.test");
    let all: Vec<String> = ["workspace", "module", "workspace", "feature"]
        .iter()
        .map(|scope| import(&admin, "t", scope))
        .collect();
    let path = format!("/v1/templates/{}", all[2]);
    admin
        .patch(&path, &json!({"visibility": "public"}))
        .expect(200);
    let listed = |query: &str| admin.ids(&format!("/v1/templates?{query}"));
    assert_eq!(listed("scope=workspace"), [all[0].clone(), all[2].clone()]);
    assert_eq!(listed("scope=organization"), [""; 0]);
    assert_eq!(listed("visibility=public"), [all[2].clone()]);
    assert_eq!(listed("scope=module&visibility=org"), [all[1].clone()]);
    let page = admin.get("/v1/templates?limit=2").expect(200).json();
    let cursor = page["next_cursor"].as_str().expect("another page");
    let next = admin.get(&format!("/v1/templates?limit=2&cursor={cursor}"));
    let next = next.expect(200).json();
    assert_eq!(next["next_cursor"], Value::Null);
    assert_eq!(next["items"][0]["id"], all[2].as_str());
    for (query, code) in [
        (format!("cursor={cursor}&scope=module"), "invalid_cursor"),
        ("scope=table".to_owned(), "validation_failed"),
        ("visibility=secret".to_owned(), "validation_failed"),
        ("limit=0".to_owned(), "validation_failed"),
        ("scope=module&scope=module".to_owned(), "validation_failed"),
    ] {
        admin
            .get(&format!("/v1/templates?{query}"))
            .refused(422, code);
    }
}

async fn a_template_is_read_with_its_manifest(place: Place) {
    let world = World::new(place).await;
    let admin = world.as_user("admin@acme.test");
    let mut package = package("Notes");
    package["manifest"]["description"] = "what for".into();
    package["manifest"]["semver"] = "1.2.3".into();
    let made = admin.create("/v1/templates/import", &package);
    let record = json!({
        "id": made["id"], "organization_id": world.acme, "name": "notes", "label": "Notes",
        "description": "what for", "category": null, "scope": "workspace", "visibility": "org",
        "semver": "1.2.3", "tags": ["Notes"], "template_version": 2,
        "created_at": made["created_at"], "updated_at": made["created_at"],
    });
    assert_eq!(made, record);
    let viewer = world.as_user("viewer@acme.test");
    let path = format!("/v1/templates/{}", id(&made));
    let mut read = viewer.get(&path).expect(200).json();
    let manifest = read
        .as_object_mut()
        .and_then(|read| read.remove("manifest"));
    assert_eq!(read, record);
    package["manifest"]["visibility"] = "org".into();
    assert_eq!(manifest, Some(package["manifest"].clone()));
    viewer
        .get("/v1/templates/none")
        .refused(422, "validation_failed");
    viewer
        .get(&format!("{path}?x=1"))
        .refused(422, "validation_failed");
    viewer.delete(&path).refused(403, "forbidden");
    admin.delete(&path).expect(204);
    admin.delete(&path).refused(404, "not_found");
    admin.get(&path).refused(404, "not_found");
    admin
        .get(&format!("{path}/payloads"))
        .refused(404, "not_found");
}
