//! How fast files go up and down, next to an nginx that takes uploads on the same disk, in turns; how much memory
//! eight uploads at once take; and what others notice of them. nginx responds to an upload before its bytes are on the
//! disk, so the bench flushes each file that nginx has taken, as the server does before it responds.
//!
//! `cargo bench -p tplkit-server --bench files`, or `… -- --only sqlite|postgres`. `--mebibytes N` of a large file
//! (100), `--small N` files of 10 kB a turn (1,000), `--rounds N` (5), `--seconds N` of others' requests (5). A ratio is
//! the median of those of the rounds. Without nginx in `PATH` or `/usr/sbin` only the server's own figures are printed.
#![expect(clippy::print_stdout, reason = "this is where it reports")]
#![expect(clippy::disallowed_methods, reason = "measuring needs a clock")]
#![expect(
    clippy::cast_precision_loss,
    reason = "ratios are printed with two digits"
)]

mod nginx;
mod place;
#[path = "../support/mod.rs"]
#[allow(dead_code, reason = "no bench uses all of it")]
mod support;

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use nginx::Nginx;
use place::Place;
use support::arguments::Arguments;
use support::server::{Indexed, Server};
use support::stores::on_each;
use support::victim::Victim;
use support::watch::RecordWatch;

/// Of a small file.
const SMALL: usize = 10_000;
/// Kept connections that carry the small ones.
const CONNECTIONS: usize = 4;
/// Large uploads at once.
const UPLOADS: usize = 8;

/// What is required: of the speed of nginx, and of the memory of uploads.
const LARGE_RATIO: f64 = 0.7;
const SMALL_RATIO: f64 = 0.5;
const MOST_MEMORY: u64 = 24_000_000;
const OTHERS_RATIO: f64 = 2.0;

struct Options {
    large: usize,
    small: usize,
    rounds: usize,
    time: Duration,
}

fn main() {
    let arguments = Arguments::read();
    let options = Options {
        large: arguments.number("--mebibytes", 100, 1) << 20,
        small: arguments.number("--small", 1_000, 8),
        rounds: arguments.number("--rounds", 5, 1).max(1),
        time: Duration::from_secs(arguments.number("--seconds", 5, 1)),
    };
    on_each(&arguments, |store, database| {
        let url = database("files");
        let folder = tempfile::tempdir().expect("a folder");
        let mut command = Command::new(env!("CARGO_BIN_EXE_tplkit-server"));
        command.env(
            "TPLKIT_FILES",
            format!("file:{}", folder.path().join("files").display()),
        );
        let server = Server::of_command(command, &url, 0, Indexed::Nothing);
        let nginx = Nginx::start();
        println!(
            "{store}: files of {} MiB, {} files of 10 kB over {CONNECTIONS} connections",
            options.large >> 20,
            options.small
        );
        if nginx.is_none() {
            println!("  no nginx: the server's own figures alone");
        }
        speed(&server, nginx.as_ref(), &options);
        memory(&server, &options);
        others(&server, &url, &options);
    });
}

