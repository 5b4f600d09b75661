//! `POST …/rows`

use serde_json::json;

use super::seed::{COLUMNS, ask, number, path, table};
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_row_is_stored_as_it_is_returned,
    unknown_keys_are_kept_unless_strict,
    every_fault_of_a_row_is_reported,
    off_checks_nothing,
    bodies_of_another_shape_are_refused,
    a_column_that_was_deleted_is_like_any_unknown_key,
    encoded_paths_are_the_same_routes,
);

async fn a_row_is_stored_as_it_is_returned(place: Place) {
    let world = World::new(place).await;
    let feature = table(&world, &COLUMNS).await;
    let editor = world.as_user("editor@acme.test");
    let body = json!({"data": {"name": "Ada", "extra": {"z": [1, {"b": 1, "a": 2}], "a": null}, "amount": 2}});
    let created = editor.post(&path(feature, ""), &body).expect(201);
    let row = created.json();
    let id = row["id"].as_str().expect("an id");
    assert_eq!(row["feature_id"], feature.to_string());
    assert_eq!(row["data"], body["data"]);
    assert_eq!(row["created_at"], row["updated_at"]);
    let mut keys: Vec<&String> = row.as_object().expect("an object").keys().collect();
    keys.sort_unstable();
    assert_eq!(
        keys,
        ["created_at", "data", "feature_id", "id", "updated_at"]
    );
    let viewer = world.as_user("viewer@acme.test");
    let read = viewer.get(&path(feature, &format!("/{id}"))).expect(200);
    assert_eq!(read.body, created.body);
    // Keys are sorted at every depth, so equal values have equal text.
    assert!(
        read.body.contains(
            r#""data":{"amount":2,"extra":{"a":null,"z":[1,{"a":2,"b":1}]},"name":"Ada"}"#
        ),
        "{}",
        read.body
    );
    let me = editor.get("/v1/me").json()["id"].clone();
    let creators = ask(&world, "SELECT created_by FROM rows", vec![]).await;
    let creator: Option<uuid::Uuid> = creators[0].get(0).expect("an id");
    assert_eq!(json!(creator), me);
    let counted = "SELECT CAST(sum(count) AS bigint) FROM row_counts WHERE feature_id = $1";
    assert_eq!(number(&world, counted, vec![feature.into()]).await, 1);
}

async fn unknown_keys_are_kept_unless_strict(place: Place) {
    let world = World::new(place).await;
    let feature = table(&world, &COLUMNS).await;
    let editor = world.as_user("editor@acme.test");
    let body = json!({"data": {"name": "n", "other": [1], "created_at": "x", "id": 7, "": null}});
    let row = editor.post(&path(feature, ""), &body).expect(201).json();
    assert_eq!(row["data"], body["data"]);
    let refused = editor
        .post(&path(feature, "?validate=strict"), &body)
        .refused(422, "validation_failed")
        .json();
    let mut paths: Vec<&str> = refused["errors"]
        .as_array()
        .expect("errors")
        .iter()
        .filter_map(|error| error["path"].as_str())
        .collect();
    paths.sort_unstable();
    assert_eq!(paths, ["data.", "data.created_at", "data.id", "data.other"]);
    for word in ["", "On", "true", "on&validate=on"] {
        editor
            .post(&path(feature, &format!("?validate={word}")), &body)
            .refused(422, "validation_failed");
    }
}

async fn every_fault_of_a_row_is_reported(place: Place) {
    let world = World::new(place).await;
    let feature = table(&world, &COLUMNS).await;
    let editor = world.as_user("editor@acme.test");
    let body = json!({"data": {"sku": 1, "amount": "1", "nif": "123456788"}});
    let refused = editor
        .post(&path(feature, ""), &body)
        .refused(422, "validation_failed")
        .json();
    let mut paths: Vec<&str> = refused["errors"]
        .as_array()
        .expect("errors")
        .iter()
        .filter_map(|error| error["path"].as_str())
        .collect();
    paths.sort_unstable();
    assert_eq!(paths, ["data.amount", "data.name", "data.nif", "data.sku"]);
    for empty in [json!(null), json!("")] {
        let body = json!({"data": {"name": empty}});
        let refused = editor.post(&path(feature, ""), &body);
        let refused = refused.refused(422, "validation_failed").json();
        assert_eq!(refused["errors"][0]["path"], "data.name");
    }
    assert_eq!(number(&world, "SELECT count(*) FROM rows", vec![]).await, 0);
}

