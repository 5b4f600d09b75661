//! Numbers in place of uids.

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
fn minted(uid: Text<'_>) -> Option<u128> {
    let hex = uid.inner.strip_prefix("u_")?.as_bytes();
    let lower = hex.len() == 36 && !hex.iter().any(u8::is_ascii_uppercase);
    let number = uuid::Uuid::try_parse_ascii(hex).ok()?;
    (lower && number.get_version_num() == 4).then(|| number.as_u128())
}

#[cfg(test)]
mod tests {
    use super::Uids;
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
}
