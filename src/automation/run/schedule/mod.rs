//! Computes when a `cron` trigger is due.
//!
//! In: the trigger's config, and an instant. Out: the next due instant after it; calling again with
//! the result visits each due instant once. Daylight saving: a skipped time of day is due as long
//! after midnight as usual, and a repeated one is due the first time. Schedules that run hourly or
//! more often (the hour starts with `*`) follow elapsed time instead: nothing is due in a skipped
//! hour, and a repeated hour counts twice.

mod days;
mod fields;
#[cfg(test)]
mod tests;
mod timer;

use jiff::Timestamp;
use jiff::civil::{Date, Time};
use jiff::tz::{AmbiguousOffset, TimeZone};

pub use timer::Timer;

use crate::automation::cron::fault;
use crate::json::Value;
use days::{Days, WeekDay};
use fields::{MONTHS, month_days, set, week_days};

/// How many days are searched: the 29th of February comes within eight years.
const MAX_DAYS_AHEAD: usize = 366 * 9;

/// Where a schedule without a beginning of its own starts.
const SOME_DAY: Timestamp = Timestamp::UNIX_EPOCH;

/// When something is due.
#[derive(Debug, Clone)]
pub struct Schedule {
    minutes: u64,
    hours: u64,
    months: u64,
    days: Days,
    zone: TimeZone,
    /// Whether it follows the time that passes rather than the time of day.
    passing: bool,
}

impl Schedule {
    /// Reads the config of a `cron` trigger; `timer` is what the named timer says, for mode `profile`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(config: &Value, timer: Option<&Timer>) -> Result<Schedule, String> {
        let text = |key: &str| config.get(key).and_then(Value::as_str);
        let number = |key: &str| match config.get(key) {
            Some(Value::Number(number)) => number.as_i64(),
            _ => None,
        };
        let name = text("timezone")
            .filter(|name| !name.is_empty())
            .unwrap_or("UTC");
        let zone = TimeZone::get(name).map_err(|_| format!("there is no time zone `{name}`"))?;
        let at = || -> Result<(u64, u64), String> {
            let at = text("atTime").unwrap_or_default();
            let (hour, minute) = at.split_once(':').unwrap_or_default();
            let part = |text: &str, most: u32| text.parse().ok().filter(|n: &u32| *n <= most);
            match (part(hour, 23), part(minute, 59)) {
                (Some(hour), Some(minute)) => Ok((1 << hour, 1 << minute)),
                _ => Err(format!("`{at}` is not a time of day")),
            }
        };
        let daily = |days| -> Result<Schedule, String> {
            let (hours, minutes) = at()?;
            Ok(Schedule {
                minutes,
                hours,
                months: u64::MAX,
                days,
                zone: zone.clone(),
                passing: false,
            })
        };
        let every = Days::Fields {
            of_month: None,
            of_week: None,
        };
        match text("mode") {
            Some("hourly") => Schedule::fields("0 * * * *", zone.clone()),
            Some("daily") => daily(every),
            Some("weekly") => {
                let day = number("dayOfWeek").ok_or("`dayOfWeek` is missing")?;
                let day = i8::try_from(day % 7).map_err(|error| error.to_string())?;
                daily(Days::Fields {
                    of_month: None,
                    of_week: Some(vec![WeekDay::Each(day)]),
                })
            }
            Some("monthly") => {
                let day = number("dayOfMonth").ok_or("`dayOfMonth` is missing")?;
                let day = i8::try_from(day).map_err(|error| error.to_string())?;
                daily(Days::OfMonth(day))
            }
            Some("expression") => Schedule::fields(text("expression").unwrap_or_default(), zone),
            Some("profile") => match timer {
                Some(Timer::Cron(fields)) => Schedule::fields(fields, zone),
                Some(Timer::Delay(_)) => Err("the timer is a while and no rhythm".to_owned()),
                None => Err("there is no such timer".to_owned()),
            },
            _ => Err("it says no rhythm".to_owned()),
        }
    }

    /// Reads the five fields of an expression, in UTC.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn of_fields(text: &str) -> Result<Schedule, String> {
        Schedule::fields(text, TimeZone::UTC)
    }

    /// Five fields in a zone.
    fn fields(text: &str, zone: TimeZone) -> Result<Schedule, String> {
        if let Some(fault) = fault(text) {
            return Err(fault);
        }
        let fields: Vec<&str> = text.split_whitespace().collect();
        let [minute, hour, month_day, month, week_day] = fields[..] else {
            return Err("it has not five fields".to_owned());
        };
        Ok(Schedule {
            minutes: set(minute, 0, 59, &[]),
            hours: set(hour, 0, 23, &[]),
            months: set(month, 1, 12, &MONTHS),
            days: Days::Fields {
                of_month: month_days(month_day),
                of_week: week_days(week_day),
            },
            zone,
            passing: hour.starts_with('*'),
        })
    }

    /// The first instant after that one which is due; none when there is none in years.
    pub fn next_after(&self, after: Timestamp) -> Option<Timestamp> {
        let first = after.to_zoned(self.zone.clone()).date().yesterday().ok()?;
        let mut date = first;
        for _ in 0..MAX_DAYS_AHEAD {
            if self.falls_on(date)
                && let Some(due) = self.on(date).filter(|due| *due > after).min()
            {
                return Some(due);
            }
            date = date.tomorrow().ok()?;
        }
        None
    }

    /// Whether there is an instant at which it is due: some months have no 30th.
    pub fn is_ever_due(&self) -> bool {
        self.next_after(SOME_DAY).is_some()
    }

    /// The instants of a day.
    fn on(&self, date: Date) -> impl Iterator<Item = Timestamp> {
        let hours = (0..24i8).filter(|hour| self.hours & (1 << hour) != 0);
        let times = hours.flat_map(|hour| {
            let minutes = (0..60i8).filter(|minute| self.minutes & (1 << minute) != 0);
            minutes.map(move |minute| (hour, minute))
        });
        times.flat_map(move |(hour, minute)| {
            let time = Time::new(hour, minute, 0, 0).unwrap_or_default();
            let ambiguous = self.zone.to_ambiguous_timestamp(date.to_datetime(time));
            let both = match (ambiguous.offset(), self.passing) {
                (AmbiguousOffset::Gap { .. }, true) => [None, None],
                (AmbiguousOffset::Fold { .. }, true) => {
                    [ambiguous.earlier().ok(), ambiguous.later().ok()]
                }
                _ => [ambiguous.compatible().ok(), None],
            };
            both.into_iter().flatten()
        })
    }

    fn falls_on(&self, date: Date) -> bool {
        self.months & (1 << date.month()) != 0 && self.days.hold(date)
    }
}
