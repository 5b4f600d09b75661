//! How much memory of its own the server takes for a large package, and how much of it it keeps, as ratios
//! to the size of the package.
//!
//! `cargo bench -p tplkit-server --bench memory`, or `… -- --only sqlite|postgres --tables N --rows N` (100
//! tables of 4,000 rows each). The server is the real program with a package that comes in through
//! `/v1/templates/import`, is planned, applied as a job, planned and applied once more, and upgraded to one in
//! which a cell of each row is another. The peak of a step is the
//! highest of what the system says of the process every millisecond, above what it had when it was idle;
//! pages of files that are mapped are left out, as the system may take them away at any time.
#![expect(clippy::print_stdout, reason = "this is where it reports")]
#![expect(clippy::disallowed_methods, reason = "measuring needs a clock")]
#![expect(
    clippy::cast_precision_loss,
    reason = "ratios are printed with two digits"
)]

#[path = "../support/mod.rs"]
#[allow(dead_code, reason = "no bench uses all of it")]
mod support;

use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use support::arguments::Arguments;
use support::load::{Connection, Request};
use support::server::{Indexed, Server, id};
use support::stores::on_each;
use support::watch::RecordWatch;
use tplkit_testkit::customers;
use tplkit_testkit::packaged::packaged;

/// How much above idle a step may take, in sizes of the package.
const MOST: f64 = 2.0;
/// How much a server may keep afterwards, in bytes.
const KEPT: u64 = 60_000_000;
/// How long after the last step it is looked at.
const AFTERWARDS: [u64; 2] = [5, 30];

fn main() {
    let arguments = Arguments::read();
    let tables = arguments.number("--tables", 100, 2);
    let rows = arguments.number("--rows", 4_000, 50);
    let package = package(tables, rows);
    println!(
        "a package of {:.1} MB: {tables} tables of {rows} rows",
        package.len() as f64 / 1e6
    );
    on_each(&arguments, |store, database| {
        println!("{store}");
        measure(&database("memory"), &package, arguments.is_small());
    });
}

/// A workspace of plain tables, each linked to the one before, as a package.
fn package(tables: usize, rows: usize) -> String {
    packaged(customers::customers(tables, rows)).expect("exports")
}

/// One server under measurement.
struct Trial {
    watch: RecordWatch,
    package: usize,
}

fn measure(url: &str, package: &str, small: bool) {
    let server = Server::start(url, 0, Indexed::Nothing);
    let workspace = server.new_workspace("Target");
    let trial = Trial {
        watch: RecordWatch::of(server.process()),
        package: package.len(),
    };
    let import = server.import(package);
    let template = id(&trial.step("import", || server.send(&import)));
    drop(import);
    let request_body = json!({"workspaceId": workspace, "resolutions": {}});
    let plan = server.request(
        "POST",
        &format!("/v1/templates/{template}/plan"),
        &request_body,
    );
    trial.step("plan", || server.send(&plan));
    let apply = server.request(
        "POST",
        &format!("/v1/templates/{template}/apply"),
        &request_body,
    );
    let applied = |[begun, ended]: [&str; 2], apply: &Request| {
        let job = trial.step(begun, || server.send(apply));
        let job = job["jobId"].as_str().expect("an id");
        trial.step(ended, || server.wait_for_job(job, "completed"));
    };
    let names = ["apply, until the response", "apply, until it is done"];
    applied(names, &apply);
    trial.step("plan of what is there", || server.send(&plan));
    applied(["apply again, response", "apply again, done"], &apply);
    let path = format!("/v1/templates/{template}");
    let newer = package.replace("Called on Monday", "Called on Friday");
    let newer = server.request_text("PUT", &format!("{path}/package"), &newer);
    trial.step("replacement", || server.send(&newer));
    drop(newer);
    let request_body = json!({"workspaceId": workspace, "upgrade": true});
    let plan = server.request("POST", &format!("{path}/plan"), &request_body);
    trial.step("plan of an upgrade", || server.send(&plan));
    let upgrade = server.request("POST", &format!("{path}/apply"), &request_body);
    applied(["upgrade, response", "upgrade, done"], &upgrade);
    let export = format!("/v1/workspaces/{workspace}/export");
    let export = server.request("POST", &export, &json!({"rows": "all"}));
    trial.step("export", || Connection::open(server.address).ask(&export));
    let ended = Instant::now();
    for seconds in AFTERWARDS.into_iter().filter(|_| !small) {
        thread::sleep(Duration::from_secs(seconds).saturating_sub(ended.elapsed()));
        trial.print_kept(seconds);
    }
}

impl Trial {
    /// Does something, and says what the server took for it at most.
    fn step<T>(&self, name: &str, work: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        let (done, peak) = self.watch.during(work);
        let above = peak.saturating_sub(self.watch.idle);
        let ratio = above as f64 / self.package as f64;
        println!(
            "  {name:<28} peak {ratio:.2} of the package ({:.0} MB above idle), {:.1} s{}",
            above as f64 / 1e6,
            began.elapsed().as_secs_f64(),
            if ratio > MOST { "  BEYOND BOUNDS" } else { "" }
        );
        done
    }

    fn print_kept(&self, seconds: u64) {
        let now = self.watch.now();
        let kept = now.saturating_sub(self.watch.idle);
        println!(
            "  {:<28} kept {:.2} of the package ({:.0} MB above idle, {:.0} MB of its own){}",
            format!("{seconds} s later"),
            kept as f64 / self.package as f64,
            kept as f64 / 1e6,
            now as f64 / 1e6,
            if now > KEPT { "  BEYOND BOUNDS" } else { "" }
        );
    }
}
