//! When something happened, as people at a terminal want it: how long ago.
//!
//! In: an instant as a server writes it. Out: words at a terminal; elsewhere the instant itself, for programs.

use std::io::{self, IsTerminal as _};

use jiff::Timestamp;
use tplkit::context::Clock as _;
use tplkit::finding::render::counted;
use tplkit::printable;

use super::session::SystemClock;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
/// From then on a date says more.
const MAX_RELATIVE_SECONDS: i64 = 30 * DAY;

/// An instant for a list on standard output; `-` where there is none.
pub(crate) fn moment(instant: Option<&str>) -> String {
    let Some(instant) = instant else {
        return "-".to_owned();
    };
    match instant.parse::<Timestamp>() {
        Ok(then) if io::stdout().is_terminal() => ago(then, SystemClock.now()),
        _ => printable::line(instant),
    }
}

/// How long ago it was; the day where that is long, or where the clocks disagree.
fn ago(then: Timestamp, now: Timestamp) -> String {
    let seconds = now.as_second() - then.as_second();
    let (count, word) = match seconds {
        // Clocks of two machines differ by a little.
        _ if seconds.abs() < MINUTE => return "just now".to_owned(),
        MINUTE..HOUR => (seconds / MINUTE, "minute"),
        HOUR..DAY => (seconds / HOUR, "hour"),
        DAY..MAX_RELATIVE_SECONDS => (seconds / DAY, "day"),
        _ => return then.strftime("%Y-%m-%d").to_string(),
    };
    let count = usize::try_from(count).unwrap_or_default();
    format!("{} ago", counted(count, word))
}

#[cfg(test)]
mod tests {
    use super::ago;

    #[test]
    fn near_instants_are_ages_and_far_ones_days() {
        let now = "2026-11-27T08:00:00Z".parse().expect("an instant");
        for (then, words) in [
            ("2026-11-27T08:00:30Z", "just now"),
            ("2026-11-27T07:59:01.5Z", "just now"),
            ("2026-11-27T07:59:00Z", "1 minute ago"),
            ("2026-11-27T07:00:01Z", "59 minutes ago"),
            ("2026-11-27T07:00:00Z", "1 hour ago"),
            ("2026-11-25T08:00:00Z", "2 days ago"),
            ("2026-10-28T08:00:00Z", "2026-10-28"),
            ("2026-12-01T00:00:00Z", "2026-12-01"),
        ] {
            let then = then.parse().expect("an instant");
            assert_eq!(ago(then, now), words, "{then}");
        }
    }
}
