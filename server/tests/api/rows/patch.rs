//! `PATCH …/rows/{row_id}`

use serde_json::{Value, json};
use uuid::Uuid;

use super::seed::{COLUMNS, number, path, table};
use crate::api::client::Client;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    data_is_replaced_or_merged,
    an_empty_change_changes_nothing,
    required_is_asked_of_the_result_and_the_rest_of_what_is_sent,
    what_never_changes_is_forbidden,
    values_are_released_and_reserved,
);

async fn row(world: &World, client: &Client, data: &Value) -> (Uuid, String) {
    let feature = table(world, &COLUMNS).await;
    let row = client.post(&path(feature, ""), &json!({"data": data}));
    let id = row.expect(201).json()["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    (feature, path(feature, &format!("/{id}")))
}

async fn data_is_replaced_or_merged(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let data = json!({"name": "n", "amount": 1, "extra": {"a": 1}, "b": 2});
    let (_, one) = row(&world, &editor, &data).await;
    world.wait(1);
    let merged = json!({"data": {"extra": {"b": 1}, "amount": null, "c": 3, "none": null}});
    let response = editor
        .patch(&format!("{one}?merge=true"), &merged)
        .expect(200)
        .json();
    assert_eq!(
        response["data"],
        json!({"name": "n", "extra": {"b": 1}, "b": 2, "c": 3})
    );
    assert!(response["updated_at"].as_str() > response["created_at"].as_str());
    assert_eq!(editor.get(&one).json(), response);
    let response = editor
        .patch(&one, &json!({"data": {"name": "m", "amount": null}}))
        .expect(200)
        .json();
    assert_eq!(response["data"], json!({"name": "m", "amount": null}));
    let price = editor.json("PATCH", &one, r#"{"data":{"name":"m","price":1.005}}"#);
    assert_eq!(price.expect(200).json()["data"]["price"], json!(1.01));
    let price = editor.json(
        "PATCH",
        &format!("{one}?merge=true&validate=off"),
        r#"{"data":{"price":2.675}}"#,
    );
    assert_eq!(price.expect(200).json()["data"]["price"], json!(2.68));
    for query in [
        "merge=1",
        "merge=",
        "merge=true&merge=true",
        "merge=TRUE",
        "force=true",
    ] {
        editor
            .patch(&format!("{one}?{query}"), &merged)
            .refused(422, "validation_failed");
    }
}

async fn an_empty_change_changes_nothing(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let data = json!({"name": "n", "sku": "a"});
    let (_, one) = row(&world, &editor, &data).await;
    let before = editor.get(&one).expect(200);
    world.wait(1);
    for (query, body) in [
        ("", json!({})),
        ("?validate=strict", json!({})),
        ("?merge=true", json!({"data": {}})),
        ("", json!({"data": data})),
    ] {
        let response = editor.patch(&format!("{one}{query}"), &body).expect(200);
        assert_eq!(response.body, before.body, "{body}");
    }
    assert_eq!(editor.get(&one).body, before.body);
}

async fn required_is_asked_of_the_result_and_the_rest_of_what_is_sent(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let feature = table(&world, &COLUMNS).await;
    let odd = json!({"data": {"amount": "odd", "other": 1}});
    let created = editor.post(&path(feature, "?validate=off"), &odd);
    let id = created.expect(201).json()["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    let one = path(feature, &format!("/{id}"));
    let refused = |tail: &str, data: Value, at: &str| {
        let response = editor.patch(&format!("{one}{tail}"), &json!({"data": data}));
        let response = response.refused(422, "validation_failed").json();
        assert_eq!(response["errors"][0]["path"], at, "{tail} {data}");
    };
    refused("?merge=true", json!({"extra": 1}), "data.name");
    refused("?merge=true", json!({"name": null}), "data.name");
    refused("?merge=true", json!({"name": "n", "sku": 1}), "data.sku");
    refused(
        "?merge=true&validate=strict",
        json!({"name": "n", "more": 1}),
        "data.more",
    );
    refused("", json!({}), "data.name");
    refused(
        "?validate=strict",
        json!({"name": "n", "other": 1}),
        "data.other",
    );
    // A key without a column cannot be removed either.
    let nothing = json!({"name": "n", "never": null});
    refused("?merge=true&validate=strict", nothing, "data.never");
    let nothing = json!({"name": "n", "other": null});
    refused("?merge=true&validate=strict", nothing, "data.other");
    // What stands there is not checked again.
    let merge = format!("{one}?merge=true&validate=strict");
    let response = editor.patch(&merge, &json!({"data": {"name": "n"}}));
    assert_eq!(
        response.expect(200).json()["data"],
        json!({"amount": "odd", "name": "n", "other": 1})
    );
    editor
        .patch(
            &format!("{one}?merge=true&validate=off"),
            &json!({"data": {"name": null}}),
        )
        .expect(200);
}

async fn what_never_changes_is_forbidden(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let (_, one) = row(&world, &editor, &json!({"name": "n"})).await;
    for field in [
        "id",
        "feature_id",
        "workspace_id",
        "organization_id",
        "created_at",
        "updated_at",
        "created_by",
    ] {
        editor
            .patch(&one, &json!({field: "x"}))
            .refused(403, "forbidden");
    }
    // What has another shape is not looked at for the rest: `name` is required.
    for (body, path, detail) in [
        (json!({"data": null}), "data", "data: has to be an object"),
        (json!({"data": []}), "data", "data: has to be an object"),
        (json!({"x": 1}), "x", "x: is not a field of this body"),
        (json!([]), "", "the body has to be an object"),
        (json!(null), "", "the body has to be an object"),
    ] {
        let refused = editor.patch(&one, &body);
        let refused = refused.refused(422, "validation_failed").json();
        assert_eq!(refused["detail"], detail, "{body}");
        let errors = refused["errors"].as_array().expect("errors");
        assert_eq!((errors.len(), &errors[0]["path"]), (1, &json!(path)));
    }
}

async fn values_are_released_and_reserved(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let (feature, one) = row(&world, &editor, &json!({"name": "n", "sku": "a"})).await;
    let other = json!({"data": {"name": "n", "sku": "b"}});
    editor.post(&path(feature, ""), &other).expect(201);
    for tail in ["?merge=true", "", "?validate=off"] {
        let refused = editor.patch(&format!("{one}{tail}"), &other);
        let refused = refused.refused(409, "unique_violation").json();
        assert_eq!(refused["column"], "sku");
    }
    assert_eq!(editor.get(&one).json()["data"]["sku"], "a");
    editor
        .patch(&format!("{one}?merge=true"), &json!({"data": {"sku": "c"}}))
        .expect(200);
    // The old value is free, the new one is not.
    let create = |sku: &str| {
        editor.post(
            &path(feature, ""),
            &json!({"data": {"name": "n", "sku": sku}}),
        )
    };
    create("a").expect(201);
    create("c").refused(409, "unique_violation");
    editor
        .patch(
            &format!("{one}?merge=true"),
            &json!({"data": {"sku": null}}),
        )
        .expect(200);
    create("c").expect(201);
    let values = number(&world, "SELECT count(*) FROM row_values", vec![]).await;
    assert_eq!(values, 3);
}
