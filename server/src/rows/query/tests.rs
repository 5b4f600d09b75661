//! Snapshots of the SQL of every query shape, in both dialects: a change here changes query plans.
//!
//! `t` and `n` are a text and a number column with slots, `u` and `m` the same without.

use std::fmt::Write as _;

use insta::assert_snapshot;
use tplkit::rows::query::{Filter, Match, Operation, Sort, parse};
use uuid::Uuid;

use super::composer::{Composed, FirstPass, VERSION, WHOSE};
use super::cursor::{CursorPosition, SortKey};
use super::{AggregateQuery, RowFilter, RowListRequest};
use crate::paging::PageRequest;
use crate::rows::Table;
use crate::store::Dialect;

const DIALECTS: [Dialect; 2] = [Dialect::Sqlite, Dialect::Postgres];

fn table() -> Table {
    Table::sample(&[
        ("t", "text", Some(1)),
        ("n", "number", Some(2)),
        ("u", "text", None),
        ("m", "number", None),
    ])
}

fn filters(texts: &[&str]) -> Vec<Filter> {
    let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
    parse(&texts).expect("filters")
}

fn listing(texts: &[&str], together: Match, sort: &str, after: Option<SortKey>) -> RowListRequest {
    RowListRequest {
        filter: RowFilter {
            feature: Uuid::nil(),
            filters: filters(texts),
            matching: together,
        },
        sort: Sort::parse(sort).expect("a sort"),
        fields: None,
        page: PageRequest::first(25),
        after: after.map(|at| CursorPosition {
            id: Uuid::nil(),
            at,
        }),
    }
}

/// The statements of one dialect, in the order in which they are sent.
fn write(out: &mut String, name: &str, composed: &Composed) {
    match composed.first.as_deref() {
        Some(FirstPass::Lookahead(ahead, instead)) => {
            write(out, "look ahead", ahead);
            write(out, "and where it finds few", instead);
        }
        Some(FirstPass::Few(few)) => write(out, "and where it finds many", few),
        None => {}
    }
    for text in &composed.texts {
        // What all of them have in common is in `what_all_have_in_common`.
        let text = text
            .replace(VERSION, "(version)")
            .replace(WHOSE, "(visible)");
        writeln!(out, "  {name}: {text}").expect("writes");
    }
    writeln!(out, "    {} parameters", composed.values.len()).expect("writes");
}

fn pages(shapes: &[(&str, RowListRequest)]) -> String {
    let table = table();
    let mut out = String::new();
    for (title, listing) in shapes {
        writeln!(out, "{title}").expect("writes");
        for dialect in DIALECTS {
            let look = listing.page.lookahead();
            let composed = listing.compose(&table, dialect, listing.after.as_ref(), look);
            write(&mut out, &format!("{dialect:?}"), &composed);
        }
    }
    out
}

#[test]
fn what_all_have_in_common() {
    assert_snapshot!(VERSION, @"(SELECT version FROM features WHERE organization_id = $1 AND id = $2 AND {tenant $1} AND {workspace workspace_id})");
    assert_snapshot!(WHOSE, @"organization_id = $1 AND feature_id = $2 AND {tenant $1} AND {seen workspace_id $2 created_by}");
}

