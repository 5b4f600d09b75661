//! `POST …/rows:batch`

use serde_json::{Value, json};

use super::seed::{COLUMNS, number, path, table};
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    five_hundred_rows_go_in_and_come_back_in_order,
    none_and_one_too_many_are_refused,
    faults_name_their_rows_and_nothing_is_kept,
    a_repeated_value_names_its_row_and_nothing_is_kept,
    what_is_wrong_with_a_body_is_reported_by_place,
);

fn rows(count: usize) -> Value {
    let rows: Vec<Value> = (0..count)
        .map(|n| json!({"data": {"name": format!("row {n}"), "sku": n.to_string(), "amount": n}}))
        .collect();
    json!({"rows": rows})
}

/// How much the store holds in all tables that rows have a part in.
async fn kept(world: &World) -> [i64; 3] {
    [
        number(world, "SELECT count(*) FROM rows", vec![]).await,
        number(world, "SELECT count(*) FROM row_values", vec![]).await,
        number(
            world,
            "SELECT CAST(coalesce(sum(count), 0) AS bigint) FROM row_counts",
            vec![],
        )
        .await,
    ]
}

async fn five_hundred_rows_go_in_and_come_back_in_order(place: Place) {
    let world = World::new(place).await;
    let feature = table(&world, &COLUMNS).await;
    let editor = world.as_user("editor@acme.test");
    let response = editor.post(&path(feature, ":batch"), &rows(500));
    let response = response.expect(201).json();
    assert_eq!(response["count"], 500);
    let items = response["items"].as_array().expect("items");
    assert_eq!(items.len(), 500);
    for (n, item) in items.iter().enumerate() {
        assert_eq!(item["data"]["amount"], n);
    }
    let ids: Vec<&str> = items
        .iter()
        .filter_map(|item| item["id"].as_str())
        .collect();
    assert!(ids.is_sorted_by(|one, other| one < other));
    assert_eq!(kept(&world).await, [500, 500, 500]);
    let one = editor.get(&path(feature, &format!("/{}", ids[499])));
    assert_eq!(one.expect(200).json(), items[499]);
}

async fn none_and_one_too_many_are_refused(place: Place) {
    let world = World::new(place).await;
    let feature = table(&world, &COLUMNS).await;
    let editor = world.as_user("editor@acme.test");
    for count in [0, 501] {
        let refused = editor
            .post(&path(feature, ":batch"), &rows(count))
            .refused(422, "validation_failed")
            .json();
        assert_eq!(refused["errors"][0]["path"], "rows");
    }
    assert_eq!(kept(&world).await, [0; 3]);
}

async fn faults_name_their_rows_and_nothing_is_kept(place: Place) {
    let world = World::new(place).await;
    let feature = table(&world, &COLUMNS).await;
    let editor = world.as_user("editor@acme.test");
    let mut body = rows(5);
    body["rows"][3]["data"]["amount"] = json!("3");
    body["rows"][4]["data"] = json!({"nif": 1});
    let refused = editor
        .post(&path(feature, ":batch"), &body)
        .refused(422, "validation_failed")
        .json();
    let detail = refused["detail"].as_str().expect("a detail");
    assert!(detail.starts_with("rows[3]: "), "{detail}");
    let paths: Vec<&Value> = refused["errors"]
        .as_array()
        .expect("errors")
        .iter()
        .map(|error| &error["path"])
        .collect();
    assert_eq!(
        paths,
        [
            "rows[3].data.amount",
            "rows[4].data.name",
            "rows[4].data.nif"
        ]
    );
    assert_eq!(kept(&world).await, [0; 3]);
    // So many are listed, and all are counted.
    let bad: Vec<Value> = (0..500).map(|_| json!({"data": {}})).collect();
    let refused = editor
        .post(&path(feature, ":batch"), &json!({"rows": bad}))
        .refused(422, "validation_failed")
        .json();
    assert_eq!(refused["errors"].as_array().map(Vec::len), Some(100));
}

async fn a_repeated_value_names_its_row_and_nothing_is_kept(place: Place) {
    let world = World::new(place).await;
    let feature = table(&world, &COLUMNS).await;
    let editor = world.as_user("editor@acme.test");
    let mut body = rows(5);
    body["rows"][4]["data"]["sku"] = json!("1");
    let refused = editor
        .post(&path(feature, ":batch"), &body)
        .refused(409, "unique_violation")
        .json();
    assert_eq!(refused["column"], "sku");
    let detail = refused["detail"].as_str().expect("a detail");
    assert!(detail.starts_with("rows[4]: "), "{detail}");
    assert_eq!(refused["errors"][0]["path"], "rows[4].data.sku");
    assert_eq!(kept(&world).await, [0; 3]);
    // The same against a row that is there, in every mode.
    let first = json!({"data": {"name": "n", "sku": "2"}});
    editor.post(&path(feature, ""), &first).expect(201);
    let before = kept(&world).await;
    for mode in ["on", "strict", "off"] {
        let refused = editor
            .post(&path(feature, &format!(":batch?validate={mode}")), &rows(5))
            .refused(409, "unique_violation")
            .json();
        let detail = refused["detail"].as_str().expect("a detail");
        assert!(detail.starts_with("rows[2]: "), "{detail}");
        assert_eq!(kept(&world).await, before);
    }
}

async fn what_is_wrong_with_a_body_is_reported_by_place(place: Place) {
    let world = World::new(place).await;
    let feature = table(&world, &COLUMNS).await;
    let editor = world.as_user("editor@acme.test");
    for (body, at) in [
        ("[]", vec![""]),
        ("{}", vec!["rows"]),
        (r#"{"rows":{}}"#, vec!["rows"]),
        (
            r#"{"rows":[{"data":{"name":"n"}},7,{},{"data":{"name":"n"},"id":1},{"data":{}}],"x":1}"#,
            vec![
                "x",
                "rows[1]",
                "rows[2].data",
                "rows[3].id",
                "rows[4].data.name",
            ],
        ),
    ] {
        let refused = editor
            .json("POST", &path(feature, ":batch"), body)
            .refused(422, "validation_failed")
            .json();
        let errors = refused["errors"].as_array().expect("errors");
        let paths: Vec<&Value> = errors.iter().map(|error| &error["path"]).collect();
        assert_eq!(paths, at, "{body}");
    }
    assert_eq!(kept(&world).await, [0; 3]);
}
