//! The rows of one table, with the indexes of its unique columns.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use foldhash::fast::FixedState;

use super::cells::Cells;
use super::index::{Index, key};
use crate::rows::{equal, sorted_to};
use crate::workspace::{Id, StoredRow};

/// Rows by ascending id.
#[derive(Debug, Default)]
pub(in crate::workspace) struct MemoryTable {
    rows: Vec<StoredRow>,
    /// By column name; made when the column is first asked for, also by readers.
    indexes: Mutex<HashMap<String, Index>>,
}

/// A value that would appear twice.
pub(super) struct RepeatedValue {
    /// The position of the row.
    pub(super) position: usize,
    /// The column.
    pub(super) column: String,
}

/// Why rows were not added.
pub(super) enum NotAdded {
    /// A unique value would appear twice.
    Repeated(RepeatedValue),
    /// An id is taken or does not ascend.
    Id(Id),
}

impl MemoryTable {
    pub(super) fn new(rows: Vec<StoredRow>) -> MemoryTable {
        MemoryTable {
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

    /// Whether two rows hold the same value in a column.
    pub(super) fn repeats(&self, column: &str) -> bool {
        let mut values = HashSet::new();
        let mut cells = self.rows.iter().filter_map(|row| row.data.cell(column));
        cells.any(|cell| {
            let mut sorted = String::new();
            sorted_to(&mut sorted, cell);
            cell != "null" && !values.insert(sorted)
        })
    }

    fn indexes(&mut self) -> &mut HashMap<String, Index> {
        self.indexes
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The first of `rows`, which take the places of those with the same ids, whose value in a unique column is in
    /// another row once all of them have done so.
    pub(super) fn free(&self, unique: &[String], rows: &[StoredRow]) -> Result<(), RepeatedValue> {
        let mut indexes = self.indexes.lock().unwrap_or_else(PoisonError::into_inner);
        let replaced: HashSet<Id, FixedState> = rows.iter().map(|row| row.id).collect();
        let repeated = unique.iter().filter_map(|column| {
            let index = self.index(&mut indexes, column);
            self.repeated(column, index, rows, &replaced)
        });
        let first = repeated.min_by_key(|repeated| repeated.position);
        first.map_or(Ok(()), Err)
    }

    fn repeated(
        &self,
        column: &str,
        index: &Index,
        rows: &[StoredRow],
        replaced: &HashSet<Id, FixedState>,
    ) -> Option<RepeatedValue> {
        let cells = Cells::of(column);
        let mut written: HashMap<u64, usize, FixedState> = HashMap::default();
        written.reserve(rows.len());
        for (position, row) in rows.iter().enumerate() {
            let value = cells.value(&row.data).unwrap_or("null");
            let Some(key) = key(value) else { continue };
            let holds = |other: &StoredRow| {
                let stored_value = cells.value(&other.data);
                stored_value.is_some_and(|stored_value| equal(stored_value, value))
            };
            let stays = index
                .holders(key)
                .iter()
                .filter(|id| !replaced.contains(*id));
            if stays.filter_map(|id| self.get(*id)).any(holds) {
                return Some(RepeatedValue {
                    position,
                    column: column.to_owned(),
                });
            }
            if let Some(earlier) = written.insert(key, position) {
                // Equal hashes are rare enough to compare with every earlier row.
                let mut others = rows[..=earlier].iter();
                let other = others.position(|other| other.id != row.id && holds(other));
                if let Some(other) = other {
                    // Who keeps a value does not take it from anybody.
                    let keeps = self.get(row.id).is_some_and(holds);
                    let position = if keeps { other } else { position };
                    return Some(RepeatedValue {
                        position,
                        column: column.to_owned(),
                    });
                }
            }
        }
        None
    }

    /// Enters the unique values of rows that are about to be added, column by column, up to the
    /// first that exists already.
    fn claim(
        &self,
        indexes: &mut HashMap<String, Index>,
        unique: &[String],
        rows: &[StoredRow],
    ) -> Result<(), RepeatedValue> {
        for column in unique {
            let cells = Cells::of(column);
            let index = self.index(indexes, column);
            index.reserve(rows.len());
            for (position, row) in rows.iter().enumerate() {
                let Some(value) = cells.value(&row.data) else {
                    continue;
                };
                let Some(key) = key(value) else { continue };
                let others = index.claim(key, row.id);
                let mut others = others.iter().filter(|id| **id != row.id);
                let is_held = others.any(|id| {
                    let written = || rows.iter().find(|other| other.id == *id);
                    let other = self.get(*id).or_else(written);
                    let other_value = other.and_then(|other| cells.value(&other.data));
                    other_value.is_some_and(|other_value| equal(other_value, value))
                });
                if is_held {
                    return Err(RepeatedValue {
                        position,
                        column: column.clone(),
                    });
                }
            }
        }
        Ok(())
    }

    fn index<'i>(&self, indexes: &'i mut HashMap<String, Index>, column: &str) -> &'i mut Index {
        if !indexes.contains_key(column) {
            let mut index = Index::default();
            index.reserve(self.rows.len());
            let cells = Cells::of(column);
            for row in &self.rows {
                if let Some(key) = cells.key(&row.data) {
                    index.claim(key, row.id);
                }
            }
            indexes.insert(column.to_owned(), index);
        }
        indexes.entry(column.to_owned()).or_default()
    }

    /// Adds rows, whose ids ascend, unless a unique value or an id exists already.
    pub(super) fn insert(
        &mut self,
        unique: &[String],
        rows: Vec<StoredRow>,
    ) -> Result<(), NotAdded> {
        let appended = match (self.rows.last(), rows.first()) {
            (Some(last), Some(first)) => last.id < first.id,
            _ => true,
        };
        let unordered = rows.windows(2).find(|pair| pair[0].id >= pair[1].id);
        let taken = || rows.iter().find(|row| self.get(row.id).is_some());
        let bad = match unordered {
            Some(pair) => Some(pair[1].id),
            None if appended => None,
            None => taken().map(|row| row.id),
        };
        let mut indexes = std::mem::take(self.indexes());
        // When rows are refused, which is rare, the indexes are made again once they are asked for.
        self.claim(&mut indexes, unique, &rows)
            .map_err(NotAdded::Repeated)?;
        bad.map_or(Ok(()), |id| Err(NotAdded::Id(id)))?;
        for (column, index) in &mut indexes {
            if unique.contains(column) {
                continue;
            }
            let cells = Cells::of(column);
            index.reserve(rows.len());
            for row in &rows {
                if let Some(key) = cells.key(&row.data) {
                    index.claim(key, row.id);
                }
            }
        }
        *self.indexes() = indexes;
        self.rows.extend(rows);
        if !appended {
            self.rows.sort_by_key(|row| row.id);
        }
        Ok(())
    }

    /// Puts rows in place of those with the same ids; the rows before are handed out. Only
    /// cells of columns that are `touched` differ.
    pub(super) fn replace(
        &mut self,
        rows: Vec<StoredRow>,
        touched: impl Fn(&str) -> bool,
    ) -> Vec<StoredRow> {
        let mut indexes = std::mem::take(self.indexes());
        let mut reindexed: Vec<(Cells<'_>, &mut Index)> = indexes
            .iter_mut()
            .filter(|(column, _)| touched(column))
            .map(|(column, index)| (Cells::of(column), index))
            .collect();
        let mut before = Vec::with_capacity(rows.len());
        for row in rows {
            let Ok(at) = self.rows.binary_search_by_key(&row.id, |row| row.id) else {
                continue;
            };
            let old = std::mem::replace(&mut self.rows[at], row);
            let new = &self.rows[at];
            for (cells, index) in &mut reindexed {
                let keys = (cells.key(&old.data), cells.key(&new.data));
                if keys.0 == keys.1 {
                    continue;
                }
                if let Some(key) = keys.0 {
                    index.remove(key, old.id);
                }
                if let Some(key) = keys.1 {
                    index.claim(key, new.id);
                }
            }
            before.push(old);
        }
        *self.indexes() = indexes;
        before
    }

    /// Takes rows away and hands them out.
    pub(super) fn remove(&mut self, ids: &[Id]) -> Vec<StoredRow> {
        // Whole batches go, mostly: making indexes again is cheaper than fixing them.
        self.indexes().clear();
        let ids: std::collections::HashSet<&Id, FixedState> = ids.iter().collect();
        let rows = std::mem::take(&mut self.rows);
        let (gone, kept) = rows.into_iter().partition(|row| ids.contains(&row.id));
        self.rows = kept;
        gone
    }

    /// For each value the first row whose cell equals it.
    pub(super) fn matching(
        &self,
        column: &str,
        values: &[String],
        hidden: &BTreeSet<Id>,
    ) -> Vec<Option<StoredRow>> {
        let mut indexes = self.indexes.lock().unwrap_or_else(PoisonError::into_inner);
        let index = self.index(&mut indexes, column);
        let cells = Cells::of(column);
        let first = |value: &String| {
            let rows = index.holders(key(value)?).iter();
            let rows = rows.filter(|id| !hidden.contains(*id));
            let rows = rows.filter_map(|id| self.get(*id));
            let equals = |row: &&StoredRow| {
                let cell = cells.value(&row.data);
                cell.is_some_and(|cell| equal(cell, value))
            };
            rows.filter(equals).min_by_key(|row| row.id).cloned()
        };
        values.iter().map(first).collect()
    }
}
