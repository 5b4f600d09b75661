//! When a `cron` trigger is due.
//!
//! Goes in: the trigger's config, and an instant. Comes out: the first instant after it that is due, so
//! that whoever asks again with the answer goes through all of them, each once.
//!
//! Clocks that are put forward or back: a time of day that is skipped is due as long after midnight as it
//! would have been, a time of day that comes twice is due the first time. What is due every hour or more
//! often (its hour begins with `*`) follows the time that passes instead: nothing is due in an hour that is
//! skipped, and an hour that comes twice counts twice.

use jiff::civil::{Date, Time, Weekday};
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{Timestamp, ToSpan as _};

use crate::automation::cron::fault;
use crate::json::Value;

/// How many days are looked at: the 29th of February comes within eight years.
const FAR: usize = 366 * 9;

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

/// On which days.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Days {
    /// That day of the month, the last one of a shorter month.
    OfMonth(i8),
    /// As the fields of an expression say.
    Fields {
        of_month: Option<Vec<MonthDay>>,
        of_week: Option<Vec<WeekDay>>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MonthDay {
    Day(i8),
    Last,
    LastWorking,
    Working(i8),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WeekDay {
    /// 0 is Sunday.
    Each(i8),
    Nth(i8, i8),
    Last(i8),
}

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
                _ => Err(format!("`{at}` is no time of day")),
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
        for _ in 0..FAR {
            if self.falls_on(date)
                && let Some(due) = self.on(date).filter(|due| *due > after).min()
            {
                return Some(due);
            }
            date = date.tomorrow().ok()?;
        }
        None
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
        if self.months & (1 << date.month()) == 0 {
            return false;
        }
        match &self.days {
            Days::OfMonth(day) => date.day() == (*day).min(date.days_in_month()),
            Days::Fields { of_month, of_week } => {
                let by_month = |days: &Vec<MonthDay>| days.iter().any(|day| day.is(date));
                let by_week = |days: &Vec<WeekDay>| days.iter().any(|day| day.is(date));
                match (of_month, of_week) {
                    // Where both are limited, either will do.
                    (Some(month), Some(week)) => by_month(month) || by_week(week),
                    (Some(month), None) => by_month(month),
                    (None, Some(week)) => by_week(week),
                    (None, None) => true,
                }
            }
        }
    }
}

impl MonthDay {
    fn is(self, date: Date) -> bool {
        match self {
            MonthDay::Day(day) => date.day() == day,
            MonthDay::Last => date.day() == date.days_in_month(),
            MonthDay::LastWorking => Some(date) == working(date, date.days_in_month()),
            MonthDay::Working(day) => Some(date) == working(date, day.min(date.days_in_month())),
        }
    }
}

/// The working day nearest to a day of the month of `date`, in that month.
fn working(date: Date, day: i8) -> Option<Date> {
    let day = Date::new(date.year(), date.month(), day).ok()?;
    let moved = match day.weekday() {
        Weekday::Saturday if day.day() == 1 => day.checked_add(2.days()),
        Weekday::Saturday => day.checked_sub(1.day()),
        Weekday::Sunday if day.day() == day.days_in_month() => day.checked_sub(2.days()),
        Weekday::Sunday => day.checked_add(1.day()),
        _ => Ok(day),
    };
    moved.ok()
}

impl WeekDay {
    fn is(self, date: Date) -> bool {
        let today = date.weekday().to_sunday_zero_offset();
        match self {
            WeekDay::Each(day) => today == day,
            WeekDay::Nth(day, nth) => today == day && (date.day() - 1) / 7 + 1 == nth,
            WeekDay::Last(day) => today == day && date.day() + 7 > date.days_in_month(),
        }
    }
}

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];
const WEEK: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// A field is read with the same eyes with which it was judged: what cannot be read names nothing.
fn value(text: &str, low: u32, words: &[&str]) -> Option<u32> {
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    let at = words
        .iter()
        .position(|word| word.eq_ignore_ascii_case(text))?;
    Some(low + u32::try_from(at).ok()?)
}

