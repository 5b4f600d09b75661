//! Clock and id source as traits.
//!
//! The caller passes them in, so the library stays deterministic: same input, same bytes.

use jiff::Timestamp;

/// Reads the time.
pub trait Clock {
    /// Now.
    fn now(&self) -> Timestamp;
}

/// Mints ids.
pub trait Ids {
    /// A version 4 UUID in lower case, with hyphens.
    fn uuid(&mut self) -> String;

    /// A package uid: `u_` and a UUID.
    fn uid(&mut self) -> String {
        format!("u_{}", self.uuid())
    }
}

/// A clock that stands still.
#[derive(Debug, Clone, Copy)]
pub struct FixedClock(pub Timestamp);

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        self.0
    }
}

/// Ids that follow from a seed: for tests and examples, never for anything that leaves the house.
#[derive(Debug, Clone)]
pub struct Seeded(u64);

impl Seeded {
    /// Starts at a seed.
    pub fn new(seed: u64) -> Seeded {
        Seeded(seed)
    }

    /// `SplitMix64`.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ (word >> 31)
    }
}

impl Ids for Seeded {
    fn uuid(&mut self) -> String {
        uuid_of((u128::from(self.next()) << 64) | u128::from(self.next()))
    }
}

/// The version 4 UUID of 128 random bits, six of which say that it is one.
pub fn uuid_of(bits: u128) -> String {
    let version = bits & !(0xF << 76) | (0x4 << 76);
    let variant = version & !(0x3 << 62) | (0x2 << 62);
    let hex = format!("{variant:032x}");
    format!(
        "{}-{}-{}-{}-{}",
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..]
    )
}

#[cfg(test)]
mod tests {
    use super::{Ids, Seeded};
    use crate::package::uid::is_uid;

    #[test]
    fn seeded_ids_are_version_4_and_repeatable() {
        let mut ids = Seeded::new(7);
        let first: Vec<String> = (0..100).map(|_| ids.uid()).collect();
        assert!(first.iter().all(|uid| is_uid(uid)), "{first:?}");
        assert_eq!(first.first(), Some(&Seeded::new(7).uid()));
        assert_ne!(first.first(), first.last());
    }
}
