//! Wall and processor time of several cases in interleaved rounds, as ratios to the first of them.

use std::time::{Duration, Instant};

/// What the rounds of one case took.
#[derive(Default)]
struct Times {
    wall: Vec<Duration>,
    processor: Duration,
}

/// Runs and prints the cases. They take turns, so that a busy moment of the machine hits all alike.
///
/// Wall time is the median of the rounds, processor time their mean: Linux counts it in hundredths of a second, which
/// is much in one round and little in all.
pub(crate) fn measure<const N: usize>(rounds: usize, cases: [(&str, &dyn Fn()); N]) {
    let mut times: [Times; N] = std::array::from_fn(|_| Times::default());
    for round in 0..=rounds {
        for (times, (_, case)) in times.iter_mut().zip(&cases) {
            let (start, processor) = (Instant::now(), processor_time());
            case();
            // The first round warms the caches.
            if round > 0 {
                times.wall.push(start.elapsed());
                times.processor += processor_time().saturating_sub(processor);
            }
        }
    }
    for times in &mut times {
        times.wall.sort_unstable();
    }
    let ratio = |time: Duration, yardstick: Duration| time.as_secs_f64() / yardstick.as_secs_f64();
    let median = |times: &Times| times.wall[times.wall.len() / 2];
    for ((name, _), of) in cases.iter().zip(&times) {
        let yardstick = &times[0];
        println!(
            "  {name:<34} wall {:>8.1?}  ratio {:.2} (of minima {:.2})  processor {:>8.1?}  ratio {:.2}",
            median(of),
            ratio(median(of), median(yardstick)),
            ratio(of.wall[0], yardstick.wall[0]),
            of.processor / u32::try_from(rounds).unwrap_or(u32::MAX),
            ratio(of.processor, yardstick.processor),
        );
    }
}

/// User and system time of this process and of the children that it has waited for; zero where the system does not
/// report it.
fn processor_time() -> Duration {
    let line = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = line.rsplit_once(") ").map_or("", |(_, fields)| fields);
    let ticks = fields.split(' ').skip(11).take(4);
    let hundredths: u64 = ticks.filter_map(|tick| tick.parse::<u64>().ok()).sum();
    Duration::from_millis(hundredths * 10)
}