/// The values of one item: `*`, `a`, `a-b`, each with or without `/step`.
fn item(text: &str, low: u32, high: u32, words: &[&str]) -> u64 {
    let (range, step) = match text.split_once('/') {
        Some((range, step)) => (range, step.parse().unwrap_or(1)),
        None => (text, 1),
    };
    let (from, to) = match range {
        "*" | "?" => (low, high),
        _ => match range.split_once('-') {
            Some((from, to)) => (
                value(from, low, words).unwrap_or(low),
                value(to, low, words).unwrap_or(high),
            ),
            None => match value(range, low, words) {
                Some(from) if text.contains('/') => (from, high),
                Some(one) => (one, one),
                None => return 0,
            },
        },
    };
    (from..=to.min(high))
        .step_by(usize::try_from(step.max(1)).unwrap_or(1))
        .fold(0, |all, one: u32| all | 1 << one)
}

fn set(text: &str, low: u32, high: u32, words: &[&str]) -> u64 {
    let items = text.split(',').map(|one| item(one, low, high, words));
    items.fold(0, |all, one| all | one)
}

fn small(number: u32) -> i8 {
    i8::try_from(number).unwrap_or(i8::MAX)
}

/// The days that a field names; none when it names all.
fn month_days(text: &str) -> Option<Vec<MonthDay>> {
    if text.starts_with(['*', '?']) && !text.contains('/') {
        return None;
    }
    let mut days = Vec::new();
    for one in text.split(',') {
        let upper = one.to_ascii_uppercase();
        let working = upper.strip_suffix('W').and_then(|day| day.parse().ok());
        match (upper.as_str(), working) {
            ("L", _) => days.push(MonthDay::Last),
            ("LW", _) => days.push(MonthDay::LastWorking),
            (_, Some(day)) => days.push(MonthDay::Working(day)),
            _ => {
                let all = item(one, 1, 31, &[]);
                let named = (1..=31u32).filter(|day| all & (1 << day) != 0);
                days.extend(named.map(|day| MonthDay::Day(small(day))));
            }
        }
    }
    Some(days)
}

