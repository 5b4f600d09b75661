//! What a large template costs, and what another organization notices of it: 300 tables and a million narrow rows are
//! imported, planned, applied by a job and taken back by a job.
//!
//! `cargo bench -p tplkit-server --bench large`, or `… -- --only sqlite|postgres --tables N --rows N` (300 tables of
//! 3,334 rows). For each step: the peak of the server's own memory above idle, in sizes of the package; rows a second,
//! where a job writes them; and within what 99 of 100 requests of another organization came back meanwhile, reads and
//! writes a hundred times a second.
#![expect(clippy::print_stdout, reason = "this is where it reports")]
#![expect(clippy::disallowed_methods, reason = "measuring needs a clock")]
#![expect(
    clippy::cast_precision_loss,
    reason = "ratios are printed with two digits"
)]

mod entries;
#[path = "../support/mod.rs"]
#[allow(dead_code, reason = "no bench uses all of it")]
mod support;

use std::time::{Duration, Instant};

use serde_json::json;
use support::arguments::Arguments;
use support::load::Request;
use support::server::{Indexed, Server, id};
use support::stores::on_each;
use support::victim::Victim;
use support::watch::RecordWatch;
use tplkit_testkit::packaged::packaged;

/// Required: memory in sizes of the package, rows a second of an apply on PostgreSQL, and others' requests.
const MOST_MEMORY: f64 = 2.0;
const LEAST_RATE: f64 = 60_000.0;
const OTHERS: Duration = Duration::from_millis(20);

/// How long others are asked while nothing runs.
const QUIET: Duration = Duration::from_secs(5);

fn main() {
    let arguments = Arguments::read();
    let tables = arguments.number("--tables", 300, 2);
    let rows = arguments.number("--rows", 3_334, 50);
    let package = packaged(entries::entries(tables, rows)).expect("exports");
    println!(
        "a package of {:.1} MB: {tables} tables of {rows} rows",
        package.len() as f64 / 1e6
    );
    let quiet = if arguments.is_small() {
        Duration::from_millis(200)
    } else {
        QUIET
    };
    on_each(&arguments, |store, database| {
        println!("{store}");
        measure(&database("large"), &package, tables * rows, quiet);
    });
}

fn measure(url: &str, package: &str, rows: usize, quiet: Duration) {
    let server = Server::start(url, 0, Indexed::Nothing);
    let workspace = server.new_workspace("Target");
    let trial = Trial {
        watch: RecordWatch::of(server.process()),
        victim: Victim::new(url, server.address, 200),
        package: package.len(),
    };
    let idle = trial.victim.ask(quiet).percent(99);
    println!("  others, while nothing runs: 99 of 100 within {idle:.1?}");
    let import = server.import(package);
    let template = id(&trial.step("import", None, || server.send(&import)));
    let body = json!({"workspaceId": workspace, "resolutions": {}});
    let [plan, apply] = ["plan", "apply"]
        .map(|verb| server.request("POST", &format!("/v1/templates/{template}/{verb}"), &body));
    trial.step("plan", None, || server.send(&plan));
    let job = trial.step("apply", Some(rows), || {
        let job = server.send(&apply);
        let job = job["jobId"].as_str().expect("an id").to_owned();
        server.wait_for_job(&job, "completed");
        job
    });
    trial.step("plan of what is there", None, || server.send(&plan));
    let undo = format!("/v1/template-jobs/{job}/undo");
    let undo = Request::new("POST", &undo, server.token(), None);
    trial.step("undo", Some(rows), || {
        server.send(&undo);
        server.wait_for_job(&job, "undone")
    });
}

/// One server under measurement, and who should not notice.
struct Trial {
    watch: RecordWatch,
    victim: Victim,
    package: usize,
}

impl Trial {
    /// Does something that writes so many rows, and prints what it took.
    fn step<T: Send>(&self, name: &str, rows: Option<usize>, work: impl FnOnce() -> T + Send) -> T {
        let began = Instant::now();
        let (((done, took), times), peak) = self.watch.during(|| {
            self.victim.time_requests_during(|| {
                let done = work();
                (done, began.elapsed())
            })
        });
        let ratio = peak.saturating_sub(self.watch.idle) as f64 / self.package as f64;
        let others = times.percent(99);
        print!(
            "  {name:<22} {:>6.1} s, memory {ratio:.2} of the package{}, others' requests: 99 of 100 within {others:.1?}{}",
            took.as_secs_f64(),
            verdict(ratio <= MOST_MEMORY),
            verdict(others <= OTHERS)
        );
        match rows {
            Some(rows) => {
                let rate = rows as f64 / took.as_secs_f64();
                println!(", {rate:.0} rows/s{}", verdict(rate >= LEAST_RATE));
            }
            None => println!(),
        }
        done
    }
}

fn verdict(holds: bool) -> &'static str {
    if holds { "" } else { "  BEYOND BOUNDS" }
}
