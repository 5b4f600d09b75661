//! The fields of a cron expression, read into values and days. `automation::cron` reports faults; a
//! faulty expression is not read here.

use super::days::{MonthDay, WeekDay};

pub(super) const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];
const WEEK: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// A field is read by the rules by which it was checked: what cannot be read names nothing.
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

/// The values that a field names, one bit each.
pub(super) fn set(text: &str, low: u32, high: u32, words: &[&str]) -> u64 {
    let items = text.split(',').map(|one| item(one, low, high, words));
    items.fold(0, |all, one| all | one)
}

fn small(number: u32) -> i8 {
    i8::try_from(number).unwrap_or(i8::MAX)
}

/// The days that a field names; none when it names all.
pub(super) fn month_days(text: &str) -> Option<Vec<MonthDay>> {
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

/// The days of the week that a field names; none when it names all.
pub(super) fn week_days(text: &str) -> Option<Vec<WeekDay>> {
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