fn week_days(text: &str) -> Option<Vec<WeekDay>> {
    if text.starts_with(['*', '?']) && !text.contains('/') {
        return None;
    }
    let day = |text: &str| value(text, 0, &WEEK).map(|day| small(day % 7));
    let mut days = Vec::new();
    for one in text.split(',') {
        let upper = one.to_ascii_uppercase();
        let nth = upper.split_once('#');
        let nth = nth.and_then(|(which, nth)| Some((day(which)?, nth.parse().ok()?)));
        if let Some((which, nth)) = nth {
            days.push(WeekDay::Nth(which, nth));
        } else if upper == "L" {
            days.push(WeekDay::Each(6));
        } else if let Some(which) = upper.strip_suffix('L').and_then(day) {
            days.push(WeekDay::Last(which));
        } else {
            let all = item(one, 0, 7, &WEEK);
            let named = (0..=7u32).filter(|day| all & (1 << day) != 0);
            days.extend(named.map(|day| WeekDay::Each(small(day % 7))));
        }
    }
    Some(days)
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::{Schedule, Timer};
    use crate::json::Value;

    fn schedule(config: &str) -> Schedule {
        let config = Value::parse(config).expect("JSON");
        Schedule::read(&config, Some(&Timer::Cron("30 6 * * *".to_owned()))).expect("a schedule")
    }

    fn due(config: &str, from: &str, until: &str) -> Vec<String> {
        let schedule = schedule(config);
        let (mut at, until): (Timestamp, Timestamp) = (
            from.parse().expect("an instant"),
            until.parse().expect("an instant"),
        );
        let mut all = Vec::new();
        while let Some(next) = schedule.next_after(at).filter(|next| *next <= until) {
            all.push(next.to_string());
            at = next;
        }
        all
    }

    #[test]
    fn a_time_of_day_that_is_skipped_or_comes_twice_is_due_once() {
        // Lisbon goes from 01:00 to 02:00 on 29 March 2026, and from 02:00 to 01:00 on 25 October.
        let config = r#"{"mode":"daily","atTime":"01:30","timezone":"Europe/Lisbon"}"#;
        assert_eq!(
            due(config, "2026-03-28T00:00:00Z", "2026-03-31T00:00:00Z"),
            [
                "2026-03-28T01:30:00Z",
                "2026-03-29T01:30:00Z",
                "2026-03-30T00:30:00Z"
            ]
        );
        assert_eq!(
            due(config, "2026-10-24T00:00:00Z", "2026-10-27T00:00:00Z"),
            [
                "2026-10-24T00:30:00Z",
                "2026-10-25T00:30:00Z",
                "2026-10-26T01:30:00Z"
            ]
        );
    }

    #[test]
    fn what_is_due_every_hour_follows_the_time_that_passes() {
        for config in [
            r#"{"mode":"hourly","timezone":"America/New_York"}"#,
            r#"{"mode":"expression","expression":"0 * * * *","timezone":"America/New_York"}"#,
        ] {
            for (from, until) in [
                ("2026-03-08T04:30:00Z", "2026-03-08T10:00:00Z"),
                ("2026-11-01T04:30:00Z", "2026-11-01T10:00:00Z"),
            ] {
                let all = due(config, from, until);
                let hours: Vec<String> = (5..=10)
                    .map(|hour| format!("{}T{hour:02}:00:00Z", &from[..10]))
                    .collect();
                assert_eq!(all, hours);
            }
        }
    }

    #[test]
    fn every_mode_has_its_days() {
        for (config, from, expected) in [
            (
                r#"{"mode":"weekly","atTime":"09:05","dayOfWeek":7}"#,
                "2026-11-22T09:05:00Z",
                "2026-11-29T09:05:00Z",
            ),
            (
                r#"{"mode":"weekly","atTime":"09:05","dayOfWeek":1}"#,
                "2026-11-22T09:05:00Z",
                "2026-11-23T09:05:00Z",
            ),
            (
                r#"{"mode":"monthly","atTime":"00:00","dayOfMonth":31}"#,
                "2026-02-01T00:00:00Z",
                "2026-02-28T00:00:00Z",
            ),
            (
                r#"{"mode":"monthly","atTime":"00:00","dayOfMonth":31}"#,
                "2026-02-28T00:00:00Z",
                "2026-03-31T00:00:00Z",
            ),
            (
                r#"{"mode":"profile","timerProfile":"x"}"#,
                "2026-02-28T06:30:00Z",
                "2026-03-01T06:30:00Z",
            ),
            (
                r#"{"mode":"expression","expression":"0 0 29 2 *"}"#,
                "2026-01-01T00:00:00Z",
                "2028-02-29T00:00:00Z",
            ),
            (
                r#"{"mode":"expression","expression":"0 0 L * ?"}"#,
                "2026-04-01T00:00:00Z",
                "2026-04-30T00:00:00Z",
            ),
            (
                r#"{"mode":"expression","expression":"0 0 LW * *"}"#,
                "2026-05-01T00:00:00Z",
                "2026-05-29T00:00:00Z",
            ),
            (
                r#"{"mode":"expression","expression":"0 0 1W * *"}"#,
                "2026-07-31T00:00:00Z",
                "2026-08-03T00:00:00Z",
            ),
            (
                r#"{"mode":"expression","expression":"0 0 * * 5#2"}"#,
                "2026-11-01T00:00:00Z",
                "2026-11-13T00:00:00Z",
            ),
            (
                r#"{"mode":"expression","expression":"0 0 * * FRIL"}"#,
                "2026-11-01T00:00:00Z",
                "2026-11-27T00:00:00Z",
            ),
            (
                r#"{"mode":"expression","expression":"*/20 8-9 * jan-mar mon,7"}"#,
                "2026-01-04T09:40:00Z",
                "2026-01-05T08:00:00Z",
            ),
            // Where both kinds of days are limited, either will do.
            (
                r#"{"mode":"expression","expression":"0 0 13 * 5"}"#,
                "2026-11-20T00:00:00Z",
                "2026-11-27T00:00:00Z",
            ),
        ] {
            let next = schedule(config).next_after(from.parse().expect("an instant"));
            assert_eq!(
                next.map(|next| next.to_string()).as_deref(),
                Some(expected),
                "{config}"
            );
        }
        let never = schedule(r#"{"mode":"expression","expression":"0 0 31 2 *"}"#);
        assert_eq!(never.next_after(Timestamp::UNIX_EPOCH), None);
    }

    #[test]
    fn a_timer_is_a_rhythm_or_a_while() {
        assert_eq!(
            Timer::parse("cron: 0 8 * * 1-5"),
            Some(Timer::Cron("0 8 * * 1-5".to_owned()))
        );
        assert_eq!(Timer::parse("delay:60"), Some(Timer::Delay(60)));
        for bad in [
            "",
            "cron:",
            "cron:* * *",
            "delay:",
            "delay:-1",
            "delay:99999999",
            "60",
        ] {
            assert_eq!(Timer::parse(bad), None, "{bad}");
        }
    }
}
