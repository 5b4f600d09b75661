//! How fast a workspace becomes a package, as ratios against a yardstick measured in the same run:
//! one thread of `serde_json` over the package that comes out, keeping nothing.
//!
//! `cargo bench --bench export`, or `… -- --rounds 9`. For profilers: `… -- --profile 20 5000`
//! writes one package and nothing else.
#![expect(clippy::print_stdout, reason = "this is where it reports")]
#![expect(clippy::disallowed_methods, reason = "measuring needs a clock")]
#![expect(
    clippy::cast_precision_loss,
    reason = "ratios are printed with two digits"
)]

use std::io::Write;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde::de::IgnoredAny;
use tplkit::check::{CheckOptions, check_text};
use tplkit::context::{FixedClock, Seeded};
use tplkit::definitions::Definitions;
use tplkit::export::{RowsSelection, Selection, prepare};
use tplkit::finding::Severity;
use tplkit::workspace::memory::Memory;
use tplkit::workspace::ready;
use tplkit_testkit::{customers, random};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let numbers = |name: &str| -> Option<(usize, usize)> {
        let at = arguments.iter().position(|argument| argument == name)?;
        let number = |at: usize| arguments.get(at)?.parse().ok();
        Some((number(at + 1)?, number(at + 2)?))
    };
    if let Some((tables, rows)) = numbers("--memory") {
        memory_of(tables, rows);
        return;
    }
    if let Some((tables, rows)) = numbers("--profile") {
        let mut sink = Counted(0);
        write(&workspace(tables, rows), &mut sink);
        println!("{} bytes", sink.0);
        return;
    }
    // `cargo test --benches` passes no `--bench`: prove that it runs, on little.
    let small = !arguments.iter().any(|argument| argument == "--bench");
    let rounds = arguments
        .iter()
        .position(|argument| argument == "--rounds")
        .and_then(|at| arguments.get(at + 1)?.parse().ok())
        .unwrap_or(if small { 1 } else { 9 });
    let (tables, rows) = if small { (3, 600) } else { (20, 5000) };
    println!("customers: plain cells, one link a row");
    let customers = Memory::new(customers::customers(tables, rows));
    time_case(&customers, tables * rows, rounds);
    println!("large: four link columns a row, lists among them");
    time_case(&workspace(tables, rows), tables * rows, rounds);
    memory_case(tables, rows);
}

fn workspace(tables: usize, rows: usize) -> Memory {
    Memory::new(random::large(1, tables, rows))
}

/// A sink that keeps nothing.
struct Counted(usize);

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Both readings of the rows, from the workspace to the last byte.
fn write(source: &Memory, sink: &mut (dyn Write + Send)) {
    let selection = Selection {
        rows: RowsSelection::All,
        ..Selection::default()
    };
    let clock = FixedClock("2026-03-01T09:30:00Z".parse().expect("an instant"));
    let (mut ids, definitions) = (Seeded::new(1), Definitions::embedded());
    let draft = ready(prepare(source, &selection, &clock, &mut ids, definitions));
    ready(draft.expect("a draft").write_to(source, sink)).expect("written");
}

/// Interleaved rounds, so that a busy moment of the machine hits all alike.
fn time_case(source: &Memory, rows: usize, rounds: usize) {
    let mut text = Vec::new();
    write(source, &mut text);
    let text = String::from_utf8(text).expect("UTF-8");
    println!(
        "  {rows} rows, {:.1} MB of package",
        text.len() as f64 / 1e6
    );
    let yardstick = || {
        serde_json::from_str::<IgnoredAny>(&text).expect("JSON");
    };
    let stream = || write(source, &mut Counted(0));
    let check = || {
        let report = check_text(&text, &CheckOptions::default());
        // Entries of more than 4 MiB are warned of.
        let mut findings = report.findings.iter();
        assert!(findings.all(|finding| finding.severity != Severity::Error));
    };
    let cases: [(&str, &dyn Fn()); 3] = [
        ("serde_json, IgnoredAny, 1 thread", &yardstick),
        ("export, streamed", &stream),
        ("check of what was written", &check),
    ];
    let mut best = [Duration::MAX; 3];
    for _ in 0..rounds {
        for (best, (_, case)) in best.iter_mut().zip(&cases) {
            let start = Instant::now();
            case();
            *best = start.elapsed().min(*best);
        }
    }
    for (time, (name, _)) in best.iter().zip(&cases) {
        println!(
            "  {name:<34} min {time:>8.1?}  ratio {:.2}  {:.0} thousand rows a second",
            time.as_secs_f64() / best[0].as_secs_f64(),
            rows as f64 / time.as_secs_f64() / 1e3,
        );
    }
}

/// Memory of a process of its own: a peak cannot be taken back.
fn memory_case(tables: usize, rows: usize) {
    let output = Command::new(std::env::current_exe().expect("this program"))
        .arg("--memory")
        .args([tables.to_string(), rows.to_string()])
        .output()
        .expect("a child process");
    print!("{}", String::from_utf8_lossy(&output.stdout));
}

/// Private memory while a package is written into nothing, sampled every half millisecond. The
/// workspace itself was there before.
fn memory_of(tables: usize, rows: usize) {
    let source = workspace(tables, rows);
    let before = anonymous();
    let done = AtomicBool::new(false);
    let peak = AtomicUsize::new(before);
    let mut sink = Counted(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                peak.fetch_max(anonymous(), Ordering::Relaxed);
                std::thread::sleep(Duration::from_micros(500));
            }
        });
        write(&source, &mut sink);
        done.store(true, Ordering::Relaxed);
    });
    let more = peak.into_inner().saturating_sub(before) as f64 / 1e3;
    let package = sink.0 as f64 / 1e6;
    println!(
        "  private memory beyond the workspace peak {more:.1} MB, {:.2} of the package's {package:.1} MB",
        more / package,
    );
}

/// `RssAnon` of this process in kB; 0 where there is no such file.
fn anonymous() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok())
        .unwrap_or(0)
}
