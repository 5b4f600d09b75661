//! Whole packages: imported, read back, replaced.

use std::path::Path;

use serde_json::{Value, json};
use tplkit_server::app::Config;

use crate::api::model::{ITEM, id, package};
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    every_example_is_read_back_as_it_was,
    what_stands_next_to_manifest_and_payloads_is_kept,
    an_organization_is_named_where_it_is_not_clear,
    a_package_is_replaced_whole_or_not_at_all,
    a_package_with_errors_is_refused_with_their_places,
    a_package_may_be_larger_than_other_bodies,
    the_examples_of_the_document_are_packages,
);

/// Packages that check clean.
fn examples() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folders = ["examples", "tests/fixtures/cases/valid"];
    let files = folders.iter().flat_map(|folder| {
        let files = std::fs::read_dir(root.join(folder)).expect("a folder");
        files.map(|file| file.expect("a file").path())
    });
    let files = files.filter(|path| {
        path.extension()
            .is_some_and(|extension| extension == "json")
    });
    let files = files.filter(|path| !path.ends_with("broken-invoices.json"));
    let mut files: Vec<_> = files.collect();
    files.sort();
    let texts = files
        .iter()
        .map(|path| std::fs::read_to_string(path).expect("UTF-8"));
    texts.collect()
}

async fn every_example_is_read_back_as_it_was(place: Place) {
    let world = World::new(place).await;
    let admin = world.as_user("admin@acme.test");
    let examples = examples();
    assert!(examples.len() >= 40, "{}", examples.len());
    for text in &examples {
        let made = admin
            .json("POST", "/v1/templates/import", text)
            .expect(201)
            .json();
        let path = format!("/v1/templates/{}/package", id(&made));
        let read = admin.get(&path).expect(200);
        let bare = text.trim_start_matches('\u{feff}');
        let canonical = tplkit::package::canonical::write(bare).expect("a package");
        let mut given: Value = serde_json::from_str(&canonical).expect("JSON");
        if given.get("manifest").is_none() {
            given = json!({"manifest": given, "payloads": []});
        }
        given["manifest"]["visibility"] = "org".into();
        let items = given["manifest"]["items"].as_array();
        let awaited = items.is_some_and(|items| items.iter().any(|item| item["kind"] == "rows"));
        if given.get("payloads").is_none() || given["payloads"] == json!([]) {
            given["payloads"] = json!([]);
            if awaited && let Some(given) = given.as_object_mut() {
                given.remove("payloads");
            }
        }
        assert_eq!(read.json(), given);
        // It is a file in canonical form, digits of numbers included.
        let again = tplkit::package::canonical::write(&read.body).expect("a package");
        assert_eq!(again, read.body);
        let same = admin.json("PUT", &path, &read.body).expect(200);
        assert_eq!(same.json()["id"], made["id"]);
        assert_eq!(admin.get(&path).body, read.body);
    }
}

async fn what_stands_next_to_manifest_and_payloads_is_kept(place: Place) {
    let world = World::new(place).await;
    let admin = world.as_user("admin@acme.test");
    let mut body = package("Notes");
    body["zz"] = json!({"b": 1.5, "a": [{"é\"": null}]});
    body["more"] = json!("x");
    let made = admin.create("/v1/templates/import", &body);
    let path = format!("/v1/templates/{}", id(&made));
    let whole = format!("{path}/package");
    let unknown_members = || {
        let read = admin.get(&whole).expect(200);
        let canonical = tplkit::package::canonical::write(&read.body).expect("a package");
        assert_eq!(read.body, canonical);
        let read = read.json();
        (read["zz"].clone(), read["more"].clone())
    };
    let expected = (body["zz"].clone(), body["more"].clone());
    assert_eq!(unknown_members(), expected);
    // Whatever else changes.
    admin.patch(&path, &json!({"label": "Other"})).expect(200);
    assert_eq!(unknown_members(), expected);
    body["zz"] = json!(2);
    if let Some(body) = body.as_object_mut() {
        body.remove("more");
    }
    admin.json("PUT", &whole, &body.to_string()).expect(200);
    assert_eq!(unknown_members(), (json!(2), Value::Null));
}

