//! How fast automations run, against yardsticks measured in the same run.
//!
//! `cargo bench -p tplkit-server --bench automations`, or `… -- --only graph|sqlite|postgres`. `--seconds N` at a
//! steady hundred writes a second (10), `--events N` that wait (1,000). The server is the real program
//! with its limits on rates off and everything else on. The one step of the automation writes a row.
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
mod drain;
#[path = "../../../benches/check/graph.rs"]
mod graph;
mod ground;
mod insert;
mod latency;
#[path = "../rows/load.rs"]
#[allow(dead_code, reason = "the bench of rows uses all of it")]
mod load;
#[path = "../../tests/process.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod process;

/// What is asked for on the command line.
struct Options {
    seconds: usize,
    events: usize,
    small: bool,
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
        seconds: number("--seconds", if small { 1 } else { 10 }),
        events: number("--events", if small { 50 } else { 1_000 }),
        small,
    };
    let wants = |part: &str| option("--only").is_none_or(|only| only == part);
    if wants("graph") {
        graph::tell(if small { 1 } else { 100 });
    }
    if wants("sqlite") {
        println!("SQLite");
        let folder = tempfile::tempdir().expect("a folder");
        let url = |name: &str| format!("sqlite:{}", folder.path().join(name).display());
        tell(&options, url);
    }
    #[cfg(unix)]
    if wants("postgres")
        && let Some(programs) = cluster::programs()
    {
        println!("PostgreSQL");
        let cluster = cluster::Cluster::start(programs).expect("PostgreSQL starts");
        tell(&options, |name| {
            let create = format!("CREATE DATABASE \"{name}\"");
            cluster.psql(&create).expect("creates");
            cluster.url(name)
        });
    }
}

fn tell(options: &Options, database: impl Fn(&str) -> String) {
    latency::tell(options, &database("latency"));
    drain::tell(options, &database("drain"));
    insert::tell(options, &database("without"), &database("with"));
}

/// The middle one, in microseconds.
fn median(times: &mut [u64]) -> f64 {
    times.sort_unstable();
    let middle = times.get(times.len() / 2);
    middle.map_or(0.0, |nanos| *nanos as f64 / 1000.0)
}
