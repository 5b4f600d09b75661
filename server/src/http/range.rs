//! The header `Range` (RFC 9110, section 14): one range of bytes.

use std::ops::Range;

/// What a request asks for of so many bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestedRange {
    /// All of them.
    Whole,
    /// Some of them, at least one.
    Part(Range<u64>),
    /// Some that are not there.
    Nothing,
}

impl RequestedRange {
    /// Reads the header. What cannot be read, is of another unit or names several ranges, asks for all.
    pub fn read(header: Option<&str>, size: u64) -> RequestedRange {
        let wanted = header.and_then(|text| {
            let (unit, range) = text.split_once('=')?;
            if !unit.trim().eq_ignore_ascii_case("bytes") || range.contains(',') {
                return None;
            }
            one(range.trim(), size)
        });
        wanted.unwrap_or(RequestedRange::Whole)
    }
}

fn one(range: &str, size: u64) -> Option<RequestedRange> {
    let (first, last) = range.split_once('-')?;
    if first.is_empty() {
        let count = number(last)?.min(size);
        return Some(if count == 0 {
            RequestedRange::Nothing
        } else {
            RequestedRange::Part(size - count..size)
        });
    }
    let first = number(first)?;
    let end = if last.is_empty() {
        size
    } else {
        let last = number(last)?;
        if last < first {
            return None;
        }
        last.saturating_add(1).min(size)
    };
    Some(if first < size {
        RequestedRange::Part(first..end)
    } else {
        RequestedRange::Nothing
    })
}

/// A number of any length: what is too large for us is past every end.
fn number(text: &str) -> Option<u64> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(text.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::RequestedRange::{self, Nothing, Part, Whole};

    #[test]
    fn one_range_of_bytes_is_read_and_all_else_asks_for_everything() {
        for (header, size, wanted) in [
            ("bytes=0-0", 1, Part(0..1)),
            ("bytes=-1", 1, Part(0..1)),
            ("bytes=5-", 1, Nothing),
            ("bytes=1-", 1, Nothing),
            ("bytes=0-", 1, Part(0..1)),
            ("bytes=-0", 1, Nothing),
            ("bytes=-99", 10, Part(0..10)),
            ("bytes=2-99", 10, Part(2..10)),
            ("bytes=2-4", 10, Part(2..5)),
            ("Bytes = 2-4", 10, Part(2..5)),
            ("bytes=0-99999999999999999999999", 10, Part(0..10)),
            ("bytes=99999999999999999999999-", 10, Nothing),
            ("bytes=4-2", 10, Whole),
            ("bytes=0-1,3-4", 10, Whole),
            ("bytes=a-b", 10, Whole),
            ("bytes=-", 10, Whole),
            ("bytes=--1", 10, Whole),
            ("bytes=+1-2", 10, Whole),
            ("items=0-1", 10, Whole),
            ("bytes", 10, Whole),
        ] {
            assert_eq!(
                RequestedRange::read(Some(header), size),
                wanted,
                "{header} of {size}"
            );
        }
        assert_eq!(RequestedRange::read(None, 1), Whole);
    }
}
