//! What one organization notices of another that asks for as much as it may: how long its requests take, of
//! which 95 in 100 are to be done within twenty times its quiet median or 100 ms, whichever is more.
//!
//! `cargo bench -p tplkit-server --bench neighbours`, or `… -- --only sqlite|postgres --load NAME --seconds N
//! --rows N` (5; 20,000).
#![expect(clippy::print_stdout, reason = "this is where it reports")]
#![expect(clippy::disallowed_methods, reason = "measuring needs a clock")]
#![expect(
    clippy::cast_precision_loss,
    reason = "ratios are printed with two digits"
)]

mod attack;
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
mod victim;

use std::sync::atomic::Ordering;
use std::time::Duration;

use load::Connection;
use serde_json::json;
use server::{Indexed, Server};
use victim::{Times, Victim};

/// What is required in any case.
const BOUND: Duration = Duration::from_millis(100);
/// The same in medians of a quiet server.
const MEDIANS: u32 = 20;

struct Options {
    rows: usize,
    time: Duration,
    load: Option<String>,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test --benches` passes no `--bench`: prove that it runs, on little.
    let small = !arguments.iter().any(|argument| argument == "--bench");
    let option = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1).cloned()
    };
    let number = |name: &str, usual: u64| {
        option(name).map_or(usual, |number| number.parse().expect("a number"))
    };
    let rows = number("--rows", if small { 500 } else { 20_000 });
    let options = Options {
        rows: usize::try_from(rows).expect("a number of rows"),
        time: Duration::from_secs(number("--seconds", if small { 1 } else { 5 })),
        load: option("--load"),
    };
    let wants = |part: &str| option("--only").is_none_or(|only| only == part);
    if wants("sqlite") {
        let folder = tempfile::tempdir().expect("a folder");
        let url = format!("sqlite:{}", folder.path().join("bench.db").display());
        measure("SQLite", &url, &options);
    }
    #[cfg(unix)]
    if wants("postgres")
        && let Some(cluster) = cluster::shared()
    {
        cluster.psql("CREATE DATABASE neighbours").expect("creates");
        measure("PostgreSQL", &cluster.url("neighbours"), &options);
    }
}

fn measure(name: &str, url: &str, options: &Options) {
    let server = Server::start(url, options.rows, Indexed::Views);
    let victim = Victim::new(url, server.address, 200);
    let package = package(&server);
    victim.ask(options.time);
    let quiet = victim.ask(options.time);
    let median = quiet.percent(50);
    println!("{name}, {} rows; quiet: {}", options.rows, told(&quiet));
    for attack in attack::all(&server, &package) {
        if options
            .load
            .as_ref()
            .is_some_and(|load| load != attack.name)
        {
            continue;
        }
        let (seen, times) = attack.during(&server, || victim.ask(options.time));
        let holds = times.percent(95) <= BOUND.max(median * MEDIANS);
        println!(
            "  {:<24} {}, {}; of the load {} done, {} busy, {} other",
            attack.name,
            told(&times),
            if holds {
                "within bounds"
            } else {
                "BEYOND BOUNDS"
            },
            seen.done.load(Ordering::Relaxed),
            seen.busy.load(Ordering::Relaxed),
            seen.other.load(Ordering::Relaxed),
        );
    }
}

fn told(times: &Times) -> String {
    format!(
        "median {:.1?}, 95 of 100 within {:.1?}",
        times.percent(50),
        times.percent(95)
    )
}

/// The rows of the attacker as a package.
fn package(server: &Server) -> String {
    let path = format!("/v1/workspaces/{}/export", server.workspace);
    let export = server.request("POST", &path, &json!({"rows": "all"}));
    let (status, package) = Connection::open(server.address).ask(&export);
    assert_eq!(status, 200, "the export");
    String::from_utf8(package).expect("UTF-8")
}
