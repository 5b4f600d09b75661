//! What cells become on entry.

use serde_json::json;

use super::seed::{Column, path, table};
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    currency_is_rounded_in_every_mode_and_on_every_way_in,
    numbers_are_exact_and_plain,
    texts_come_back_as_they_were_sent,
    the_empty_text_is_a_value_of_texts_and_documents_alone,
);

const COLUMNS: [Column; 5] = [
    ("two", "currency", "currencyfield", "{}"),
    ("none", "currency", "currencyfield", r#"{"decimals":0}"#),
    ("three", "currency", "currencyfield", r#"{"decimals":3}"#),
    ("number", "number", "numberfield", "{}"),
    ("any", "json", "jsoneditor", "{}"),
];

const ROUNDED: [(&str, &str, &str); 14] = [
    ("two", "1.005", "1.01"),
    ("two", "-1.005", "-1.01"),
    ("two", "1.004999", "1"),
    ("two", "9.995", "10"),
    ("two", "0.004", "0"),
    ("two", "-0.004", "0"),
    ("two", "1e2", "100"),
    ("two", "1", "1"),
    (
        "two",
        "12345678901234567890123456789012.3",
        "12345678901234567890123456789012.3",
    ),
    ("none", "0.5", "1"),
    ("none", "-0.5", "-1"),
    ("none", "2.4", "2"),
    ("three", "1.0005", "1.001"),
    ("three", "1.23", "1.23"),
];

async fn currency_is_rounded_in_every_mode_and_on_every_way_in(place: Place) {
    let world = World::new(place).await;
    let feature = table(&world, &COLUMNS).await;
    let editor = world.as_user("editor@acme.test");
    for (column, sent, stored) in ROUNDED {
        for mode in ["on", "strict", "off"] {
            let data = format!(r#"{{"data":{{"{column}":{sent}}}}}"#);
            let wanted = format!(r#""data":{{"{column}":{stored}}}"#);
            let query = format!("?validate={mode}");
            let row = editor
                .json("POST", &path(feature, &query), &data)
                .expect(201);
            assert!(row.body.contains(&wanted), "{sent} {mode} {}", row.body);
            let one = row.json()["id"].as_str().expect("an id").to_owned();
            let one = path(feature, &format!("/{one}{query}"));
            let batch = format!(r#"{{"rows":[{data}]}}"#);
            for response in [
                editor.json("POST", &path(feature, &format!(":batch{query}")), &batch),
                editor.json("PATCH", &one, &data),
                editor.json("PATCH", &format!("{one}&merge=true"), &data),
            ] {
                assert!(
                    response.body.contains(&wanted),
                    "{sent} {mode} {}",
                    response.body
                );
            }
        }
    }
    editor
        .post(&path(feature, ""), &json!({"data": {"two": "1.005"}}))
        .refused(422, "validation_failed");
}

async fn numbers_are_exact_and_plain(place: Place) {
    let world = World::new(place).await;
    let feature = table(&world, &COLUMNS).await;
    let editor = world.as_user("editor@acme.test");
    let post = |raw: &str, query: &str| {
        let body = format!(r#"{{"data":{{"any":[{raw}],"number":{raw}}}}}"#);
        editor.json("POST", &path(feature, query), &body)
    };
    for (sent, stored) in [
        ("9007199254740993", "9007199254740993"),
        ("1.10", "1.1"),
        ("1e2", "100"),
        ("-0", "0"),
        ("-0.0", "0"),
        ("1E-3", "0.001"),
        (
            "12345678901234567890123456789012.34",
            "12345678901234567890123456789012.34",
        ),
        ("1e63", &format!("1{}", "0".repeat(63))),
    ] {
        let row = post(sent, "").expect(201);
        let wanted = format!(r#""data":{{"any":[{stored}],"number":{stored}}}"#);
        assert!(row.body.contains(&wanted), "{sent} {}", row.body);
        let one = row.json()["id"].as_str().expect("an id").to_owned();
        let read = editor.get(&path(feature, &format!("/{one}")));
        assert_eq!(read.body, row.body);
    }
    for refused in [
        "1e400",
        "1e64",
        "1e-64",
        "12345678901234567890123456789012345",
    ] {
        for query in ["", "?validate=strict", "?validate=off"] {
            let refused = post(refused, query)
                .refused(422, "validation_failed")
                .json();
            let errors = refused["errors"].as_array().expect("errors");
            assert_eq!(errors.len(), 2, "{refused}");
        }
    }
}

async fn texts_come_back_as_they_were_sent(place: Place) {
    let world = World::new(place).await;
    let feature = table(&world, &COLUMNS).await;
    let editor = world.as_user("editor@acme.test");
    let texts = [
        "",
        " ",
        "$f_x",
        "é",
        "e\u{301}",
        "\u{1}\u{7f}\n\t\"\\/",
        "😀\u{feff}",
        "{{vars.x}}",
        "'; DROP TABLE rows; --",
    ];
    let body = json!({"data": {"any": texts, "\u{1F600} \"k\"": {"\n": 1}}});
    let row = editor.post(&path(feature, ""), &body).expect(201).json();
    assert_eq!(row["data"], body["data"]);
    let one = row["id"].as_str().expect("an id");
    let read = editor.get(&path(feature, &format!("/{one}"))).json();
    assert_eq!(read["data"], body["data"]);
}

const TYPED: [Column; 12] = [
    ("number", "number", "numberfield", "{}"),
    ("currency", "currency", "currencyfield", "{}"),
    ("boolean", "boolean", "checkbox", "{}"),
    ("date", "date", "datepicker", "{}"),
    ("datetime", "datetime", "datetimepicker", "{}"),
    ("select", "select", "selectfield", r#"{"options":["","a"]}"#),
    (
        "multi",
        "multi_select",
        "selectfield",
        r#"{"options":["","a"]}"#,
    ),
    ("masked", "masked", "maskedfield", r#"{"mask":"nif"}"#),
    ("link", "linked_select", "linkfield", "{}"),
    ("press", "button", "button", "{}"),
    ("text", "text", "textfield", "{}"),
    ("any", "json", "jsoneditor", "{}"),
];

async fn the_empty_text_is_a_value_of_texts_and_documents_alone(place: Place) {
    let world = World::new(place).await;
    let feature = table(&world, &TYPED).await;
    let editor = world.as_user("editor@acme.test");
    let row = editor
        .post(&path(feature, ""), &json!({"data": {}}))
        .expect(201)
        .json();
    let one = format!("/{}", row["id"].as_str().expect("an id"));
    for (column, ..) in TYPED {
        let stored = ["text", "any"].contains(&column);
        for mode in ["on", "strict"] {
            let query = format!("?validate={mode}");
            let data = json!({"data": {column: ""}});
            let batch = json!({"rows": [{"data": {}}, data]});
            for (response, at) in [
                (editor.post(&path(feature, &query), &data), "data."),
                (
                    editor.post(&path(feature, &format!(":batch{query}")), &batch),
                    "rows[1].data.",
                ),
                (
                    editor.patch(&path(feature, &format!("{one}{query}")), &data),
                    "data.",
                ),
                (
                    editor.patch(&path(feature, &format!("{one}{query}&merge=true")), &data),
                    "data.",
                ),
            ] {
                if stored {
                    assert!(response.status < 300, "{column} {response:?}");
                    assert!(response.body.contains(&format!("{{\"{column}\":\"\"}}")));
                    continue;
                }
                let refused = response.refused(422, "validation_failed").json();
                assert_eq!(
                    refused["errors"][0]["path"],
                    format!("{at}{column}"),
                    "{mode}"
                );
            }
        }
        // What is not checked is kept as it came.
        let data = json!({"data": {column: ""}});
        let row = editor
            .post(&path(feature, "?validate=off"), &data)
            .expect(201);
        assert_eq!(row.json()["data"], data["data"], "{column}");
        let data = json!({"data": {column: null}});
        editor
            .post(&path(feature, "?validate=strict"), &data)
            .expect(201);
    }
}
