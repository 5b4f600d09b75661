//! What an upgrade costs in which one row of a hundred has another cell: its plan next to the plan of the same
//! package for an empty workspace, and what the job takes.
//!
//! `cargo bench -p tplkit-server --bench upgrade`, or `… -- --only sqlite|postgres --tables N --rows N` (20
//! tables of 5,000 rows). The server is the real program, and times are those of its responses. The two plans
//! are made in turns; the least of each counts. The job has to write the rows that changed and nothing else.
#![expect(clippy::print_stdout, reason = "this is where it reports")]
#![expect(clippy::disallowed_methods, reason = "measuring needs a clock")]
#![expect(
    clippy::cast_precision_loss,
    reason = "sizes are printed with one digit"
)]

mod packages;
#[path = "../support/mod.rs"]
#[allow(dead_code, reason = "no bench uses all of it")]
mod support;

use std::time::{Duration, Instant};

use packages::{Packages, packages};
use serde_json::{Value, json};
use support::arguments::Arguments;
use support::server::{Indexed, Server, id};
use support::stores::on_each;

/// How often each plan is made.
const ROUNDS: usize = 7;

/// Times as long as the plan for an empty workspace the plan of an upgrade may take.
const REQUIRED: f64 = 1.5;

fn main() {
    let arguments = Arguments::read();
    let tables = arguments.number("--tables", 20, 3);
    let rows = arguments.number("--rows", 5_000, 200);
    let rounds = arguments.number("--rounds", ROUNDS, 1);
    let packages = packages(tables, rows);
    println!(
        "a package of {:.1} MB: {tables} tables of {rows} rows, of which {} change",
        packages.new.len() as f64 / 1e6,
        packages.changed
    );
    on_each(&arguments, |store, database| {
        measure(store, &database("upgrade"), &packages, rounds);
    });
}

fn measure(store: &str, url: &str, packages: &Packages, rounds: usize) {
    let server = Server::start(url, 0, Indexed::Nothing);
    let [empty, here] = ["Empty", "Here"].map(|label| server.new_workspace(label));
    let template = id(&server.send(&server.import(&packages.base)));
    let path = format!("/v1/templates/{template}");
    let first = json!({"workspaceId": here});
    let (applying, _) = applied(&server, &path, &first);
    let newer = server.request_text("PUT", &format!("{path}/package"), &packages.new);
    server.send(&newer);

    let fresh = json!({"workspaceId": empty});
    let upgrade = json!({"workspaceId": here, "upgrade": true});
    let [mut plain, mut planned] = [Duration::MAX; 2];
    for _ in 0..rounds {
        let (took, plan) = timed_plan(&server, &path, &fresh);
        assert!(sum(&plan["rows"], "insert") > 0);
        plain = plain.min(took);
        let (took, plan) = timed_plan(&server, &path, &upgrade);
        assert_eq!(sum(&plan["rows"], "update"), packages.changed);
        planned = planned.min(took);
    }
    let ratio = planned.as_secs_f64() / plain.as_secs_f64();
    let (upgrading, report) = applied(&server, &path, &upgrade);
    assert_eq!(
        sum(&report["rows"], "updated"),
        packages.changed,
        "{report}"
    );
    assert_eq!(sum(&report["rows"], "inserted"), 0, "{report}");
    assert_eq!(report["structure_updated"], 0, "{report}");
    println!(
        "{store}: plan for an empty workspace {plain:.2?}, plan of the upgrade {planned:.2?}: {ratio:.2} of it{}; \
         first apply {applying:.2?}, upgrade {upgrading:.2?}, {} rows written",
        if ratio > REQUIRED {
            "  BEYOND BOUNDS"
        } else {
            ""
        },
        packages.changed
    );
}

/// A count of all tables together.
fn sum(rows: &Value, of: &str) -> u64 {
    let tables = rows.as_object().expect("tables").values();
    tables
        .map(|table| table[of].as_u64().expect("a number"))
        .sum()
}

fn timed_plan(server: &Server, path: &str, body: &Value) -> (Duration, Value) {
    let request = server.request("POST", &format!("{path}/plan"), body);
    let begun = Instant::now();
    let plan = server.send(&request);
    let took = begun.elapsed();
    assert_eq!(plan["refusals"], json!([]), "{plan}");
    (took, plan)
}

/// One job, from the request to its end, and its report.
fn applied(server: &Server, path: &str, body: &Value) -> (Duration, Value) {
    let request = server.request("POST", &format!("{path}/apply"), body);
    let begun = Instant::now();
    let accepted = server.send(&request);
    let job = accepted["jobId"].as_str().expect("an id");
    let done = server.wait_for_job(job, "completed");
    (begun.elapsed(), done["report"].clone())
}
