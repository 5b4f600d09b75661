//! How deep a large text nests, part by part, so that its long lists are skipped in steps.
//!
//! Parts are counted independently, on as many threads as there are. Whether a part begins inside a string is known only
//! when all parts before it are, so each is counted both ways. Nothing here needs UTF-8 that was checked.

use super::lanes::{BLOCK, structure};
use super::skip::{Carry, inside_strings};

/// Bytes of a part: as many blocks as make the rest of a list, which is read block by block, small.
const PART_BYTES: usize = 32 << 10;

/// The parts of a text in order, but for the last, shorter one.
#[derive(Debug)]
pub(crate) struct Outline {
    parts: Vec<Part>,
}

/// What is known of one part.
#[derive(Debug)]
pub(crate) struct Part {
    /// The string and the escape that the part leaves open when it begins outside a string.
    carry: Carry,
    outside: Nesting,
    inside: Nesting,
}

/// Brackets that count.
#[derive(Debug, Default, Clone, Copy)]
struct Nesting {
    /// Containers opened less those closed.
    change: i64,
    /// The least that this is anywhere in the part, or zero.
    lowest: i64,
}

impl Outline {
    /// How many parts a text has.
    pub(crate) fn count(bytes: &[u8]) -> usize {
        bytes.len() / PART_BYTES
    }

    /// Takes all the parts, in order.
    pub(crate) fn new(parts: Vec<Part>) -> Outline {
        Outline { parts }
    }

    /// The part that begins at an offset.
    pub(super) fn part_at(&self, offset: usize) -> Option<&Part> {
        offset
            .is_multiple_of(PART_BYTES)
            .then(|| self.parts.get(offset / PART_BYTES))
            .flatten()
    }
}

impl Part {
    /// Counts the part of that number.
    pub(crate) fn new(bytes: &[u8], number: usize) -> Part {
        let (before, rest) = bytes.split_at(number * PART_BYTES);
        let backslashes = before.iter().rev().take_while(|byte| **byte == b'\\');
        let mut carry = Carry {
            in_string: 0,
            escaped: backslashes.count() as u64 % 2,
        };
        let (mut outside, mut inside) = (Nesting::default(), Nesting::default());
        for block in rest[..PART_BYTES].as_chunks::<BLOCK>().0 {
            let marks = structure(block);
            let strings = inside_strings(marks, &mut carry);
            outside.add(marks.opens & !strings, marks.closes & !strings);
            inside.add(marks.opens & strings, marks.closes & strings);
        }
        Part {
            carry,
            outside,
            inside,
        }
    }

    /// Skips the part, unless the depth comes to zero in it. Gives the bytes skipped.
    pub(super) fn skip(&self, depth: &mut u64, carry: &mut Carry) -> Option<usize> {
        let nesting = if carry.in_string == 0 {
            self.outside
        } else {
            self.inside
        };
        depth
            .checked_add_signed(nesting.lowest)
            .filter(|lowest| *lowest > 0)?;
        *depth = depth.checked_add_signed(nesting.change)?;
        *carry = Carry {
            in_string: carry.in_string ^ self.carry.in_string,
            escaped: self.carry.escaped,
        };
        Some(PART_BYTES)
    }
}

impl Nesting {
    #[inline]
    fn add(&mut self, opens: u64, closes: u64) {
        let mut brackets = opens | closes;
        while brackets != 0 {
            let bit = brackets & brackets.wrapping_neg();
            self.change += if opens & bit == 0 { -1 } else { 1 };
            self.lowest = self.lowest.min(self.change);
            brackets ^= bit;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Outline, PART_BYTES, Part};
    use crate::json::skip::end_of_container;

    /// Lists whose ends, quotes and backslashes stand around the borders of parts.
    #[test]
    fn long_lists_end_where_they_do_block_by_block() {
        let strings = [r#""a""#, r#""[]]{\"""#, r#""\\""#, r#""\\\\\\\"]""#, "[{}]"];
        for shift in 0..200 {
            let mut text = " ".repeat(shift) + "[[1],";
            let mut next = shift;
            while text.len() < 3 * PART_BYTES + shift % 7 * PART_BYTES / 4 {
                text.push_str(strings[next % strings.len()]);
                text.push(',');
                next += 1 + text.len() / PART_BYTES;
            }
            text.push_str("2]],[3]");
            let bytes = text.as_bytes();
            let parts = (0..Outline::count(bytes)).map(|number| Part::new(bytes, number));
            let outline = Outline::new(parts.collect());
            for start in [shift, shift + 1] {
                assert_eq!(
                    end_of_container(bytes, start, Some(&outline)),
                    end_of_container(bytes, start, None),
                    "{shift}"
                );
            }
        }
    }
}
