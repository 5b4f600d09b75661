//! `POST /v1/workspaces/{workspace_id}/export`

use serde_json::{Value, json};
use tplkit::check::{CheckOptions, check_text};

use super::shop::{Shop, column, feature, row, workspace};
use crate::api::model::uuid;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_workspace_becomes_a_package_that_checks_clean,
    only_what_is_selected_travels,
    everybody_exports_what_they_see,
    what_cannot_be_exported_is_reported,
    a_large_workspace_is_exported_whole,
    a_cell_that_no_package_holds_is_named,
);

fn refs(package: &Value, kind: &str) -> Vec<String> {
    let items = package["manifest"]["items"].as_array().expect("items");
    let of = items.iter().filter(|item| item["kind"] == kind);
    of.map(|item| item["label"].as_str().expect("a label").to_owned())
        .collect()
}

async fn a_workspace_becomes_a_package_that_checks_clean(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let shop = Shop::new(&editor, world.acme);
    let path = format!("/v1/workspaces/{}/export", shop.workspace);
    let body =
        json!({"rows": "all", "identity": {"name": "shop", "label": "Shop", "scope": "workspace"}});
    let response = editor.post(&path, &body).expect(200);
    assert_eq!(response.header("content-type"), Some("application/json"));
    assert_eq!(
        response.header("content-length"),
        Some(response.body.len().to_string().as_str())
    );
    let report = check_text(&response.body, &CheckOptions::default());
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    let canonical = tplkit::package::canonical::write(&response.body).expect("a package");
    assert_eq!(response.body, canonical);
    let package = response.json();
    assert_eq!(package["manifest"]["name"], "shop");
    assert_eq!(refs(&package, "feature"), ["Clients", "Orders"]);
    let orders = &package["payloads"][1];
    assert_eq!(orders["count"], 3);
    assert!(orders["rows"][0]["refs"]["client"].is_object(), "{orders}");
    for id in [&shop.workspace, &shop.clients, &shop.orders] {
        assert!(!response.body.contains(id.as_str()), "{id}");
    }
    assert!(!response.body.contains(&world.acme.to_string()));
    // It changes nothing, so nothing is kept under a key.
    let headers = [
        ("content-type", "application/json"),
        ("idempotency-key", "k"),
    ];
    let again = || {
        editor
            .send("POST", &path, &headers, Some(b"{}"))
            .expect(200)
    };
    let (first, second) = (again(), again());
    assert_ne!(first.body, second.body, "uids are minted anew");
    assert_eq!(second.header("idempotency-replayed"), None);
}

async fn only_what_is_selected_travels(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let shop = Shop::new(&editor, world.acme);
    let path = format!("/v1/workspaces/{}/export", shop.workspace);
    let export = |body: Value| editor.post(&path, &body).expect(200).json();
    let package = export(json!({"features": [shop.orders], "rows": [shop.orders]}));
    assert_eq!(refs(&package, "feature"), ["Orders"]);
    assert_eq!(package["payloads"].as_array().map(Vec::len), Some(1));
    let dependency = &package["manifest"]["dependencies"][0];
    assert_eq!(
        (&dependency["kind"], &dependency["resolution"]),
        (&json!("feature"), &json!("import"))
    );
    let package = export(json!({"features": []}));
    assert_eq!(package["manifest"]["items"], json!([]));
    assert_eq!(export(json!({}))["payloads"], json!([]));
}

async fn everybody_exports_what_they_see(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let shop = Shop::new(&editor, world.acme);
    let path = format!("/v1/workspaces/{}/export", shop.workspace);
    let all = json!({"rows": "all"});
    let count = |client: &crate::api::client::Client| {
        let package = client.post(&path, &all).expect(200).json();
        package["payloads"][1]["count"].clone()
    };
    let viewer = world.as_user("viewer@acme.test");
    assert_eq!(count(&viewer), 3);
    assert_eq!(count(&world.as_key(&["read"])), 3);
    world
        .as_key(&["write", "structure"])
        .post(&path, &all)
        .refused(403, "missing_scope");
    // A table that shows everybody their own rows.
    let own = json!({"config": {"rowAccess": "own"}});
    let orders = format!("/v1/features/{}", shop.orders);
    world
        .as_user("admin@acme.test")
        .patch(&orders, &own)
        .expect(200);
    assert_eq!(count(&viewer), 0);
    assert_eq!(count(&editor), 3);
    let closed = json!({"access": "members"});
    let owner = world.as_user("owner@acme.test");
    owner
        .patch(&format!("/v1/workspaces/{}", shop.workspace), &closed)
        .expect(200);
    viewer.post(&path, &all).refused(404, "not_found");
    world
        .as_user("stranger@other.test")
        .post(&path, &all)
        .refused(404, "not_found");
    assert_eq!(count(&owner), 3);
}

