//! Named timers of an organization: a cron schedule, or a delay.

use super::Schedule;
use crate::automation::cron::fault;

/// A named timer: a rhythm, or a while.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Timer {
    /// Five fields.
    Cron(String),
    /// Seconds.
    Delay(i64),
}

impl Timer {
    /// Reads `cron:FIELDS` or `delay:SECONDS`.
    pub fn parse(text: &str) -> Option<Timer> {
        if let Some(fields) = text.strip_prefix("cron:") {
            let fields = fields.trim();
            return fault(fields)
                .is_none()
                .then(|| Timer::Cron(fields.to_owned()));
        }
        let seconds = text.strip_prefix("delay:")?.trim().parse().ok()?;
        (0..=2_592_000)
            .contains(&seconds)
            .then_some(Timer::Delay(seconds))
    }

    /// Whether its rhythm has a day in the calendar; a while always ends.
    pub fn is_ever_due(&self) -> bool {
        match self {
            Timer::Cron(fields) => Schedule::of_fields(fields).is_ok_and(|due| due.is_ever_due()),
            Timer::Delay(_) => true,
        }
    }
}
