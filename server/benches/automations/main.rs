//! How fast automations run, against yardsticks measured in the same run.
//!
//! `cargo bench -p tplkit-server --bench automations`, or `… -- --only graph|sqlite|postgres`. `--seconds N` at a
//! steady hundred writes a second (10), `--events N` that wait (1,000), `--backlog N` that wait on a PostgreSQL where nothing has run (100,000; `--part backlog`
//! measures it alone). The server is the real program
//! with its limits on rates off and everything else on. The one step of the automation writes a row.
#![expect(clippy::print_stdout, reason = "this is where it reports")]
#![expect(clippy::disallowed_methods, reason = "measuring needs a clock")]
#![expect(
    clippy::cast_precision_loss,
    reason = "ratios are printed with two digits"
)]

mod backlog;
mod drain;
mod fixtures;
#[path = "../../../benches/check/graph.rs"]
mod graph;
mod insert;
mod latency;
#[path = "../../tests/process.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod process;
#[path = "../support/mod.rs"]
#[allow(dead_code, reason = "no bench uses all of it")]
mod support;

use support::arguments::Arguments;
use support::load;
use support::stores::on_each;

/// What is asked for on the command line.
struct Options {
    seconds: usize,
    events: usize,
    /// That wait where nothing has run yet.
    backlog: usize,
    small: bool,
}

fn main() {
    let arguments = Arguments::read();
    let small = arguments.is_small();
    let options = Options {
        seconds: arguments.number("--seconds", 10, 1),
        events: arguments.number("--events", 1_000, 50),
        backlog: arguments.number("--backlog", 100_000, 50),
        small,
    };
    if arguments.wants("graph") {
        graph::report(if small { 1 } else { 100 });
    }
    on_each(&arguments, |store, database| {
        println!("{store}");
        if arguments
            .text("--part")
            .is_none_or(|part| part != "backlog")
        {
            report(&options, database);
        }
        // A SQLite file has one process.
        if store == "PostgreSQL" {
            backlog::report(&options, database);
        }
    });
}

fn report(options: &Options, database: impl Fn(&str) -> String) {
    latency::report(options, &database("latency"));
    drain::report(options, &database("drain"));
    insert::report(options, &database("without"), &database("with"));
}

/// The middle one, in microseconds.
fn median(times: &mut [u64]) -> f64 {
    times.sort_unstable();
    let middle = times.get(times.len() / 2);
    middle.map_or(0.0, |nanos| *nanos as f64 / 1000.0)
}
