//! Identity cells: minted when empty, kept when given.

use serde_json::{Value, json};

use super::seed::{Column, ask, path, table};
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    empty_identities_are_minted_on_every_way_in,
    a_given_number_moves_the_sequence_on,
    odd_numbers_do_not_break_a_sequence,
    a_sequence_passes_over_the_greatest_numbers_that_are_given,
    a_sequence_that_is_used_up_says_so,
    an_identity_stays_until_another_is_sent,
);

const COLUMNS: [Column; 3] = [
    ("id", "text", "id", r#"{"required":true}"#),
    ("no", "number", "id", r#"{"idType":"sequence"}"#),
    ("a", "text", "textfield", "{}"),
];

async fn empty_identities_are_minted_on_every_way_in(place: Place) {
    let world = World::new(place).await;
    let feature = table(&world, &COLUMNS).await;
    let editor = world.as_user("editor@acme.test");
    let mut seen = Vec::new();
    for (expected, data) in (1..).zip([
        json!({}),
        json!({"id": null, "no": null}),
        json!({"id": "", "no": ""}),
    ]) {
        for (n, mode) in ["on", "strict", "off"].iter().enumerate() {
            let query = format!("?validate={mode}");
            let row = editor.post(&path(feature, &query), &json!({"data": data}));
            let row = row.expect(201).json();
            let number = (expected - 1) * 3 + n + 1;
            assert_eq!(row["data"]["no"], number);
            let id = row["data"]["id"].as_str().expect("an id").to_owned();
            assert!(uuid::Uuid::try_parse(&id).is_ok());
            assert_ne!(row["data"]["id"], row["id"]);
            seen.push(id);
        }
    }
    let rows = json!({"rows": [{"data": {}}, {"data": {"a": "x"}}, {"data": {}}]});
    let rows = editor
        .post(&path(feature, ":batch"), &rows)
        .expect(201)
        .json();
    for (row, number) in rows["items"].as_array().expect("items").iter().zip(10..) {
        assert_eq!(row["data"]["no"], number);
        seen.push(row["data"]["id"].as_str().expect("an id").to_owned());
    }
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 12);
    // Identities are unique.
    let again = json!({"data": {"id": seen[0]}});
    let refused = editor.post(&path(feature, "?validate=off"), &again);
    assert_eq!(
        refused.refused(409, "unique_violation").json()["column"],
        "id"
    );
}

async fn a_given_number_moves_the_sequence_on(place: Place) {
    let world = World::new(place).await;
    let feature = table(&world, &COLUMNS).await;
    let editor = world.as_user("editor@acme.test");
    let post = |data: Value| editor.post(&path(feature, ""), &json!({"data": data}));
    assert_eq!(post(json!({"no": 5})).expect(201).json()["data"]["no"], 5);
    assert_eq!(post(json!({})).expect(201).json()["data"]["no"], 6);
    assert_eq!(post(json!({"no": 2})).expect(201).json()["data"]["no"], 2);
    assert_eq!(post(json!({})).expect(201).json()["data"]["no"], 7);
    let refused = post(json!({"no": 7.0})).refused(409, "unique_violation");
    assert_eq!(refused.json()["column"], "no");
    // In a batch the given ones come first, wherever they stand.
    let rows = json!({"rows": [{"data": {}}, {"data": {"no": 9}}, {"data": {}}]});
    let rows = editor
        .post(&path(feature, ":batch"), &rows)
        .expect(201)
        .json();
    let numbers: Vec<&Value> = rows["items"]
        .as_array()
        .expect("items")
        .iter()
        .map(|row| &row["data"]["no"])
        .collect();
    assert_eq!(numbers, [10, 9, 11]);
    // A change moves it, too.
    let one = rows["items"][0]["id"].as_str().expect("an id");
    editor
        .patch(
            &path(feature, &format!("/{one}?merge=true")),
            &json!({"data": {"no": 20}}),
        )
        .expect(200);
    assert_eq!(post(json!({})).expect(201).json()["data"]["no"], 21);
}

async fn odd_numbers_do_not_break_a_sequence(place: Place) {
    let world = World::new(place).await;
    let feature = table(&world, &COLUMNS).await;
    let editor = world.as_user("editor@acme.test");
    let post = |raw: &str, mode: &str| {
        let body = format!(r#"{{"data":{{"no":{raw}}}}}"#);
        editor.json("POST", &path(feature, &format!("?validate={mode}")), &body)
    };
    for odd in [
        "-7",
        "9223372036854775807",
        "9223372036854775806",
        "18446744073709551616",
        "1e60",
        "-1e60",
        "0.25",
    ] {
        post(odd, "on").expect(201);
    }
    for odd in ["\"5\"", "true", "{\"a\":1}"] {
        post(odd, "on").refused(422, "validation_failed");
        post(odd, "off").expect(201);
    }
    for number in 1..=3 {
        let row = post("null", "on").expect(201).json();
        assert_eq!(row["data"]["no"], number);
    }
    post("3.5", "on").expect(201);
    assert_eq!(post("null", "on").expect(201).json()["data"]["no"], 4);
    post("9007199254740993", "on").expect(201);
    let row = post("null", "on").expect(201);
    assert!(
        row.body.contains(r#""no":9007199254740994"#),
        "{}",
        row.body
    );
}

/// Numbers from half of the greatest on move no sequence, in whatever order they come.
async fn a_sequence_passes_over_the_greatest_numbers_that_are_given(place: Place) {
    let world = World::new(place).await;
    let feature = table(&world, &COLUMNS).await;
    let editor = world.as_user("editor@acme.test");
    let post = |data: Value| {
        let row = editor.post(&path(feature, ""), &json!({"data": data}));
        row.expect(201).json()["data"]["no"].as_i64()
    };
    let half = i64::MAX / 2;
    post(json!({"no": half}));
    assert_eq!(post(json!({})), Some(1));
    post(json!({"no": half + 1}));
    post(json!({"no": half + 4}));
    post(json!({"no": half - 1}));
    assert_eq!(post(json!({})), Some(half + 2));
    // Nor does it take one that a row beside it brings.
    let rows =
        json!({"rows": [{"data": {}}, {"data": {}}, {"data": {"no": half + 5}}, {"data": {}}]});
    let rows = editor.post(&path(feature, ":batch"), &rows).expect(201);
    let rows = rows.json();
    let numbers = rows["items"].as_array().expect("items").iter();
    let numbers: Vec<i64> = numbers
        .filter_map(|row| row["data"]["no"].as_i64())
        .collect();
    assert_eq!(numbers, [half + 3, half + 6, half + 5, half + 7]);
    let first = editor.get(&path(feature, "?limit=1")).expect(200).json();
    let first = first["items"][0]["id"].as_str().expect("an id").to_owned();
    let emptied = editor.patch(
        &path(feature, &format!("/{first}?merge=true")),
        &json!({"data": {"no": null}}),
    );
    assert_eq!(emptied.expect(200).json()["data"]["no"], half + 8);
}

/// A template job sets a sequence behind the numbers of its rows, whatever they are.
async fn a_sequence_that_is_used_up_says_so(place: Place) {
    let world = World::new(place).await;
    let feature = table(&world, &COLUMNS).await;
    let editor = world.as_user("editor@acme.test");
    let sql = "UPDATE main.columns SET next_number = $1 WHERE feature_id = $2 AND name = 'no'";
    let parameters = vec![(i64::MAX - 1).into(), feature.into()];
    ask(&world, sql, parameters).await;
    let post = |data: Value| editor.post(&path(feature, ""), &json!({"data": data}));
    let row = post(json!({})).expect(201).json();
    assert_eq!(row["data"]["no"], i64::MAX - 1);
    for _ in 0..2 {
        let refused = post(json!({})).refused(409, "conflict").json();
        assert_eq!(refused["column"], "no");
        let detail = refused["detail"].as_str().expect("a detail");
        assert!(detail.contains("is used up"), "{detail}");
    }
    post(json!({"no": 5})).expect(201);
}

async fn an_identity_stays_until_another_is_sent(place: Place) {
    let world = World::new(place).await;
    let feature = table(&world, &COLUMNS).await;
    let editor = world.as_user("editor@acme.test");
    let row = editor.post(&path(feature, ""), &json!({"data": {"a": "x"}}));
    let row = row.expect(201).json();
    let one = path(feature, &format!("/{}", row["id"].as_str().expect("an id")));
    let patch = |tail: &str, data: Value| {
        let response = editor.patch(&format!("{one}{tail}"), &json!({"data": data}));
        response.expect(200).json()["data"].clone()
    };
    let identity = json!({"id": row["data"]["id"], "no": 1});
    assert_eq!(patch("", json!({})), identity);
    let data = patch("?merge=true", json!({"a": "y"}));
    assert_eq!(
        (&data["id"], &data["no"]),
        (&identity["id"], &identity["no"])
    );
    // Emptied, it is minted anew.
    let data = patch("?merge=true", json!({"no": null}));
    assert_eq!((&data["id"], &data["no"]), (&identity["id"], &json!(2)));
    let data = patch("", json!({"id": null, "no": 7}));
    assert_ne!(data["id"], identity["id"]);
    assert_eq!(data["no"], 7);
    let next = editor.post(&path(feature, ""), &json!({"data": {}}));
    assert_eq!(next.expect(201).json()["data"]["no"], 8);
}
