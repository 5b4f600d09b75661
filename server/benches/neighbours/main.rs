//! What one organization notices of another that asks for as much as it may: how long its requests take, of
//! which 95 in 100 are to be done within twenty times its quiet median or 100 ms, whichever is more.
//!
//! Runs that grow are measured first, on a server of its own with 1 GiB of memory: 99 of 100 requests are to take
//! at most twice what they take when nothing runs.
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
mod growing;
mod partner;
#[path = "../support/mod.rs"]
#[allow(dead_code, reason = "no bench uses all of it")]
mod support;

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::json;
use support::arguments::Arguments;
use support::load::Connection;
use support::server::{Indexed, Server};
use support::stores::on_each;
use support::victim::{Times, Victim};

/// What is required in any case.
const BOUND: Duration = Duration::from_millis(100);
/// The same in medians of a quiet server.
const MEDIANS: u32 = 20;

/// The load of runs that grow: how long requests take at most while it runs, in those of a quiet server, 99 of 100.
const GROWING: &str = "growing runs";
const GROWING_RATIO: f64 = 2.0;

struct Options {
    rows: usize,
    time: Duration,
    load: Option<String>,
}

impl Options {
    fn wants(&self, load: &str) -> bool {
        self.load.as_ref().is_none_or(|wanted| wanted == load)
    }
}

fn main() {
    let arguments = Arguments::read();
    let options = Options {
        rows: arguments.number("--rows", 20_000, 500),
        time: Duration::from_secs(arguments.number("--seconds", 5, 1)),
        load: arguments.text("--load"),
    };
    on_each(&arguments, |store, database| {
        if options.wants(GROWING) {
            grow(store, &database("growing"), &options);
        }
        if options.load.as_deref() != Some(GROWING) {
            measure(store, &database("neighbours"), &options);
        }
    });
}

fn measure(name: &str, url: &str, options: &Options) {
    let server = Server::start(url, options.rows, Indexed::Views);
    let victim = Victim::new(url, server.address, 200);
    let package = package(&server);
    victim.ask(options.time);
    let quiet = victim.ask(options.time);
    let median = quiet.percent(50);
    println!(
        "{name}, {} rows; quiet: {}",
        options.rows,
        times_text(&quiet)
    );
    for attack in attack::all(url, &server, &package) {
        if !options.wants(attack.name) {
            continue;
        }
        let (seen, times) = attack.during(&server, || victim.ask(options.time));
        let holds = times.percent(95) <= BOUND.max(median * MEDIANS);
        println!(
            "  {:<24} {}, {}; of the load {} done, {} busy, {} other",
            attack.name,
            times_text(&times),
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

fn grow(name: &str, url: &str, options: &Options) {
    let (quiet, all) = growing::measure(url, options.time);
    let quiet = quiet.percent(99);
    println!("{name}, 1 GiB of memory; quiet: 99 of 100 within {quiet:.1?}");
    for seen in all {
        let during = seen.times.percent(99);
        let ratio = during.as_secs_f64() / quiet.as_secs_f64();
        println!(
            "  {:<32} 99 of 100 within {during:.1?}, {ratio:.2} of the quiet ones, {}; of the runs {} begun, {} refused",
            seen.name,
            if ratio <= GROWING_RATIO {
                "within bounds"
            } else {
                "BEYOND BOUNDS"
            },
            seen.begun,
            seen.refused,
        );
    }
}

fn times_text(times: &Times) -> String {
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
