//! Mints the ids of everything that a job creates, before anything is written.
//!
//! Each id derives from the job's start, its nonce and an ordinal, so a resumed job writes exactly
//! what an uninterrupted one would have written. They are version 7 UUIDs, so rows list in the
//! order of the package.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::context::{Clock, Ids};
use crate::workspace::Id;

/// The source of a job's ids; kept with the job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Minter {
    /// Milliseconds since 1970.
    instant: u64,
    /// 42 random bits.
    nonce: u64,
}

const NONCE: u64 = (1 << 42) - 1;

impl Minter {
    /// For a job that begins now.
    pub fn new(clock: &dyn Clock, ids: &mut dyn Ids) -> Minter {
        let random = Id::parse_str(&ids.uuid()).unwrap_or_default().as_u128();
        Minter::at(
            clock.now(),
            u64::try_from(random & u128::from(NONCE)).unwrap_or_default(),
        )
    }

    /// For a job that began then, with that nonce (its low 42 bits).
    pub fn at(start: Timestamp, nonce: u64) -> Minter {
        let instant = u64::try_from(start.as_millisecond()).unwrap_or_default();
        Minter {
            instant,
            nonce: nonce & NONCE,
        }
    }

    /// The id of the record of that ordinal; ids ascend with ordinals.
    pub fn id(&self, ordinal: u32) -> Id {
        self.uuid(ordinal, self.nonce)
    }

    /// Whether an id is one of this job's: of whatever ordinal.
    pub fn minted(&self, id: Id) -> bool {
        let bits = id.as_u128();
        let part = |shift: u32, mask: u32| u32::try_from(bits >> shift & u128::from(mask));
        let high = part(64, 0xFFF).unwrap_or_default();
        let low = part(42, 0xF_FFFF).unwrap_or_default();
        self.id(high << 20 | low) == id
    }

    /// The value that an empty identity cell gets: by the ordinal of the row and the position of
    /// the column among the table's identity columns.
    pub fn identity(&self, ordinal: u32, column: u32) -> Id {
        let salt = (u64::from(column) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.uuid(ordinal, (self.nonce ^ salt) & NONCE)
    }

    /// 48 bits of time, version, 12 bits of the ordinal, variant, 20 bits of it, the nonce.
    fn uuid(&self, ordinal: u32, nonce: u64) -> Id {
        let (high, low) = (u128::from(ordinal >> 20), u128::from(ordinal & 0xF_FFFF));
        let bits = (u128::from(self.instant & 0xFFFF_FFFF_FFFF) << 80)
            | (0x7 << 76)
            | (high << 64)
            | (0b10 << 62)
            | (low << 42)
            | u128::from(nonce);
        Id::from_u128(bits)
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::Minter;

    #[test]
    fn ids_are_version_7_ascend_and_never_meet() {
        let minter = Minter::at(Timestamp::UNIX_EPOCH, u64::MAX);
        let ordinals = [0, 1, 0xF_FFFF, 0x10_0000, u32::MAX];
        let ids: Vec<_> = ordinals.iter().map(|ordinal| minter.id(*ordinal)).collect();
        assert!(ids.is_sorted());
        assert!(ids.iter().all(|id| id.get_version_num() == 7));
        let variants = ids.iter().map(uuid::Uuid::get_variant);
        assert!(
            variants
                .into_iter()
                .all(|variant| variant == uuid::Variant::RFC4122)
        );
        for ordinal in ordinals {
            let identities = [minter.identity(ordinal, 0), minter.identity(ordinal, 1)];
            assert_ne!(identities[0], identities[1]);
            assert!(!identities.contains(&minter.id(ordinal)));
        }
        let other = Minter::at(Timestamp::UNIX_EPOCH, 7);
        assert_ne!(minter.id(5), other.id(5));
        assert!(
            ids.iter()
                .all(|id| minter.minted(*id) && !other.minted(*id))
        );
    }
}