/// Each transfer at the server and at nginx, in turns.
fn speed(server: &Server, nginx: Option<&Nginx>, options: &Options) {
    let own = Place::of_server(server);
    let other = nginx.map(Nginx::place);
    let mut seen: [Vec<[f64; 4]>; 2] = Default::default();
    for _ in 0..options.rounds {
        for (place, seen) in [Some(&own), other.as_ref()].into_iter().zip(&mut seen) {
            let Some(place) = place else { continue };
            let (large, up) = timed(|| place.upload(options.large));
            let (length, down) = timed(|| place.download(&large));
            assert_eq!(length, options.large, "the whole file comes back");
            let (small, many_up) = timed(|| place.upload_many(options.small, CONNECTIONS));
            let ((), many_down) = timed(|| place.download_many(&small, CONNECTIONS));
            seen.push([up, down, many_up, many_down]);
            place.delete(&[vec![large], small].concat());
        }
    }
    let megabytes = options.large as f64 / 1e6;
    let count = options.small as f64;
    for (at, (name, amount, unit, required)) in [
        ("upload, large", megabytes, "MB/s", LARGE_RATIO),
        ("download, large", megabytes, "MB/s", LARGE_RATIO),
        ("upload, small", count, "files/s", SMALL_RATIO),
        ("download, small", count, "files/s", SMALL_RATIO),
    ]
    .into_iter()
    .enumerate()
    {
        let times = |seen: &Vec<[f64; 4]>| seen.iter().map(|round| round[at]).collect::<Vec<_>>();
        let [own, other] = [times(&seen[0]), times(&seen[1])];
        let rate = amount / median(own.clone());
        print!("  {name:<16} {rate:>7.0} {unit}");
        if other.is_empty() {
            println!();
            continue;
        }
        let ratios = own.iter().zip(&other).map(|(own, other)| other / own);
        let ratio = median(ratios.collect());
        println!(
            ", {ratio:.2} of nginx ({:.0}){}",
            amount / median(other.clone()),
            verdict(ratio >= required)
        );
    }
}

/// How much memory eight uploads at once take.
fn memory(server: &Server, options: &Options) {
    let place = Place::of_server(server);
    let watch = RecordWatch::of(server.process());
    let (files, peak) = watch.during(|| at_once(&place, options));
    let above = peak.saturating_sub(watch.idle);
    println!(
        "  {UPLOADS} uploads at once: {:.1} MB above idle{}",
        above as f64 / 1e6,
        verdict(above <= MOST_MEMORY)
    );
    place.delete(&files);
}

/// How long requests of another organization take next to eight uploads at a time.
fn others(server: &Server, url: &str, options: &Options) {
    let victim = Victim::new(url, server.address, 200);
    victim.ask(options.time);
    let quiet = victim.time_reads_and_writes(2 * options.time);
    let place = Place::of_server(server);
    let over = AtomicBool::new(false);
    let during = thread::scope(|scope| {
        for _ in 0..UPLOADS {
            scope.spawn(|| {
                lower_priority();
                while !over.load(Ordering::Relaxed) {
                    let file = place.upload(options.large);
                    place.delete(&[file]);
                }
            });
        }
        let during = victim.time_reads_and_writes(2 * options.time);
        over.store(true, Ordering::Relaxed);
        during
    });
    for ((name, quiet), during) in ["reads", "writes"].into_iter().zip(quiet).zip(during) {
        let (quiet, during) = (quiet.percent(99), during.percent(99));
        let ratio = during.as_secs_f64() / quiet.as_secs_f64();
        println!(
            "  others' {name} next to {UPLOADS} uploads: 99 of 100 within {during:.1?}, {ratio:.2} of {quiet:.1?}{}",
            verdict(ratio <= OTHERS_RATIO)
        );
    }
}

/// Has the system prefer other threads to this one: clients that send files elsewhere take no processor from who is
/// measured here.
fn lower_priority() {
    #[cfg(target_os = "linux")]
    rustix::process::setpriority_process(Some(rustix::thread::gettid()), 19).expect("is lowered");
}

/// The names of the files that were uploaded at the same time.
fn at_once(place: &Place, options: &Options) -> Vec<String> {
    thread::scope(|scope| {
        let uploads: Vec<_> = (0..UPLOADS)
            .map(|_| scope.spawn(|| place.upload(options.large)))
            .collect();
        let files = uploads
            .into_iter()
            .map(|upload| upload.join().expect("uploads"));
        files.collect()
    })
}

fn verdict(holds: bool) -> &'static str {
    if holds { "" } else { "  BEYOND BOUNDS" }
}

/// What work gives, and the seconds that it took.
fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let began = Instant::now();
    let done = work();
    (done, began.elapsed().as_secs_f64())
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or_default()
}
