//! Snapshots of the SQL of every query shape, as it leaves for both stores: a change here changes query plans.
//!
//! `t` and `n` are a text and a number column with slots, `u` and `m` the same without. Behind each statement stand
//! the types of its parameters: those of the query, and behind `+` those of the scope.

use std::fmt::Write as _;

use insta::assert_snapshot;
use tplkit::rows::query::{
    Filter, Match, Operation, Sort, number_operators, parse, text_operators,
};
use uuid::Uuid;

use super::cell_order::order_of;
use super::composed::{Composed, FirstPass, SearchPass};
use super::cursor::{CursorPosition, SortKey};
use super::list::data_of_row;
use super::selected_columns::{VERSION, WHOSE};
use super::{AggregateQuery, RowFilter, RowListRequest, lookup};
use crate::ids::FeatureKey;
use crate::paging::PageRequest;
use crate::rows::{SearchIndex, Table};
use crate::store::{Dialect, OneTable, OutgoingStatement, Scope, Value, Visible};

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
    let sort = Sort::parse(sort).expect("a sort");
    let order = sort.column.key().map(|key| order_of(&table(), key));
    RowListRequest {
        filter: RowFilter {
            feature: Uuid::nil(),
            filters: filters(texts),
            matching: together,
        },
        sort,
        fields: None,
        page: PageRequest::first(25),
        after: after.map(|at| CursorPosition {
            id: Uuid::nil(),
            at,
            order,
        }),
    }
}

/// A caller of one organization who sees all of it.
fn one_organization() -> Visible {
    Visible {
        organizations: vec![Uuid::nil()],
        ..Visible::default()
    }
}

/// The same as one who is about the table, of which every row is visible or the own ones are.
fn about_table(sees_every_row: bool) -> Visible {
    let visible = Visible {
        only: Some(OneTable {
            workspace: Uuid::nil(),
            feature: sees_every_row.then(Uuid::nil),
        }),
        ..one_organization()
    };
    if sees_every_row {
        visible
    } else {
        guarded(visible)
    }
}

/// The same as one who sees the own rows of a feature only.
fn guarded(visible: Visible) -> Visible {
    visible.guarding(vec![FeatureKey {
        workspace: Uuid::nil(),
        feature: Uuid::nil(),
    }])
}

/// The same while a run works for the caller.
fn in_run(visible: Visible) -> Visible {
    Visible {
        run: Some(Uuid::nil()),
        ..visible
    }
}

/// What most requests for rows run as.
fn usual() -> Scope {
    about_table(true).into()
}

/// Writes statements as they leave for one store and one scope.
#[derive(Clone, Copy)]
struct Writer<'s> {
    dialect: Dialect,
    scope: &'s Scope,
    /// Whether words stand for what nearly all statements have in common.
    abbreviates: bool,
}

impl Writer<'_> {
    /// The statements of a query, in the order in which they are sent.
    fn composed(self, out: &mut String, name: &str, composed: &Composed) {
        match composed.search.as_deref() {
            Some(SearchPass::Counted { ahead, instead, .. }) => {
                self.composed(out, &format!("{name}, candidates"), ahead);
                self.composed(out, &format!("{name}, where they are few"), instead);
            }
            Some(SearchPass::Flagged { few, walked, .. }) => {
                if let Some(walked) = walked {
                    self.composed(out, &format!("{name}, of the first rows"), walked);
                }
                self.composed(out, &format!("{name}, of candidates"), few);
            }
            None => {}
        }
        match composed.first.as_deref() {
            Some(FirstPass::Lookahead(ahead, instead)) => {
                self.composed(out, &format!("{name}, a look ahead"), ahead);
                self.composed(out, &format!("{name}, where that finds few"), instead);
            }
            Some(FirstPass::Few(few)) => {
                self.composed(out, &format!("{name}, a few rows first"), few);
            }
            None => {}
        }
        for text in &composed.texts {
            self.statement(out, name, text, &composed.values);
        }
    }

    fn statement(self, out: &mut String, name: &str, text: &str, values: &[Value]) {
        let sent = |text: &str| OutgoingStatement::of(text, values, self.dialect, self.scope);
        let OutgoingStatement {
            mut text,
            given,
            added,
            anew,
            bounded,
        } = sent(text);
        if self.abbreviates {
            let part =
                |part: &str| sent(&format!("SELECT {part}")).text["SELECT ".len()..].to_owned();
            // The scope's parameters have numbers in the order in which they are met.
            let (version, alone) = (part(VERSION), part(WHOSE));
            let both = part(&format!("{VERSION} {WHOSE}"));
            let behind_version = &both[version.len() + 1..];
            text = text.replace(&version, "(version)");
            for visible in [behind_version, alone.as_str()] {
                text = text.replace(visible, "(visible)");
            }
        }
        write!(out, "  {name}: {text}\n    {}", given.join(", ")).expect("writes");
        if !added.is_empty() {
            write!(out, " + {}", added.join(", ")).expect("writes");
        }
        if bounded {
            out.push_str("; ends when it is too large");
        }
        if anew {
            out.push_str("; planned for these values");
        }
        out.push('\n');
    }
}

