//! What `search` of a column changes for a filter `contains`, and what it costs whoever writes: two tables of the same
//! rows, one with the key from the beginning. Medians over one connection, on both stores.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use super::Options;
#[cfg(unix)]
use super::cluster;
use super::load::{self, Request};
use super::rows;
use super::server::{Indexed, Server, batch};

pub(crate) fn report(options: &Options) {
    println!("SQLite, {} rows, without the key and with it", options.rows);
    let on_sqlite = |indexed| measured(options, || Server::on_sqlite(options.rows, indexed));
    compare(&on_sqlite(Indexed::Nothing), &on_sqlite(Indexed::Searched));
    #[cfg(unix)]
    if let Some(programs) = cluster::programs() {
        println!(
            "PostgreSQL, {} rows, without the key and with it",
            options.rows
        );
        let cluster = cluster::Cluster::start(programs).expect("PostgreSQL starts");
        let on_postgres = |indexed, name: &str| {
            cluster
                .psql(&format!("CREATE DATABASE {name}"))
                .expect("creates");
            measured(options, || {
                let server = Server::start(&cluster.url(name), options.rows, indexed);
                cluster.psql_in(name, "VACUUM (ANALYZE)").expect("analyzes");
                server
            })
        };
        compare(
            &on_postgres(Indexed::Nothing, "without"),
            &on_postgres(Indexed::Searched, "searched"),
        );
    }
}

/// Names of what was measured, and microseconds.
type Medians = Vec<(&'static str, f64)>;

fn measured(options: &Options, start: impl FnOnce() -> Server) -> Medians {
    let clock = Instant::now();
    let server = start();
    let filled = clock.elapsed().as_secs_f64() * 1e6 / options.rows as f64;
    let run = |expected, next: &(dyn Fn(usize, usize) -> Request + Sync)| {
        load::run(server.address, 1, options.time, expected, next).median
    };
    let list = |what: &str| {
        run(200, &|_, _| {
            server.get(&format!("rows?filter=note:contains:{what}&limit=25"))
        })
    };
    let count = |what: &str| {
        run(200, &|_, _| {
            server.get(&format!(
                "rows:aggregate?op=count&filter=note:contains:{what}"
            ))
        })
    };
    let inserted = AtomicUsize::new(options.rows);
    let next = |rows| inserted.fetch_add(rows, Ordering::Relaxed);
    vec![
        ("a row, while the table is filled", filled),
        // Eleven numbers, of which each is in one of 100,000 rows.
        ("page of order 4711…", list("order%204711")),
        ("page of what is nowhere", list("order%20number")),
        ("page of what is everywhere", list("about%20order")),
        ("count of order 4711…", count("order%204711")),
        ("count of order 47…", count("order%2047")),
        (
            "insert",
            run(201, &|_, _| {
                server.post("rows", &serde_json::json!({"data": rows::data(next(1))}))
            }),
        ),
        (
            "batch of 500",
            run(201, &|_, _| {
                server.post("rows:batch", &batch(next(500), 500))
            }),
        ),
    ]
}

fn compare(without: &[(&str, f64)], with: &[(&str, f64)]) {
    for ((what, without), (_, with)) in without.iter().zip(with) {
        let ratio = without / with;
        println!("  {what:<34} {without:>9.0} µs {with:>9.0} µs   {ratio:.2} x");
    }
}
