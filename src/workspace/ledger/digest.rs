//! The digest of a row's cells, which shows whether the row was edited since.

use std::hash::{BuildHasher, Hasher};

use serde::{Deserialize, Serialize};

use crate::json::Value;
use crate::rows::{Cell, hash};
use crate::workspace::{Id, RowData};

/// A number that rows with equal cells share, whatever the order of the cells: whether a row was
/// edited since the job wrote it. Persisted, so it must never change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct RowDigest(pub(super) u64);

/// The part of a digest that is the same for all cells of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnDigest(u64);

impl ColumnDigest {
    /// Of the column of that technical name.
    pub fn of(column: &str) -> ColumnDigest {
        let mut hasher = Words.build_hasher();
        hasher.write(column.as_bytes());
        ColumnDigest(hasher.finish())
    }
}

impl RowDigest {
    /// Of a whole row. Empty cells (null) count as absent.
    pub fn of(data: &RowData) -> RowDigest {
        data.cells().fold(RowDigest(0), |digest, (key, value)| {
            digest.with(ColumnDigest::of(&key.decoded()), value)
        })
    }

    /// With one more cell.
    #[must_use]
    #[inline]
    pub fn with(self, column: ColumnDigest, value: &str) -> RowDigest {
        self.with_cell(column, Cell::new(value))
    }

    /// With one more cell, distinguished already.
    #[must_use]
    #[inline]
    pub fn with_cell(self, column: ColumnDigest, cell: Cell<'_>) -> RowDigest {
        if matches!(cell, Cell::Null) {
            return self;
        }
        let mut hasher = WordHasher(column.0);
        hasher.write_u64(hash(&Words, cell));
        // A sum does not depend on the order of the cells.
        RowDigest(self.0.wrapping_add(hasher.finish()))
    }

    /// With a cell less.
    #[must_use]
    pub fn without(self, column: ColumnDigest, value: &str) -> RowDigest {
        let cell = RowDigest(0).with(column, value);
        RowDigest(self.0.wrapping_sub(cell.0))
    }

    /// With everything that was added to another one, and taken from it.
    #[must_use]
    pub fn plus(self, other: RowDigest) -> RowDigest {
        RowDigest(self.0.wrapping_add(other.0))
    }
}

/// A number that equal rows share, whatever their order: whether what a table or a column holds is what was seen.
/// Persisted with the decisions of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HeldDigest {
    rows: u64,
    sum: u64,
}

impl HeldDigest {
    /// With the row of a table.
    pub fn add_row(&mut self, id: Id, data: &RowData) {
        self.add(id, RowDigest::of(data));
    }

    /// With the cell of a column, if it is filled.
    pub fn add_cell(&mut self, id: Id, column: &str, data: &RowData) {
        if let Some(cell) = data.cell(column)
            && !Cell::new(cell).is_empty()
        {
            let digest = RowDigest::default().with(ColumnDigest::of(column), cell);
            self.add(id, digest);
        }
    }

    fn add(&mut self, id: Id, digest: RowDigest) {
        let (high, low) = id.as_u64_pair();
        let mut hasher = WordHasher(digest.0);
        hasher.write_u64(high);
        hasher.write_u64(low);
        self.rows += 1;
        self.sum = self.sum.wrapping_add(hasher.finish());
    }

    /// As a value that a plan may have seen.
    pub fn value(self) -> Value {
        format!("{} {:016x}", self.rows, self.sum).into()
    }
}

/// Eight bytes at a time, multiplied and folded: the same on every machine, for ever.
#[derive(Clone, Copy)]
struct Words;

struct WordHasher(u64);

impl BuildHasher for Words {
    type Hasher = WordHasher;

    fn build_hasher(&self) -> WordHasher {
        WordHasher(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for WordHasher {
    fn finish(&self) -> u64 {
        let mixed = (self.0 ^ (self.0 >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        mixed ^ (mixed >> 29)
    }

    fn write(&mut self, bytes: &[u8]) {
        let mut words = bytes.chunks_exact(8);
        for word in &mut words {
            self.write_u64(word.try_into().map_or(0, u64::from_le_bytes));
        }
        let mut last = [0; 8];
        last[..words.remainder().len()].copy_from_slice(words.remainder());
        self.write_u64(u64::from_le_bytes(last));
        self.write_u64(bytes.len() as u64);
    }

    fn write_u8(&mut self, byte: u8) {
        self.write_u64(u64::from(byte));
    }

    fn write_u32(&mut self, word: u32) {
        self.write_u64(u64::from(word));
    }

    #[inline]
    fn write_u64(&mut self, word: u64) {
        let mixed = (self.0 ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = mixed ^ (mixed >> 32);
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }

    fn write_i64(&mut self, word: i64) {
        self.write(&word.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::{ColumnDigest, RowDigest};
    use crate::workspace::RowData;

    fn digest(text: &str) -> RowDigest {
        RowDigest::of(&RowData::parse(text).expect("JSON"))
    }

    #[test]
    fn a_digest_sees_values_not_their_spelling_or_order() {
        let one = digest(r#"{"a":1.0,"b":["x",{"c":null,"d":2}]}"#);
        assert_eq!(
            one,
            digest(r#"{"b":["x",{"d":2.00,"c":null}],"a":1,"e":null}"#)
        );
        assert_ne!(one, digest(r#"{"a":"1","b":["x",{"c":null,"d":2}]}"#));
        assert_ne!(one, digest(r#"{"b":1.0,"a":["x",{"c":null,"d":2}]}"#));
    }

    #[test]
    fn what_is_added_can_be_taken_away() {
        let b = ColumnDigest::of("b");
        let whole = digest(r#"{"a":"x","b":[1]}"#);
        assert_eq!(whole.without(b, "[1.0]"), digest(r#"{"a":"x"}"#));
        assert_eq!(whole.without(b, "null"), whole);
        let change = RowDigest::default().without(b, "[1]").with(b, "2");
        assert_eq!(whole.plus(change), digest(r#"{"a":"x","b":2}"#));
    }

    #[test]
    fn a_digest_grows_cell_by_cell_and_never_changes() {
        let whole = digest(r#"{"a":"x","b":[1]}"#);
        assert_eq!(
            whole,
            digest(r#"{"a":"x"}"#).with(ColumnDigest::of("b"), "[1]")
        );
        assert_eq!(
            serde_json::to_string(&whole).expect("writes"),
            "16529040587737800896"
        );
    }
}
