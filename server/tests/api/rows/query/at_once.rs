//! What many ask at once gives each what it would get alone, however the store puts it together.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::super::seed::path;
use super::stock::{Column, Stock, cursor};
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(what_many_ask_at_once_is_what_each_asks_alone);

const COLUMNS: [Column; 5] = [
    Column::new("t", "text").slot(1),
    Column::new("n", "number").slot(2),
    Column::new("u", "text"),
    Column::new("m", "number"),
    Column::new("b", "boolean").slot(3),
];
const ROWS: usize = 60;
const ASKING: usize = 12;
const ROUNDS: usize = 3;

/// Queries that differ from their neighbours in values alone, pages far from the first among them.
fn queries(stock: &Stock, other: &Stock) -> Vec<Vec<String>> {
    let values = [
        "a0", "a1", "a2", "a3", "a4", "a5", "a6", "nobody", "a0", "A1",
    ];
    let filtered = |filter: &str, more: &[(&str, &str)], tail: &str| -> Vec<String> {
        let query = |value: &&str| {
            let filter = filter.replace('@', value);
            let mut parameters = vec![("filter", filter.as_str())];
            parameters.extend(more);
            stock.query(tail, &parameters)
        };
        values.iter().map(query).collect()
    };
    let numbered = |filter: &str, more: &[(&str, &str)], tail: &str| -> Vec<String> {
        let query = |number: usize| {
            let filter = filter.replace('@', &number.to_string());
            let mut parameters = vec![("filter", filter.as_str())];
            parameters.extend(more);
            stock.query(tail, &parameters)
        };
        (0..10).map(query).collect()
    };
    let page = |more: &[(&str, &str)]| vec![stock.query("", more); 10];
    vec![
        filtered("t:eq:@", &[], ""),
        filtered("t:eq:@", &[("sort", "-n"), ("limit", "3")], ""),
        filtered("t:not.eq:@", &[("sort", "u"), ("limit", "7")], ""),
        filtered("t:gte:@", &[("sort", "-t"), ("fields", "t,m")], ""),
        filtered("t:in:@|a1", &[], ""),
        filtered("u:ilike:*@*", &[("sort", "m")], ""),
        filtered("u:startswith:@", &[], ""),
        filtered("u:eq:@", &[("op", "count")], ":aggregate"),
        filtered("t:eq:@", &[("op", "sum"), ("column", "m")], ":aggregate"),
        filtered("t:neq:@", &[("op", "avg"), ("column", "n")], ":aggregate"),
        numbered("n:gtn:@", &[("sort", "n"), ("limit", "4")], ""),
        numbered("m:eqn:@", &[("sort", "-created_at")], ""),
        numbered("n:lten:@", &[("op", "count")], ":aggregate"),
        page(&[]),
        page(&[("sort", "-n"), ("limit", "9")]),
        (0..10)
            .map(|n| [stock, other][n % 2].query("", &[]))
            .collect(),
        vec![stock.query(":aggregate", &[("op", "count")]); 10],
    ]
}

async fn what_many_ask_at_once_is_what_each_asks_alone(place: Place) {
    let world = World::new(place).await;
    let client = world.as_user("viewer@acme.test");
    let stock = Stock::new(&world, &COLUMNS).await;
    let other = Stock::new(&world, &COLUMNS).await;
    let data = |n: usize| {
        let (a, b) = (n % 7, n.is_multiple_of(2));
        let m = n * 7 % 10;
        format!(r#"{{"t":"a{a}","n":{n},"u":"a{m} and more","m":{m},"b":{b}}}"#)
    };
    let rows: Vec<String> = (0..ROWS).map(data).collect();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    let ids = stock.fill(&world, &rows).await;
    let others = other.fill(&world, &rows[..5]).await;
    let mut queries = queries(&stock, &other);
    let get = |(feature, id)| format!("{}/{id}", path(feature, ""));
    let mine = ids.iter().map(|id| get((stock.feature, id)));
    queries.push(mine.take(20).collect());
    // In another table, and in none.
    let theirs = others.iter().chain(&ids[..5]);
    queries.push(theirs.map(|id| get((other.feature, id))).collect());
    // The next pages of different lists.
    let cursors = ["2", "3", "4", "5", "6"].map(|limit| {
        let first = stock.list(&client, &[("sort", "t"), ("limit", limit)]);
        cursor(&first).expect("more pages")
    });
    let next = cursors
        .iter()
        .map(|cursor| stock.query("", &[("sort", "t"), ("limit", "5"), ("cursor", cursor)]));
    queries.push(next.collect());
    let queries: Vec<String> = queries.into_iter().flatten().collect();
    // Nobody waits for what was never asked: each of them is known after this.
    let alone: Vec<_> = queries.iter().map(|path| client.get(path)).collect();
    assert!(
        alone
            .iter()
            .all(|response| [200, 404].contains(&response.status))
    );
    for _ in 0..ROUNDS {
        let turn = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..ASKING {
                scope.spawn(|| {
                    loop {
                        let at = turn.fetch_add(1, Ordering::Relaxed);
                        let Some(path) = queries.get(at) else { break };
                        let response = client.get(path);
                        let got = (response.status, &response.body);
                        assert_eq!(got, (alone[at].status, &alone[at].body), "{path}");
                    }
                });
            }
        });
    }
}
