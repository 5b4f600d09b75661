//! Events that have waited: how fast a worker that comes late makes runs of them and executes those.

use std::thread;
use std::time::{Duration, Instant};

use super::Options;
use super::fixtures::{Automation, Fixture, written};
use super::load;

const POLL_EVERY: Duration = Duration::from_millis(5);

pub(crate) fn report(options: &Options, database: &str) {
    let mut fixture = Fixture::start(database, Automation::Active, &["--no-worker"]);
    // The yardstick: as many rows, each written by a request of its own, over as many connections as
    // runs are executed at once.
    let address = fixture.serving.address.parse().expect("an address");
    let time = Duration::from_millis(if options.small { 100 } else { 2_000 });
    let alone = load::run(address, 32, time, 201, |_, n| fixture.silent(n));
    fixture.fire(options.events);
    let fixture = fixture.restart(database, &[]);
    let begun = Instant::now();
    let (mut connection, request) = fixture.watch();
    while written(&mut connection, &request) < options.events {
        thread::sleep(POLL_EVERY);
    }
    let rate = options.events as f64 / begun.elapsed().as_secs_f64();
    println!(
        "  {:>5} events drained    {rate:>8.0} runs/s; {:.2} of rows written alone ({:.0}/s)",
        options.events,
        rate / alone.per_second,
        alone.per_second,
    );
}
