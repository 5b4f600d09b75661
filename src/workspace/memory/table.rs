//! The rows of one table, with what keeps unique values unique.

use std::collections::HashMap;

use foldhash::quality::FixedState;

use crate::rows::{Cell, equal, hash};
use crate::workspace::{Id, StoredRow};

/// Rows by ascending id.
#[derive(Debug, Clone, Default)]
pub(in crate::workspace) struct Table {
    rows: Vec<StoredRow>,
    /// By column name; made when the column is first asked for, gone when rows change otherwise
    /// than by being added.
    values: HashMap<String, Values>,
}

/// Rows by the hash of a value.
type Values = HashMap<u64, Vec<Id>, foldhash::fast::FixedState>;

/// Who holds a value already.
pub(super) enum Holder {
    /// A stored row.
    Stored,
    /// An earlier one of the rows that are being added.
    Added,
}

impl Table {
    pub(super) fn new(rows: Vec<StoredRow>) -> Table {
        Table {
            rows,
            values: HashMap::new(),
        }
    }

    pub(super) fn rows(&self) -> &[StoredRow] {
        &self.rows
    }

    fn position(&self, id: Id) -> Result<usize, usize> {
        self.rows.binary_search_by_key(&id, |row| row.id)
    }

    pub(super) fn get(&self, id: Id) -> Option<&StoredRow> {
        self.rows.get(self.position(id).ok()?)
    }

    /// The first of `rows` whose value in a unique column stands already, in another row.
    pub(super) fn repeated(
        &mut self,
        unique: &[String],
        rows: &[StoredRow],
    ) -> Option<(usize, String, Holder)> {
        for column in unique {
            self.read_values(column);
            let state = FixedState::default();
            let mut added: HashMap<u64, Vec<usize>, foldhash::fast::FixedState> =
                HashMap::default();
            for (position, row) in rows.iter().enumerate() {
                let Some(value) = row.data.cell(column) else {
                    continue;
                };
                let cell = Cell::new(value);
                if matches!(cell, Cell::Null) {
                    continue;
                }
                let key = hash(&state, cell);
                let holds = |other: &StoredRow| {
                    other.id != row.id
                        && other
                            .data
                            .cell(column)
                            .is_some_and(|held| equal(held, value))
                };
                let stored = self.values.get(column).and_then(|values| values.get(&key));
                let stored = stored.into_iter().flatten();
                if stored.filter_map(|id| self.get(*id)).any(holds) {
                    return Some((position, column.clone(), Holder::Stored));
                }
                let earlier = added.entry(key).or_default();
                if earlier.iter().filter_map(|at| rows.get(*at)).any(holds) {
                    return Some((position, column.clone(), Holder::Added));
                }
                earlier.push(position);
            }
        }
        None
    }

    fn read_values(&mut self, column: &str) {
        if self.values.contains_key(column) {
            return;
        }
        let mut values = Values::default();
        for row in &self.rows {
            add_value(&mut values, column, row);
        }
        self.values.insert(column.to_owned(), values);
    }

    /// Adds rows; the first whose id is taken is told instead.
    pub(super) fn insert(&mut self, rows: Vec<StoredRow>) -> Result<(), Id> {
        for (position, row) in rows.iter().enumerate() {
            let twice = rows[..position]
                .last()
                .is_some_and(|before| before.id >= row.id);
            if self.position(row.id).is_ok() || twice {
                return Err(row.id);
            }
        }
        for (column, values) in &mut self.values {
            for row in &rows {
                add_value(values, column, row);
            }
        }
        let appended = match (self.rows.last(), rows.first()) {
            (Some(last), Some(first)) => last.id < first.id,
            _ => true,
        };
        self.rows.extend(rows);
        if !appended {
            self.rows.sort_by_key(|row| row.id);
        }
        Ok(())
    }

    /// Puts rows in the place of those with the same ids; the rows before are handed out.
    pub(super) fn replace(&mut self, rows: Vec<StoredRow>) -> Vec<StoredRow> {
        self.values.clear();
        let mut before = Vec::with_capacity(rows.len());
        for row in rows {
            if let Ok(at) = self.position(row.id) {
                before.push(std::mem::replace(&mut self.rows[at], row));
            }
        }
        before
    }

    /// Takes rows away and hands them out.
    pub(super) fn remove(&mut self, ids: &[Id]) -> Vec<StoredRow> {
        self.values.clear();
        let ids: std::collections::HashSet<&Id> = ids.iter().collect();
        let rows = std::mem::take(&mut self.rows);
        let (gone, kept) = rows.into_iter().partition(|row| ids.contains(&row.id));
        self.rows = kept;
        gone
    }

    /// Forgets what is unique: columns have changed.
    pub(super) fn forget_values(&mut self) {
        self.values.clear();
    }
}

fn add_value(values: &mut Values, column: &str, row: &StoredRow) {
    let Some(value) = row.data.cell(column) else {
        return;
    };
    let cell = Cell::new(value);
    if !matches!(cell, Cell::Null) {
        let key = hash(&FixedState::default(), cell);
        values.entry(key).or_default().push(row.id);
    }
}

/// For each value the first row whose cell equals it.
pub(super) fn matching(
    rows: &[StoredRow],
    column: &str,
    values: &[String],
) -> Vec<Option<StoredRow>> {
    let state = FixedState::default();
    let mut wanted: HashMap<u64, Vec<usize>, foldhash::fast::FixedState> = HashMap::default();
    for (position, value) in values.iter().enumerate() {
        wanted
            .entry(hash(&state, Cell::new(value)))
            .or_default()
            .push(position);
    }
    let mut found = vec![None; values.len()];
    for row in rows {
        let cell = row.data.cell(column);
        let Some(value) = cell.filter(|value| *value != "null") else {
            continue;
        };
        let Some(positions) = wanted.get(&hash(&state, Cell::new(value))) else {
            continue;
        };
        for position in positions {
            if found[*position].is_none() && equal(&values[*position], value) {
                found[*position] = Some(row.clone());
            }
        }
    }
    found
}