/// What `write` makes of each store.
fn on_both(scope: &Scope, mut write: impl FnMut(Writer<'_>, &str)) {
    for dialect in DIALECTS {
        let writer = Writer {
            dialect,
            scope,
            abbreviates: true,
        };
        write(writer, &format!("{dialect:?}"));
    }
}

/// The statements of one page.
fn page(out: &mut String, listing: &RowListRequest, writer: Writer<'_>, name: &str) {
    let lookahead = listing.page.lookahead();
    let mut composed = listing.compose(&table(), writer.dialect, listing.after.as_ref(), lookahead);
    composed.bound();
    writer.composed(out, name, &composed);
}

fn pages<T: AsRef<str>>(shapes: &[(T, RowListRequest)]) -> String {
    let mut out = String::new();
    for (title, listing) in shapes {
        writeln!(out, "{}", title.as_ref()).expect("writes");
        on_both(&usual(), |writer, name| {
            page(&mut out, listing, writer, name);
        });
    }
    out
}

#[test]
fn what_all_have_in_common() {
    let parameters: [Value; 2] = [Uuid::nil().into(), Uuid::nil().into()];
    let mut out = String::new();
    on_both(&usual(), |writer, name| {
        let writer = Writer {
            abbreviates: false,
            ..writer
        };
        for (word, part) in [("(version)", VERSION), ("(visible)", WHOSE)] {
            let name = format!("{name}, {word}");
            writer.statement(&mut out, &name, &format!("SELECT {part}"), &parameters);
        }
    });
    assert_snapshot!(out);
}

/// A filter with each operator that the column takes, and its opposite.
fn filters_of(column: &str, value: &str) -> Vec<String> {
    let texts = text_operators().filter(|operator| *operator != "is");
    let texts = texts.map(|operator| format!("{column}:{operator}:{value}"));
    let is = ["null", "true", "false"].map(|what| format!("{column}:is:{what}"));
    let numbers = number_operators().map(|operator| format!("{column}:{operator}:1.5"));
    let all = texts.chain(is).chain(numbers);
    let all = all.flat_map(|filter| {
        let negated = filter.replacen(':', ":not.", 1);
        [filter, negated]
    });
    all.filter(|filter| parse(std::slice::from_ref(filter)).is_ok())
        .collect()
}

#[test]
fn each_filter_has_its_text() {
    let instant = "2026-01-01T00:00:00Z";
    let values = [
        ("t", "a"),
        ("u", "a"),
        ("n", "1.5"),
        ("m", "1.5"),
        ("id", "00000000-0000-0000-0000-000000000001"),
        ("created_at", instant),
        ("updated_at", instant),
    ];
    let mut all: Vec<String> = values
        .iter()
        .flat_map(|(column, value)| filters_of(column, value))
        .collect();
    // What begins with a text is a range of an index; what has no form in ASCII is folded by the database.
    for column in ["t", "u"] {
        for test in ["like:a*b", "like:*b", "ilike:é*"] {
            all.push(format!("{column}:{test}"));
        }
    }
    for operator in text_operators().chain(number_operators()) {
        let word = format!(":{operator}:");
        assert!(all.iter().any(|filter| filter.contains(&word)), "{word}");
    }
    let shapes: Vec<(String, RowListRequest)> = all
        .into_iter()
        .map(|filter| {
            let listing = listing(&[&filter], Match::All, "id", None);
            (filter, listing)
        })
        .collect();
    assert!(shapes.len() > 200, "{}", shapes.len());
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
    assert_snapshot!(pages(&shapes));
}

#[test]
fn filters_and_sorts_together_have_their_text() {
    let behind = |texts: &[&str], sort: &str, at: SortKey| {
        let listing = listing(texts, Match::All, sort, Some(at));
        (
            format!("{} sort={sort}, the next page", texts.join(" ")),
            listing,
        )
    };
    let first = |title: &str, listing: RowListRequest| (title.to_owned(), listing);
    let together = pages(&[
        first(
            "all of a slot and of the data",
            listing(&["t:eq:a", "u:gt:b"], Match::All, "id", None),
        ),
        first(
            "any of a slot and of the data",
            listing(&["t:eq:a", "u:gt:b"], Match::Any, "id", None),
        ),
        first(
            "a range, sorted by another slot",
            listing(&["n:gt:1"], Match::All, "-t", None),
        ),
        first(
            "a value, sorted by creation",
            listing(&["t:eq:a"], Match::All, "-created_at", None),
        ),
        first(
            "a cell of the data, sorted by a slot",
            listing(&["u:ilike:*a*"], Match::All, "-t", None),
        ),
        behind(&["t:eq:a"], "id", SortKey::Id),
        behind(&["t:gt:a"], "-id", SortKey::Id),
        behind(&["t:eq:a"], "created_at", SortKey::Instant(0)),
        behind(&["t:eq:a"], "-n", SortKey::Number("1".to_owned())),
        behind(&["n:gtn:1"], "t", SortKey::Text("a".to_owned())),
        behind(&["u:ilike:*a*"], "-t", SortKey::Text("a".to_owned())),
        behind(&["u:ilike:*a*"], "m", SortKey::Number("1".to_owned())),
        behind(&["t:eq:a"], "-t", SortKey::Empty),
    ]);
    assert_snapshot!(together);
}

#[test]
fn each_search_has_its_text() {
    let mut table = Table::sample(&[
        ("t", "text", Some(1)),
        ("m", "number", None),
        ("w", "text", None),
    ]);
    table.columns[2].search = SearchIndex::Ready;
    let mut out = String::new();
    let searched: [(&[&str], Match, &str); 10] = [
        (&["w:contains:abcd"], Match::All, "id"),
        (&["w:contains:abcd"], Match::Any, "-created_at"),
        (&["w:startswith:abcd", "t:eq:a"], Match::All, "-t"),
        (&["w:endswith:abc", "w:contains:abcd"], Match::All, "m"),
        (&["w:ilike:*ab*cde"], Match::All, "-updated_at"),
        (&["w:contains:ab"], Match::All, "id"),
        (&["w:not.contains:abcd"], Match::All, "id"),
        (&["w:contains:abcd", "t:eq:a"], Match::Any, "id"),
        (&["t:contains:abcd"], Match::All, "id"),
        (&["w:eq:abcd"], Match::All, "id"),
    ];
    for (texts, matching, sort) in searched {
        writeln!(out, "{texts:?} {matching:?} sort={sort}").expect("writes");
        let listing = listing(texts, matching, sort, None);
        let mut count = aggregate(texts, Operation::Count, None);
        count.filter.matching = matching;
        let sum = AggregateQuery {
            operation: Operation::Sum,
            column: Some("m".to_owned()),
            ..count.clone()
        };
        on_both(&usual(), |writer, name| {
            let lookahead = listing.page.lookahead();
            let mut composed = listing.compose(&table, writer.dialect, None, lookahead);
            composed.bound();
            writer.composed(&mut out, name, &composed);
            for aggregate in [&count, &sum] {
                let composed = aggregate.compose(&table, writer.dialect, true);
                let word = aggregate.operation.as_str();
                writer.composed(&mut out, &format!("{name}, {word}"), &composed);
            }
        });
    }
    assert_snapshot!(out);
}

#[test]
fn each_limit_has_its_text() {
    let shapes = [1, 2, 10, 26, 100, 200].map(|limit| {
        let mut listing = listing(&["t:eq:a"], Match::All, "id", None);
        listing.page = PageRequest::first(limit);
        (format!("limit={limit}"), listing)
    });
    assert_snapshot!(pages(&shapes));
}

/// The filters of rows that are counted, summed up or averaged.
const AGGREGATED: [&[&str]; 3] = [&[], &["t:eq:a"], &["t:gt:a"]];

fn aggregate(texts: &[&str], operation: Operation, column: Option<&str>) -> AggregateQuery {
    AggregateQuery {
        filter: listing(texts, Match::All, "id", None).filter,
        operation,
        column: column.map(str::to_owned),
        limit: None,
    }
}

#[test]
fn each_aggregate_has_its_text() {
    let table = table();
    let mut out = String::new();
    let mut shapes = Vec::new();
    for texts in AGGREGATED {
        for limit in [None, Some(1_000)] {
            let count = AggregateQuery {
                limit,
                ..aggregate(texts, Operation::Count, None)
            };
            shapes.push((texts, count));
        }
        for operation in [Operation::Sum, Operation::Avg] {
            for column in ["t", "n", "u", "m"] {
                shapes.push((texts, aggregate(texts, operation, Some(column))));
            }
        }
    }
    for (texts, aggregate) in shapes {
        let word = aggregate.operation.as_str();
        let column = aggregate.column.as_deref();
        let column = column.map_or(String::new(), |column| format!(" of {column}"));
        let limit = aggregate.limit;
        let limit = limit.map_or(String::new(), |limit| format!(" up to {limit}"));
        for counted in [true, false] {
            let how = if counted { "" } else { ", not kept" };
            // Only the number of all rows is kept.
            if !counted && (aggregate.operation != Operation::Count || !texts.is_empty()) {
                continue;
            }
            writeln!(out, "{word}{limit}{column}, {texts:?}{how}").expect("writes");
            on_both(&usual(), |writer, name| {
                let composed = aggregate.compose(&table, writer.dialect, counted);
                writer.composed(&mut out, name, &composed);
            });
        }
    }
    assert_snapshot!(out);
}

#[test]
fn each_lookup_has_its_text() {
    let table = table();
    let mut out = String::new();
    for column in ["t", "n", "u", "m"] {
        for behind in [None, Some(Uuid::nil())] {
            let how = behind.map_or("", |_| ", behind a row");
            writeln!(out, "rows by values of {column}{how}").expect("writes");
            on_both(&usual(), |writer, name| {
                let forms = vec!["a".to_owned(), "1".to_owned()];
                let found = lookup::compose(&table, writer.dialect, column, forms, behind);
                writer.statement(&mut out, name, &found.text, &found.parameters);
            });
        }
    }
    writeln!(out, "the row of a cursor").expect("writes");
    on_both(&usual(), |writer, name| {
        let found = data_of_row(&table, writer.dialect, Uuid::nil());
        writer.composed(&mut out, name, &found);
    });
    assert_snapshot!(out);
}

/// In full: who asks decides about the text, and about the parameters that the scope adds.
#[test]
fn each_scope_has_its_text() {
    let two = Visible {
        organizations: vec![Uuid::nil(), Uuid::max()],
        ..Visible::default()
    };
    let hidden = Visible {
        hidden: vec![Uuid::nil()],
        ..one_organization()
    };
    let platform = Visible {
        platform: true,
        ..one_organization()
    };
    let scopes: [(&str, Scope); 12] = [
        ("the operator", Scope::Operator),
        ("two organizations", two.clone().into()),
        ("two organizations, own rows only", guarded(two).into()),
        ("one organization", one_organization().into()),
        (
            "one organization, own rows only",
            guarded(one_organization()).into(),
        ),
        (
            "one organization, own rows only, in a run",
            in_run(guarded(one_organization())).into(),
        ),
        ("one organization, hidden workspaces", hidden.clone().into()),
        (
            "one organization, hidden workspaces, own rows only",
            guarded(hidden).into(),
        ),
        (
            "one organization, an administrator of the platform",
            platform.into(),
        ),
        ("one table", usual()),
        ("one table, own rows only", about_table(false).into()),
        (
            "one table, own rows only, in a run",
            in_run(about_table(false)).into(),
        ),
    ];
    let listing = listing(&["t:gte:a"], Match::All, "id", None);
    let count = aggregate(&["t:eq:a"], Operation::Count, None);
    let count_of_all = aggregate(&[], Operation::Count, None);
    let table = table();
    let mut out = String::new();
    for (title, scope) in &scopes {
        writeln!(out, "{title}").expect("writes");
        on_both(scope, |writer, name| {
            let writer = Writer {
                abbreviates: false,
                ..writer
            };
            page(&mut out, &listing, writer, name);
            for aggregate in [&count, &count_of_all] {
                let composed = aggregate.compose(&table, writer.dialect, true);
                writer.composed(&mut out, &format!("{name}, a count"), &composed);
            }
        });
    }
    assert_snapshot!(out);
}
