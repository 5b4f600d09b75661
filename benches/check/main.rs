//! How fast checking is, as ratios against a yardstick measured in the same run: one thread of
//! `serde_json` over the same mapped file, keeping nothing.
//!
//! `cargo bench --bench check`, or `… -- --rounds 9 --only large`. Files go to the target folder.
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

mod catalog;
mod files;
mod generate;
mod graph;
mod measure;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde::de::IgnoredAny;
use tplkit::check::{CheckOptions, check};
use tplkit::package::Source;

use catalog::Catalog;
use measure::measure;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(at) = arguments.iter().position(|argument| argument == "--memory") {
        memory_of(Path::new(&arguments[at + 1]));
        return;
    }
    // For profilers: `--profile FILE TABLES ROWS` generates and checks once, on one thread.
    if let Some(at) = arguments
        .iter()
        .position(|argument| argument == "--profile")
    {
        let number = |at: usize| arguments[at].parse().expect("a number");
        let file = PathBuf::from(&arguments[at + 1]);
        let text = || generate::package(1, number(at + 2), number(at + 3), 0);
        clean(
            Source::open(&written(file, text)).expect("opened").bytes(),
            1,
        );
        return;
    }
    // `cargo test --benches` passes no `--bench`: prove that it runs, on little.
    let small = !arguments.iter().any(|argument| argument == "--bench");
    let option = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1).cloned()
    };
    let rounds = option("--rounds")
        .and_then(|rounds| rounds.parse().ok())
        .unwrap_or(if small { 1 } else { 9 });
    let only = option("--only");
    let wanted = |case: &str| only.as_deref().is_none_or(|only| only == case);
    let folder = folder();
    if wanted("large") {
        let file = large(&folder, small);
        large_case(&file, rounds);
        memory_case(&file);
    }
    if wanted("files") {
        let (tables, rows) = if small { (5, 50) } else { (50, 5000) };
        let other = folder.join(format!("other-{tables}-{rows}-v2.json"));
        let other = written(other, || generate::package(2, tables, rows, 0));
        files::case(&large(&folder, small), &other, rounds);
    }
    if wanted("catalog") {
        Catalog::of_rows(&folder, small).report(rounds);
    }
    if wanted("manifests") {
        Catalog::of_manifests(&folder, small).report(rounds);
    }
    if wanted("graph") {
        graph::report(rounds * 10);
    }
    if wanted("process") {
        process_case(&folder);
    }
}

/// A folder for generated files, next to the build's own.
fn folder() -> PathBuf {
    let target = option_env!("CARGO_TARGET_TMPDIR").unwrap_or("target/tmp");
    let folder = Path::new(target).join("check-bench");
    std::fs::create_dir_all(&folder).expect("a folder for generated files");
    folder
}

/// Writes a generated file unless it is there; the name holds everything it depends on.
fn written(path: PathBuf, text: impl FnOnce() -> String) -> PathBuf {
    if !path.exists() {
        let unfinished = path.with_extension("part");
        std::fs::write(&unfinished, text()).expect("written");
        std::fs::rename(&unfinished, &path).expect("renamed");
    }
    path
}

fn large(folder: &Path, small: bool) -> PathBuf {
    let (tables, rows) = if small { (5, 50) } else { (50, 5000) };
    written(
        folder.join(format!("large-{tables}-{rows}-v2.json")),
        || generate::package(1, tables, rows, 0),
    )
}

fn clean(bytes: &[u8], threads: usize) {
    let report = check(
        bytes,
        &CheckOptions {
            threads,
            ..CheckOptions::default()
        },
    );
    for finding in report.findings.iter().take(5) {
        eprintln!(
            "{} {} {}",
            finding.rule.code, finding.place.pointer, finding.message
        );
    }
    assert!(report.findings.is_empty(), "generated packages are clean");
}

/// The command as a user starts it, its report to nowhere.
fn command(path: &Path) {
    let status = Command::new(env!("CARGO_BIN_EXE_tplkit"))
        .arg("check")
        .arg(path)
        .stdout(Stdio::null())
        .status()
        .expect("run");
    assert!(status.success(), "generated packages are clean");
}

fn large_case(file: &Path, rounds: usize) {
    let source = Source::open(file).expect("opened");
    let bytes = source.bytes();
    println!("one file of {:.1} MB", bytes.len() as f64 / 1e6);
    measure(
        rounds,
        [
            ("serde_json, IgnoredAny, 1 thread", &|| {
                serde_json::from_slice::<IgnoredAny>(bytes).expect("JSON");
            }),
            ("tplkit check FILE", &|| command(file)),
            ("check, 2 threads", &|| clean(bytes, 2)),
            ("check, 1 thread", &|| clean(bytes, 1)),
            ("open and check, 2 threads", &|| {
                clean(Source::open(file).expect("opened").bytes(), 2);
            }),
        ],
    );
}

/// Memory of a process of its own: a peak cannot be taken back.
fn memory_case(file: &Path) {
    let output = Command::new(std::env::current_exe().expect("this program"))
        .arg("--memory")
        .arg(file)
        .output()
        .expect("a child process");
    print!("{}", String::from_utf8_lossy(&output.stdout));
}

/// Private memory while one file is checked, sampled every half millisecond.
fn memory_of(file: &Path) {
    let source = Source::open(file).expect("opened");
    let before = anonymous();
    let done = AtomicBool::new(false);
    let peak = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                peak.fetch_max(anonymous(), Ordering::Relaxed);
                std::thread::sleep(Duration::from_micros(500));
            }
        });
        clean(source.bytes(), 2);
        done.store(true, Ordering::Relaxed);
    });
    let peak = peak.into_inner();
    println!(
        "  private memory beyond the file      peak {:.1} MB (before the check {:.1} MB)",
        peak as f64 / 1e3,
        before as f64 / 1e3
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

fn process_case(folder: &Path) {
    let file = written(folder.join("three-tables-v2.json"), || {
        generate::package(3, 3, 10, 0)
    });
    let program = env!("CARGO_BIN_EXE_tplkit");
    let run = || Command::new(program).arg("check").arg(&file).output();
    let first = run().expect("run");
    println!("whole process, three tables ({})", first.status);
    let mut times: Vec<Duration> = (0..40)
        .map(|_| {
            let start = Instant::now();
            run().expect("run");
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    println!(
        "  tplkit check FILE                   median {:.1?}  min {:.1?}",
        times[20], times[0]
    );
}
