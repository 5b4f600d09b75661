//! Dates and instants, exactly as RFC 3339 writes them.

/// Days from the first of March of the year 0 to the first of January 1970.
const DAYS_TO_1970: i64 = 719_468;

/// Whether `text` is a day of the calendar as `YYYY-MM-DD`.
pub fn is_date(text: &str) -> bool {
    day(text.as_bytes()).is_some_and(|(_, rest)| rest.is_empty())
}

/// Whether `text` is an RFC 3339 date-time: a day, `T`, a time of day and an offset or `Z`.
///
/// A leap second (`:60`) is accepted at the only place where one can be, 23:59 UTC.
pub fn is_instant(text: &str) -> bool {
    instant(text).is_some()
}

/// The instant that an RFC 3339 date-time names, in microseconds since 1970. Digits beyond the
/// microsecond are not looked at; a leap second is the first of the next day, as in POSIX.
pub fn instant(text: &str) -> Option<i64> {
    exact_instant(text).map(|instant| instant.microsecond)
}

/// An instant as it is written, with all of its digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ExactInstant {
    /// The microsecond that it lies in, since 1970.
    pub(super) microsecond: i64,
    /// Whether it is later than that microsecond begins.
    pub(super) is_later: bool,
}

/// The instant that an RFC 3339 date-time names, as [`instant`] reads it.
pub(super) fn exact_instant(text: &str) -> Option<ExactInstant> {
    let (day, rest) = day(text.as_bytes())?;
    let [b'T' | b't', rest @ ..] = rest else {
        return None;
    };
    let (hour, rest) = two(rest, 23)?;
    let (minute, rest) = two(rest.strip_prefix(b":")?, 59)?;
    let (second, mut rest) = two(rest.strip_prefix(b":")?, 60)?;
    let (mut micros, mut is_later) = (0, false);
    if let [b'.', fraction @ ..] = rest {
        let digits = fraction
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        if digits == 0 {
            return None;
        }
        let kept = fraction[..digits].iter().chain(b"000000").take(6);
        micros = kept.fold(0, |micros, digit| micros * 10 + i64::from(digit - b'0'));
        is_later = fraction[..digits]
            .iter()
            .skip(6)
            .any(|digit| *digit != b'0');
        rest = &fraction[digits..];
    }
    let offset = match rest {
        [b'Z' | b'z'] => 0,
        [sign @ (b'+' | b'-'), rest @ ..] => {
            let (hours, rest) = two(rest, 23)?;
            let (minutes, rest) = two(rest.strip_prefix(b":")?, 59)?;
            if !rest.is_empty() {
                return None;
            }
            let minutes = i32::from(hours) * 60 + i32::from(minutes);
            if *sign == b'-' { -minutes } else { minutes }
        }
        _ => return None,
    };
    let minute = i32::from(hour) * 60 + i32::from(minute) - offset;
    if second == 60 && minute.rem_euclid(24 * 60) != 24 * 60 - 1 {
        return None;
    }
    let seconds = (day * 24 * 60 + i64::from(minute)) * 60 + i64::from(second);
    Some(ExactInstant {
        microsecond: seconds * 1_000_000 + micros,
        is_later,
    })
}

/// Reads a day at the beginning; gives how many days after 1970 began it is, and what follows it.
fn day(text: &[u8]) -> Option<(i64, &[u8])> {
    let (century, rest) = two(text, 99)?;
    let (year, rest) = two(rest, 99)?;
    let (month, rest) = two(rest.strip_prefix(b"-")?, 12)?;
    let (day, rest) = two(rest.strip_prefix(b"-")?, 31)?;
    let year = u16::from(century) * 100 + u16::from(year);
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        2 => 28 + u8::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    if month < 1 || !(1..=days).contains(&day) {
        return None;
    }
    // Years begin in March here, so that the day that only leap years have is their last.
    let (year, month) = match (i64::from(year), i64::from(month)) {
        (year, month @ ..3) => (year - 1, month + 9),
        (year, month) => (year, month - 3),
    };
    let leaps = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let in_year = (153 * month + 2) / 5 + i64::from(day) - 1;
    Some((year * 365 + leaps + in_year - DAYS_TO_1970, rest))
}

