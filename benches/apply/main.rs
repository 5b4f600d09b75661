//! How fast packages are applied to a workspace in memory, next to a yardstick measured in the same
//! rounds: one thread of `serde_json` over the same package text, keeping nothing.
//!
//! `cargo bench --bench apply`, or `… -- --rounds 20 --only customers`. Twenty tables of 5000 rows
//! are exported to a package; then it is read, previewed, applied, applied again and undone.
#![expect(clippy::print_stdout, reason = "this is where it reports")]
#![expect(clippy::disallowed_methods, reason = "measuring needs a clock")]
#![expect(
    clippy::cast_precision_loss,
    reason = "rates are printed in whole thousands"
)]

use std::time::{Duration, Instant};

use indexmap::IndexMap;
use serde::de::IgnoredAny;
use tplkit::apply::{
    Approved, JobHistory, Minter, PreviewInput, Report, Request, ResolveInput, package_digest,
    preview, resolve, run, undo,
};
use tplkit::check::{CheckOptions, Checked};
use tplkit::definitions::Definitions;
use tplkit::workspace::ledger::Entry;
use tplkit::workspace::memory::{Memory, State};
use tplkit::workspace::{Id, Source as _, Target as _, ready};
use tplkit_testkit::packaged::packaged;
use tplkit_testkit::{customers, random};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1).map(String::as_str)
    };
    // `cargo test --benches` passes no `--bench`: prove that it runs, on little.
    let small = !arguments.iter().any(|argument| argument == "--bench");
    let (tables, rows, rounds) = if small { (3, 600, 1) } else { (20, 5000, 9) };
    let number = |name: &str, or: usize| option(name).and_then(|n| n.parse().ok()).unwrap_or(or);
    let (tables, rows) = (number("--tables", tables), number("--rows", rows));
    let rounds = number("--rounds", rounds);
    let wanted = |case: &str| option("--only").is_none_or(|only| only == case);
    if wanted("customers") {
        case("customers", customers::customers(tables, rows), rounds);
    }
    if wanted("large") {
        case("large", random::large(1, tables, rows), rounds);
    }
}

/// What is measured, in the order of a round.
const STAGES: [&str; 9] = [
    "serde_json, IgnoredAny, 1 thread",
    "resolve",
    "preview",
    "apply (run only)",
    "again: resolve and run",
    "undo",
    "read without a check",
    "check and read, 1 thread",
    "check, resolve and run",
];

fn case(name: &str, state: State, rounds: usize) {
    let rows: usize = state.rows.values().map(Vec::len).sum();
    let text = packaged(state).expect("exports");
    println!(
        "{name}: {rows} rows in {} tables, {:.1} MB",
        Checked::trusted(&text).expect("a package").payloads.len(),
        text.len() as f64 / 1e6,
    );
    let mut times = vec![Vec::new(); STAGES.len()];
    for _ in 0..rounds {
        for (times, time) in times.iter_mut().zip(round(&text, rows as u64)) {
            times.push(time);
        }
    }
    let yardstick = times[0].iter().min().copied().unwrap_or_default();
    for (stage, times) in STAGES.iter().zip(&mut times) {
        times.sort_unstable();
        let (least, median) = (times[0], times[times.len() / 2]);
        println!(
            "  {stage:<34} min {:>9}  median {:>9}  {:>6.0} thousand rows/s  ratio {:.2}",
            format!("{least:.1?}"),
            format!("{median:.1?}"),
            rows as f64 / least.as_secs_f64() / 1e3,
            least.as_secs_f64() / yardstick.as_secs_f64(),
        );
    }
}

fn timed<R>(what: impl FnOnce() -> R) -> (Duration, R) {
    let started = Instant::now();
    let result = what();
    (started.elapsed(), result)
}

/// Everything once, in the order of [`STAGES`].
fn round(text: &str, rows: u64) -> [Duration; 9] {
    let (yardstick, read) = timed(|| serde_json::from_str::<IgnoredAny>(text));
    read.expect("JSON");
    let (reading, package) = timed(|| Checked::trusted(text).expect("a package"));
    let mut memory = empty();
    let (resolving, approved) = timed(|| resolved(&package, &memory, None));
    let (previewing, ()) = timed(|| previewed(&package, text, &memory, rows));
    let (applying, report) = timed(|| applied(&mut memory, &approved, &package));
    inserted(&report, rows);
    let ledger = ready(memory.ledger()).expect("read");
    let (again, report) = timed(|| {
        let approved = resolved(&package, &memory, Some(&ledger));
        applied(&mut memory, &approved, &package)
    });
    let skipped: u64 = report.rows.values().map(|table| table.skipped).sum();
    assert_eq!(skipped, rows);
    let (undoing, undone) = timed(|| ready(undo(&mut memory, false)));
    undone.expect("undone");
    let mut memory = empty();
    let (checking, package) = timed(|| checked(text));
    let (rest, report) = timed(|| {
        let approved = resolved(&package, &memory, None);
        applied(&mut memory, &approved, &package)
    });
    inserted(&report, rows);
    [
        yardstick,
        resolving,
        previewing,
        applying,
        again,
        undoing,
        reading,
        checking,
        checking + rest,
    ]
}

fn empty() -> Memory {
    Memory::new(State::empty(
        Id::from_u128(1),
        Id::from_u128(2),
        "here",
        "Here",
    ))
}

fn request() -> Request {
    Request {
        include_rows: true,
        resolutions: IndexMap::new(),
        rows_modes: IndexMap::new(),
        copy: false,
        plan: None,
        ..Request::default()
    }
}

fn checked(text: &str) -> Checked<'_> {
    Checked::read(text, &CheckOptions::default()).expect("generated packages are clean")
}

fn resolved(package: &Checked<'_>, memory: &Memory, earlier: Option<&[Entry]>) -> Approved {
    let destination = ready(memory.structure()).expect("read");
    let minter = Minter::at(jiff::Timestamp::UNIX_EPOCH, 7);
    let definitions = Definitions::embedded();
    let request = request();
    resolve(
        ResolveInput {
            package,
            request: &request,
            destination: &destination,
            past: JobHistory::of(earlier.unwrap_or_default()),
            definitions,
        },
        minter,
    )
    .expect("nothing is open")
}

fn previewed(package: &Checked<'_>, text: &str, memory: &Memory, rows: u64) {
    let destination = ready(memory.structure()).expect("read");
    let input = PreviewInput {
        package,
        package_digest: &package_digest(text),
        request: &request(),
        earlier: &[],
        base: None,
        definitions: Definitions::embedded(),
    };
    let preview = ready(preview(memory, &destination, input)).expect("read");
    let insert: u64 = preview.rows.values().map(|table| table.insert).sum();
    assert_eq!(insert, rows);
}

/// For profilers: `valgrind --tool=callgrind --toggle-collect='*applied*'`.
#[inline(never)]
fn applied(memory: &mut Memory, approved: &Approved, package: &Checked<'_>) -> Report {
    let definitions = Definitions::embedded();
    let mut unwatched = |_| {};
    let running = run(
        memory,
        approved,
        &package.payloads,
        &[],
        definitions,
        &mut unwatched,
    );
    ready(running).expect("runs")
}

fn inserted(report: &Report, rows: u64) {
    let inserted: u64 = report.rows.values().map(|table| table.inserted).sum();
    assert_eq!((inserted, report.unresolved.len()), (rows, 0));
}
