//! Case folding of texts (`rest` 4.5).
//!
//! Every code point is mapped to its simple upper case and that to its simple lower case,
//! regardless of its neighbours: `σ` and `ς` become one, `İ` and `ı` become `i`, `ß` stays `ß` and
//! is not `ss`. The mapping is a table of this program, independent of compiler, store and locale:
//! the same filter has to find the same rows on every store and in every release.

mod table;

use table::{RANGES, Range};

/// The text with every code point folded.
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.chars().map(fold_char).collect()
}

/// One code point folded. What is folded stays as it is.
pub fn fold_char(character: char) -> char {
    if character.is_ascii() {
        return character.to_ascii_lowercase();
    }
    let code = u32::from(character);
    let at = RANGES.partition_point(|range| range.last < code);
    let range = RANGES.get(at).filter(|range| range.has(code));
    range.map_or(character, |range| range.folded(code))
}

/// Every code point that is folded to another one, with that, ascending. For stores that have to
/// be reported.
pub fn fold_pairs() -> impl Iterator<Item = (char, char)> {
    let each = |range: &'static Range| (range.first..=range.last).step_by(range.step);
    RANGES.iter().flat_map(move |range| {
        each(range).filter_map(|code| Some((char::from_u32(code)?, range.folded(code))))
    })
}

#[cfg(test)]
mod tests {
    use super::{fold, fold_char, fold_pairs, table::UNICODE};

    /// The simple mapping, as far as the compiler knows it. It has full mappings only: where these
    /// give several code points the simple one is the code point itself, but for `İ`, and but for
    /// Greek letters with an iota below, whose simple upper case comes back to them.
    fn of_the_compiler(character: char) -> char {
        fn only(mut mapped: impl ExactSizeIterator<Item = char>, or: char) -> char {
            match mapped.len() {
                1 => mapped.next().unwrap_or(or),
                _ => or,
            }
        }
        match only(character.to_uppercase(), character) {
            'İ' => 'i',
            upper => only(upper.to_lowercase(), upper),
        }
    }

    #[test]
    fn the_table_is_that_of_unicode() {
        for character in '\0'..=char::MAX {
            let (ours, theirs) = (fold_char(character), of_the_compiler(character));
            // A compiler of another version may lack letters, or have ones that are new.
            let known =
                char::UNICODE_VERSION == UNICODE || (ours != character && theirs != character);
            assert!(
                !known || ours == theirs,
                "{character:?} {ours:?} {theirs:?}"
            );
            assert_eq!(fold_char(ours), ours, "{character:?} is folded twice");
        }
    }

    #[test]
    fn the_known_traps() {
        for (text, folded) in [
            ("ABCxyz019", "abcxyz019"),
            ("AÇÃO É", "ação é"),
            ("ΣΊΣΥΦΟΣ", "σίσυφοσ"),
            ("σίσυφος", "σίσυφοσ"),
            ("Straße STRASSE ẞ", "straße strasse ß"),
            ("İIıi", "iiii"),
            ("\u{212a}\u{212b}\u{2126}", "k\u{e5}\u{3c9}"),
            ("ſ\u{b5}\u{345}", "s\u{3bc}\u{3b9}"),
            ("ǄǅǆǇǈǉ", "ǆǆǆǉǉǉ"),
            ("ϐϑϕϖϰϱϵϴ", "βθφπκρεθ"),
            (
                "\u{1f80}\u{1f88}\u{1fbc}\u{1fb3}",
                "\u{1f80}\u{1f80}\u{1fb3}\u{1fb3}",
            ),
            ("ﬀŉǰ\u{390}\u{1e9b}", "ﬀŉǰ\u{390}\u{1e61}"),
            ("\u{13a0}\u{13f0}\u{ab70}", "\u{ab70}\u{13f8}\u{ab70}"),
            ("\u{10a0}\u{10d0}\u{1c90}", "\u{2d00}\u{10d0}\u{10d0}"),
            ("\u{10400}\u{1e900}", "\u{10428}\u{1e922}"),
            // Composed and decomposed stay two.
            ("E\u{301}", "e\u{301}"),
        ] {
            assert_eq!(fold(text), folded, "{text}");
        }
    }

    #[test]
    fn the_pairs_are_the_mapping() {
        let pairs: Vec<(char, char)> = fold_pairs().collect();
        assert!(pairs.is_sorted_by(|one, other| one.0 < other.0));
        let changed = ('\0'..=char::MAX).filter(|&character| fold_char(character) != character);
        let changed: Vec<(char, char)> = changed.map(|c| (c, fold_char(c))).collect();
        assert_eq!(pairs, changed);
        assert_eq!(pairs.len(), 1511);
    }
}