async fn an_organization_is_named_where_it_is_not_clear(place: Place) {
    let world = World::new(place).await;
    let body = package("Notes");
    world
        .member(
            world.other,
            "admin@acme.test",
            tplkit_server::auth::Role::Admin,
        )
        .await;
    world.person("alone@acme.test").await;
    let admin = world.as_user("admin@acme.test");
    let path = "/v1/templates/import";
    admin.post(path, &body).refused(422, "validation_failed");
    world
        .as_user("alone@acme.test")
        .post(path, &body)
        .refused(422, "validation_failed");
    let other = format!("{path}?organization_id={}", world.other);
    assert_eq!(
        admin.create(&other, &body)["organization_id"],
        world.other.to_string()
    );
    let editor = world.as_user("editor@acme.test");
    editor.post(path, &body).refused(403, "forbidden");
    // Who may not is refused before the body is looked at.
    editor
        .send("POST", path, &[], Some(b"x"))
        .refused(403, "forbidden");
    editor.post(&other, &body).refused(404, "not_found");
    let key = world.as_key(&["write", "structure"]);
    assert_eq!(
        key.create(path, &body)["organization_id"],
        world.acme.to_string()
    );
}

async fn a_package_is_replaced_whole_or_not_at_all(place: Place) {
    let world = World::new(place).await;
    let admin = world.as_user("admin@acme.test");
    let made = admin.create("/v1/templates/import", &package("One"));
    let path = format!("/v1/templates/{}", id(&made));
    let whole = format!("{path}/package");
    admin
        .patch(&path, &json!({"visibility": "public", "label": "Mine"}))
        .expect(200);
    let before = admin.get(&whole).expect(200);
    let mut bad = package("Two");
    bad["payloads"][0]["count"] = 7.into();
    let refused = admin.json("PUT", &whole, &bad.to_string());
    assert!(
        refused
            .refused(422, "validation_failed")
            .body
            .contains("R003")
    );
    assert_eq!(admin.get(&whole).body, before.body);
    world.wait(5);
    let mut two = package("Two");
    let put = admin
        .json("PUT", &whole, &two.to_string())
        .expect(200)
        .json();
    // Its visibility is the record's, and so is its age.
    two["manifest"]["visibility"] = "public".into();
    assert_eq!(admin.get(&whole).json(), two);
    assert_eq!(
        (&put["label"], &put["visibility"]),
        (&json!("Two"), &json!("public"))
    );
    assert_eq!(put["created_at"], made["created_at"]);
    assert_ne!(put["updated_at"], made["updated_at"]);
    let payloads = admin.items(&format!("{path}/payloads"));
    assert_eq!(payloads[0]["created_at"], made["created_at"]);
    assert_eq!(payloads[0]["entry"], two["payloads"][0]);
    // Strangers read what is public, its new payloads too.
    let stranger = world.as_user("stranger@other.test");
    assert_eq!(stranger.get(&whole).json(), two);
    stranger
        .json("PUT", &whole, &two.to_string())
        .refused(403, "forbidden");
    world
        .as_user("editor@acme.test")
        .json("PUT", &whole, "{")
        .refused(403, "forbidden");
    // A bare manifest has no payloads.
    admin
        .json("PUT", &whole, &two["manifest"].to_string())
        .expect(200);
    assert_eq!(admin.items(&format!("{path}/payloads")).len(), 0);
}

