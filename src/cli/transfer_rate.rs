//! How fast something goes and how long it still takes, as it is shown next to a bar.
//!
//! In: what is done, of how many, and since when. Out: `{rate}` and `{rest}` of a style. An average since the bar is
//! there: what was done before counts for nothing, and a pause at the end neither.

use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;

use indicatif::{HumanDuration, ProgressState, ProgressStyle};

/// A style that knows `{rate}`, the things of a second, and `{rest}`, the time that is left. `from` were done before the
/// bar was there; `words` says a number of things.
pub(crate) fn with_pace(
    style: ProgressStyle,
    from: u64,
    words: fn(u64) -> String,
) -> ProgressStyle {
    let done_after = OnceLock::new();
    // Nobody reads a message about a line that cannot be drawn.
    let rate = move |state: &ProgressState, out: &mut dyn fmt::Write| {
        let time = match state.len() {
            Some(total) if state.pos() >= total => *done_after.get_or_init(|| state.elapsed()),
            _ => state.elapsed(),
        };
        let rate = per_second(state.pos().saturating_sub(from), time);
        let _ = write!(out, "{}/s", words(rate));
    };
    let rest = move |state: &ProgressState, out: &mut dyn fmt::Write| {
        let left = state.len().unwrap_or_default().saturating_sub(state.pos());
        let done = state.pos().saturating_sub(from);
        let _ = match time_left(done, left, state.elapsed()) {
            Some(time) => write!(out, "{:#}", HumanDuration(time)),
            None => out.write_str("?"),
        };
    };
    style.with_key("rate", rate).with_key("rest", rest)
}

fn per_second(done: u64, time: Duration) -> u64 {
    let time = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    done.saturating_mul(1000) / time.max(1)
}

/// Nobody knows it before something is done.
fn time_left(done: u64, left: u64, time: Duration) -> Option<Duration> {
    if left == 0 {
        return Some(Duration::ZERO);
    }
    let seconds = left.checked_div(per_second(done, time))?;
    Some(Duration::from_secs(seconds.max(1)))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{per_second, time_left};

    const TIME: Duration = Duration::from_millis(1500);

    #[test]
    fn a_rate_is_what_is_done_by_the_time_it_took() {
        assert_eq!(per_second(0, Duration::ZERO), 0);
        assert_eq!(per_second(3_000, TIME), 2_000);
    }

    #[test]
    fn what_is_left_is_known_once_something_is_done() {
        assert_eq!(time_left(0, 30_000, TIME), None);
        assert_eq!(
            time_left(3_000, 30_000, TIME),
            Some(Duration::from_secs(15))
        );
        assert_eq!(time_left(3_000, 1, TIME), Some(Duration::from_secs(1)));
        assert_eq!(time_left(0, 0, Duration::ZERO), Some(Duration::ZERO));
    }
}
