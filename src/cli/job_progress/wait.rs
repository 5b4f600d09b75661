//! The options for waiting: the time limit, and which losses are accepted.

use clap::ValueEnum;
use jiff::SignedDuration;
use tplkit::apply::Report;

use crate::cli::apply_summary::FailedRows;

/// The options for waiting: the time limit, and which losses are accepted.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct WaitOptions {
    /// Wait at most this long, for example `90s`, `10m` or `1h`. After that the job continues, and
    /// the exit code is 69.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    wait: Option<SignedDuration>,
    /// Exit with 68 when something was not carried over; with `required` only when a required
    /// dependency was skipped.
    #[arg(
        long,
        value_name = "WHAT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "any"
    )]
    fail_on_unresolved: Option<Strictness>,
    #[command(flatten)]
    failed_rows: FailedRows,
}

/// Which entries of a report are too many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Strictness {
    /// All of them, including those of the package.
    Any,
    /// Those of required dependencies that were skipped.
    Required,
}

impl WaitOptions {
    /// At most so long, whatever is left open.
    pub(crate) fn at_most(wait: Option<SignedDuration>) -> WaitOptions {
        WaitOptions {
            wait,
            ..WaitOptions::default()
        }
    }

    pub(crate) fn limit(&self) -> Option<SignedDuration> {
        self.wait
    }

    /// What could not be written, unless that is accepted.
    pub(crate) fn lost(&self, report: &Report) -> Option<String> {
        self.failed_rows.lost(report)
    }

    /// How many entries of a report are too many.
    pub(crate) fn too_many(&self, report: &Report) -> usize {
        let entries = report.unresolved.iter();
        match self.fail_on_unresolved {
            None => 0,
            Some(Strictness::Any) => entries.count(),
            Some(Strictness::Required) => {
                entries.filter(|entry| entry.required == Some(true)).count()
            }
        }
    }
}

/// Reads a time such as `90s`.
pub(crate) fn duration(word: &str) -> Result<SignedDuration, String> {
    let seconds = word.parse::<u32>().ok();
    let parsed = match seconds {
        Some(seconds) => Some(SignedDuration::from_secs(i64::from(seconds))),
        None => word.parse().ok(),
    };
    // More than a year is a slip, and less than nothing too.
    let bound = SignedDuration::from_hours(24 * 366);
    let parsed = parsed.filter(|time| !time.is_negative() && *time <= bound);
    parsed.ok_or_else(|| "give a time such as `90s`, `10m` or `1h30m`".to_owned())
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::duration;

    #[test]
    fn durations_are_parsed() {
        assert_eq!(duration("10m"), Ok(SignedDuration::from_mins(10)));
        assert_eq!(duration("1h30m"), Ok(SignedDuration::from_mins(90)));
        assert_eq!(duration("90"), Ok(SignedDuration::from_secs(90)));
        assert_eq!(duration("0s"), Ok(SignedDuration::ZERO));
        for word in ["", "soon", "-1s", "9999999999h", "400d"] {
            assert!(duration(word).is_err(), "{word}");
        }
    }
}
