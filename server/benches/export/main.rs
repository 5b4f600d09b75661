//! How fast a workspace leaves the server as a package, next to the same rows read by pages of 200 (the longest).
//!
//! `cargo bench -p tplkit-server --bench export`, or `… -- --only sqlite|postgres --rows N --rounds N`
//! (100,000; 3). Both are asked over one connection, in turn, and the best of the rounds counts. Reports the
//! memory of the server's own: before, and the most while it exports.
#![expect(clippy::print_stdout, reason = "this is where it reports")]
#![expect(clippy::disallowed_methods, reason = "measuring needs a clock")]
#![expect(
    clippy::cast_precision_loss,
    reason = "ratios are printed with two digits"
)]

#[cfg(unix)]
#[path = "../../tests/cluster/mod.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod cluster;
#[path = "../rows/load.rs"]
#[allow(dead_code, reason = "another bench uses all of it")]
mod load;
#[path = "../rows/rows.rs"]
#[allow(dead_code, reason = "another bench uses all of it")]
mod rows;
#[path = "../rows/server.rs"]
#[allow(dead_code, reason = "another bench uses all of it")]
mod server;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use load::Connection;
use serde_json::{Value, json};
use server::{Indexed, Server};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test --benches` passes no `--bench`: prove that it runs, on little.
    let small = !arguments.iter().any(|argument| argument == "--bench");
    let option = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1).cloned()
    };
    let number = |name: &str, usual: usize| {
        option(name).map_or(usual, |number| number.parse().expect("a number"))
    };
    let rows = number("--rows", if small { 1_500 } else { 100_000 });
    let rounds = number("--rounds", if small { 1 } else { 3 });
    let wants = |part: &str| option("--only").is_none_or(|only| only == part);
    if wants("sqlite") {
        let server = Server::on_sqlite(rows, Indexed::Views);
        tell("sqlite", &server, rows, rounds);
    }
    #[cfg(unix)]
    if wants("postgres")
        && let Some(cluster) = cluster::shared()
    {
        cluster.psql("CREATE DATABASE export").expect("creates");
        let server = Server::start(&cluster.url("export"), rows, Indexed::Views);
        tell("postgres", &server, rows, rounds);
    }
}

fn tell(store: &str, server: &Server, rows: usize, rounds: usize) {
    let before = server.resident();
    let most = AtomicU64::new(0);
    let (mut paged, mut exported, mut bytes) = (f64::MAX, f64::MAX, 0);
    for _ in 0..rounds {
        paged = paged.min(pages(server, rows));
        let (seconds, length) = watched(server, &most, || export(server, rows));
        (exported, bytes) = (exported.min(seconds), length);
    }
    println!(
        "{store}: {rows} rows exported in {exported:.2} s ({:.0} rows/s, {:.1} MB), \
         read by pages in {paged:.2} s; {:.2} of their throughput",
        rows as f64 / exported,
        bytes as f64 / 1e6,
        paged / exported
    );
    println!(
        "{store}: memory of the server {:.1} MB before, {:.1} MB at most while it exported",
        before as f64 / 1e6,
        most.load(Ordering::Relaxed) as f64 / 1e6
    );
}

/// Looks at the memory of the server while something is done.
fn watched<T>(server: &Server, most: &AtomicU64, work: impl FnOnce() -> T) -> T {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                most.fetch_max(server.resident(), Ordering::Relaxed);
                thread::sleep(Duration::from_millis(5));
            }
        });
        let result = work();
        done.store(true, Ordering::Relaxed);
        result
    })
}

/// Seconds that all rows take, page by page.
fn pages(server: &Server, rows: usize) -> f64 {
    let mut connection = Connection::open(server.address);
    let (mut after, mut read) = (String::new(), 0);
    let begun = Instant::now();
    loop {
        let request = server.get(&format!("rows?limit=200{after}"));
        let (status, response) = connection.ask(&request);
        assert_eq!(status, 200, "{}", String::from_utf8_lossy(&response));
        let page: Page<'_> = serde_json::from_slice(&response).expect("a page");
        read += page.items.len();
        let Some(cursor) = page.next_cursor else {
            break;
        };
        after = format!("&cursor={cursor}");
    }
    assert_eq!(read, rows);
    begun.elapsed().as_secs_f64()
}

/// A page whose rows are distinguished and not read.
#[derive(serde::Deserialize)]
struct Page<'p> {
    #[serde(borrow)]
    items: Vec<&'p serde_json::value::RawValue>,
    next_cursor: Option<String>,
}

/// Seconds that the package takes, and how long it is.
fn export(server: &Server, rows: usize) -> (f64, usize) {
    let mut connection = Connection::open(server.address);
    let path = format!("/v1/workspaces/{}/export", server.workspace);
    let request = server.request("POST", &path, &json!({"rows": "all"}));
    let begun = Instant::now();
    let (status, response) = connection.ask(&request);
    let seconds = begun.elapsed().as_secs_f64();
    assert_eq!(status, 200, "{}", String::from_utf8_lossy(&response));
    let package: Value = serde_json::from_slice(&response).expect("a package");
    let payloads = package["payloads"].as_array().expect("payloads");
    let lists = payloads.iter().filter_map(|entry| entry["rows"].as_array());
    let found: usize = lists.map(Vec::len).sum();
    assert_eq!(found, rows, "rows of the package");
    (seconds, response.len())
}
