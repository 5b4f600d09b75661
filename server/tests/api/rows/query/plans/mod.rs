//! What the stores read for a query: none that an index can serve goes through the table, whether
//! the store has looked at its numbers or not.
//!
//! One list of queries for both stores. What they read is asked of themselves, about the very
//! statements that requests made them run: PostgreSQL logs its plans, with what came of them (the rows
//! of the table that were looked at, by which indexes); SQLite counts the steps of its machine.

pub(crate) mod meter;

use std::fmt::Write as _;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::json;

use super::stock::{Column, New, Stock, cursor};
use crate::api::client::{Client, Response};
use crate::api::world::World;
use crate::stores::{Place, run};
use meter::Meter;

const ROWS: usize = 20_000;
/// How many rows share a cell of the column `kind`.
const ALIKE: usize = 2_000;
/// What a page may cost: rows are sorted rather than walked past when a filter finds few of them.
const FEW: u64 = 1_600;
/// And when it is not known how many it finds, all of them may be looked at, more than once.
const SOME: u64 = 4 * ALIKE as u64;

/// Everything, after a short look at what the filter finds.
const SCAN: u64 = ROWS as u64 + FEW;
/// Nearly all rows are found, which only numbers can show.
const GUESSED: &str = "filter=number:gtn:10&sort=text";

/// What is asked, how many rows may be looked at for it, and the index by which they are found.
struct Query {
    ask: &'static str,
    most: u64,
    index: &'static str,
}

const fn page(ask: &'static str, index: &'static str) -> Query {
    Query {
        ask,
        most: FEW,
        index,
    }
}

const fn open(ask: &'static str, index: &'static str) -> Query {
    Query {
        ask,
        most: SOME,
        index,
    }
}

const QUERIES: [Query; 34] = [
    page("", "rows_organization_id_feature_id_id"),
    page("limit=200", "rows_organization_id_feature_id_id"),
    page("sort=-id", "rows_organization_id_feature_id_id"),
    page("filter=text:eq:t7", "rows_s1"),
    page("filter=text:in:t7|t9999|t3", "rows_s1"),
    page("filter=text:like:t1999*", "rows_s1"),
    page("filter=number:eqn:4711", "rows_s2"),
    page("filter=number:gtn:19990", "rows_s2"),
    page("filter=number:lten:5&filter=plain:eq:p3", "rows_s2"),
    page("filter=kind:eq:k3", "rows_s3"),
    page("filter=kind:eq:none", "rows_s3"),
    page("sort=text", "rows_s1"),
    page("sort=-text", "rows_s1"),
    page("sort=number", "rows_s2"),
    page("sort=-number", "rows_s2"),
    page("sort=kind", "rows_s3"),
    page("sort=-kind", "rows_s3"),
    open("filter=kind:eq:k3&sort=number", "rows_s"),
    open("filter=kind:eq:k3&sort=-text", "rows_s"),
    page("filter=number:gtn:19990&sort=text", "rows_s2"),
    page(GUESSED, "rows_s1"),
    page("filter=kind:eq:none&sort=-number", "rows_s3"),
    page("sort=created_at", "rows_created"),
    page("sort=-created_at", "rows_created"),
    page("filter=kind:eq:none&sort=-created_at", "rows_s3"),
    open("filter=kind:eq:k3&sort=-created_at", "rows_s3"),
    page("filter=words:contains:WORD 0471", "row_search_terms"),
    page(
        "filter=words:contains:word 0471&filter=kind:neq:k3&sort=-text",
        "row_search_terms",
    ),
    page(
        "filter=words:endswith:4711 common&sort=words",
        "row_search_terms",
    ),
    page("filter=words:contains:nowhere", "row_search_terms"),
    page(
        "filter=words:ilike:*d 0471*mon&sort=-updated_at",
        "row_search_terms",
    ),
    // Found in every row: the rows are gone through in their order.
    open(
        "filter=words:contains:common",
        "rows_organization_id_feature_id_id",
    ),
    open(
        "filter=words:contains:common&sort=-created_at",
        "rows_created",
    ),
    // In the order of cells, PostgreSQL has read all entries of the term by the time it knows that they are too many.
    Query {
        ask: "filter=words:contains:common&sort=-number",
        most: SCAN,
        index: "rows_s2",
    },
];

#[test]
fn sqlite_reads_what_it_returns_and_little_more() {
    run(Some(Place::sqlite()), |place| async move {
        let world = World::new(place).await;
        let store = world.store.clone();
        let steps = Meter::Steps(Box::new(move || store.steps().expect("SQLite")));
        results_are_found_by_indexes(&world, &steps, || ()).await;
    });
}

#[test]
fn postgres_reads_what_it_returns_and_little_more() {
    let Some((cluster, place)) = meter::postgres_with_plans() else {
        return;
    };
    run(Some(place), |place| async {
        let world = World::new(place).await;
        let plans = Meter::Plans(cluster.folder().join("log"));
        let analyze = || {
            cluster.psql("VACUUM ANALYZE").expect("analyzes");
        };
        results_are_found_by_indexes(&world, &plans, analyze).await;
    });
}

