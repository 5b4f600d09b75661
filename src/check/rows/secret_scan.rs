//! Finds stretches of raw text that may contain a secret.
//!
//! The search over raw bytes costs a few percent of a pass and rarely matches; matches are then
//! read properly. It cannot see through `\u` escapes: callers decode such texts and call
//! [`is_suspect`].

use aho_corasick::Input;

use crate::check::sensitive::{LONGEST_PATTERN, patterns};

/// Bytes searched at a time: they are in the cache when the rows are read right after.
const WINDOW: usize = 32 << 10;

/// The search over one list of rows, which asks about stretches in ascending order.
pub(super) struct SecretScan<'s> {
    text: &'s str,
    /// End of the rows.
    limit: usize,
    /// Bytes before this were searched.
    searched: usize,
    /// First find at or after the stretch last asked about, within what was searched.
    find: Option<usize>,
    /// Stretches that end up to here are harmless.
    next: usize,
}

impl<'s> SecretScan<'s> {
    pub(super) fn new(text: &'s str, start: usize, limit: usize) -> SecretScan<'s> {
        SecretScan {
            text,
            limit,
            searched: start,
            find: None,
            next: start,
        }
    }

    /// Whether anything suspect begins in `start..end`.
    #[inline]
    pub(super) fn is_suspect(&mut self, start: usize, end: usize) -> bool {
        end > self.next && self.search(start, end)
    }

    #[cold]
    fn search(&mut self, start: usize, end: usize) -> bool {
        let mut suspect = false;
        while self.next < end {
            let from = match self.find {
                Some(find) if find >= start => {
                    suspect = true;
                    end
                }
                // Between two stretches: nobody asks about it.
                Some(_) => start,
                // What stands across the edge of two windows was seen by neither.
                None => start.max(self.searched.saturating_sub(LONGEST_PATTERN - 1)),
            };
            let to = (from + WINDOW).max(end).min(self.limit);
            let span = Input::new(self.text).range(from..to.max(from));
            self.find = patterns().find(span).map(|found| found.start());
            self.searched = to;
            self.next = match self.find {
                Some(find) => find,
                None if to >= self.limit => usize::MAX,
                None => to,
            };
        }
        suspect
    }
}

/// Whether a decoded text may hold a tenant identifier or a secret.
pub(super) fn is_suspect(decoded: &str) -> bool {
    patterns().is_match(decoded)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{SecretScan, is_suspect};

    proptest! {
        /// Stretches of any length over any number of windows: exactly those with a find.
        #[test]
        fn finds_what_a_plain_search_finds(
            parts in prop::collection::vec(prop_oneof![
                8 => (1usize..3000).prop_map(|length| "x".repeat(length)),
                1 => Just("organization_id".to_owned()),
                1 => Just("AKIA".to_owned()),
                1 => Just("xxeyJxxghp_".to_owned()),
            ], 1..200),
        ) {
            let text = parts.concat();
            let mut watch = SecretScan::new(&text, 0, text.len());
            let mut start = 0;
            for part in &parts {
                let end = start + part.len();
                prop_assert_eq!(watch.is_suspect(start, end), is_suspect(part), "{} {}", start, end);
                start = end;
            }
        }
    }
}