async fn a_package_with_errors_is_refused_with_their_places(place: Place) {
    let world = World::new(place).await;
    let admin = world.as_user("admin@acme.test");
    let import = |text: &str| admin.json("POST", "/v1/templates/import", text);
    let mut leaking = package("x");
    leaking["manifest"]["description"] = "0198a5ba-0000-7000-8000-000000000001".into();
    leaking["payloads"][0]["itemUid"] = "u_00000000-0000-4000-8000-0000000000bb".into();
    let refused = import(&leaking.to_string())
        .refused(422, "validation_failed")
        .json();
    let errors = refused["errors"].as_array().expect("errors");
    let lists = |code: &str, path: &str| {
        let is_listed = errors
            .iter()
            .any(|error| error["code"] == code && error["path"] == path);
        assert!(is_listed, "{code} {path} {refused}");
    };
    lists("X001", "/manifest/description");
    lists("R023", "/manifest/items/2");
    lists("R024", "/payloads/0/itemUid");
    for bad in [
        "{",
        "",
        r#"{"manifest":{"templateVersion":1,"templateVersion":1}}"#,
        "{\"templateVersion\":1,\"name\":\"\\ud800\"}",
    ] {
        import(bad).refused(422, "invalid_json");
    }
    let doubled = package("x")
        .to_string()
        .replace(r#"{"title":"#, r#"{"title":1,"title":"#);
    import(&doubled).refused(422, "invalid_json");
    for plain in ["[]", "{}", r#"{"manifest":[]}"#, r#"{"manifest":{}}"#] {
        assert!(
            import(plain)
                .refused(422, "validation_failed")
                .body
                .contains("J003")
        );
    }
    let text = [("content-type", "text/plain")];
    admin
        .send("POST", "/v1/templates/import", &text, Some(b"{}"))
        .refused(415, "unsupported_media_type");
    let marked = format!("\u{feff}{}", package("x"));
    import(&marked).expect(201);
    assert_eq!(admin.items("/v1/templates").len(), 1);
}

async fn a_package_may_be_larger_than_other_bodies(place: Place) {
    let config = Config {
        rate: None,
        max_body: 1000,
        max_package: 20_000,
        ..Config::default()
    };
    let world = World::with(place, config).await;
    let admin = world.as_user("admin@acme.test");
    let made = admin.create("/v1/templates/import", &package("x"));
    let mut large = package("x");
    large["manifest"]["description"] = "x".repeat(20_000).into();
    let large = large.to_string();
    let path = format!("/v1/templates/{}", id(&made));
    for (method, path) in [
        ("POST", "/v1/templates/import".to_owned()),
        ("POST", "/v1/templates".to_owned()),
        ("PUT", format!("{path}/package")),
        ("PUT", format!("{path}/payloads/{ITEM}")),
    ] {
        admin
            .json(method, &path, &large)
            .refused(413, "payload_too_large");
    }
    let label = json!({"label": "x".repeat(1000)});
    admin.patch(&path, &label).refused(413, "payload_too_large");
}

async fn the_examples_of_the_document_are_packages(place: Place) {
    let world = World::new(place).await;
    let admin = world.as_user("admin@acme.test");
    let document = world.nobody.get("/v1/openapi.json").expect(200).json();
    let example = |name: &str| document["components"]["examples"][name]["value"].clone();
    let check = |package: &Value| {
        let verdict = admin.post("/v1/templates/check", package);
        verdict.expect(200).json()
    };
    let package = example("Package");
    let clean = json!({"outcome": "clean", "findings": [], "findings_more": 0});
    assert_eq!(check(&package), clean);
    assert_eq!(check(&example("PackageToCheck")), example("PackageVerdict"));
    let made = admin.create("/v1/templates/import", &package);
    let path = format!("/v1/templates/{}/package", id(&made));
    let replaced = admin.json("PUT", &path, &package.to_string());
    replaced.expect(200);
    let mut body = example("TemplateCreate");
    body["organization_id"] = json!(world.acme);
    let made = admin.create("/v1/templates", &body);
    let whole = admin
        .get(&format!("/v1/templates/{}", id(&made)))
        .expect(200);
    for member in ["items", "plan"] {
        assert_eq!(whole.json()["manifest"][member], body["manifest"][member]);
    }
    assert_eq!(example("TemplateWhole")["manifest"], body["manifest"]);
}
