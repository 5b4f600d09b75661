//! The days of the calendar on which a schedule is due.

use jiff::ToSpan as _;
use jiff::civil::{Date, Weekday};

/// On which days.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Days {
    /// That day of the month, the last one of a shorter month.
    OfMonth(i8),
    /// As the fields of an expression say.
    Fields {
        of_month: Option<Vec<MonthDay>>,
        of_week: Option<Vec<WeekDay>>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MonthDay {
    Day(i8),
    Last,
    LastWorking,
    Working(i8),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WeekDay {
    /// 0 is Sunday.
    Each(i8),
    Nth(i8, i8),
    Last(i8),
}

impl Days {
    /// Whether a day is one of them.
    pub(super) fn hold(&self, date: Date) -> bool {
        match self {
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
