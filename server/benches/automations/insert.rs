//! What automations cost a table that has none: rows are written in turns, where no automation exists and
//! where one waits for another table.

use std::time::Instant;

use super::fixtures::{Automation, Fixture};
use super::load::Request;
use super::{Options, median};

/// How many rows are written before it is the other's turn.
const BLOCK: usize = 50;

pub(crate) fn report(options: &Options, without: &str, with: &str) {
    let mut without = Fixture::start(without, Automation::None, &[]);
    let mut with = Fixture::start(with, Automation::Active, &[]);
    let blocks = if options.small { 2 } else { 60 };
    let (mut alone, mut unawaited) = (Vec::new(), Vec::new());
    for block in 0..blocks {
        let numbers = block * BLOCK..(block + 1) * BLOCK;
        let of = |make: &dyn Fn(usize) -> Request| numbers.clone().map(make).collect::<Vec<_>>();
        let (quiet, silent) = (of(&|n| without.silent(n)), of(&|n| with.silent(n)));
        alone.extend(timed(&mut without, &quiet));
        unawaited.extend(timed(&mut with, &silent));
    }
    let fired: Vec<_> = (0..blocks * 5).map(|n| with.firing(n)).collect();
    let mut firing = timed(&mut with, &fired);
    let (alone, unawaited) = (median(&mut alone), median(&mut unawaited));
    let firing = median(&mut firing);
    println!(
        "  a row that nobody awaits {unawaited:>7.0} µs; {:.2} x the same without automations ({alone:.0} µs); {:.2} x where it fires",
        unawaited / alone,
        firing / alone,
    );
}

fn timed(fixture: &mut Fixture, requests: &[Request]) -> Vec<u64> {
    let times = requests.iter().map(|request| {
        let began = Instant::now();
        let (status, response) = fixture.connection.ask(request);
        assert_eq!(status, 201, "{}", String::from_utf8_lossy(&response));
        u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX)
    });
    times.collect()
}
