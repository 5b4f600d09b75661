//! `POST /v1/templates`: a manifest alone.

use serde_json::json;

use crate::api::model::{id, package};
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_manifest_becomes_a_template,
    what_breaks_rules_is_refused_with_their_codes,
    a_manifest_without_a_version_is_of_the_first,
    who_may_and_in_which_order_it_is_reported,
    what_is_sent_twice_is_made_once,
);

async fn a_manifest_becomes_a_template(place: Place) {
    let world = World::new(place).await;
    let admin = world.as_user("admin@acme.test");
    let manifest = &package("Notes")["manifest"];
    let mut given = manifest.clone();
    // Whatever the file says.
    given["visibility"] = "system".into();
    let body = json!({"organization_id": world.acme, "manifest": given});
    let made = admin.create("/v1/templates", &body);
    assert_eq!(made["visibility"], "org");
    assert!(made.get("manifest").is_none(), "{made}");
    let read = admin
        .get(&format!("/v1/templates/{}", id(&made)))
        .expect(200);
    given["visibility"] = "org".into();
    assert_eq!(read.json()["manifest"], given);
    let path = format!("/v1/templates/{}/payloads", id(&made));
    assert_eq!(admin.items(&path).len(), 0);
}

async fn what_breaks_rules_is_refused_with_their_codes(place: Place) {
    let world = World::new(place).await;
    let admin = world.as_user("admin@acme.test");
    let mut manifest = package("Notes")["manifest"].clone();
    manifest["scope"] = "table".into();
    manifest["items"][1]["parent"] = "u_00000000-0000-4000-8000-0000000000ff".into();
    let body = json!({"organization_id": world.acme, "manifest": manifest});
    let refused = admin.post("/v1/templates", &body);
    let refused = refused.refused(422, "validation_failed").json();
    let reported: Vec<(&str, &str)> = refused["errors"]
        .as_array()
        .expect("errors")
        .iter()
        .map(|error| {
            (
                error["code"].as_str().expect("code"),
                error["path"].as_str().expect("path"),
            )
        })
        .collect();
    let expected = [
        ("I008", "/manifest/items/1/parent"),
        ("M001", "/manifest/scope"),
    ];
    assert!(
        expected.iter().all(|fault| reported.contains(fault)),
        "{reported:?}"
    );
    for (body, code) in [
        (
            json!({"organization_id": world.acme, "manifest": []}),
            "validation_failed",
        ),
        (
            json!({"organization_id": world.acme, "manifest": null}),
            "validation_failed",
        ),
        (json!({"organization_id": world.acme}), "validation_failed"),
        (
            json!({"organization_id": world.acme, "manifest": {"templateVersion": "2"}}),
            "validation_failed",
        ),
        (
            json!({"organization_id": world.acme, "manifest": {}, "payloads": []}),
            "validation_failed",
        ),
        (json!([]), "validation_failed"),
    ] {
        admin.post("/v1/templates", &body).refused(422, code);
    }
    for bad in [
        "{",
        r#"{"manifest":{"a":1,"a":2}}"#,
        r#"{"manifest":"\u0000"}"#,
    ] {
        admin
            .json("POST", "/v1/templates", bad)
            .refused(422, "invalid_json");
    }
    assert_eq!(admin.items("/v1/templates").len(), 0);
}

async fn a_manifest_without_a_version_is_of_the_first(place: Place) {
    let world = World::new(place).await;
    let admin = world.as_user("admin@acme.test");
    let plan = &package("x")["manifest"]["plan"];
    let body = json!({"organization_id": world.acme, "manifest": {"plan": plan}});
    let made = admin.create("/v1/templates", &body);
    assert_eq!(made["template_version"], 1);
    assert_eq!(made["name"], json!(null));
    let path = format!("/v1/templates/{}", id(&made));
    let read = admin.get(&path).expect(200).json();
    assert_eq!(read["manifest"], json!({"plan": plan, "visibility": "org"}));
    let changed = admin
        .patch(&path, &json!({"name": "n", "label": "N"}))
        .expect(200)
        .json();
    assert_eq!(
        (&changed["name"], &changed["template_version"]),
        (&json!("n"), &json!(1))
    );
    let package = admin.get(&format!("{path}/package")).expect(200);
    assert!(!package.body.contains("templateVersion"), "{package:?}");
    // The store takes back what it gave; as a file it is none.
    admin
        .json("PUT", &format!("{path}/package"), &package.body)
        .expect(200);
    let refused = admin.json("POST", "/v1/templates/import", &package.body);
    assert!(
        refused
            .refused(422, "validation_failed")
            .body
            .contains("J003")
    );
}

async fn who_may_and_in_which_order_it_is_reported(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let body = |organization| json!({"organization_id": organization, "manifest": 1});
    editor
        .post("/v1/templates", &body(world.acme))
        .refused(403, "forbidden");
    editor
        .post("/v1/templates", &body(world.other))
        .refused(404, "not_found");
    for (scopes, status) in [
        (&["read"][..], 403),
        (&["write"], 403),
        (&["write", "structure"], 422),
    ] {
        let response = world
            .as_key(scopes)
            .post("/v1/templates", &body(world.acme));
        assert_eq!(response.status, status, "{scopes:?} {response:?}");
    }
}

async fn what_is_sent_twice_is_made_once(place: Place) {
    let world = World::new(place).await;
    let admin = world.as_user("admin@acme.test");
    let manifest = &package("Notes")["manifest"];
    let body = json!({"organization_id": world.acme, "manifest": manifest}).to_string();
    let headers = [
        ("content-type", "application/json"),
        ("idempotency-key", "k"),
    ];
    let post = |path: &str, body: &str| admin.send("POST", path, &headers, Some(body.as_bytes()));
    let first = post("/v1/templates", &body).expect(201);
    let second = post("/v1/templates", &body).expect(201);
    assert_eq!(first.body, second.body);
    assert_eq!(second.header("idempotency-replayed"), Some("true"));
    let file = package("Notes").to_string();
    let first = post("/v1/templates/import", &file).expect(201);
    assert_eq!(
        first.body,
        post("/v1/templates/import", &file).expect(201).body
    );
    assert_eq!(admin.items("/v1/templates").len(), 2);
}
