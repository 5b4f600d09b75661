//! What a hundred times as many rows cost, on both stores: medians over one connection. The codes of the
//! table are unique, so that an insert has to be proved against all of them.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::Options;
#[cfg(unix)]
use super::cluster;
use super::load::{self, Request, Seen};
use super::rows;
use super::server::{Indexed, Server};

pub(crate) fn report(options: &Options, small: bool) {
    let (few, many) = if small {
        (1_000, 2_000)
    } else {
        (10_000, 1_000_000)
    };
    println!("SQLite, {many} rows against {few}, medians over one connection");
    let on_sqlite = |rows| medians(&Server::on_sqlite(rows, Indexed::ViewsAndCodes), options);
    compare(&on_sqlite(few), &on_sqlite(many));
    #[cfg(unix)]
    if let Some(programs) = cluster::programs() {
        println!("PostgreSQL, {many} rows against {few}, medians over one connection");
        let cluster = cluster::Cluster::start(programs).expect("PostgreSQL starts");
        let on_postgres = |rows: usize| {
            let name = format!("bench{rows}");
            let create = format!("CREATE DATABASE {name}");
            cluster.psql(&create).expect("creates");
            let server = Server::start(&cluster.url(&name), rows, Indexed::ViewsAndCodes);
            cluster
                .psql_in(&name, "VACUUM (ANALYZE)")
                .expect("analyzes");
            medians(&server, options)
        };
        compare(&on_postgres(few), &on_postgres(many));
    }
}

fn medians(server: &Server, options: &Options) -> Vec<(&'static str, Seen)> {
    let run = |expected, next: &(dyn Fn(usize, usize) -> Request + Sync)| {
        load::run(server.address, 1, options.time, expected, next)
    };
    let count = server.ids.len();
    let pick = |n: usize| rows::mixed(n) % count;
    let keyset = server.middle("sort=-amount");
    let inserted = AtomicUsize::new(count);
    let single = names_of_one(count);
    vec![
        (
            "by id",
            run(200, &|_, n| {
                server.get(&format!("rows/{}", server.ids[pick(n)]))
            }),
        ),
        ("first page", run(200, &|_, _| server.get("rows"))),
        (
            "keyset page",
            run(200, &|_, _| {
                server.get(&format!("rows?sort=-amount&cursor={keyset}"))
            }),
        ),
        (
            "slot filter",
            run(200, &|_, n| {
                let name = single[rows::mixed(n) % single.len()].replace(' ', "%20");
                server.get(&format!("rows?filter=name:eq:{name}"))
            }),
        ),
        (
            "slot sort",
            run(200, &|_, _| server.get("rows?sort=-amount")),
        ),
        (
            "count",
            run(200, &|_, _| server.get("rows:aggregate?op=count")),
        ),
        // A twelfth of the rows, along the index of a slot: read to the end, and to a limit.
        (
            "count, 1/12",
            run(200, &|_, _| {
                server.get("rows:aggregate?op=count&filter=city:eq:Porto")
            }),
        ),
        (
            "count, 1/12, limit",
            run(200, &|_, _| {
                server.get("rows:aggregate?op=count&filter=city:eq:Porto&limit=1000")
            }),
        ),
        (
            "insert, unique",
            run(201, &|_, _| {
                let n = inserted.fetch_add(1, Ordering::Relaxed);
                server.post("rows", &serde_json::json!({"data": rows::data(n)}))
            }),
        ),
    ]
}

/// Names that one row alone has: among more rows, more are alike.
fn names_of_one(count: usize) -> Vec<String> {
    let mut names: Vec<String> = (0..count).map(rows::name).collect();
    names.sort_unstable();
    names
        .chunk_by(|one, other| one == other)
        .filter(|alike| alike.len() == 1)
        .map(|alike| alike[0].clone())
        .collect()
}

fn compare(few: &[(&str, Seen)], many: &[(&str, Seen)]) {
    for ((what, few), (_, many)) in few.iter().zip(many) {
        let ratio = many.median / few.median;
        println!(
            "  {what:<22} {:>9.0} µs {:>9.0} µs   {ratio:.2} x",
            few.median, many.median
        );
    }
}
