//! Interns uids as numbers.

use std::collections::HashMap;

use crate::rows::Text;

/// Numbers that stand for uids: hashing sixteen bytes is cheaper than forty.
#[derive(Debug, Default)]
pub(super) struct Uids {
    /// Uids that are spelt otherwise than minted ones.
    others: HashMap<Box<str>, u128>,
}

impl Uids {
    /// The number of a uid. A minted one is its own; others count up, and never meet those,
    /// because their version digit is zero.
    pub(super) fn number(&mut self, uid: Text<'_>) -> u128 {
        if let Some(number) = minted(uid) {
            return number;
        }
        let next = self.others.len() as u128;
        let uid = uid.decoded().into_owned().into_boxed_str();
        *self.others.entry(uid).or_insert(next)
    }

    /// The number of a uid, if it was ever seen.
    pub(super) fn seen(&self, uid: Text<'_>) -> Option<u128> {
        minted(uid).or_else(|| self.others.get(&*uid.decoded()).copied())
    }
}

/// `u_` and a version 4 UUID in lower case, which is how uids are minted.
#[inline]
pub(super) fn minted(uid: Text<'_>) -> Option<u128> {
    let bytes: &[u8; 38] = uid.inner.as_bytes().try_into().ok()?;
    let [b'u', b'_', hex @ ..] = bytes else {
        return None;
    };
    if [hex[8], hex[13], hex[18], hex[23]] != *b"----" || hex[14] != b'4' {
        return None;
    }
    let four = |at: usize| [hex[at], hex[at + 1], hex[at + 2], hex[at + 3]];
    let eight = |one: usize, other: usize| {
        let digits = [four(one), four(other)];
        digits_of(u64::from_be_bytes(digits.as_flattened().try_into().ok()?))
    };
    let high = u64::from(eight(0, 4)?) << 32 | u64::from(eight(9, 14)?);
    let low = u64::from(eight(19, 24)?) << 32 | u64::from(eight(28, 32)?);
    Some(u128::from(high) << 64 | u128::from(low))
}

/// The number of eight hexadecimal digits in lower case, all at once: a byte each, the first the
/// highest.
#[inline]
fn digits_of(text: u64) -> Option<u32> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    // What is at most 0x7F cannot run over into the next byte below.
    if text & (ONES << 7) != 0 {
        return None;
    }
    let letters = (text >> 6) & ONES;
    let digits = (text & (0x0F * ONES)) + letters * 9;
    let spelt = digits + 0x30 * ONES + letters * 0x27;
    // Ten and more are letters, and nothing is more than fifteen.
    let tens = (digits + 6 * ONES) & (0x10 * ONES) == letters << 4;
    if spelt != text || !tens || digits & (0x10 * ONES) != 0 {
        return None;
    }
    let pairs = (digits | digits >> 4) & 0x00FF_00FF_00FF_00FF;
    let fours = (pairs | pairs >> 8) & 0x0000_FFFF_0000_FFFF;
    u32::try_from((fours | fours >> 16) & 0xFFFF_FFFF).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Uids, minted};
    use crate::apply::row_refs::text;

    #[test]
    fn every_uid_has_a_number_of_its_own() {
        let mut uids = Uids::default();
        let spellings = [
            "u_da94e3e8-ab73-438f-af18-22ffbc688778",
            "u_DA94E3E8-AB73-438F-AF18-22FFBC688778",
            "u_da94e3e8ab73438faf1822ffbc688778",
            "u_00000000-0000-0000-0000-000000000000",
            "u_00000000-0000-0000-0000-000000000001",
            "row-1",
            "",
        ];
        let numbers: Vec<u128> = spellings.iter().map(|uid| uids.number(text(uid))).collect();
        for (at, uid) in spellings.iter().enumerate() {
            assert_eq!(uids.seen(text(uid)), Some(numbers[at]));
            assert!(!numbers[..at].contains(&numbers[at]), "{uid}");
        }
        assert_eq!(uids.seen(text("row-\\u0031")), Some(numbers[5]));
        assert_eq!(uids.seen(text("row-2")), None);
    }

    proptest! {
        #[test]
        fn minted_uids_are_their_own_numbers(uid in any::<u128>(), at in 0usize..38, byte in any::<u8>()) {
            let spelt = uuid::Builder::from_random_bytes(uid.to_be_bytes()).into_uuid();
            let good = format!("u_{spelt}");
            prop_assert_eq!(minted(text(&good)), Some(spelt.as_u128()));
            let mut bad = good.clone().into_bytes();
            bad[at] = byte;
            if let Ok(bad) = String::from_utf8(bad) {
                let lower = !bad.bytes().any(|byte| byte.is_ascii_uppercase());
                let read = bad.strip_prefix("u_").filter(|_| lower);
                let read = read.and_then(|hex| uuid::Uuid::try_parse(hex).ok());
                let read = read.filter(|read| read.get_version_num() == 4);
                prop_assert_eq!(minted(text(&bad)), read.map(|read| read.as_u128()), "{}", bad);
            }
        }
    }
}
