//! From an event to its finished run, at a steady hundred writes a second.

use std::thread;
use std::time::{Duration, Instant};

use super::fixtures::{Automation, Fixture, written};
use super::{Options, median};

const PAUSE: Duration = Duration::from_millis(10);
const POLL_EVERY: Duration = Duration::from_millis(1);

pub(crate) fn report(options: &Options, database: &str) {
    let mut fixture = Fixture::start(database, Automation::Active, &[]);
    let count = options.seconds * 100;
    // The yardstick: what writing a row takes that nobody waits for, at the same pace.
    let quiet: Vec<_> = (0..count).map(|n| fixture.silent(n)).collect();
    let mut quiet = paced(&mut fixture, &quiet).1;
    let (mut connection, request) = fixture.watch();
    let watching = thread::spawn(move || {
        let mut ended = Vec::with_capacity(count);
        while ended.len() < count {
            let seen = written(&mut connection, &request);
            ended.resize(seen.max(ended.len()), Instant::now());
            thread::sleep(POLL_EVERY);
        }
        ended
    });
    let firing: Vec<_> = (0..count).map(|n| fixture.firing(n)).collect();
    let (acknowledged, mut responses) = paced(&mut fixture, &firing);
    let ended = watching.join().expect("ends");
    // Runs end nearly in the order of their events; the sum is the same in whatever order.
    let times = acknowledged.iter().zip(ended);
    let times = times.map(|(from, to)| nanos(to.saturating_duration_since(*from)));
    let mut times: Vec<u64> = times.collect();
    let (quiet, responded) = (median(&mut quiet), median(&mut responses));
    let took = median(&mut times);
    let late = times[times.len() * 99 / 100] as f64 / 1e6;
    println!(
        "  event to finished run   {:>8.2} ms, 99 of 100 in {late:.1} ms; {:.1} x a row written ({:.2} ms; {:.2} ms where it fires)",
        took / 1000.0,
        took / quiet,
        quiet / 1000.0,
        responded / 1000.0,
    );
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Sends requests at a pace; gives when each response came, and how long each took.
fn paced(fixture: &mut Fixture, requests: &[super::load::Request]) -> (Vec<Instant>, Vec<u64>) {
    let mut due = Instant::now();
    let (mut at, mut took) = (Vec::new(), Vec::new());
    for request in requests {
        due += PAUSE;
        thread::sleep(due.saturating_duration_since(Instant::now()));
        let began = Instant::now();
        let (status, response) = fixture.connection.ask(request);
        assert_eq!(status, 201, "{}", String::from_utf8_lossy(&response));
        at.push(Instant::now());
        took.push(nanos(began.elapsed()));
    }
    (at, took)
}
