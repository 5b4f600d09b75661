//! What `search` of a column changes for a filter `contains`, and what it costs whoever writes: two tables of the same
//! rows, one with the key from the beginning. Medians over one connection, on both stores.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use super::Options;
#[cfg(unix)]
use super::cluster;
use super::load::{self, Connection, Request};
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

/// Names of what was measured, and microseconds; none of what the server refuses to read through.
type Medians = Vec<(&'static str, Option<f64>)>;

fn measured(options: &Options, start: impl FnOnce() -> Server) -> Medians {
    let clock = Instant::now();
    let server = start();
    let filled = clock.elapsed().as_secs_f64() * 1e6 / options.rows as f64;
    let run = |expected, next: &(dyn Fn(usize, usize) -> Request + Sync)| {
        load::run(server.address, 1, options.time, expected, next).median
    };
    let read = |path: &str| {
        let request = server.get(path);
        let (status, _) = Connection::open(server.address).ask(&request);
        (status == 200).then(|| run(200, &|_, _| request.clone()))
    };
    let list = |what: &str| read(&format!("rows?filter=note:contains:{what}&limit=25"));
    let count = |what: &str| {
        read(&format!(
            "rows:aggregate?op=count&filter=note:contains:{what}"
        ))
    };
    let inserted = AtomicUsize::new(options.rows);
    let next = |rows| inserted.fetch_add(rows, Ordering::Relaxed);
    vec![
        ("a row, while the table is filled", Some(filled)),
        // Eleven numbers, of which each is in one of 100,000 rows.
        ("page of order 4711…", list("order%204711")),
        ("page of what is nowhere", list("order%20number")),
        ("page of what is everywhere", list("about%20order")),
        ("count of order 4711…", count("order%204711")),
        ("count of order 47…", count("order%2047")),
        (
            "insert",
            Some(run(201, &|_, _| {
                server.post("rows", &serde_json::json!({"data": rows::data(next(1))}))
            })),
        ),
        (
            "batch of 500",
            Some(run(201, &|_, _| {
                server.post("rows:batch", &batch(next(500), 500))
            })),
        ),
    ]
}

fn compare(without: &Medians, with: &Medians) {
    let written =
        |time: Option<f64>| time.map_or("refused".to_owned(), |time| format!("{time:.0} µs"));
    for ((what, without), (_, with)) in without.iter().zip(with) {
        print!(
            "  {what:<34} {:>12} {:>12}",
            written(*without),
            written(*with)
        );
        match (without, with) {
            (Some(without), Some(with)) => println!("   {:.2} x", without / with),
            _ => println!(),
        }
    }
}
