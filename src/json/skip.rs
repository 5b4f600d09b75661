//! Skips a container without checking its contents.
//!
//! The tree skips hundreds of megabytes of rows this way, so it reads sixty-four bytes at a time
//! and only counts brackets outside strings. Well-formed containers are skipped exactly; malformed
//! ones may end at the wrong place, and the later strict reading reports the error.

use super::lanes::{BLOCK, StructuralBits, structure};
use super::outline::Outline;

/// What one block leaves to the next.
#[derive(Debug, Default)]
pub(super) struct Carry {
    /// All ones inside a string.
    pub(super) in_string: u64,
    /// 1 when the first byte is escaped.
    pub(super) escaped: u64,
}

/// The offset after the container that begins at `start`, or the end when nothing closes it. With an outline of the bytes
/// it looks at little more than the first and the last part of a long one.
pub(super) fn end_of_container(bytes: &[u8], start: usize, outline: Option<&Outline>) -> usize {
    let mut carry = Carry::default();
    let mut depth = 0u64;
    // With an outline the blocks stand where those of its parts do.
    let before = outline.map_or(0, |_| start % BLOCK);
    let mut at = start - before;
    let mut counted = !0 << before;
    while at < bytes.len() {
        let skipped = outline
            .and_then(|outline| outline.part_at(at))
            .and_then(|part| part.skip(&mut depth, &mut carry));
        if let Some(skipped) = skipped {
            at += skipped;
            continue;
        }
        let marks = match bytes[at..].first_chunk::<BLOCK>() {
            Some(block) => structure(block),
            None => structure(&padded(&bytes[at..])),
        };
        let marks = marks.only(std::mem::replace(&mut counted, !0));
        let inside = inside_strings(marks, &mut carry);
        let (opens, closes) = (marks.opens & !inside, marks.closes & !inside);
        // A block has one or two brackets: counting them in bulk would cost more.
        if let Some(offset) = find_end(opens, closes, &mut depth) {
            return at + offset;
        }
        at += BLOCK;
    }
    bytes.len()
}

/// The last bytes, filled up with blanks.
fn padded(rest: &[u8]) -> [u8; BLOCK] {
    let mut block = [b' '; BLOCK];
    block[..rest.len()].copy_from_slice(rest);
    block
}

/// The bytes that stand inside strings.
#[inline]
pub(super) fn inside_strings(marks: StructuralBits, carry: &mut Carry) -> u64 {
    let escaped = if marks.backslashes | carry.escaped == 0 {
        0
    } else {
        escaped(marks.backslashes, &mut carry.escaped)
    };
    let mut inside = prefix_xor(marks.quotes & !escaped);
    inside ^= carry.in_string;
    // The last byte's state, spread over the next block.
    carry.in_string = 0u64.wrapping_sub(inside >> 63);
    inside
}

/// The bytes that an odd run of backslashes is before.
fn escaped(backslashes: u64, carry: &mut u64) -> u64 {
    const EVEN: u64 = 0x5555_5555_5555_5555;
    let backslashes = backslashes & !*carry;
    let follows = backslashes << 1 | *carry;
    // Adding carries through a run; where a run ends says whether its length was odd.
    let odd_starts = backslashes & !EVEN & !follows;
    let (ends, overflow) = odd_starts.overflowing_add(backslashes);
    *carry = u64::from(overflow);
    (EVEN ^ (ends << 1)) & follows
}

/// Each bit the exclusive or of all bits up to it.
#[inline]
fn prefix_xor(mut bits: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}

/// Where the depth comes to zero, counted from the block's beginning and past the bracket.
fn find_end(opens: u64, closes: u64, depth: &mut u64) -> Option<usize> {
    let mut brackets = opens | closes;
    while brackets != 0 {
        let bit = brackets & brackets.wrapping_neg();
        if opens & bit != 0 {
            *depth += 1;
        } else {
            *depth = depth.saturating_sub(1);
            if *depth == 0 {
                return Some(bit.trailing_zeros() as usize + 1);
            }
        }
        brackets ^= bit;
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::end_of_container;

    /// Byte by byte, as it reads.
    fn plain(bytes: &[u8]) -> usize {
        let (mut depth, mut in_string, mut escaped) = (0, false, false);
        for (at, byte) in bytes.iter().enumerate() {
            let plain = !std::mem::replace(&mut escaped, false);
            match byte {
                b'\\' => escaped = plain,
                b'"' if plain => in_string = !in_string,
                b'[' | b'{' if !in_string => depth += 1,
                b']' | b'}' if !in_string => {
                    depth -= 1;
                    if depth == 0 {
                        return at + 1;
                    }
                }
                _ => {}
            }
        }
        bytes.len()
    }

    proptest! {
        #[test]
        fn agrees_with_a_plain_walk(tail in "[\\[\\]{}\"\\\\a ]{0,400}") {
            let text = format!("[{tail}");
            prop_assert_eq!(end_of_container(text.as_bytes(), 0, None), plain(text.as_bytes()));
        }

        #[test]
        fn finds_the_end_of_lists(depth in 1usize..100, text in "[a\\]\"]{0,200}", before in 0usize..70, after in "[ ,\\]]{0,70}") {
            let string = crate::json::write_string(&text);
            let list = "[".repeat(depth) + &string + &"]".repeat(depth);
            let whole = " ".repeat(before) + &list + &after;
            prop_assert_eq!(end_of_container(whole.as_bytes(), before, None), before + list.len());
        }
    }
}
