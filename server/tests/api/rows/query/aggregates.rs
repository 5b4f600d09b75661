//! Counts, sums and averages.

use super::super::seed::workspace;
use super::stock::{Column, New, Stock};
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    numbers_enter_and_nothing_else,
    counts_are_exact_and_sums_look_at_ten_thousand,
    a_count_with_a_limit_goes_so_far,
    what_is_asked_has_to_make_sense,
);

async fn numbers_enter_and_nothing_else(place: Place) {
    let world = World::new(place).await;
    let client = world.as_user("viewer@acme.test");
    let columns = [Column::new("n", "number").slot(1), Column::new("u", "json")];
    let stock = Stock::new(&world, &columns).await;
    for column in ["n", "u"] {
        for (op, body) in [
            ("count", r#""result":0,"rows_considered":0}"#),
            ("sum", r#""result":0,"rows_considered":0}"#),
            ("avg", r#""result":null,"rows_considered":0}"#),
        ] {
            let response = stock
                .aggregate(&client, &[("op", op), ("column", column)])
                .expect(200);
            assert_eq!(
                response.body,
                format!(r#"{{"op":"{op}","column":"{column}",{body}"#)
            );
        }
    }
    let cells = [
        "0.1",
        "0.2",
        r#""5""#,
        "true",
        "null",
        "[7]",
        "12345678901234567890123456789012.5",
        r#"{"n":1}"#,
        r#""NaN""#,
    ];
    let data: Vec<String> = cells
        .iter()
        .map(|cell| format!(r#"{{"n":{cell},"u":{cell}}}"#))
        .collect();
    stock
        .fill(&world, &data.iter().map(String::as_str).collect::<Vec<_>>())
        .await;
    for column in ["n", "u"] {
        for (op, body) in [
            ("count", r#""result":9,"rows_considered":9}"#),
            (
                "sum",
                r#""result":12345678901234567890123456789012.8,"rows_considered":3}"#,
            ),
            (
                "avg",
                r#""result":4115226300411522630041152263004.267,"rows_considered":3}"#,
            ),
        ] {
            let response = stock
                .aggregate(&client, &[("op", op), ("column", column)])
                .expect(200);
            assert_eq!(
                response.body,
                format!(r#"{{"op":"{op}","column":"{column}",{body}"#)
            );
        }
        let filter = format!("{column}:ltn:1");
        let some = [("op", "sum"), ("column", column), ("filter", &filter)];
        let response = stock.aggregate(&client, &some).expect(200);
        assert!(
            response
                .body
                .ends_with(r#""result":0.3,"rows_considered":2}"#),
            "{response:?}"
        );
    }
    let response = stock.aggregate(&client, &[("op", "count")]).expect(200);
    assert_eq!(
        response.body,
        r#"{"op":"count","column":null,"result":9,"rows_considered":9}"#
    );
}

async fn counts_are_exact_and_sums_look_at_ten_thousand(place: Place) {
    let world = World::new(place).await;
    let workspace = workspace(&world, world.acme, "organization").await;
    let columns = [Column::new("n", "number")];
    let stock = Stock::within(&world, (world.acme, workspace), true, &columns).await;
    let editor = world.person("writer@acme.test").await;
    world
        .member(
            world.acme,
            "writer@acme.test",
            tplkit_server::auth::Role::Editor,
        )
        .await;
    let mut rows = vec![New::of(&world, r#"{"n":"1"}"#)];
    rows.extend((1..10_002).map(|_| New::of(&world, r#"{"n":1}"#)));
    stock.put(&world, &rows[1..], Some(editor)).await;
    stock.put(&world, &rows[..1], None).await;
    // Who sees all rows, who sees the own ones, and who has none.
    for (email, count, sum) in [
        ("admin@acme.test", 10_002, 9_999),
        ("writer@acme.test", 10_001, 10_000),
        ("viewer@acme.test", 0, 0),
    ] {
        let client = world.as_user(email);
        for (parameters, result, considered) in [
            (&[("op", "count")][..], count, count),
            (&[("op", "count"), ("filter", "n:eq:1")], count, count),
            (&[("op", "sum"), ("column", "n")], sum, sum),
        ] {
            let response = stock.aggregate(&client, parameters).expect(200);
            let tail = format!(r#""result":{result},"rows_considered":{considered}}}"#);
            assert!(
                response.body.ends_with(&tail),
                "{email} {parameters:?}: {response:?}"
            );
        }
    }
}

/// With a limit a count says so many, and whether there are more: of rows that the caller sees.
async fn a_count_with_a_limit_goes_so_far(place: Place) {
    let world = World::new(place).await;
    let workspace = workspace(&world, world.acme, "organization").await;
    let columns = [
        Column::new("s", "text").slot(1),
        Column::new("n", "number").slot(2),
        Column::new("u", "text"),
    ];
    let stock = Stock::within(&world, (world.acme, workspace), true, &columns).await;
    let editor = world.person("writer@acme.test").await;
    world
        .member(
            world.acme,
            "writer@acme.test",
            tplkit_server::auth::Role::Editor,
        )
        .await;
    let rows = |count: usize| -> Vec<New> {
        let data = [r#"{"s":"a","n":1,"u":"a"}"#, r#"{"s":"b","n":2,"u":"b"}"#];
        let data = data.iter().cycle().take(count);
        data.map(|data| New::of(&world, data)).collect()
    };
    // Rows of others stand before and behind the own ones.
    stock.put(&world, &rows(6), None).await;
    stock.put(&world, &rows(8), Some(editor)).await;
    stock.put(&world, &rows(6), None).await;
    for (email, all, half) in [
        ("admin@acme.test", 20, 10),
        ("writer@acme.test", 8, 4),
        ("viewer@acme.test", 0, 0),
    ] {
        let client = world.as_user(email);
        for (filters, count) in [
            (&[][..], all),
            (&["s:eq:a"], half),
            (&["n:gtn:1"], half),
            (&["s:in:a|b"], all),
            (&["u:eq:a"], half),
            (&["s:eq:a", "u:eq:b"], all),
            (&["s:eq:none"], 0),
        ] {
            for limit in [1, 3, 4, 5, 7, 8, 9, 10, 11, 19, 20, 21, 10_000] {
                let text = limit.to_string();
                let mut parameters = vec![("op", "count"), ("limit", &*text), ("match", "any")];
                parameters.extend(filters.iter().map(|filter| ("filter", *filter)));
                let response = stock.aggregate(&client, &parameters).expect(200);
                let (result, at_least) = (count.min(limit), count > limit);
                let body = format!(
                    r#"{{"op":"count","column":null,"result":{result},"rows_considered":{result},"at_least":{at_least}}}"#
                );
                assert_eq!(response.body, body, "{email} {parameters:?}");
            }
        }
    }
}

async fn what_is_asked_has_to_make_sense(place: Place) {
    let world = World::new(place).await;
    let client = world.as_user("viewer@acme.test");
    let stock = Stock::new(&world, &[]).await;
    for parameters in [
        &[][..],
        &[("op", "max"), ("column", "n")],
        &[("op", "")],
        &[("op", "sum")],
        &[("op", "avg"), ("column", "")],
        &[("op", "count"), ("op", "count")],
        &[("op", "count"), ("limit", "0")],
        &[("op", "count"), ("limit", "10001")],
        &[("op", "count"), ("limit", "many")],
        &[("op", "count"), ("limit", "5"), ("limit", "5")],
        &[("op", "sum"), ("column", "n"), ("limit", "5")],
        &[("op", "count"), ("sort", "a")],
        &[("op", "count"), ("match", "none")],
        &[("op", "sum"), ("column", "a\0")],
    ] {
        stock
            .aggregate(&client, parameters)
            .refused(422, "validation_failed");
    }
}
