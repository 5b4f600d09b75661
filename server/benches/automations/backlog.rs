//! A backlog on a store that is new: how fast workers make runs of it and execute them in the first seconds,
//! in the slowest ones and altogether, one worker and two. No numbers about the queues have been gathered then.

use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use super::Options;
use super::fixtures::{Automation, Fixture, written};
use super::process::command;

/// Over how long a rate is taken.
const WINDOW: Duration = Duration::from_secs(2);

pub(crate) fn report(options: &Options, database: impl Fn(&str) -> String) {
    for workers in [1, 2] {
        let database = database(&format!("backlog{workers}"));
        let mut fixture = Fixture::start(&database, Automation::Active, &["--no-worker"]);
        fixture.fire(options.backlog);
        let rates = worked_off(&fixture, &database, workers, options.backlog);
        let per_second = WINDOW.as_secs_f64();
        let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
        let total: f64 = rates.iter().sum::<f64>() / rates.len() as f64;
        println!(
            "  {:>6} events wait, {workers} worker{}  first {per_second} s {:>6.0}/s, slowest {least:>6.0}/s, all {total:>6.0}/s",
            options.backlog,
            if workers == 1 { " " } else { "s" },
            rates.first().copied().unwrap_or_default(),
        );
    }
}

/// How many runs ended in each second of each window but the last, which is cut short.
fn worked_off(fixture: &Fixture, database: &str, workers: usize, events: usize) -> Vec<f64> {
    let (mut connection, request) = fixture.watch();
    let started: Vec<Worker> = (0..workers).map(|_| Worker::start(database)).collect();
    let (mut rates, mut before, mut since) = (Vec::new(), 0, Instant::now());
    loop {
        thread::sleep(WINDOW.saturating_sub(since.elapsed()));
        let now = written(&mut connection, &request);
        let took = since.elapsed().as_secs_f64();
        since = Instant::now();
        if now < events || rates.is_empty() {
            rates.push((now - before) as f64 / took);
        }
        if now >= events {
            drop(started);
            return rates;
        }
        before = now;
    }
}

/// A worker that is gone with the measurement.
struct Worker(Child);

impl Worker {
    fn start(database: &str) -> Worker {
        let mut worker = command(&["worker", "--log-level", "warn", "--database", database]);
        Worker(worker.spawn().expect("starts"))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
