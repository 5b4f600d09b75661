//! Finds the significant bytes of a block as bits, in the order of the bytes, lowest first.

/// Bytes that [`string_stops`] looks at.
pub(super) const STRING_LANES: usize = 16;
/// Bytes that [`structure`] looks at.
pub(super) const BLOCK: usize = 64;

/// Where structure may be among sixty-four bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct StructuralBits {
    /// `"`
    pub(super) quotes: u64,
    /// `\`
    pub(super) backslashes: u64,
    /// `[` and `{`
    pub(super) opens: u64,
    /// `]` and `}`
    pub(super) closes: u64,
}

impl StructuralBits {
    /// Those of the bytes whose bit is set.
    #[inline]
    pub(super) fn only(self, bytes: u64) -> StructuralBits {
        StructuralBits {
            quotes: self.quotes & bytes,
            backslashes: self.backslashes & bytes,
            opens: self.opens & bytes,
            closes: self.closes & bytes,
        }
    }
}

/// The bytes that end a plain run of string text: quote, backslash, control character.
#[inline]
pub(super) fn string_stops(bytes: &[u8; STRING_LANES]) -> u32 {
    imp::string_stops(bytes)
}

/// The offset of the first byte that ends a plain run of string text.
#[inline]
pub(super) fn string_stop(bytes: &[u8]) -> Option<usize> {
    let (blocks, rest) = bytes.as_chunks::<STRING_LANES>();
    for (index, block) in blocks.iter().enumerate() {
        let stops = string_stops(block);
        if stops != 0 {
            return Some(index * STRING_LANES + stops.trailing_zeros() as usize);
        }
    }
    let stop = rest
        .iter()
        .position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20));
    stop.map(|at| blocks.len() * STRING_LANES + at)
}

/// Quotes, backslashes and brackets.
#[inline]
pub(super) fn structure(bytes: &[u8; BLOCK]) -> StructuralBits {
    let mut all = StructuralBits::default();
    for (index, lanes) in bytes.as_chunks::<16>().0.iter().enumerate() {
        let [quotes, backslashes, opens, closes] = imp::structure(lanes);
        let shift = index * 16;
        all.quotes |= u64::from(quotes) << shift;
        all.backslashes |= u64::from(backslashes) << shift;
        all.opens |= u64::from(opens) << shift;
        all.closes |= u64::from(closes) << shift;
    }
    all
}

mod imp {
    use wide::u8x16;

    #[inline]
    fn equal(lanes: u8x16, byte: u8) -> u8x16 {
        lanes.simd_eq(u8x16::splat(byte))
    }

    #[inline]
    pub(super) fn string_stops(bytes: &[u8; 16]) -> u32 {
        let lanes = u8x16::new(*bytes);
        // What is its own minimum with 1F is at most 1F.
        let control = lanes.min(u8x16::splat(0x1F)).simd_eq(lanes);
        (equal(lanes, b'"') | equal(lanes, b'\\') | control).to_bitmask()
    }

    #[inline]
    pub(super) fn structure(bytes: &[u8; 16]) -> [u32; 4] {
        let lanes = u8x16::new(*bytes);
        // This bit tells `{` from `[`, and `}` from `]`.
        let folded = lanes | u8x16::splat(0x20);
        [
            equal(lanes, b'"').to_bitmask(),
            equal(lanes, b'\\').to_bitmask(),
            equal(folded, b'{').to_bitmask(),
            equal(folded, b'}').to_bitmask(),
        ]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{imp, string_stop, structure};

    fn bits(bytes: &[u8; 16], wanted: impl Fn(u8) -> bool) -> u32 {
        bytes
            .iter()
            .rev()
            .fold(0, |bits, byte| bits << 1 | u32::from(wanted(*byte)))
    }

    fn plain(bytes: &[u8; 16]) -> [u32; 4] {
        [
            bits(bytes, |byte| byte == b'"'),
            bits(bytes, |byte| byte == b'\\'),
            bits(bytes, |byte| byte == b'{' || byte == b'['),
            bits(bytes, |byte| byte == b'}' || byte == b']'),
        ]
    }

    proptest! {
        #[test]
        fn vectors_and_loops_agree(bytes in prop::array::uniform16(prop_oneof![any::<u8>(), prop::sample::select(&b"\"\\[]{}\x1f\x20"[..])])) {
            prop_assert_eq!(imp::string_stops(&bytes), bits(&bytes, |byte| byte == b'"' || byte == b'\\' || byte < 0x20));
            prop_assert_eq!(imp::structure(&bytes), plain(&bytes));
            let mut block = [b' '; 64];
            block[48..].copy_from_slice(&bytes);
            prop_assert_eq!(structure(&block).opens >> 48, u64::from(plain(&bytes)[2]));
        }

        #[test]
        fn a_text_stops_where_a_plain_walk_does(text in "[a-zé]{0,40}[\"\\\\\u{1f}\n]?[ a]{0,40}") {
            let stop = text.bytes().position(|byte| byte == b'"' || byte == b'\\' || byte < 0x20);
            prop_assert_eq!(string_stop(text.as_bytes()), stop);
        }
    }
}