/// Asks everything of a store that has not looked at its numbers, and again of one that has.
async fn results_are_found_by_indexes(world: &World, meter: &Meter, analyze: impl Fn()) {
    let stock = filled(world).await;
    let editor = world.as_user("editor@acme.test");
    // What the server remembers about the caller and the table is read once.
    stock.list(&editor, &[]).expect(200);
    for analyzed in [false, true] {
        if analyzed {
            analyze();
        }
        for Query { ask, most, index } in QUERIES {
            // What the best way hangs on is not known yet: it is enough that there is no worse one.
            let guessed = ask == GUESSED && !analyzed;
            let (most, index) = if guessed {
                (SCAN, "rows_s")
            } else {
                (most, index)
            };
            let first = stock.query("", &[]) + &encoded(ask);
            let mut response = meter.check(&first, most, index, || editor.get(&first));
            for _ in 0..3 {
                let Some(cursor) = cursor(&response) else {
                    break;
                };
                let sign = if ask.is_empty() { '?' } else { '&' };
                let next = format!("{first}{sign}cursor={cursor}");
                response = meter.check(&next, most, index, || editor.get(&next));
            }
        }
        single_rows(&stock, &editor, meter);
        aggregates(&stock, &editor, meter);
        // What no index can serve reads everything: the meter shows that.
        let scan = stock.query("", &[]) + &encoded("filter=plain:eq:none");
        let (_, read) = meter.read(|| editor.get(&scan).expect(200));
        assert!(read.amount >= meter.worth(ROWS as u64 / 2), "{read:?}");
    }
}

/// One row: read, written, and kept apart from others that must not be alike.
fn single_rows(stock: &Stock, editor: &Client, meter: &Meter) {
    let primary = "rows_organization_id_feature_id_id";
    let rows = stock.query("", &[]);
    let made = meter.check("create", 2, "", || {
        editor
            .post(&rows, &json!({"data": {"text": "new"}}))
            .expect(201)
    });
    let id = made.json()["id"].as_str().expect("an id").to_owned();
    let row = format!("{rows}/{id}");
    meter.check("get", 2, primary, || editor.get(&row).expect(200));
    let change = json!({"data": {"text": "newer"}});
    meter.check("patch", 4, primary, || {
        editor.patch(&row, &change).expect(200)
    });
    meter.check("delete", 4, primary, || editor.delete(&row).expect(204));
}

fn aggregates(stock: &Stock, editor: &Client, meter: &Meter) {
    let ask = |tail: &str| -> Response {
        let path = stock.query(":aggregate", &[]) + &encoded(tail);
        editor.get(&path).expect(200)
    };
    let alike = ALIKE as u64 + 10;
    meter.check("count", 2, "", || ask("op=count"));
    meter.check("count few", 20, "rows_s2", || {
        ask("op=count&filter=number:gtn:19990")
    });
    meter.check("count alike", alike, "rows_s3", || {
        ask("op=count&filter=kind:eq:k3")
    });
    meter.check("count alike, to a limit", 110, "rows_s3", || {
        ask("op=count&filter=kind:eq:k3&limit=100")
    });
    for tail in [
        "op=count&filter=kind:eq:k3",
        "op=count&filter=kind:eq:k3&limit=100",
    ] {
        let (_, read) = meter.read(|| ask(tail));
        read.is_of_an_index_alone(tail);
    }
    meter.check("count a range, to a limit", 110, "rows_s2", || {
        ask("op=count&filter=number:gtn:10&limit=100")
    });
    meter.check("count what is contained", 20, "row_search_terms", || {
        ask("op=count&filter=words:contains:word 0471")
    });
    meter.check("sum what is contained", 20, "row_search_terms", || {
        ask("op=sum&column=number&filter=words:contains:word 0471")
    });
    meter.check("sum", 20, "rows_s2", || {
        ask("op=sum&column=number&filter=number:gtn:19990")
    });
}

fn encoded(text: &str) -> String {
    let mut out = String::new();
    for (position, part) in text.split('&').filter(|part| !part.is_empty()).enumerate() {
        let (name, value) = part.split_once('=').expect("a parameter");
        let value = utf8_percent_encode(value, NON_ALPHANUMERIC);
        // Writing to a String cannot fail.
        let _ = write!(
            out,
            "{}{name}={value}",
            if position == 0 { '?' } else { '&' }
        );
    }
    out
}

async fn filled(world: &World) -> Stock {
    let columns = [
        Column::new("text", "text").slot(1),
        Column::new("number", "number").slot(2),
        Column::new("kind", "text").slot(3),
        Column::new("plain", "text"),
        Column::new("words", "long_text").searched(),
    ];
    let stock = Stock::new(world, &columns).await;
    let data: Vec<String> = (0..ROWS)
        .map(|n| {
            // Neither stands in the order of the rows.
            let (text, number) = (n * 7919 % ROWS, n * 4057 % ROWS);
            let (kind, plain) = (n * ALIKE / ROWS % (ROWS / ALIKE), n % 10);
            format!(
                r#"{{"text":"t{text}","number":{number},"kind":"k{kind}","plain":"p{plain}","words":"Word {text:05} common"}}"#
            )
        })
        .collect();
    for (second, batch) in (0..).zip(data.chunks(100)) {
        let mut rows: Vec<New> = batch.iter().map(|data| New::of(world, data)).collect();
        for row in &mut rows {
            row.created_at += second * 1_000_000;
        }
        stock.put(world, &rows, None).await;
    }
    stock.fill_search(world).await;
    stock
}
