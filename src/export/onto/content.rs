//! What a row holds, as a number: its cells by name in canonical form, without what they point at.

use std::hash::{BuildHasher as _, Hasher as _};

use foldhash::quality::RandomState;

use crate::package::canonical::write_cell;
use crate::rows::members;

/// Makes numbers of rows. Numbers of two of these are not compared.
#[derive(Debug, Clone, Default)]
pub(in crate::export) struct Contents {
    // Two hashes, so that not even millions of rows meet by chance.
    one: RandomState,
    other: RandomState,
    cell: String,
}

impl Contents {
    /// A cell; the sum of a row's cells stands for the row.
    pub(in crate::export) fn cell(&mut self, name: &str, raw: &str) -> u128 {
        self.cell.clear();
        if write_cell(raw, &mut self.cell).is_err() {
            // It is refused where it is written.
            self.cell.clear();
            self.cell.push_str(raw);
        }
        let half = |state: &RandomState| {
            let mut hasher = state.build_hasher();
            hasher.write(name.as_bytes());
            hasher.write_u8(0xFF);
            hasher.write(self.cell.as_bytes());
            u128::from(hasher.finish())
        };
        half(&self.one) << 64 | half(&self.other)
    }

    /// A row of a package, by its `data`.
    pub(super) fn row(&mut self, data: &str) -> u128 {
        let mut sum = 0_u128;
        for (name, raw) in members(data) {
            sum = sum.wrapping_add(self.cell(&name.decoded(), raw));
        }
        sum
    }
}
