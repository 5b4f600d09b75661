//! The rows of one table, with what keeps unique values unique.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use foldhash::fast::FixedState;

use super::index::{Index, key, key_of};
use crate::rows::equal;
use crate::workspace::{Id, StoredRow};

/// Rows by ascending id.
#[derive(Debug, Default)]
pub(in crate::workspace) struct Table {
    rows: Vec<StoredRow>,
    /// By column name; made when the column is first asked for, also by readers.
    indexes: Mutex<HashMap<String, Index>>,
}

/// Who holds a value already.
pub(super) enum Holder {
    /// A stored row.
    Stored,
    /// An earlier one of the rows that are being written.
    Written,
}

/// A value that would stand twice: the position of the row, the column, and who has it.
pub(super) type Repeated = (usize, String, Holder);

/// By unique column, row by row, under which hash its value is found.
pub(super) type Keys = HashMap<String, Vec<Option<u64>>>;

impl Table {
    pub(super) fn new(rows: Vec<StoredRow>) -> Table {
        Table {
            rows,
            indexes: Mutex::default(),
        }
    }

    pub(super) fn rows(&self) -> &[StoredRow] {
        &self.rows
    }

    pub(super) fn get(&self, id: Id) -> Option<&StoredRow> {
        let at = self.rows.binary_search_by_key(&id, |row| row.id).ok()?;
        self.rows.get(at)
    }

    fn indexes(&mut self) -> &mut HashMap<String, Index> {
        self.indexes
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The first of `rows` whose value in a unique column stands already, in another row.
    /// Otherwise the keys of the values, column by column.
    pub(super) fn free(&self, unique: &[String], rows: &[StoredRow]) -> Result<Keys, Repeated> {
        let mut indexes = self.indexes.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = Keys::default();
        for column in unique {
            let mut keys = Vec::with_capacity(rows.len());
            let index = self.index(&mut indexes, column);
            let mut written: HashMap<u64, usize, FixedState> = HashMap::default();
            written.reserve(rows.len());
            for (position, row) in rows.iter().enumerate() {
                let value = row.data.cell(column).unwrap_or("null");
                let found = key(value);
                keys.push(found);
                let Some(key) = found else { continue };
                let holds = |other: &StoredRow| {
                    other.id != row.id
                        && other
                            .data
                            .cell(column)
                            .is_some_and(|held| equal(held, value))
                };
                let mut stored = index.holders(key).iter().filter_map(|id| self.get(*id));
                if stored.any(holds) {
                    return Err((position, column.clone(), Holder::Stored));
                }
                if let Some(earlier) = written.insert(key, position) {
                    // Equal hashes are rare enough to compare with every earlier row.
                    if rows[..=earlier].iter().any(holds) {
                        return Err((position, column.clone(), Holder::Written));
                    }
                }
            }
            all.insert(column.clone(), keys);
        }
        Ok(all)
    }

    fn index<'i>(&self, indexes: &'i mut HashMap<String, Index>, column: &str) -> &'i mut Index {
        if !indexes.contains_key(column) {
            let mut index = Index::default();
            index.reserve(self.rows.len());
            for row in &self.rows {
                if let Some(key) = key_of(&row.data, column) {
                    index.add(key, row.id);
                }
            }
            indexes.insert(column.to_owned(), index);
        }
        indexes.entry(column.to_owned()).or_default()
    }

    /// Adds rows, whose ids ascend; the first whose id is taken or does not ascend is told instead.
    pub(super) fn insert(&mut self, rows: Vec<StoredRow>, keys: &Keys) -> Result<(), Id> {
        let unordered = rows.windows(2).find(|pair| pair[0].id >= pair[1].id);
        if let Some(pair) = unordered {
            return Err(pair[1].id);
        }
        let appended = match (self.rows.last(), rows.first()) {
            (Some(last), Some(first)) => last.id < first.id,
            _ => true,
        };
        if !appended && let Some(row) = rows.iter().find(|row| self.get(row.id).is_some()) {
            return Err(row.id);
        }
        for (column, index) in self.indexes() {
            index.reserve(rows.len());
            let known = keys.get(column);
            for (at, row) in rows.iter().enumerate() {
                let key = match known {
                    Some(keys) => keys.get(at).copied().flatten(),
                    None => key_of(&row.data, column),
                };
                if let Some(key) = key {
                    index.add(key, row.id);
                }
            }
        }
        self.rows.extend(rows);
        if !appended {
            self.rows.sort_by_key(|row| row.id);
        }
        Ok(())
    }

    /// Puts rows in the place of those with the same ids; the rows before are handed out.
    pub(super) fn replace(&mut self, rows: Vec<StoredRow>) -> Vec<StoredRow> {
        let mut before = Vec::with_capacity(rows.len());
        for row in rows {
            let Ok(at) = self.rows.binary_search_by_key(&row.id, |row| row.id) else {
                continue;
            };
            let old = std::mem::replace(&mut self.rows[at], row);
            let new = self.rows[at].clone();
            for (column, index) in self.indexes() {
                let keys = (key_of(&old.data, column), key_of(&new.data, column));
                if keys.0 == keys.1 {
                    continue;
                }
                if let Some(key) = keys.0 {
                    index.remove(key, old.id);
                }
                if let Some(key) = keys.1 {
                    index.add(key, new.id);
                }
            }
            before.push(old);
        }
        before
    }

    /// Takes rows away and hands them out.
    pub(super) fn remove(&mut self, ids: &[Id]) -> Vec<StoredRow> {
        // Whole batches go, mostly: making indexes again is cheaper than mending them.
        self.indexes().clear();
        let ids: std::collections::HashSet<&Id, FixedState> = ids.iter().collect();
        let rows = std::mem::take(&mut self.rows);
        let (gone, kept) = rows.into_iter().partition(|row| ids.contains(&row.id));
        self.rows = kept;
        gone
    }

    /// For each value the first row whose cell equals it.
    pub(super) fn matching(&self, column: &str, values: &[String]) -> Vec<Option<StoredRow>> {
        let mut indexes = self.indexes.lock().unwrap_or_else(PoisonError::into_inner);
        let index = self.index(&mut indexes, column);
        let first = |value: &String| {
            let rows = index.holders(key(value)?).iter();
            let rows = rows.filter_map(|id| self.get(*id));
            let equals = |row: &&StoredRow| {
                let cell = row.data.cell(column);
                cell.is_some_and(|cell| equal(cell, value))
            };
            rows.filter(equals).min_by_key(|row| row.id).cloned()
        };
        values.iter().map(first).collect()
    }
}
