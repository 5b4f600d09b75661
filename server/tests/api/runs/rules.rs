//! What the rules of a read, its order and the column of a match mean in the table that they ask.

use serde_json::{Value, json};

use super::{Stage, ended, write};
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_declared_id_is_the_column,
    texts_compare_as_texts_and_numbers_by_amount,
    what_is_not_empty_is_whatever_is_not_empty,
);

/// How many rows hold to a rule, and the note of the first.
async fn read(stage: &Stage, table: &str, config: Value) -> (Value, Value) {
    let out = stage.table();
    let mut config = config;
    config["featureId"] = json!(table);
    let cells = [
        ("n", json!("{{vars.steps.stp_000000000001.count}}")),
        ("note", json!("{{records.0.note}}")),
    ];
    let steps = json!([
        {"key": "feature.read", "id": "stp_000000000001", "config": config},
        write("insert", &out, &cells),
    ]);
    let it = stage.fires(&json!({"type": "manual"}), &steps).await;
    let runs = super::path(&it, "/runs");
    stage.editor.post(&runs, &json!({})).expect(202);
    stage.run_due().await;
    let run = stage.run(&it);
    assert_eq!(ended(&run), ("succeeded", ""), "{run}");
    let found = stage.all(&out).remove(0);
    (found["n"].clone(), found["note"].clone())
}

fn rule(column: &str, operator: &str, value: Value) -> Value {
    let mut rule = json!({"columnName": column, "operator": operator});
    rule["value"] = value;
    json!({"filterGroup": {"combinator": "and", "rules": [rule]}})
}

async fn a_declared_id_is_the_column(place: Place) {
    let stage = Stage::new(place).await;
    for (kind, config) in [
        ("text", json!({"idType": "uuid"})),
        ("number", json!({"idType": "sequence"})),
    ] {
        let table = stage.table();
        let columns = format!("/v1/features/{table}/columns");
        // Without it, the name means what every row has.
        let none = rule("id", "equals", json!(uuid::Uuid::nil()));
        assert_eq!(read(&stage, &table, none).await.0, 0);
        let identity = json!({"label": "Id", "name": "id", "type": kind, "default_component": "id",
            "config": config});
        stage.editor.create(&columns, &identity);
        let rows: Vec<String> = ["a", "b", "c"]
            .iter()
            .map(|note| stage.row(&table, &json!({"note": note})))
            .collect();
        let id = stage.data(&table, &rows[1])["id"].clone();
        let found = read(&stage, &table, rule("id", "equals", id.clone())).await;
        assert_eq!(found, (json!(1), json!("b")), "{kind}");
        let order = json!({"orderBy": {"column": "id", "desc": true}, "limit": 1});
        let mut all = stage.all(&table);
        all.sort_by_key(|row| match row["id"].as_i64() {
            Some(number) => format!("{number:09}"),
            None => row["id"].to_string(),
        });
        let last = all.pop().expect("a row")["note"].clone();
        assert_eq!(
            read(&stage, &table, order).await,
            (json!(1), last),
            "{kind}"
        );
        // What a token yields finds the row that it comes from.
        for mode in ["update", "upsert"] {
            let cells = [("id", json!("{{record.id}}")), ("status", json!(mode))];
            let mut step = write(mode, &table, &cells);
            step["config"]["matchColumn"] = json!("id");
            let it = stage
                .fires(&json!({"type": "manual"}), &json!([step]))
                .await;
            let begin = json!({"row_id": rows[1], "feature_id": table});
            let runs = super::path(&it, "/runs");
            stage.editor.post(&runs, &begin).expect(202);
            stage.run_due().await;
            let run = stage.run(&it);
            assert_eq!(ended(&run), ("succeeded", ""), "{run}");
            let row = json!({"id": id, "note": "b", "status": mode});
            assert_eq!(stage.data(&table, &rows[1]), row);
        }
        assert_eq!(stage.all(&table).len(), 3);
    }
}

async fn texts_compare_as_texts_and_numbers_by_amount(place: Place) {
    let stage = Stage::new(place).await;
    let table = stage.table();
    for n in [9, 10] {
        let data = json!({"status": n.to_string(), "n": n, "note": n.to_string()});
        stage.row(&table, &data);
    }
    for (column, found) in [("status", "9"), ("n", "10")] {
        let above = |value| rule(column, "greaterThan", value);
        let (number, text) = if column == "n" {
            (json!(9), json!("9"))
        } else {
            (json!(5), json!("5"))
        };
        for value in [number, text] {
            let read = read(&stage, &table, above(value)).await;
            assert_eq!(read, (json!(1), json!(found)), "{column}");
        }
    }
    let between = rule("status", "between", json!(["1", "5"]));
    assert_eq!(read(&stage, &table, between).await, (json!(1), json!("10")));
}

async fn what_is_not_empty_is_whatever_is_not_empty(place: Place) {
    let stage = Stage::new(place).await;
    let table = stage.table();
    for status in [json!("[]"), json!("a"), json!(""), Value::Null] {
        stage.row(&table, &json!({"status": status, "note": status}));
    }
    for (operator, found) in [("isEmpty", 2), ("isNotEmpty", 2)] {
        let read = read(&stage, &table, rule("status", operator, Value::Null)).await;
        assert_eq!(read.0, found, "{operator}");
    }
}
