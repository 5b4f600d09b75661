//! Rows by the value that links hold: JSON equality, and of equal values the first row.

use std::collections::HashMap;

use foldhash::quality::RandomState;

use crate::rows::{Cell, equal, hash};

/// Values with their rows.
#[derive(Debug, Default)]
pub(super) struct Values {
    state: RandomState,
    /// All texts, one after the other.
    text: String,
    /// By entry: where its text ends, and its row.
    entries: Vec<(usize, u32)>,
    by_hash: HashMap<u64, u32, foldhash::fast::RandomState>,
    /// Entries whose hash another value has already.
    clashes: Vec<(u64, u32)>,
}

impl Values {
    fn entry(&self, entry: u32) -> Option<(&str, u32)> {
        let entry = usize::try_from(entry).ok()?;
        let start = entry
            .checked_sub(1)
            .map_or(0, |before| self.entries[before].0);
        let (end, row) = *self.entries.get(entry)?;
        Some((self.text.get(start..end)?, row))
    }

    fn at(&self, hash: u64, value: &str) -> Option<u32> {
        let first = self.by_hash.get(&hash).copied();
        let clashes = self.clashes.iter().filter(|(other, _)| *other == hash);
        first
            .into_iter()
            .chain(clashes.map(|(_, entry)| *entry))
            .filter_map(|entry| self.entry(entry))
            .find(|(held, _)| equal(held, value))
            .map(|(_, row)| row)
    }

    /// Notes that a row holds a value.
    pub(super) fn insert(&mut self, value: &str, row: u32) {
        let hash = hash(&self.state, Cell::new(value));
        let entry = u32::try_from(self.entries.len()).unwrap_or(u32::MAX);
        if let std::collections::hash_map::Entry::Vacant(vacant) = self.by_hash.entry(hash) {
            vacant.insert(entry);
        } else if self.at(hash, value).is_some() {
            return;
        } else {
            self.clashes.push((hash, entry));
        }
        self.text.push_str(value);
        self.entries.push((self.text.len(), row));
    }

    /// The first row that holds the value.
    pub(super) fn row(&self, value: &str) -> Option<u32> {
        self.at(hash(&self.state, Cell::new(value)), value)
    }
}

#[cfg(test)]
mod tests {
    use super::Values;

    #[test]
    fn values_are_found_by_equality() {
        let mut values = Values::default();
        for (row, value) in (0..).zip(["\"a\"", "1", "\"1\"", "1.0", "\"\\u0062\""]) {
            values.insert(value, row);
        }
        let row = |value| values.row(value);
        assert_eq!(row("1.00"), Some(1));
        assert_eq!(row("\"1\""), Some(2));
        assert_eq!(row("\"b\""), Some(4));
        assert_eq!(row("\"A\""), None);
    }
}
