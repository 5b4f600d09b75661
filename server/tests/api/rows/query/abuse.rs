//! Queries that mean harm: each is executed or refused, and none keeps the store until it gives up.

use super::stock::{Column, Stock, ids};
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    hard_queries_are_executed_or_refused,
    what_nearly_matches_everywhere_is_decided_in_time,
    what_a_client_says_of_hosts_comes_back_nowhere,
);

async fn hard_queries_are_executed_or_refused(place: Place) {
    let world = World::new(place).await;
    let client = world.as_user("viewer@acme.test");
    let stock = Stock::new(&world, &[Column::new("t", "text")]).await;
    // What wildcards would be tried on the longest.
    let cell = format!(r#"{{"t":"{}"}}"#, "a".repeat(60_000));
    stock.fill(&world, &[&cell]).await;
    let stars = format!("{}*b", "*a".repeat(2000));
    for operator in ["like", "ilike"] {
        let filter = format!("t:{operator}:{stars}");
        let response = stock.list(&client, &[("filter", &filter)]).expect(200);
        assert!(ids(&response).is_empty());
    }
    let hundred: Vec<String> = (0..100)
        .map(|n| format!("c{n}:ilike:{}é", "*a".repeat(20)))
        .collect();
    let mut parameters: Vec<(&str, &str)> = hundred.iter().map(|f| ("filter", &**f)).collect();
    parameters.push(("match", "any"));
    assert!(ids(&stock.list(&client, &parameters).expect(200)).is_empty());
    parameters.push(("filter", "t:eq:a"));
    stock
        .list(&client, &parameters)
        .refused(422, "invalid_filter");
    // As many alternatives as a filter takes, and more.
    let many = |count: usize| {
        let all: Vec<String> = (0..count).map(|n| n.to_string()).collect();
        format!("t:in:{}", all.join("|"))
    };
    let response = stock.list(&client, &[("filter", &many(1500))]).expect(200);
    assert!(ids(&response).is_empty());
    stock
        .list(&client, &[("filter", &many(2500))])
        .refused(422, "invalid_filter");
    stock
        .list(&client, &[("filter", &many(10_000))])
        .refused(413, "payload_too_large");
}

/// A cell that begins to match at each of its characters, whatever is looked for.
async fn what_nearly_matches_everywhere_is_decided_in_time(place: Place) {
    let world = World::new(place).await;
    let client = world.as_user("viewer@acme.test");
    let stock = Stock::new(&world, &[Column::new("t", "text")]).await;
    let cell = format!(r#"{{"t":"{}c"}}"#, "a".repeat(4_000_000));
    let rows = [cell.as_str(), r#"{"t":"ab"}"#, r#"{"t":null}"#];
    let rows = stock.fill(&world, &rows).await;
    let part = "a".repeat(4_000);
    let capital = "A".repeat(4_000);
    let (none, long, both) = (&rows[..0], &rows[..1], &rows[..2]);
    for (filter, found) in [
        (format!("t:contains:{part}b"), none),
        (format!("t:contains:{capital}C"), long),
        (format!("t:contains:{part}é"), none),
        (format!("t:ncontains:{part}b"), both),
        (format!("t:endswith:{part}c"), long),
        (format!("t:not.endswith:{part}b"), both),
        (format!("t:like:*{part}b*"), none),
        (format!("t:ilike:{capital}*{part}*"), long),
    ] {
        let parameters = [("filter", filter.as_str()), ("fields", "id")];
        assert_eq!(ids(&stock.list(&client, &parameters)), found, "{filter}");
    }
    // All of them are asked about one cell, without a pause.
    let several = ["b", "d", "e", "f"].map(|end| format!("t:contains:{}{end}", &part[..2_000]));
    let mut parameters: Vec<(&str, &str)> = several.iter().map(|f| ("filter", &**f)).collect();
    parameters.push(("match", "any"));
    assert_eq!(ids(&stock.list(&client, &parameters)), none);
}

async fn what_a_client_says_of_hosts_comes_back_nowhere(place: Place) {
    let world = World::new(place).await;
    let viewer = world.as_user("viewer@acme.test");
    let stock = Stock::new(&world, &[Column::new("t", "text")]).await;
    let headers = [
        ("x-forwarded-host", "forged.example"),
        ("x-forwarded-for", "203.0.113.77"),
        ("x-forwarded-proto", "gopher"),
        ("forwarded", "host=forged.example;for=203.0.113.77"),
    ];
    for (path, status) in [
        ("/v1/me".to_owned(), 200),
        ("/v1/openapi.json".to_owned(), 200),
        ("/docs".to_owned(), 200),
        (stock.query("", &[]), 200),
        (stock.query("", &[("limit", "0")]), 422),
        (format!("/v1/features/{}", world.context.id()), 404),
    ] {
        let response = viewer.send("GET", &path, &headers, None).expect(status);
        for word in ["forged.example", "203.0.113.77", "gopher"] {
            assert!(!response.body.contains(word), "{path}: {word}");
        }
    }
}
