//! Dates and instants, exactly as RFC 3339 writes them.

/// Whether `text` is a day of the calendar as `YYYY-MM-DD`.
pub fn is_date(text: &str) -> bool {
    date(text.as_bytes()).is_some_and(<[u8]>::is_empty)
}

/// Whether `text` is an RFC 3339 date-time: a day, `T`, a time of day and an offset or `Z`.
///
/// A leap second (`:60`) is accepted at the only place where one can be, 23:59 UTC.
pub fn is_instant(text: &str) -> bool {
    instant(text.as_bytes()).is_some()
}

fn instant(text: &[u8]) -> Option<()> {
    let [b'T' | b't', rest @ ..] = date(text)? else {
        return None;
    };
    let (hour, rest) = two(rest, 23)?;
    let (minute, rest) = two(rest.strip_prefix(b":")?, 59)?;
    let (second, mut rest) = two(rest.strip_prefix(b":")?, 60)?;
    if let [b'.', fraction @ ..] = rest {
        let digits = fraction
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        if digits == 0 {
            return None;
        }
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
    let utc = (i32::from(hour) * 60 + i32::from(minute) - offset).rem_euclid(24 * 60);
    (second < 60 || utc == 24 * 60 - 1).then_some(())
}

/// Reads a day at the beginning and gives what follows it.
fn date(text: &[u8]) -> Option<&[u8]> {
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
    (month >= 1 && (1..=days).contains(&day)).then_some(rest)
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
    use super::{is_date, is_instant};

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
}
