//! Filters, one trap after the other.

use super::stock::{Column, New, Stock, ids};
use crate::api::client::Client;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_filter_is_split_at_its_first_two_colons,
    what_is_not_filter_is_refused_with_all_that_is_wrong,
    text_operators_compare_texts_and_numeric_ones_numbers,
    case_and_order_are_those_of_code_points,
    negations_find_what_is_there,
    wildcards_are_stars_and_nothing_else,
    an_instant_between_two_timestamps_equals_none,
);

/// Every query is asked of cells that stand in a slot, and of cells that do not.
async fn tables(place: Place) -> (World, Client, [Stock; 2]) {
    let world = World::new(place).await;
    let client = world.as_user("viewer@acme.test");
    let slotted = [
        Column::new("t", "text").slot(1),
        Column::new("n", "number").slot(2),
    ];
    let bare = [Column::new("t", "text"), Column::new("n", "number")];
    let tables = [
        Stock::new(&world, &slotted).await,
        Stock::new(&world, &bare).await,
    ];
    (world, client, tables)
}

/// Asks for rows of one cell, and which of them are found, by position.
async fn assert_found(
    (world, client, tables): &(World, Client, [Stock; 2]),
    column: &str,
    cells: &[&str],
    expected: &[(&str, &[usize])],
) {
    let data: Vec<String> = cells
        .iter()
        .map(|cell| match *cell {
            "" => "{}".to_owned(),
            cell => format!("{{\"{column}\":{cell}}}"),
        })
        .collect();
    let data: Vec<&str> = data.iter().map(String::as_str).collect();
    for stock in tables {
        let rows = stock.fill(world, &data).await;
        for (filter, expected) in expected {
            let response = stock.list(client, &[("filter", filter), ("limit", "200")]);
            let found = ids(&response);
            let found: Vec<usize> = (0..rows.len())
                .filter(|at| found.contains(&rows[*at]))
                .collect();
            assert_eq!(found, *expected, "{filter} of {cells:?}");
        }
    }
}