/// Reads two digits up to `most` and gives what follows them.
fn two(text: &[u8], most: u8) -> Option<(u8, &[u8])> {
    let [tens @ b'0'..=b'9', ones @ b'0'..=b'9', rest @ ..] = text else {
        return None;
    };
    let value = (tens - b'0') * 10 + (ones - b'0');
    (value <= most).then_some((value, rest))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{ExactInstant, exact_instant, instant, is_date, is_instant};

    #[test]
    fn dates() {
        for good in [
            "2025-02-28",
            "2024-02-29",
            "2000-02-29",
            "1999-12-31",
            "0000-01-01",
            "9999-12-31",
        ] {
            assert!(is_date(good), "{good}");
        }
        for bad in [
            "2025-02-29",
            "1900-02-29",
            "2025-13-01",
            "2025-00-10",
            "2025-04-31",
            "2025-01-00",
            "2025-1-1",
            "25-01-01",
            "2025/01/01",
            "2025-01-01 ",
            " 2025-01-01",
            "2025-01-01T00:00:00Z",
            "",
            "hoje",
            "２025-01-01",
            "+2025-01-01",
            "2025-01-0１",
        ] {
            assert!(!is_date(bad), "{bad}");
        }
    }

    #[test]
    fn instants() {
        for good in [
            "2025-02-28T10:00:00Z",
            "2025-02-28T10:00:00+01:00",
            "2025-02-28t23:59:59.123456789z",
            "2016-12-31T23:59:60Z",
            "2017-01-01T00:59:60+01:00",
            "2025-02-28T10:00:00-00:00",
        ] {
            assert!(is_instant(good), "{good}");
        }
        for bad in [
            "2025-02-28",
            "2025-02-28T10:00:00",
            "2025-02-28 10:00:00Z",
            "2025-02-30T10:00:00Z",
            "2025-02-28T24:00:00Z",
            "2025-02-28T10:60:00Z",
            "2025-02-28T10:00:61Z",
            "2025-02-28T10:00:60Z",
            "2025-02-28T10:00Z",
            "2025-02-28T10:00:00.Z",
            "2025-02-28T10:00:00+0100",
            "2025-02-28T10:00:00+24:00",
            "2025-02-28T10:00:00+01:00x",
            "2025-02-28T10:00:00ZZ",
            "",
        ] {
            assert!(!is_instant(bad), "{bad}");
        }
    }

    #[test]
    fn instants_are_microseconds() {
        for (text, micros) in [
            ("1970-01-01T00:00:00Z", 0),
            ("1970-01-01T00:00:00.000001Z", 1),
            ("1969-12-31T23:59:59.999999Z", -1),
            ("1970-01-01T01:00:00.5+01:00", 500_000),
            ("1970-01-01T00:00:00.0000019Z", 1),
            ("2000-02-29T00:00:00Z", 951_782_400_000_000),
            ("2016-12-31T23:59:60Z", 1_483_228_800_000_000),
            ("0000-01-01T00:00:00Z", -62_167_219_200_000_000),
            ("9999-12-31T23:59:59.999999-23:59", 253_402_387_139_999_999),
        ] {
            assert_eq!(instant(text), Some(micros), "{text}");
        }
    }

    #[test]
    fn digits_beyond_the_microsecond_are_noticed() {
        for (text, microsecond, is_later) in [
            ("1970-01-01T00:00:00.0000019Z", 1, true),
            ("1970-01-01T00:00:00.000001Z", 1, false),
            ("1970-01-01T00:00:00.000001000Z", 1, false),
            ("1970-01-01T00:00:00.0000010000001+00:00", 1, true),
            ("1969-12-31T23:59:59.9999991Z", -1, true),
        ] {
            let instant = ExactInstant {
                microsecond,
                is_later,
            };
            assert_eq!(exact_instant(text), Some(instant), "{text}");
        }
    }

    proptest! {
        #[test]
        fn agrees_with_the_calendar_of_jiff(second in -62_167_219_200i64..253_402_207_200) {
            let timestamp = jiff::Timestamp::from_second(second).expect("in range");
            prop_assert_eq!(instant(&timestamp.to_string()), Some(second * 1_000_000));
        }
    }
}
