//! The slots next to the data.

use serde_json::json;
use uuid::Uuid;

use super::seed::{add_column, ask, number, path, table_in, workspace};
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    every_way_in_fills_the_slots,
    a_cell_that_is_too_long_closes_its_slot,
    slots_that_are_given_late_are_filled_next_to_writers,
);

async fn slotted(world: &World) -> Uuid {
    let workspace = workspace(world, world.acme, "organization").await;
    let feature = table_in(world, (world.acme, workspace), false, &[]).await;
    let place = (world.acme, workspace, feature);
    for (position, column, slot) in [
        (1, ("text", "text", "textfield", "{}"), Some(3)),
        (2, ("amount", "number", "numberfield", "{}"), Some(1)),
        (
            3,
            ("no", "number", "id", r#"{"idType":"sequence"}"#),
            Some(16),
        ),
        (4, ("plain", "text", "textfield", "{}"), None),
    ] {
        add_column(world, place, position, column, slot).await;
    }
    feature
}

async fn held(world: &World, row: &str) -> [Option<String>; 4] {
    let sql = "SELECT s1, s3, s16, s2 FROM rows WHERE id = $1";
    let id = Uuid::try_parse(row).expect("an id");
    let rows = ask(world, sql, vec![id.into()]).await;
    std::array::from_fn(|at| rows[0].get(at).expect("a text"))
}

fn key(raw: &str) -> Option<String> {
    tplkit::rows::order_key(raw)
}

async fn every_way_in_fills_the_slots(place: Place) {
    let world = World::new(place).await;
    let feature = slotted(&world).await;
    let editor = world.as_user("editor@acme.test");
    let row = editor.json(
        "POST",
        &path(feature, ""),
        r#"{"data":{"text":"é\n","amount":1.50,"plain":"x"}}"#,
    );
    let id = row.expect(201).json()["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(
        held(&world, &id).await,
        [key("1.5"), text("é\n"), key("1"), None]
    );
    let one = path(feature, &format!("/{id}"));
    let merge = format!("{one}?merge=true");
    editor
        .patch(&merge, &json!({"data": {"text": null, "amount": -2}}))
        .expect(200);
    assert_eq!(held(&world, &id).await, [key("-2"), None, key("1"), None]);
    // Only the slots of cells that change are written: none, one, or more.
    for (data, amount, words) in [
        (json!({"plain": "y", "é \"": 1}), "-2", None),
        (json!({"amount": 7, "plain": null}), "7", None),
        (json!({"text": "t"}), "7", Some("t")),
        (json!({"text": "u", "amount": -2.0}), "-2", Some("u")),
        (json!({"text": null, "é \"": null}), "-2", None),
    ] {
        editor.patch(&merge, &json!({"data": data})).expect(200);
        let words = words.map(str::to_owned);
        assert_eq!(
            held(&world, &id).await,
            [key(amount), words, key("1"), None]
        );
    }
    let odd = json!({"data": {"amount": "odd", "text": [1, {"b": 1, "a": true}]}});
    editor
        .patch(&format!("{one}?validate=off"), &odd)
        .expect(200);
    assert_eq!(
        held(&world, &id).await,
        [
            key("\"odd\""),
            text(r#"[1,{"a":true,"b":1}]"#),
            key("1"),
            None
        ]
    );
    let rows = json!({"rows": [{"data": {"text": ""}}, {"data": {"amount": 0}}]});
    let rows = editor
        .post(&path(feature, ":batch"), &rows)
        .expect(201)
        .json();
    let id = |at: usize| rows["items"][at]["id"].as_str().expect("an id").to_owned();
    assert_eq!(held(&world, &id(0)).await, [None, text(""), key("2"), None]);
    assert_eq!(held(&world, &id(1)).await, [key("0"), None, key("3"), None]);
}

async fn a_cell_that_is_too_long_closes_its_slot(place: Place) {
    let world = World::new(place).await;
    let feature = slotted(&world).await;
    let editor = world.as_user("editor@acme.test");
    let version = "SELECT version FROM features WHERE id = $1";
    let long = "SELECT count(*) FROM columns WHERE feature_id = $1 AND slot_long = $2";
    let read = |sql| number(&world, sql, vec![feature.into()]);
    let closed = || number(&world, long, vec![feature.into(), true.into()]);
    let before = read(version).await;
    for (length, closes) in [(512, false), (513, true), (600, true), (1, true)] {
        let text = "x".repeat(length);
        let row = editor.post(&path(feature, ""), &json!({"data": {"text": text}}));
        let id = row.expect(201).json()["id"]
            .as_str()
            .expect("an id")
            .to_owned();
        let slot = held(&world, &id).await[1].clone().expect("a key");
        assert_eq!(slot.len(), length.min(512));
        assert_eq!(closed().await == 1, closes, "{length}");
        assert_eq!(read(version).await > before, closes, "{length}");
    }
}

/// A table with rows in which two columns get slots late.
async fn late(world: &World, rows: usize) -> Uuid {
    let workspace = workspace(world, world.acme, "organization").await;
    let columns = [
        ("text", "text", "textfield", "{}"),
        ("amount", "number", "numberfield", "{}"),
    ];
    let feature = table_in(world, (world.acme, workspace), false, &columns).await;
    let editor = world.as_user("editor@acme.test");
    for from in (0..rows).step_by(500) {
        let batch: Vec<_> = (from..rows.min(from + 500))
            .map(|n| json!({"data": {"text": format!("t{n}"), "amount": n}}))
            .collect();
        editor
            .post(&path(feature, ":batch"), &json!({"rows": batch}))
            .expect(201);
    }
    feature
}

async fn slots_that_are_given_late_are_filled_next_to_writers(place: Place) {
    let world = World::new(place).await;
    let feature = late(&world, 1200).await;
    let editor = world.as_user("editor@acme.test");
    let tables = tplkit_server::rows::Tables::default();
    for _ in 0..100 {
        tables.hot.note(feature, "amount");
        tables.hot.note(feature, "text");
        tables.hot.note(feature, "no such column");
    }
    let given = tplkit_server::rows::give_slots(&world.store, &world.context, &tables).await;
    assert_eq!(given, Ok(1));
    let ready = "SELECT count(*) FROM columns WHERE feature_id = $1 AND slot_ready = $2";
    let ready = || number(&world, ready, vec![feature.into(), true.into()]);
    assert_eq!(ready().await, 0);
    let (filled, responses) = tokio::join!(
        tplkit_server::rows::fill_slots(&world.store, &world.context),
        tokio::task::spawn_blocking(move || {
            let row = |n: usize| json!({"data": {"text": format!("new {n}"), "amount": n}});
            (0..20)
                .map(|n| editor.post(&path(feature, ""), &row(n)).status)
                .collect::<Vec<_>>()
        })
    );
    assert_eq!(filled, Ok(1200));
    assert_eq!(responses.expect("responds"), [201; 20]);
    assert_eq!(ready().await, 2);
    let sql = "SELECT {text data}, s1, s2 FROM rows WHERE feature_id = $1";
    let rows = ask(&world, sql, vec![feature.into()]).await;
    assert_eq!(rows.len(), 1220);
    for row in rows {
        let data: String = row.get(0).expect("data");
        let data: serde_json::Value = serde_json::from_str(&data).expect("data");
        let slots: [Option<String>; 2] = [1, 2].map(|at| row.get(at).expect("a text"));
        let text = data["text"].as_str().map(str::to_owned);
        assert_eq!(slots, [text, key(&data["amount"].to_string())]);
    }
    // There is nothing left to do.
    let filled = tplkit_server::rows::fill_slots(&world.store, &world.context).await;
    assert_eq!(filled, Ok(0));
}