async fn a_filter_is_split_at_its_first_two_colons(place: Place) {
    let all = tables(place).await;
    let cells = [r#""a:b""#, r#""a""#, r#""a:b:c""#];
    assert_found(
        &all,
        "t",
        &cells,
        &[("t:eq:a:b", &[0]), ("t:in:a|a:b:c", &[1, 2])],
    )
    .await;
}

async fn what_is_not_filter_is_refused_with_all_that_is_wrong(place: Place) {
    let (_world, client, [stock, _]) = tables(place).await;
    let long = format!("t:eq:{}", "x".repeat(8 * 1024));
    for filter in [
        "",
        "t",
        "t:eq",
        ":eq:a",
        "t:is:foo",
        "t:is:",
        "t:is:NULL",
        "t:EQ:a",
        "t:between:1",
        "t:not.not.eq:a",
        "t:not.:a",
        "n:eqn:ten",
        "n:gtn:",
        "n:eqn:1e400",
        "n:eqn:01",
        "id:eq:7",
        "id:like:a*",
        "created_at:gt:yesterday",
        "updated_at:eqn:5",
        "t:eq:a\0",
        &long,
    ] {
        for tail in ["", ":aggregate"] {
            let mut parameters = vec![("filter", filter)];
            if !tail.is_empty() {
                parameters.push(("op", "count"));
            }
            let response = client.get(&stock.query(tail, &parameters));
            response.refused(422, "invalid_filter");
        }
    }
    let response = stock.list(
        &client,
        &[("filter", "t:eq:a"), ("filter", "x"), ("filter", "t:is:1")],
    );
    let problem = response.refused(422, "invalid_filter").json();
    let paths: Vec<_> = problem["errors"]
        .as_array()
        .expect("errors")
        .iter()
        .map(|e| &e["path"])
        .collect();
    assert_eq!(paths, ["query.filter[1]", "query.filter[2]"]);
    let many = vec![("filter", "t:eq:a"); 101];
    stock.list(&client, &many).refused(422, "invalid_filter");
    stock.list(&client, &many[1..]).expect(200);
    // A direction without a column to sort by.
    let problem = stock
        .list(&client, &[("sort", "-")])
        .refused(422, "invalid_filter")
        .json();
    assert_eq!(problem["errors"][0]["path"], "query.sort");
    for parameters in [
        [("match", "some")],
        [("sort", "")],
        [("fields", "a,,b")],
        [("limit", "0")],
        [("filters", "a")],
    ] {
        stock
            .list(&client, &parameters)
            .refused(422, "validation_failed");
    }
}

async fn text_operators_compare_texts_and_numeric_ones_numbers(place: Place) {
    let all = tables(place).await;
    let cells = [
        "9", "10", r#""10""#, "10.5", "true", "", "null", "[10]", "-1", r#""9""#,
    ];
    assert_found(
        &all,
        "n",
        &cells,
        &[
            // As text, 9 is greater than 10.
            ("n:gt:9", &[4, 7]),
            ("n:gte:9", &[0, 4, 7, 9]),
            ("n:lt:9", &[1, 2, 3, 8]),
            ("n:eq:10", &[1, 2]),
            ("n:eq:10.0", &[]),
            ("n:eqn:10", &[1]),
            ("n:eqn:1e1", &[1]),
            ("n:in:10|9|true", &[0, 1, 2, 4, 9]),
            ("n:gtn:9", &[1, 3]),
            ("n:neqn:10", &[0, 3, 8]),
            ("n:ltn:0", &[8]),
            ("n:is:true", &[4]),
            ("n:is:null", &[5, 6]),
            ("n:like:1*", &[1, 2, 3]),
            ("n:eq:[10]", &[7]),
        ],
    )
    .await;
}

async fn case_and_order_are_those_of_code_points(place: Place) {
    let all = tables(place).await;
    let cells = [
        r#""É""#,
        r#""é""#,
        "\"e\u{301}\"",
        r#""Z""#,
        r#""a""#,
        r#""ß""#,
        r#""ss""#,
        r#""ΟΔΟΣ""#,
        r#""οδος""#,
        "\"\u{ff5e}\"",
        "\"\u{10000}\"",
        r#""I""#,
        r#""ı""#,
    ];
    assert_found(
        &all,
        "t",
        &cells,
        &[
            ("t:eq:é", &[1]),
            ("t:ilike:é", &[0, 1]),
            ("t:contains:É", &[0, 1]),
            ("t:like:É*", &[0]),
            ("t:startswith:A", &[4]),
            ("t:like:A", &[]),
            // No collation puts a before Z.
            ("t:lt:a", &[3, 11]),
            ("t:gt:é", &[7, 8, 9, 10, 12]),
            // Nor do surrogates come before what stands above them.
            ("t:gt:\u{ff5e}", &[10]),
            ("t:ilike:SS", &[6]),
            ("t:ilike:ß", &[5]),
            ("t:endswith:ς", &[7, 8]),
            // The small letter of I is i; that of ı, by way of I, too.
            ("t:ilike:i", &[11, 12]),
        ],
    )
    .await;
}

async fn negations_find_what_is_there(place: Place) {
    let all = tables(place).await;
    let cells = [r#""a""#, r#""B""#, "", "null", "true", "5", r#""""#];
    assert_found(
        &all,
        "t",
        &cells,
        &[
            ("t:neq:a", &[1, 4, 5, 6]),
            ("t:not.eq:a", &[1, 4, 5, 6]),
            ("t:not.neq:a", &[0]),
            ("t:not.gt:a", &[0, 1, 5, 6]),
            ("t:not.in:a|B", &[4, 5, 6]),
            ("t:not.in:", &[0, 1, 4, 5]),
            ("t:in:", &[6]),
            ("t:not.like:a*", &[1, 4, 5, 6]),
            ("t:not.ilike:b", &[0, 4, 5, 6]),
            ("t:not.contains:b", &[0, 4, 5, 6]),
            ("t:ncontains:b", &[0, 4, 5, 6]),
            ("t:not.ncontains:b", &[1]),
            ("t:not.startswith:A", &[1, 4, 5, 6]),
            ("t:not.endswith:A", &[1, 4, 5, 6]),
            ("t:not.is:null", &[0, 1, 4, 5, 6]),
            ("t:not.is:true", &[0, 1, 2, 3, 5, 6]),
            ("t:not.is:false", &[0, 1, 2, 3, 4, 5, 6]),
            ("t:is:false", &[]),
            ("t:not.eqn:6", &[5]),
            ("t:not.gtn:4", &[]),
            ("t:neqn:5", &[]),
        ],
    )
    .await;
}

async fn wildcards_are_stars_and_nothing_else(place: Place) {
    let all = tables(place).await;
    let cells = [
        r#""50%""#,
        r#""500""#,
        r#""a_c""#,
        r#""abc""#,
        r#""a\\c""#,
        r#""a*c""#,
        r#""""#,
    ];
    assert_found(
        &all,
        "t",
        &cells,
        &[
            ("t:like:50%", &[0]),
            ("t:like:a_c", &[2]),
            ("t:like:a\\c", &[4]),
            ("t:like:a\\*", &[4]),
            ("t:like:a*c", &[2, 3, 4, 5]),
            ("t:contains:*", &[5]),
            ("t:startswith:a*", &[5]),
            ("t:contains:%", &[0]),
            ("t:endswith:_c", &[2]),
            ("t:like:", &[6]),
            ("t:like:*", &[0, 1, 2, 3, 4, 5, 6]),
            ("t:contains:", &[0, 1, 2, 3, 4, 5, 6]),
        ],
    )
    .await;
}

async fn an_instant_between_two_timestamps_equals_none(place: Place) {
    let (world, client, [stock, _]) = tables(place).await;
    let rows = [738, 739, 740].map(|micros| {
        let at = 1_700_000_000_000_000 + micros;
        New {
            created_at: at,
            updated_at: at,
            ..New::of(&world, "{}")
        }
    });
    stock.put(&world, &rows, None).await;
    let second = "2023-11-14T22:13:20";
    let cases: [(&str, &[usize]); 7] = [
        ("eq", &[]),
        ("neq", &[0, 1, 2]),
        ("gt", &[2]),
        ("gte", &[2]),
        ("lt", &[0, 1]),
        ("lte", &[0, 1]),
        ("in", &[]),
    ];
    for column in ["created_at", "updated_at"] {
        for (operator, expected) in cases {
            let others = (0..3).filter(|at| !expected.contains(at));
            for (not, expected) in [("", expected.to_vec()), ("not.", others.collect())] {
                let filter = format!("{column}:{not}{operator}:{second}.0007395Z");
                let found = ids(&stock.list(&client, &[("filter", filter.as_str())]));
                let found: Vec<usize> = (0..rows.len())
                    .filter(|at| found.contains(&rows[*at].id))
                    .collect();
                assert_eq!(found, expected, "{filter}");
            }
        }
        let filter = format!("{column}:in:{second}.0007395Z|{second}.0007400Z");
        let found = ids(&stock.list(&client, &[("filter", filter.as_str())]));
        assert_eq!(found, [rows[2].id]);
    }
}