async fn what_cannot_be_exported_is_reported(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let shop = Shop::new(&editor, world.acme);
    let foreign = Shop::new(&world.as_user("stranger@other.test"), world.other);
    let path = format!("/v1/workspaces/{}/export", shop.workspace);
    let missing = world.context.id().to_string();
    let refusal = |feature: &str| {
        let response = editor.post(&path, &json!({"features": [feature]}));
        let refused = response.refused(422, "validation_failed");
        assert_eq!(refused.json()["errors"][0]["path"], "features");
        refused.body.replace(feature, "…")
    };
    assert_eq!(refusal(&foreign.orders), refusal(&missing));
    for (body, place) in [
        (json!({"rows": "some"}), "rows"),
        (json!({"views": "all"}), "views"),
        (json!({"features": ["x"]}), "features[0]"),
        (
            json!({"features": [shop.clients], "rows": [shop.orders]}),
            "rows",
        ),
        (json!({"identity": {"scope": "table"}}), "identity.scope"),
        (json!({"nonsense": 1}), "nonsense"),
    ] {
        let refused = editor.post(&path, &body).refused(422, "validation_failed");
        assert_eq!(refused.json()["errors"][0]["path"], place, "{refused:?}");
    }
    editor
        .json("POST", &path, r#"{"rows":"all","rows":"none"}"#)
        .refused(422, "invalid_json");
    editor.json("POST", &path, "{").refused(422, "invalid_json");
    editor
        .post(&format!("{path}?x=1"), &json!({}))
        .refused(422, "validation_failed");
    let nothing = format!("/v1/workspaces/{missing}/export");
    editor.json("POST", &nothing, "{").refused(404, "not_found");
}

async fn a_large_workspace_is_exported_whole(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let shop = Shop {
        workspace: workspace(&editor, world.acme),
        ..Shop::new(&editor, world.acme)
    };
    let feature = feature(&editor, &shop.workspace, "Large");
    column(&editor, &feature, &json!({"label": "Text", "type": "text"}));
    row(&editor, &feature, &json!({"text": "first"}));
    let long = "x".repeat(3000);
    let some: Vec<Value> = (0..500).map(|_| json!({"data": {"text": long}})).collect();
    let batch = format!("/v1/features/{feature}/rows:batch");
    for _ in 0..3 {
        editor.post(&batch, &json!({"rows": some})).expect(201);
    }
    let path = format!("/v1/workspaces/{}/export", shop.workspace);
    let response = editor.post(&path, &json!({"rows": "all"})).expect(200);
    assert!(response.body.len() > 4_000_000);
    assert_eq!(response.json()["payloads"][0]["count"], 1501);
}

async fn a_cell_that_no_package_holds_is_named(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let workspace = workspace(&editor, world.acme);
    let feature = feature(&editor, &workspace, "Deep");
    column(&editor, &feature, &json!({"label": "Any", "type": "json"}));
    let cells = |levels: usize| {
        let (open, close) = ("[".repeat(levels), "]".repeat(levels));
        format!(r#"{{"any":{open}{close}}}"#)
    };
    let rows = format!("/v1/features/{feature}/rows");
    let post = |levels: usize| {
        let body = format!(r#"{{"data":{}}}"#, cells(levels));
        editor.json("POST", &rows, &body)
    };
    post(122).expect(201);
    let export = || {
        let path = format!("/v1/workspaces/{workspace}/export");
        editor.post(&path, &json!({"rows": "all"}))
    };
    let package = export().expect(200).body;
    let report = check_text(&package, &CheckOptions::default());
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    // The body of a request has room for deeper ones.
    for levels in [123, 126, 130] {
        let sql = "UPDATE main.rows SET data = {json $2} WHERE feature_id = $1 RETURNING id";
        let parameters = vec![uuid(&feature).into(), cells(levels).into()];
        let changed = world.sql(sql, parameters).await;
        let row: uuid::Uuid = changed[0].get(0).expect("an id");
        let refused = export().refused(422, "validation_failed").json();
        let detail = refused["detail"].as_str().expect("a text");
        let place = format!("column \"any\" in row {row} of Deep");
        assert!(detail.contains(&place), "{detail}");
    }
}
