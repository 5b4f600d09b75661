//! The generator behind everything random: one number in, the same decisions out, on every machine.

use tplkit::workspace::Id;

/// `SplitMix64`, and ids that ascend in the order in which they are asked for.
pub(crate) struct Dice {
    state: u64,
    minted: u64,
}

/// Milliseconds since 1970 at which the first record of every workspace came into being.
const BIRTH: u64 = 1_700_000_000_000;

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        Dice {
            state: seed,
            minted: 0,
        }
    }

    /// One whose ids come that many milliseconds later.
    pub(crate) fn later(seed: u64, milliseconds: u64) -> Dice {
        Dice {
            state: seed,
            minted: milliseconds,
        }
    }

    pub(crate) fn word(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.state;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ (word >> 31)
    }

    /// A number below `bound`; 0 when there is none.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let bound = bound.max(1) as u64;
        usize::try_from(self.word() % bound).unwrap_or_default()
    }

    /// A number of the range, both ends included.
    pub(crate) fn between(&mut self, least: usize, most: usize) -> usize {
        least + self.below(most.saturating_sub(least) + 1)
    }

    /// True in that many of a hundred cases.
    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of them, when there is one.
    pub(crate) fn pick<'t, T>(&mut self, all: &'t [T]) -> Option<&'t T> {
        let at = self.below(all.len());
        all.get(at)
    }

    /// One of a few words.
    pub(crate) fn word_of(&mut self, all: &[&'static str]) -> &'static str {
        self.pick(all).copied().unwrap_or_default()
    }

    /// Some of them, in their order.
    pub(crate) fn some<T: Clone>(&mut self, all: &[T], percent: usize) -> Vec<T> {
        let kept = all.iter().filter(|_| self.chance(percent));
        kept.cloned().collect()
    }

    /// Another order.
    pub(crate) fn shuffle<T>(&mut self, all: &mut [T]) {
        for at in (1..all.len()).rev() {
            let other = self.below(at + 1);
            all.swap(at, other);
        }
    }

    /// The id of a new record, greater than all before it: a version 7 UUID.
    pub(crate) fn id(&mut self) -> Id {
        self.minted += 1 + self.word() % 3;
        let (one, two) = (u128::from(self.word()), u128::from(self.word()));
        let instant = u128::from((BIRTH + self.minted) & 0xFFFF_FFFF_FFFF);
        let bits = (instant << 80) | ((one & 0xFFF) << 64) | (two & 0x3FFF_FFFF_FFFF_FFFF);
        Id::from_u128(bits | (0x7 << 76) | (0b10 << 62))
    }

    /// A UUID of version 4: an identity that a cell holds, or something that does not exist.
    pub(crate) fn uuid(&mut self) -> Id {
        let bits = (u128::from(self.word()) << 64) | u128::from(self.word());
        Id::from_u128(bits & !(0xF << 76) & !(0x3 << 62) | (0x4 << 76) | (0x2 << 62))
    }

    /// That many digits, the first of them no zero.
    pub(crate) fn digits(&mut self, count: usize) -> String {
        let digit = |at: usize, dice: &mut Dice| {
            let least = usize::from(at == 0);
            char::from(b'0' + u8::try_from(dice.between(least, 9)).unwrap_or_default())
        };
        (0..count).map(|at| digit(at, self)).collect()
    }
}
