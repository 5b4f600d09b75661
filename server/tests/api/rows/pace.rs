//! How fast rows go in: run by hand, `cargo nextest run --release -p tplkit-server --run-ignored all pace`.

use std::time::Instant;

use serde_json::json;

use super::seed::{path, table};
use crate::api::world::World;
use crate::stores::Place;

const COLUMNS: [super::seed::Column; 5] = [
    ("name", "text", "textfield", r#"{"required":true}"#),
    ("sku", "text", "textfield", r#"{"unique":true}"#),
    ("amount", "number", "numberfield", "{}"),
    ("price", "currency", "currencyfield", "{}"),
    ("day", "date", "datepicker", "{}"),
];

#[expect(clippy::print_stderr, reason = "it is there to be read")]
async fn measure(place: Place) {
    let world = World::new(place).await;
    let feature = table(&world, &COLUMNS).await;
    let editor = world.as_user("editor@acme.test");
    let row = |n: usize| {
        json!({"data": {"name": format!("row {n}"), "sku": format!("sku-{n}"), "amount": n,
            "price": 12.345, "day": "2024-02-29"}})
    };
    for round in 0..4 {
        let from = round * 10_000;
        let rows: Vec<_> = (from..from + 500).map(row).collect();
        let body = json!({"rows": rows}).to_string();
        let began = Instant::now();
        editor
            .json("POST", &path(feature, ":batch"), &body)
            .expect(201);
        eprintln!("a batch of 500: {:?}", began.elapsed());
        let began = Instant::now();
        for n in 0..200 {
            editor
                .post(&path(feature, ""), &row(from + 1000 + n))
                .expect(201);
        }
        eprintln!("one row, one after another: {:?}", began.elapsed() / 200);
    }
}

#[test]
#[ignore = "measures"]
fn pace_on_sqlite() {
    crate::stores::run(Some(Place::sqlite()), measure);
}

#[test]
#[ignore = "measures"]
fn pace_on_postgres() {
    crate::stores::run(Place::postgres(), measure);
}
