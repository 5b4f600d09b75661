//! Pages and cursors.

use std::collections::HashMap;

use serde_json::json;
use uuid::Uuid;

use super::super::seed::ask;
use super::stock::{Column, New, Stock, cursor, ids};
use crate::api::client::Response;
use crate::api::model::id;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    the_last_page_may_be_full,
    what_a_filter_finds_stands_in_order_however_much_it_is,
    a_cursor_belongs_to_its_own_query_only,
    a_cursor_ends_with_the_order_of_its_column,
    walking_while_others_write_shows_what_stays_once,
    a_long_text_is_found_again_in_its_row,
    a_table_that_changes_is_asked_as_it_is_now,
    some_keys_are_returned_and_unknown_ones_reported,
    what_is_asked_for_often_is_noted,
);

const COLUMNS: [Column; 3] = [
    Column::new("a", "text").slot(1),
    Column::new("n", "number").slot(2),
    Column::new("u", "text"),
];

async fn the_last_page_may_be_full(place: Place) {
    let world = World::new(place).await;
    let client = world.as_user("viewer@acme.test");
    let stock = Stock::new(&world, &COLUMNS).await;
    assert_eq!(
        stock.list(&client, &[]).expect(200).body,
        r#"{"items":[],"next_cursor":null}"#
    );
    stock.fill(&world, &[r#"{"a":"x"}"#; 6]).await;
    for sort in [
        "id",
        "-id",
        "a",
        "-a",
        "n",
        "-n",
        "u",
        "-u",
        "created_at",
        "-updated_at",
        "none",
    ] {
        let first = stock.list(&client, &[("limit", "3"), ("sort", sort)]);
        let next = cursor(&first).expect("another page");
        let second = stock.list(
            &client,
            &[("limit", "3"), ("sort", sort), ("cursor", &next)],
        );
        assert_eq!((ids(&second).len(), cursor(&second)), (3, None), "{sort}");
        assert_eq!(
            cursor(&stock.list(&client, &[("limit", "6"), ("sort", sort)])),
            None
        );
    }
}

/// Stores go along the index of the filter where it finds few, and along that of the sort where it finds
/// many: the rows of either side of the limit, walked in pages, are all rows in their order.
async fn what_a_filter_finds_stands_in_order_however_much_it_is(place: Place) {
    let world = World::new(place).await;
    let client = world.as_user("viewer@acme.test");
    let stock = Stock::new(&world, &COLUMNS).await;
    let mut rows = Vec::new();
    for (text, count) in [("few", 60), ("limit", 501), ("many", 640)] {
        for n in 0..count {
            let n = n * 7 % 23;
            let row = New::of(&world, &format!(r#"{{"a":"{text}","n":{n}}}"#));
            rows.push((text, n, row));
        }
    }
    let all: Vec<New> = rows.iter().map(|(.., row)| row.clone()).collect();
    stock.put(&world, &all, None).await;
    for filter in ["a:eq:few", "a:eq:limit", "a:eq:many", "a:gt:few"] {
        let mut found: Vec<(i64, Uuid)> = rows
            .iter()
            .filter(|(text, ..)| filter.ends_with(text) != filter.starts_with("a:gt"))
            .map(|(_, n, row)| (*n, row.id))
            .collect();
        for sort in ["n", "-n", "id", "-id"] {
            match sort {
                "n" => found.sort_unstable(),
                "-n" => found.sort_unstable_by_key(|(n, id)| (-n, *id)),
                "id" => found.sort_unstable_by_key(|(_, id)| *id),
                _ => found.sort_unstable_by_key(|(_, id)| std::cmp::Reverse(*id)),
            }
            let mut walked: Vec<Uuid> = Vec::new();
            let mut next: Option<String> = None;
            loop {
                let mut query = vec![("filter", filter), ("sort", sort), ("limit", "190")];
                query.extend(next.as_deref().map(|next| ("cursor", next)));
                let page = stock.list(&client, &query);
                walked.extend(ids(&page));
                next = cursor(&page);
                if next.is_none() {
                    break;
                }
            }
            let expected: Vec<Uuid> = found.iter().map(|(_, id)| *id).collect();
            assert_eq!(walked, expected, "{filter} {sort}");
        }
    }
}

async fn a_cursor_belongs_to_its_own_query_only(place: Place) {
    let world = World::new(place).await;
    let client = world.as_user("viewer@acme.test");
    let stock = Stock::new(&world, &COLUMNS).await;
    let other = Stock::new(&world, &COLUMNS).await;
    for stock in [&stock, &other] {
        stock.fill(&world, &[r#"{"a":"x","n":1}"#; 5]).await;
    }
    let query = [
        ("filter", "a:eq:x"),
        ("filter", "n:eqn:1"),
        ("sort", "a"),
        ("limit", "2"),
    ];
    let next = cursor(&stock.list(&client, &query)).expect("another page");
    let refused = |client, stock: &Stock, query: &[(&str, &str)], cursor: &str| {
        let query: Vec<_> = query.iter().copied().chain([("cursor", cursor)]).collect();
        stock.list(client, &query).refused(422, "invalid_cursor");
    };
    refused(&client, &other, &query, &next);
    let editor = world.as_user("editor@acme.test");
    refused(&editor, &stock, &query, &next);
    refused(&client, &stock, &query[1..], &next);
    for (at, changed) in [
        (0, ("filter", "a:neq:x")),
        (1, ("match", "any")),
        (2, ("sort", "-a")),
        (2, ("sort", "u")),
        (2, ("sort", "id")),
    ] {
        let mut query = query;
        query[at] = changed;
        refused(&client, &stock, &query, &next);
    }
    let mut wrong: Vec<String> = (0..next.len())
        .map(|at| {
            let other = if &next[at..=at] == "A" { "B" } else { "A" };
            format!("{}{other}{}", &next[..at], &next[at + 1..])
        })
        .collect();
    wrong.extend([
        next[1..].to_owned(),
        format!("{next}A"),
        "x".to_owned(),
        "\u{e9}".to_owned(),
    ]);
    for wrong in wrong {
        refused(&client, &stock, &query, &wrong);
    }
    // What may change.
    let mut more = query.to_vec();
    more[3] = ("limit", "200");
    more.extend([("fields", "n"), ("cursor", &next)]);
    assert_eq!(ids(&stock.list(&client, &more)).len(), 3);
}

/// The numbers of a page.
#[track_caller]
fn numbers(response: &Response) -> Vec<i64> {
    assert_eq!(response.status, 200, "{response:?}");
    let items = response.json()["items"].clone();
    let items = items.as_array().expect("items").iter();
    let numbers = items.map(|item| item["data"]["c"].as_i64());
    numbers.map(|number| number.expect("a number")).collect()
}

/// In another order a row has another place: pages behind it would repeat rows, and leave others out.
async fn a_cursor_ends_with_the_order_of_its_column(place: Place) {
    let world = World::new(place).await;
    let client = world.as_user("viewer@acme.test");
    let editor = world.as_user("editor@acme.test");
    for (sort, by_number, rest) in [("c", [9, 10], [50, 100]), ("-c", [100, 50], [10, 9])] {
        let stock = Stock::new(&world, &[]).await;
        let columns = format!("/v1/features/{}/columns", stock.feature);
        let column = |name: &str, kind: &str| {
            // Of a component that goes with all these types.
            let body = json!({"label": name, "type": kind, "default_component": "textfield"});
            format!("{columns}/{}", id(&editor.create(&columns, &body)))
        };
        let (number, text) = (column("c", "number"), column("t", "text"));
        for cell in [10, 9, 100, 50] {
            let data = json!({"c": cell, "t": format!("{cell:03}")});
            editor.create(&stock.query("", &[]), &json!({"data": data}));
        }
        let page = |sort: &str, next: Option<&str>| {
            let mut query = vec![("sort", sort), ("limit", "2")];
            query.extend(next.map(|next| ("cursor", next)));
            stock.list(&client, &query)
        };
        let begin = |sort: &str| {
            let first = page(sort, None);
            let next = cursor(&first).expect("another page");
            (numbers(&first), next)
        };
        let becomes = |kind: &str| {
            let body = json!({"type": kind});
            editor.patch(&number, &body).expect(200);
        };
        let (first, next) = begin(sort);
        assert_eq!(first, by_number);
        becomes("text");
        page(sort, Some(&next)).refused(422, "invalid_cursor");
        // All but numbers compare as texts.
        let (mut seen, next) = begin(sort);
        becomes("json");
        seen.extend(numbers(&page(sort, Some(&next))));
        let mut by_text = [10, 100, 50, 9];
        if sort.starts_with('-') {
            by_text.reverse();
        }
        assert_eq!(seen, by_text);
        becomes("number");
        page(sort, Some(&next)).refused(422, "invalid_cursor");
        let (_, next) = begin(sort);
        assert_eq!(numbers(&page(sort, Some(&next))), rest);
        let path = format!("{number}?force=true");
        editor.delete(&path).expect(204);
        page(sort, Some(&next)).refused(422, "invalid_cursor");
        // What a column leaves behind in rows compares as texts do.
        let sort = sort.replace('c', "t");
        let (first, next) = begin(&sort);
        assert_eq!(first, by_number);
        let path = format!("{text}?force=true");
        editor.delete(&path).expect(204);
        assert_eq!(numbers(&page(&sort, Some(&next))), rest);
    }
}

async fn walking_while_others_write_shows_what_stays_once(place: Place) {
    let world = World::new(place).await;
    let client = world.as_user("viewer@acme.test");
    let stock = Stock::new(&world, &COLUMNS).await;
    let cells = [
        "1", "2", r#""1""#, r#""b""#, "null", "[1]", "-5", r#""""#, "true", "2",
    ];
    for sort in ["id", "a", "-a", "n", "-n", "u", "-u", "-created_at"] {
        let mut rows = Vec::new();
        for at in 0..40 {
            let cell = cells[at % cells.len()];
            let data = match at % 7 {
                0 => "{}".to_owned(),
                _ => format!(r#"{{"a":{cell},"n":{cell},"u":{cell}}}"#),
            };
            rows.push(New::of(&world, &data));
        }
        stock.put(&world, &rows, None).await;
        // Every third row goes while the pages are walked, the row at which a page ends among them.
        let goes = |id: Uuid| {
            rows.iter()
                .position(|row| row.id == id)
                .is_some_and(|at| at % 3 == 0)
        };
        let mut seen: HashMap<Uuid, usize> = HashMap::new();
        let mut next: Option<String> = None;
        loop {
            let mut query = vec![("sort", sort), ("limit", "4")];
            query.extend(next.as_deref().map(|next| ("cursor", next)));
            let response = stock.list(&client, &query);
            let page = ids(&response);
            for id in &page {
                *seen.entry(*id).or_default() += 1;
            }
            next = cursor(&response);
            for id in page.into_iter().filter(|id| goes(*id)) {
                let sql = "DELETE FROM main.rows WHERE id = $1";
                ask(&world, sql, vec![id.into()]).await;
            }
            let new = format!(r#"{{"a":{0},"n":{0}}}"#, cells[seen.len() % cells.len()]);
            if next.is_none() {
                break;
            }
            if seen.len() < 60 {
                stock.fill(&world, &[&new]).await;
            }
        }
        for row in &rows {
            assert_eq!(seen.get(&row.id), Some(&1), "{sort}: {row:?}");
        }
        ask(
            &world,
            "DELETE FROM main.rows WHERE feature_id = $1",
            vec![stock.feature.into()],
        )
        .await;
    }
}

async fn a_long_text_is_found_again_in_its_row(place: Place) {
    let world = World::new(place).await;
    let client = world.as_user("viewer@acme.test");
    let stock = Stock::new(&world, &COLUMNS).await;
    let long = "long ".repeat(8_000);
    let cells: Vec<String> = (0..3)
        .map(|at| format!(r#"{{"u":"{long}{at}"}}"#))
        .collect();
    let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
    let rows = stock.fill(&world, &cells).await;
    let page = |next: Option<&str>| {
        let mut query = vec![("sort", "-u"), ("limit", "1"), ("fields", "a")];
        query.extend(next.map(|next| ("cursor", next)));
        stock.list(&client, &query)
    };
    let first = cursor(&page(None)).expect("another page");
    assert!(first.len() < 200, "{}", first.len());
    let response = page(Some(&first));
    assert_eq!(ids(&response), [rows[1]]);
    let second = cursor(&response).expect("another page");
    let response = page(Some(&second));
    assert_eq!((ids(&response), cursor(&response)), (vec![rows[0]], None));
    // Without its row the place is lost, and no page is made up.
    ask(
        &world,
        "DELETE FROM main.rows WHERE id = $1",
        vec![rows[1].into()],
    )
    .await;
    page(Some(&second)).refused(422, "invalid_cursor");
}

async fn a_table_that_changes_is_asked_as_it_is_now(place: Place) {
    let world = World::new(place).await;
    let client = world.as_user("viewer@acme.test");
    let stock = Stock::new(&world, &COLUMNS).await;
    let rows = stock
        .fill(&world, &[r#"{"a":"x","u":"y"}"#, r#"{"a":"y","u":"x"}"#])
        .await;
    let query = [("filter", "a:eq:x"), ("sort", "a")];
    assert_eq!(ids(&stock.list(&client, &query)), [rows[0]]);
    // Somebody else gives the slot to the other column.
    for sql in [
        "UPDATE main.rows SET s1 = NULL WHERE feature_id = $1",
        "UPDATE main.columns SET slot = NULL WHERE feature_id = $1 AND name = 'a'",
        "UPDATE main.columns SET slot = 1 WHERE feature_id = $1 AND name = 'u'",
        "UPDATE main.features SET version = version + 1 WHERE id = $1",
    ] {
        ask(&world, sql, vec![stock.feature.into()]).await;
    }
    assert_eq!(ids(&stock.list(&client, &query)), [rows[0]]);
    let sql = "UPDATE main.columns SET name = 'renamed' WHERE feature_id = $1 AND name = 'a'";
    ask(&world, sql, vec![stock.feature.into()]).await;
    let sql = "UPDATE main.features SET version = version + 1 WHERE id = $1";
    ask(&world, sql, vec![stock.feature.into()]).await;
    let response = stock.list(&client, &query).expect(200);
    assert_eq!(response.header("x-unknown-columns"), Some("a"));
    let count = [("op", "count"), ("column", "a")];
    let response = stock.aggregate(&client, &count).expect(200);
    assert_eq!(response.header("x-unknown-columns"), Some("a"));
    ask(
        &world,
        "DELETE FROM main.features WHERE id = $1",
        vec![stock.feature.into()],
    )
    .await;
    stock.list(&client, &query).refused(404, "not_found");
    stock.aggregate(&client, &count).refused(404, "not_found");
}

async fn some_keys_are_returned_and_unknown_ones_reported(place: Place) {
    let world = World::new(place).await;
    let client = world.as_user("viewer@acme.test");
    let stock = Stock::new(&world, &COLUMNS).await;
    stock
        .fill(&world, &[r#"{"a":"x","n":1.50,"é":[{"b":1,"a":2}]}"#])
        .await;
    let response = stock
        .list(&client, &[("fields", "é,n,nothing,id")])
        .expect(200);
    assert!(
        response
            .body
            .contains(r#""data":{"n":1.5,"é":[{"a":2,"b":1}]}}"#),
        "{response:?}"
    );
    assert_eq!(response.header("x-unknown-columns"), Some("%C3%A9,nothing"));
    let known = [
        ("fields", "a,created_at"),
        ("filter", "id:is:null"),
        ("sort", "-updated_at"),
    ];
    assert_eq!(
        stock
            .list(&client, &known)
            .expect(200)
            .header("x-unknown-columns"),
        None
    );
    let unknown = [
        ("filter", "x,y:eq:1"),
        ("filter", "a:eq:1"),
        ("sort", "-z"),
        ("fields", "z,a"),
    ];
    let response = stock.list(&client, &unknown).expect(200);
    assert_eq!(response.header("x-unknown-columns"), Some("x%2Cy,z"));
}

async fn what_is_asked_for_often_is_noted(place: Place) {
    let world = World::new(place).await;
    let client = world.as_user("viewer@acme.test");
    let columns = [
        Column::new("a", "text").slot(1),
        Column::new("f", "text"),
        Column::new("s", "text"),
        Column::new("rare", "text"),
    ];
    let stock = Stock::new(&world, &columns).await;
    let query = [
        ("filter", "f:eq:x"),
        ("filter", "nowhere:eq:x"),
        ("filter", "a:eq:x"),
    ];
    for _ in 0..50 {
        stock.list(&client, &[("sort", "-s")]).expect(200);
        let mut query = query.to_vec();
        query.push(("op", "count"));
        stock.aggregate(&client, &query).expect(200);
    }
    stock.list(&client, &[("sort", "rare")]).expect(200);
    let noted = world.app.tables.hot.take();
    assert_eq!(
        noted,
        [(stock.feature, vec!["f".to_owned(), "s".to_owned()])]
    );
}
