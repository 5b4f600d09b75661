//! Rows by the value of one column.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};

use foldhash::quality;

use crate::rows::{Cell, hash};
use crate::workspace::Id;

/// Which rows hold a value, by its hash: whoever asks compares the values themselves.
#[derive(Debug, Default)]
pub(super) struct Index(HashMap<u64, Holders, BuildHasherDefault<PassthroughHasher>>);

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

/// The keys are hashes already.
#[derive(Debug, Clone, Copy, Default)]
struct PassthroughHasher(u64);

impl Hasher for PassthroughHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

impl Index {
    pub(super) fn reserve(&mut self, rows: usize) {
        self.0.reserve(rows);
    }

    /// Enters a row under a key; gives the rows that stood there before it.
    pub(super) fn claim(&mut self, key: u64, row: Id) -> &[Id] {
        match self.0.entry(key) {
            Entry::Vacant(free) => {
                free.insert(Holders::One(row));
                &[]
            }
            Entry::Occupied(taken) => {
                let holders = taken.into_mut();
                if let Holders::One(first) = holders {
                    *holders = Holders::Many(vec![*first]);
                }
                let Holders::Many(rows) = holders else {
                    return &[];
                };
                rows.push(row);
                &rows[..rows.len() - 1]
            }
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
