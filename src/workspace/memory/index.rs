//! Rows by the value of one column.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use foldhash::quality;

use crate::rows::{Cell, hash};
use crate::workspace::{Id, RowData};

/// Which rows hold a value, by its hash: whoever asks compares the values themselves.
#[derive(Debug, Default)]
pub(super) struct Index(HashMap<u64, Holders, FixedState>);

/// Mostly one row holds a value.
#[derive(Debug)]
enum Holders {
    One(Id),
    Many(Vec<Id>),
}

/// The hash by which a value is found; empty cells are held by nobody.
pub(super) fn key(value: &str) -> Option<u64> {
    match Cell::new(value) {
        Cell::Null => None,
        cell => Some(hash(&quality::FixedState::default(), cell)),
    }
}

/// The hash of the cell of a row.
pub(super) fn key_of(data: &RowData, column: &str) -> Option<u64> {
    key(data.cell(column)?)
}

impl Index {
    pub(super) fn reserve(&mut self, rows: usize) {
        self.0.reserve(rows);
    }

    pub(super) fn add(&mut self, key: u64, row: Id) {
        match self.0.entry(key) {
            std::collections::hash_map::Entry::Vacant(free) => {
                free.insert(Holders::One(row));
            }
            std::collections::hash_map::Entry::Occupied(mut taken) => match taken.get_mut() {
                Holders::Many(rows) => rows.push(row),
                Holders::One(first) => {
                    let rows = vec![*first, row];
                    taken.insert(Holders::Many(rows));
                }
            },
        }
    }

    pub(super) fn remove(&mut self, key: u64, row: Id) {
        match self.0.get_mut(&key) {
            Some(Holders::One(holder)) if *holder == row => {
                self.0.remove(&key);
            }
            Some(Holders::Many(rows)) => rows.retain(|holder| *holder != row),
            _ => {}
        }
    }

    /// The rows that may hold the value.
    pub(super) fn holders(&self, key: u64) -> &[Id] {
        match self.0.get(&key) {
            None => &[],
            Some(Holders::One(row)) => std::slice::from_ref(row),
            Some(Holders::Many(rows)) => rows,
        }
    }
}
