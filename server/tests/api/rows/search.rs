//! The index of searched cells: every way in keeps it, it is filled late and emptied, and it never decides what is found.

use serde_json::{Value as Json, json};
use tplkit_server::rows::{empty_search, fill_search};
use uuid::Uuid;

use super::query::stock::{Column as StockColumn, New, Stock, cursor, ids};
use super::seed::{ask, number, path, table, workspace};
use crate::api::client::Client;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    every_way_in_keeps_the_index,
    a_key_that_is_set_late_is_filled_next_to_writers,
    a_key_that_is_taken_away_empties_the_index,
    the_index_of_a_table_goes_with_it,
    many_candidates_are_gone_through_in_order,
    pages_are_those_without_the_index,
    what_is_not_seen_is_not_found,
    a_very_long_cell_is_found_like_any_other,
);

const TEXT: (&str, &str, &str, &str) = ("text", "text", "textfield", r#"{"search":true}"#);
const NOTE: (&str, &str, &str, &str) = ("note", "long_text", "textarea", r#"{"search":true}"#);
const PLAIN: (&str, &str, &str, &str) = ("plain", "text", "textfield", "{}");

/// Every row of every table is in the index as it is, and nothing else: to fill it anew changes nothing.
pub(crate) async fn assert_index_is_complete(world: &World) {
    let unready = "UPDATE main.columns SET search_ready = $1 WHERE is_searched";
    ask(world, unready, vec![false.into()]).await;
    let changed = "UPDATE main.features SET version = version + 1";
    ask(world, changed, vec![]).await;
    let filled = fill_search(&world.store, &world.context).await;
    assert_eq!(filled, Ok(0), "rows were not in the index as they are");
    let orphans = "SELECT count(*) FROM row_search s WHERE NOT EXISTS (SELECT 1 FROM rows r \
         WHERE r.organization_id = s.organization_id AND r.feature_id = s.feature_id AND r.id = s.row_id)";
    assert_eq!(number(world, orphans, vec![]).await, 0);
}

/// The labels of the rows that a filter finds, as a list and as a number, sorted.
fn found(client: &Client, feature: Uuid, filter: &str) -> Vec<String> {
    let stock = Stock {
        organization: Uuid::nil(),
        workspace: Uuid::nil(),
        feature,
        columns: Vec::new(),
    };
    let page = stock.list(client, &[("filter", filter), ("limit", "200")]);
    let page = page.expect(200).json();
    let items = page["items"].as_array().expect("items").iter();
    let label = |item: &Json| item["data"]["plain"].as_str().unwrap_or("-").to_owned();
    let mut labels: Vec<String> = items.map(label).collect();
    labels.sort();
    let counted = stock.aggregate(client, &[("filter", filter), ("op", "count")]);
    assert_eq!(
        counted.expect(200).json()["result"],
        labels.len(),
        "{filter}"
    );
    labels
}

async fn every_way_in_keeps_the_index(place: Place) {
    let world = World::new(place).await;
    let feature = table(&world, &[TEXT, NOTE, PLAIN]).await;
    let editor = world.as_user("editor@acme.test");
    let finds = |filter: &str, labels: &[&str]| {
        assert_eq!(found(&editor, feature, filter), labels, "{filter}");
    };
    let body = json!({"data": {"text": "Straße 100 % \\_", "note": "ΟΔΟΣ", "plain": "a"}});
    let made = editor.post(&path(feature, ""), &body).expect(201).json();
    let rows = json!({"rows": [
        {"data": {"text": "straßen", "plain": "b"}},
        {"data": {"text": null, "note": "it's \"quoted\"", "plain": "c"}},
        {"data": {"plain": "d"}},
    ]});
    let batch = editor.post(&path(feature, ":batch"), &rows).expect(201);
    let batch = batch.json();
    for (filter, labels) in [
        ("text:contains:STRAßE", &["a", "b"][..]),
        ("text:contains:0 % \\_", &["a"]),
        ("text:contains:100*", &[]),
        ("text:contains:%", &["a"]),
        ("text:contains:aß", &["a", "b"]),
        ("text:contains:", &["a", "b"]),
        ("text:not.contains:straßen", &["a"]),
        ("text:ncontains:straßen", &["a"]),
        ("text:startswith:straße ", &["a"]),
        ("text:endswith:aßen", &["b"]),
        ("text:ilike:str*100*", &["a"]),
        ("text:like:str*", &["b"]),
        ("note:contains:οδος", &["a"]),
        ("note:contains:'s \"q", &["c"]),
        ("note:contains:straße", &[]),
    ] {
        finds(filter, labels);
    }
    assert_index_is_complete(&world).await;
    let id = |row: &Json| row["id"].as_str().expect("an id").to_owned();
    let one = path(feature, &format!("/{}", id(&made)));
    let merge = format!("{one}?merge=true");
    for (body, filter, labels) in [
        (
            json!({"text": "avenue"}),
            "text:contains:avenue",
            &["a"][..],
        ),
        (json!({"plain": "z"}), "text:contains:avenue", &["z"]),
        (
            json!({"plain": "a", "note": null}),
            "note:contains:οδος",
            &[],
        ),
        (json!({"text": null}), "text:contains:avenue", &[]),
    ] {
        editor.patch(&merge, &json!({"data": body})).expect(200);
        finds(filter, labels);
        assert_index_is_complete(&world).await;
    }
    let odd = json!({"data": {"text": [1, {"b": 1, "a": true}], "plain": "a"}});
    let odd = editor.patch(&format!("{one}?validate=off"), &odd);
    odd.expect(200);
    finds("text:contains:\"a\":TRUE", &["a"]);
    finds("text:contains:straße", &["b"]);
    let gone = path(feature, &format!("/{}", id(&batch["items"][0])));
    editor.delete(&gone).expect(204);
    finds("text:contains:straße", &[]);
    assert_index_is_complete(&world).await;
    // What was refused as a whole has left nothing.
    let refused = json!({"rows": [{"data": {"text": "refused"}}, {"data": {"text": 1}}]});
    editor.post(&path(feature, ":batch"), &refused).expect(422);
    assert_index_is_complete(&world).await;
}

/// A table whose rows were there before its key, and the path of its column.
async fn late(world: &World, editor: &Client, rows: usize) -> (Uuid, String) {
    let feature = table(world, &[PLAIN]).await;
    for from in (0..rows).step_by(500) {
        let batch: Vec<Json> = (from..rows.min(from + 500))
            .map(|n| json!({"data": {"plain": format!("row {n:04}")}}))
            .collect();
        let batch = editor.post(&path(feature, ":batch"), &json!({"rows": batch}));
        batch.expect(201);
    }
    let columns = format!("/v1/features/{feature}/columns");
    let known = editor.get(&columns).expect(200).json();
    let column = known[0]["id"].as_str().expect("an id");
    (feature, format!("{columns}/{column}"))
}

async fn ready(world: &World, feature: Uuid) -> (bool, bool) {
    let sql = "SELECT is_searched, search_ready FROM columns WHERE feature_id = $1";
    let rows = ask(world, sql, vec![feature.into()]).await;
    let flag = |at| rows[0].get::<bool>(at).expect("a flag");
    (flag(0), flag(1))
}

const LINES: &str = "SELECT count(*) FROM row_search";

async fn a_key_that_is_set_late_is_filled_next_to_writers(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let (feature, column) = late(&world, &editor, 1200).await;
    let key = json!({"config": {"search": true}});
    editor.patch(&column, &key).expect(200);
    assert_eq!(ready(&world, feature).await, (true, false));
    // Until it is filled, rows are gone through.
    assert_eq!(
        found(&editor, feature, "plain:contains:ROW 0777"),
        ["row 0777"]
    );
    let writer = world.as_user("editor@acme.test");
    let (filled, written) = tokio::join!(
        fill_search(&world.store, &world.context),
        tokio::task::spawn_blocking(move || {
            for n in 0..20 {
                let body = json!({"data": {"plain": format!("new {n:04}")}});
                writer.post(&path(feature, ""), &body).expect(201);
            }
        })
    );
    written.expect("writes");
    assert_eq!(filled, Ok(1200));
    assert_eq!(ready(&world, feature).await, (true, true));
    assert_eq!(number(&world, LINES, vec![]).await, 1220);
    assert_eq!(
        found(&editor, feature, "plain:contains:ROW 0777"),
        ["row 0777"]
    );
    assert_eq!(found(&editor, feature, "plain:contains:new 00").len(), 20);
    // Another change of the column leaves it as it is.
    editor.patch(&column, &json!({"label": "X"})).expect(200);
    editor.patch(&column, &json!({"type": "email"})).expect(200);
    assert_eq!(ready(&world, feature).await, (true, true));
    assert_index_is_complete(&world).await;
    // Of a table without rows there is nothing to fill.
    let (empty, column) = late(&world, &editor, 0).await;
    editor.patch(&column, &key).expect(200);
    assert_eq!(ready(&world, empty).await, (true, true));
}

async fn a_key_that_is_taken_away_empties_the_index(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let (feature, column) = late(&world, &editor, 700).await;
    let (other, _) = late(&world, &editor, 1).await;
    let set = json!({"config": {"search": true}});
    let others = "UPDATE main.columns SET is_searched = $2 WHERE feature_id = $1";
    ask(&world, others, vec![other.into(), true.into()]).await;
    for without in [json!({"config": {}}), json!({"config": {"search": false}})] {
        editor.patch(&column, &set).expect(200);
        let filled = fill_search(&world.store, &world.context).await;
        filled.expect("fills");
        assert_eq!(number(&world, LINES, vec![]).await, 701);
        assert_eq!(empty_search(&world.store).await, Ok(0));
        editor.patch(&column, &without).expect(200);
        assert_eq!(ready(&world, feature).await, (false, false));
        assert_eq!(found(&editor, feature, "plain:contains:0123"), ["row 0123"]);
        // What is written meanwhile is not kept.
        let body = json!({"data": {"plain": "row 0123, again"}});
        let made = editor.post(&path(feature, ""), &body).expect(201).json();
        let one = path(
            feature,
            &format!("/{}", made["id"].as_str().expect("an id")),
        );
        editor.delete(&one).expect(204);
        assert_eq!(empty_search(&world.store).await, Ok(700));
        assert_eq!(number(&world, LINES, vec![]).await, 1);
    }
    // A type of column that is not searched has no such key.
    let number = json!({"label": "n", "type": "number", "config": {"search": true}});
    let columns = format!("/v1/features/{feature}/columns");
    editor
        .post(&columns, &number)
        .refused(422, "validation_failed");
    let wrong = editor.patch(&column, &json!({"config": {"search": "yes"}}));
    wrong.refused(422, "validation_failed");
}

async fn the_index_of_a_table_goes_with_it(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let (feature, column) = late(&world, &editor, 3).await;
    let key = json!({"config": {"search": true}});
    editor.patch(&column, &key).expect(200);
    assert_eq!(fill_search(&world.store, &world.context).await, Ok(3));
    let table = format!("/v1/features/{feature}?force=true");
    editor.delete(&table).expect(204);
    assert_eq!(empty_search(&world.store).await, Ok(3));
    assert_eq!(number(&world, LINES, vec![]).await, 0);
}

/// Whether a page comes from the first rows, from the index, or from going through them all.
async fn pages_are_those_without_the_index(place: Place) {
    let world = World::new(place).await;
    let columns = [
        StockColumn::new("s", "text").searched(),
        StockColumn::new("plain", "text"),
    ];
    let stock = Stock::new(&world, &columns).await;
    let data: Vec<String> = (0..1_200)
        .map(|n| {
            let often = if n % 25 < 3 { "often" } else { "never" };
            let seldom = if n % 130 == 120 { "seldom" } else { "never" };
            let text = format!("{often} {seldom}");
            format!(r#"{{"s":"{text}","plain":"{text}"}}"#)
        })
        .collect();
    let mut rows: Vec<New> = data.iter().map(|data| New::of(&world, data)).collect();
    for (instant, row) in (0..).zip(&mut rows) {
        row.created_at += instant / 90 * 1_000_000;
    }
    stock.put(&world, &rows, None).await;
    stock.fill_search(&world).await;
    let viewer = world.as_user("viewer@acme.test");
    let all = |filter: &str, sort: &str, limit: &str| {
        let mut all = Vec::new();
        let mut after = None;
        loop {
            let mut parameters = vec![("filter", filter), ("sort", sort), ("limit", limit)];
            parameters.extend(after.as_deref().map(|after| ("cursor", after)));
            let page = stock.list(&viewer, &parameters);
            all.extend(ids(&page));
            after = cursor(&page);
            if after.is_none() {
                return all;
            }
        }
    };
    for word in ["often", "seldom", "often seldom"] {
        for sort in ["id", "-id", "created_at", "-created_at"] {
            let expected = all(&format!("plain:contains:{word}"), sort, "200");
            assert!(expected.len() > 1, "{word}");
            for limit in ["7", "40"] {
                let found = all(&format!("s:contains:{word}"), sort, limit);
                assert_eq!(found, expected, "{word} {sort} {limit}");
            }
        }
    }
}

async fn many_candidates_are_gone_through_in_order(place: Place) {
    let world = World::new(place).await;
    let columns = [
        StockColumn::new("s", "text").searched(),
        StockColumn::new("n", "number").slot(1),
        StockColumn::new("m", "number"),
    ];
    let stock = Stock::new(&world, &columns).await;
    let rows: Vec<New> = (0..2_500)
        .map(|n| {
            let word = if n % 500 == 7 { "needle" } else { "hay" };
            let data = format!(r#"{{"s":"common {word}","n":{},"m":{}}}"#, n % 50, n % 7);
            New::of(&world, &data)
        })
        .collect();
    stock.put(&world, &rows, None).await;
    stock.fill_search(&world).await;
    let viewer = world.as_user("viewer@acme.test");
    for sort in [
        "id",
        "-id",
        "n",
        "-n",
        "m",
        "-m",
        "s",
        "-created_at",
        "-updated_at",
    ] {
        for (filter, count) in [("s:contains:common", 2_500), ("s:contains:common need", 5)] {
            let parameters = [("filter", filter), ("sort", sort), ("limit", "200")];
            let page = stock.list(&viewer, &parameters);
            assert_eq!(ids(&page).len(), count.min(200), "{filter} {sort}");
            let counted = stock.aggregate(&viewer, &[("filter", filter), ("op", "count")]);
            assert_eq!(counted.expect(200).json()["result"], count, "{filter}");
        }
    }
    for limit in ["10", "5"] {
        let count = [
            ("filter", "s:contains:needle"),
            ("op", "count"),
            ("limit", limit),
        ];
        let counted = stock.aggregate(&viewer, &count).expect(200).json();
        assert_eq!(
            (&counted["result"], &counted["at_least"]),
            (&json!(5), &json!(false))
        );
    }
    let sum = [
        ("filter", "s:contains:needle"),
        ("op", "sum"),
        ("column", "n"),
    ];
    assert_eq!(
        stock.aggregate(&viewer, &sum).expect(200).json()["result"],
        35
    );
}

async fn what_is_not_seen_is_not_found(place: Place) {
    let world = World::new(place).await;
    let columns = [StockColumn::new("s", "text").searched()];
    let editor = world.person("writer@acme.test").await;
    let role = tplkit_server::auth::Role::Editor;
    world.member(world.acme, "writer@acme.test", role).await;
    let open = workspace(&world, world.acme, "organization").await;
    let closed = workspace(&world, world.acme, "members").await;
    let foreign = workspace(&world, world.other, "organization").await;
    let guarded = Stock::within(&world, (world.acme, open), true, &columns).await;
    let closed = Stock::within(&world, (world.acme, closed), false, &columns).await;
    let foreign = Stock::within(&world, (world.other, foreign), false, &columns).await;
    for stock in [&guarded, &closed, &foreign] {
        stock.fill(&world, &[r#"{"s":"secret"}"#]).await;
    }
    let own = New::of(&world, r#"{"s":"my secret"}"#);
    guarded
        .put(&world, std::slice::from_ref(&own), Some(editor))
        .await;
    for stock in [&guarded, &closed, &foreign] {
        stock.fill_search(&world).await;
    }
    let writer = world.as_user("writer@acme.test");
    let filter = ("filter", "s:contains:secret");
    let count = [filter, ("op", "count")];
    assert_eq!(ids(&guarded.list(&writer, &[filter])), [own.id]);
    assert_eq!(
        guarded.aggregate(&writer, &count).expect(200).json()["result"],
        1
    );
    for hidden in [&closed, &foreign] {
        hidden.list(&writer, &[filter]).refused(404, "not_found");
        hidden.aggregate(&writer, &count).refused(404, "not_found");
    }
    let admin = world.as_user("admin@acme.test");
    assert_eq!(ids(&guarded.list(&admin, &[filter])).len(), 2);
    assert_eq!(ids(&closed.list(&admin, &[filter])).len(), 1);
}

async fn a_very_long_cell_is_found_like_any_other(place: Place) {
    let world = World::new(place).await;
    let feature = table(&world, &[TEXT, PLAIN]).await;
    let editor = world.as_user("editor@acme.test");
    // More terms than are kept of a cell.
    let long: String = (0..5_000u32)
        .filter_map(|n| char::from_u32(0x4e00 + n))
        .collect();
    for (text, plain) in [(&*long, "long"), ("short", "short")] {
        let body = json!({"data": {"text": text, "plain": plain}});
        editor.post(&path(feature, ""), &body).expect(201);
    }
    let part: String = long.chars().skip(4_000).take(40).collect();
    assert_eq!(
        found(&editor, feature, &format!("text:contains:{part}")),
        ["long"]
    );
    assert_eq!(found(&editor, feature, "text:contains:short"), ["short"]);
    assert_index_is_complete(&world).await;
}
