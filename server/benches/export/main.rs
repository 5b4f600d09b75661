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

#[path = "../support/mod.rs"]
#[allow(dead_code, reason = "no bench uses all of it")]
mod support;

use std::time::Instant;

use serde_json::{Value, json};
use support::arguments::Arguments;
use support::load::Connection;
use support::server::{Indexed, Server};
use support::stores::on_each;
use support::watch::RecordWatch;

fn main() {
    let arguments = Arguments::read();
    let rows = arguments.number("--rows", 100_000, 1_500);
    let rounds = arguments.number("--rounds", 3, 1);
    on_each(&arguments, |store, database| {
        let server = Server::start(&database("export"), rows, Indexed::Views);
        report(store, &server, rows, rounds);
    });
}

fn report(store: &str, server: &Server, rows: usize, rounds: usize) {
    let watch = RecordWatch::of(server.process());
    let mut most = 0;
    let (mut paged, mut exported, mut bytes) = (f64::MAX, f64::MAX, 0);
    for _ in 0..rounds {
        paged = paged.min(pages(server, rows));
        let ((seconds, length), peak) = watch.during(|| export(server, rows));
        most = most.max(peak);
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
        watch.idle as f64 / 1e6,
        most as f64 / 1e6
    );
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