#[test]
fn each_filter_has_its_text() {
    let values = [
        ("t", "a"),
        ("u", "a"),
        ("n", "1.5"),
        ("m", "1.5"),
        ("id", "00000000-0000-0000-0000-000000000001"),
        ("created_at", "2026-01-01T00:00:00Z"),
    ];
    let mut shapes = Vec::new();
    for (column, value) in values {
        let own = matches!(column, "id" | "created_at");
        let comparisons = ["eq", "neq", "gt", "gte", "lt", "lte", "in"];
        let texts = [
            "like",
            "ilike",
            "contains",
            "ncontains",
            "startswith",
            "endswith",
        ];
        let number = ["eqn", "neqn", "gtn", "gten", "ltn", "lten"];
        let cells = texts.iter().chain(&number).filter(|_| !own);
        let operators = comparisons.iter().chain(cells);
        let operators = operators.map(|operator| format!("{column}:{operator}:{value}"));
        let is = ["null", "true", "false"].map(|what| format!("{column}:is:{what}"));
        for filter in operators.chain(is) {
            for filter in [filter.clone(), filter.replacen(':', ":not.", 1)] {
                if parse(std::slice::from_ref(&filter)).is_ok() {
                    let listing = listing(&[&filter], Match::All, "id", None);
                    shapes.push((filter, listing));
                }
            }
        }
    }
    let shapes: Vec<(&str, RowListRequest)> = shapes
        .iter()
        .map(|(filter, listing)| (&**filter, listing.clone()))
        .collect();
    assert!(shapes.len() > 60, "{}", shapes.len());
    assert_snapshot!(pages(&shapes));
}

#[test]
fn each_sort_has_its_text_for_the_first_page_and_for_the_next() {
    let instant = || SortKey::Instant(0);
    let text = || SortKey::Text("a".to_owned());
    let number = || SortKey::Number("1".to_owned());
    let places: [(&str, Vec<SortKey>); 7] = [
        ("id", vec![SortKey::Id]),
        ("created_at", vec![instant()]),
        ("updated_at", vec![instant()]),
        ("t", vec![text(), SortKey::Empty]),
        ("u", vec![text(), SortKey::Empty]),
        ("n", vec![number(), text(), SortKey::Empty]),
        ("m", vec![number(), text(), SortKey::Empty]),
    ];
    let mut shapes = Vec::new();
    for (column, places) in places {
        for sort in [column.to_owned(), format!("-{column}")] {
            let first = listing(&[], Match::All, &sort, None);
            shapes.push((format!("sort={sort}"), first));
            for at in &places {
                let next = listing(&[], Match::All, &sort, Some(at.clone()));
                shapes.push((format!("sort={sort} behind {at:?}"), next));
            }
        }
    }
    let shapes: Vec<(&str, RowListRequest)> = shapes
        .iter()
        .map(|(title, listing)| (&**title, listing.clone()))
        .collect();
    assert_snapshot!(pages(&shapes));
}

#[test]
fn filters_and_sorts_together_have_their_text() {
    let together = pages(&[
        (
            "all of a slot and of the data",
            listing(&["t:eq:a", "u:gt:b"], Match::All, "id", None),
        ),
        (
            "any of a slot and of the data",
            listing(&["t:eq:a", "u:gt:b"], Match::Any, "id", None),
        ),
        (
            "a range, sorted by another slot",
            listing(&["n:gt:1"], Match::All, "-t", None),
        ),
        (
            "a value, sorted by creation",
            listing(&["t:eq:a"], Match::All, "-created_at", None),
        ),
        (
            "a cell of the data, sorted by a slot",
            listing(&["u:ilike:*a*"], Match::All, "-t", None),
        ),
    ]);
    assert_snapshot!(together);
}

#[test]
fn each_aggregate_has_its_text() {
    let table = table();
    let mut out = String::new();
    for (operation, column, limit) in [
        (Operation::Count, None, None),
        (Operation::Count, None, Some(1_000)),
        (Operation::Sum, Some("n"), None),
        (Operation::Avg, Some("m"), None),
    ] {
        for texts in [&[][..], &["t:eq:a"][..]] {
            let question = listing(texts, Match::All, "id", None).filter;
            let aggregate = AggregateQuery {
                filter: question,
                operation,
                column: column.map(str::to_owned),
                limit,
            };
            let limit = limit.map_or(String::new(), |limit| format!(" up to {limit}"));
            let word = operation.as_str();
            writeln!(out, "{word}{limit} of {column:?}, {texts:?}").expect("writes");
            for dialect in DIALECTS {
                let composed = aggregate.compose(&table, dialect, true);
                write(&mut out, &format!("{dialect:?}"), &composed);
            }
        }
    }
    assert_snapshot!(out);
}