async fn off_checks_nothing(place: Place) {
    let world = World::new(place).await;
    let feature = table(&world, &COLUMNS).await;
    let editor = world.as_user("editor@acme.test");
    let off = path(feature, "?validate=off");
    let body =
        json!({"data": {"amount": "1", "nif": "x", "price": "dear", "sku": [1, {"b": 1, "a": 1}]}});
    let row = editor.post(&off, &body).expect(201).json();
    assert_eq!(row["data"], body["data"]);
    // But numbers are kept exactly or not at all, and currency is rounded.
    let row = editor.json("POST", &off, r#"{"data":{"price":-1.005}}"#);
    assert!(row.expect(201).body.contains(r#""price":-1.01"#));
    for body in [
        r#"{"data":{"price":1e400}}"#,
        r#"{"data":{"nif":{"a":[1e400]}}}"#,
        r#"{"data":{"unknown":1e400}}"#,
    ] {
        editor
            .json("POST", &off, body)
            .refused(422, "validation_failed");
    }
}

async fn bodies_of_another_shape_are_refused(place: Place) {
    let world = World::new(place).await;
    let feature = table(&world, &[]).await;
    let editor = world.as_user("editor@acme.test");
    for (body, code, at) in [
        ("", "invalid_json", None),
        ("{\"data\":{}", "invalid_json", None),
        (r#"{"data":{"a":1,"a":2}}"#, "invalid_json", None),
        (r#"{"data":{"a":1,"\u0061":2}}"#, "invalid_json", None),
        (r#"{"data":{"a":{"b":1,"b":1}}}"#, "invalid_json", None),
        (r#"{"data":{"a":"\u0000"}}"#, "invalid_json", None),
        (r#"{"data":{"\u0000":1}}"#, "invalid_json", None),
        (r#"{"data":{"a":"\ud800"}}"#, "invalid_json", None),
        ("[]", "validation_failed", Some("")),
        ("{}", "validation_failed", Some("data")),
        (r#"{"data":null}"#, "validation_failed", Some("data")),
        (r#"{"data":[]}"#, "validation_failed", Some("data")),
        (r#"{"data":{},"id":"x"}"#, "validation_failed", Some("id")),
        (
            r#"{"data":{},"feature_id":"x"}"#,
            "validation_failed",
            Some("feature_id"),
        ),
    ] {
        let refused = editor
            .json("POST", &path(feature, ""), body)
            .refused(422, code)
            .json();
        if let Some(at) = at {
            assert_eq!(refused["errors"][0]["path"], at, "{body}");
        }
    }
    let deep = |depth: usize| {
        let (open, close) = ("[".repeat(depth), "]".repeat(depth));
        format!(r#"{{"data":{{"a":{open}{close}}}}}"#)
    };
    // Two levels are the body's own.
    editor
        .json("POST", &path(feature, ""), &deep(126))
        .expect(201);
    editor
        .json("POST", &path(feature, ""), &deep(127))
        .refused(422, "invalid_json");
    let marked = editor
        .json("POST", &path(feature, ""), "\u{feff}{\"data\":{}}")
        .refused(422, "invalid_json")
        .json();
    let detail = marked["detail"].as_str().expect("a text");
    assert!(
        detail.contains("byte 0: a byte-order mark where a JSON value is expected"),
        "{detail}"
    );
    let invalid = [("content-type", "application/json")];
    editor
        .send(
            "POST",
            &path(feature, ""),
            &invalid,
            Some(b"{\"data\":{\"a\":\"\xff\"}}"),
        )
        .refused(422, "invalid_json");
}

async fn a_column_that_was_deleted_is_like_any_unknown_key(place: Place) {
    let world = World::new(place).await;
    let feature = table(&world, &COLUMNS).await;
    let editor = world.as_user("editor@acme.test");
    let body = json!({"data": {"name": "n", "amount": 1, "sku": "a"}});
    let row = editor.post(&path(feature, ""), &body).expect(201).json();
    // What the routes of columns do, as far as rows notice.
    for sql in [
        "DELETE FROM main.columns WHERE feature_id = $1 AND name IN ('amount', 'sku')",
        "DELETE FROM main.row_values WHERE feature_id = $1",
        "UPDATE main.features SET version = version + 1 WHERE id = $1",
    ] {
        ask(&world, sql, vec![feature.into()]).await;
    }
    let one = path(feature, &format!("/{}", row["id"].as_str().expect("an id")));
    assert_eq!(editor.get(&one).json()["data"], body["data"]);
    // Neither its type nor its uniqueness counts any more.
    let body = json!({"data": {"name": "n", "amount": "x", "sku": "a"}});
    editor.post(&path(feature, ""), &body).expect(201);
    editor
        .post(&path(feature, "?validate=strict"), &body)
        .refused(422, "validation_failed");
    editor
        .patch(
            &format!("{one}?validate=strict&merge=true"),
            &json!({"data": {"name": "m"}}),
        )
        .expect(200);
}

async fn encoded_paths_are_the_same_routes(place: Place) {
    let world = World::new(place).await;
    let feature = table(&world, &[]).await;
    let editor = world.as_user("editor@acme.test");
    let body = json!({"rows": [{"data": {}}]});
    for name in [":batch", "%3Abatch", "%3abatch"] {
        editor.post(&path(feature, name), &body).expect(201);
    }
    editor
        .get(&path(feature, "%3Abatch"))
        .refused(405, "method_not_allowed");
    editor
        .get(&path(feature, ":nothing"))
        .refused(404, "not_found");
    editor
        .get(&path(feature, "/:batch"))
        .refused(422, "validation_failed");
}
