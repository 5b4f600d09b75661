//! Promotion to `system`: who does it, and the five rules.

use serde_json::{Value, json};

use crate::api::client::Client;
use crate::api::model::{ITEM, id, package};
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    administrators_of_the_platform_promote_and_nothing_more,
    every_broken_rule_is_reported,
    each_rule_is_measured_on_what_the_store_has,
    what_was_promoted_stays_fit,
);

const SYSTEM: &str = r#"{"visibility":"system"}"#;

fn promote(client: &Client, path: &str) -> Vec<String> {
    let response = client.json("PATCH", path, SYSTEM);
    if response.status == 200 {
        return Vec::new();
    }
    let refused = response.refused(422, "promotion_failed").json();
    let errors = refused["errors"].as_array().expect("errors");
    let mut codes: Vec<String> = errors
        .iter()
        .map(|error| error["code"].as_str().expect("a code").to_owned())
        .collect();
    codes.dedup();
    codes
}

async fn administrators_of_the_platform_promote_and_nothing_more(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let platform = world.platform_admin("platform@tplkit.test").await;
    let made = owner.create("/v1/templates/import", &package("Notes"));
    let path = format!("/v1/templates/{}", id(&made));
    owner.json("PATCH", &path, SYSTEM).refused(403, "forbidden");
    world
        .as_key(&["write", "structure"])
        .json("PATCH", &path, SYSTEM)
        .refused(403, "forbidden");
    for body in [
        json!({"label": "x"}),
        json!({"visibility": "public"}),
        json!({"visibility": "system", "label": "x"}),
    ] {
        platform.patch(&path, &body).refused(403, "forbidden");
    }
    platform
        .json("PUT", &format!("{path}/package"), "{}")
        .refused(403, "forbidden");
    platform
        .delete(&format!("{path}/payloads/{ITEM}"))
        .refused(403, "forbidden");
    // They see templates, and nothing else of the organization.
    assert_eq!(platform.ids("/v1/workspaces"), [""; 0]);
    platform
        .get(&format!("/v1/organizations/{}", world.acme))
        .refused(404, "not_found");
    let promoted = platform.json("PATCH", &path, SYSTEM).expect(200).json();
    assert_eq!(promoted["visibility"], "system");
    let stranger = world.as_user("stranger@other.test");
    for tail in ["", "/package", "/payloads"] {
        stranger.get(&format!("{path}{tail}")).expect(200);
    }
    assert_eq!(
        stranger.get(&path).json()["manifest"]["visibility"],
        "system"
    );
    // What is so already needs nobody to make it so; its organization can take it back.
    owner.json("PATCH", &path, SYSTEM).expect(200);
    owner
        .patch(&path, &json!({"visibility": "org"}))
        .expect(200);
    stranger.get(&path).refused(404, "not_found");
}

async fn every_broken_rule_is_reported(place: Place) {
    let world = World::new(place).await;
    let admin = world.as_user("admin@acme.test");
    let platform = world.platform_admin("platform@tplkit.test").await;
    let mut manifest = package("Notes")["manifest"].clone();
    for layer in [
        "templateVersion",
        "source",
        "items",
        "dependencies",
        "unresolved",
        "redacted",
    ] {
        if let Some(manifest) = manifest.as_object_mut() {
            manifest.remove(layer);
        }
    }
    manifest["description"] = "my_workspace_id_2".into();
    let body = json!({"organization_id": world.acme, "manifest": manifest});
    let made = admin.create("/v1/templates", &body);
    let path = format!("/v1/templates/{}", id(&made));
    let payloads = format!("{path}/payloads/{ITEM}");
    let entry = package("Notes")["payloads"][0].to_string();
    admin.json("PUT", &payloads, &entry).expect(201);
    assert_eq!(promote(&platform, &path), ["P001", "P002", "P005"]);
    assert_eq!(admin.get(&path).json()["visibility"], "org");
}

async fn each_rule_is_measured_on_what_the_store_has(place: Place) {
    let world = World::new(place).await;
    let admin = world.as_user("admin@acme.test");
    let platform = world.platform_admin("platform@tplkit.test").await;
    let manifest = package("Notes")["manifest"].clone();
    let body = json!({"organization_id": world.acme, "manifest": manifest});
    let made = admin.create("/v1/templates", &body);
    let path = format!("/v1/templates/{}", id(&made));
    let payloads = format!("{path}/payloads/{ITEM}");
    assert_eq!(promote(&platform, &path), ["P003"]);
    let mut entry = package("Notes")["payloads"][0].clone();
    entry["rows"] = json!([]);
    entry["count"] = 0.into();
    admin.json("PUT", &payloads, &entry.to_string()).expect(201);
    assert_eq!(promote(&platform, &path), ["P004"]);
    entry = package("organization\u{5f}id")["payloads"][0].clone();
    admin.json("PUT", &payloads, &entry.to_string()).expect(200);
    assert_eq!(promote(&platform, &path), ["P002"]);
    entry = package("workspaceId")["payloads"][0].clone();
    admin.json("PUT", &payloads, &entry.to_string()).expect(200);
    // And on what stands next to manifest and payloads.
    let whole = format!("{path}/package");
    let mut all = admin.get(&whole).expect(200).json();
    all["more"] = json!("organization\u{5f}id");
    admin.json("PUT", &whole, &all.to_string()).expect(200);
    assert_eq!(promote(&platform, &path), ["P002"]);
    all["more"] = json!("x");
    admin.json("PUT", &whole, &all.to_string()).expect(200);
    assert_eq!(promote(&platform, &path), [""; 0]);
}

async fn what_was_promoted_stays_fit(place: Place) {
    let world = World::new(place).await;
    let admin = world.as_user("admin@acme.test");
    let platform = world.platform_admin("platform@tplkit.test").await;
    let made = admin.create("/v1/templates/import", &package("Notes"));
    let path = format!("/v1/templates/{}", id(&made));
    assert_eq!(promote(&platform, &path), [""; 0]);
    let before = admin.get(&format!("{path}/package")).expect(200).body;
    let payload = format!("{path}/payloads/{ITEM}");
    let refused = |response: crate::api::client::Response, code: &str| {
        let refused = response.refused(422, "promotion_failed");
        assert!(refused.body.contains(code), "{refused:?}");
    };
    refused(admin.delete(&payload), "P003");
    let mut entry = package("Notes")["payloads"][0].clone();
    entry["rows"][0]["data"]["title"] = "workspace_id".into();
    refused(admin.json("PUT", &payload, &entry.to_string()), "P002");
    refused(
        admin.patch(&path, &json!({"label": "organization_id"})),
        "P002",
    );
    let bare: Value = package("Notes")["manifest"].clone();
    refused(
        admin.json("PUT", &format!("{path}/package"), &bare.to_string()),
        "P003",
    );
    assert_eq!(admin.get(&format!("{path}/package")).body, before);
    admin.patch(&path, &json!({"label": "Better"})).expect(200);
}
