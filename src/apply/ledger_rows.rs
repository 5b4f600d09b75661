//! Finds the rows of a package that earlier jobs wrote, even when their uids changed (`upgrade`
//! 1.3).
//!
//! In: the ledgers of earlier jobs, and the rows of a payload entry. Out: for each row its
//! counterpart at the destination, matched by uid or else by verified key.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::uids::minted;
use crate::package::payload::{RawEntry, RawRow};
use crate::rows::{Cell, Text, members};
use crate::workspace::Id;
use crate::workspace::ledger::{ColumnDigest, Entry, RowDigest, RowName, RowNames};

/// The rows that ledgers know, by table.
#[derive(Debug, Default)]
pub(super) struct LedgerRows(HashMap<Id, Table>);

#[derive(Debug, Default)]
struct Table {
    rows: HashMap<Id, Row>,
    by_uid: HashMap<u128, Id>,
    /// Rows of which only the position is known: by rows item or step.
    by_place: HashMap<String, HashMap<usize, Id>>,
}

/// A row as the pass knew it that wrote or last recognised it.
#[derive(Debug, Clone)]
struct Row {
    digest: RowDigest,
    /// The key column, as the package named it, and the digest of the key.
    key: Option<(Arc<str>, RowDigest)>,
}

/// A row of the package that is at the destination, or was.
#[derive(Debug, Clone, Copy)]
pub(super) struct PreviousName {
    pub(super) id: Id,
    /// What it held when it was written.
    pub(super) digest: RowDigest,
    /// Whether the ledgers know it by other names than this package gives it.
    pub(super) renamed: bool,
}

impl LedgerRows {
    /// Reads ledgers, oldest first.
    pub(super) fn read<'e>(entries: impl IntoIterator<Item = &'e Entry>) -> LedgerRows {
        let mut known = LedgerRows::default();
        for entry in entries {
            match entry {
                Entry::Rows(rows) => {
                    let table = known.0.entry(rows.feature).or_default();
                    let names = rows.names.rows.iter().copied().map(Some);
                    let names = names.chain(std::iter::repeat(None));
                    let column = column_of(&rows.names);
                    for (row, name) in rows.rows.iter().zip(names) {
                        let stored = Row {
                            digest: row.digest,
                            key: name.and_then(|name| key_of(column.as_ref(), name)),
                        };
                        table.rows.insert(row.id, stored);
                        if let Some(name) = name {
                            table.by_uid.insert(name.uid, row.id);
                        } else {
                            let places = table.by_place.entry(rows.uid.clone()).or_default();
                            places.insert(row.position as usize, row.id);
                        }
                    }
                }
                Entry::Recognised(rows) => {
                    if rows.adopted {
                        known.0.entry(rows.feature).or_default();
                    }
                    let Some(table) = known.0.get_mut(&rows.feature) else {
                        continue;
                    };
                    let column = column_of(&rows.names);
                    for (id, name) in rows.rows.iter().zip(&rows.names.rows) {
                        let key = key_of(column.as_ref(), *name);
                        if rows.adopted {
                            // What it held is not known: each of its cells is compared.
                            let digest = RowDigest::default();
                            table.rows.insert(*id, Row { digest, key });
                        } else if let Some(row) = table.rows.get_mut(id) {
                            row.key = key;
                        } else {
                            // Without the pass that wrote it nobody vouches for the row.
                            continue;
                        }
                        table.by_uid.insert(name.uid, *id);
                    }
                }
                Entry::Cells(cells) => {
                    let Some(table) = known.0.get_mut(&cells.feature) else {
                        continue;
                    };
                    for row in &cells.rows {
                        if let Some(known) = table.rows.get_mut(&row.id) {
                            // Of a row that people changed no digest is that of its base.
                            known.digest = row.digest.unwrap_or_default();
                        }
                    }
                }
                Entry::Undoing { .. } | Entry::Undone => known.0.clear(),
                _ => {}
            }
        }
        known
    }

    /// Whether a rows item or step wrote rows into a table.
    pub(super) fn has(&self, feature: Id, uid: &str) -> bool {
        let table = self.0.get(&feature);
        table.is_some_and(|table| table.by_place.contains_key(uid))
    }

    /// The row of a table that a uid stood for.
    pub(super) fn row_of(&self, feature: Id, uid: Text<'_>) -> Option<Id> {
        self.0.get(&feature)?.by_uid.get(&number(uid)).copied()
    }

    /// The rows of a table that none of these are.
    pub(super) fn others(&self, feature: Id, claimed: &HashSet<Id>, steps: &[&str]) -> usize {
        let Some(table) = self.0.get(&feature) else {
            return 0;
        };
        let of_steps = steps.iter().filter_map(|uid| table.by_place.get(*uid));
        let of_steps: HashSet<Id> = of_steps.flat_map(HashMap::values).copied().collect();
        let rows = table.rows.keys();
        rows.filter(|id| !claimed.contains(id) && !of_steps.contains(id))
            .count()
    }

    /// Whether every row of a table has a key in that column, so that another key is another row.
    pub(super) fn distinguishes(&self, feature: Id, column: &str) -> bool {
        let Some(table) = self.0.get(&feature) else {
            return true;
        };
        let mut rows = table.rows.values();
        rows.all(|row| {
            row.key
                .as_ref()
                .is_some_and(|(known, _)| **known == *column)
        })
    }

    /// For each row of an entry the one that stands for it in a table.
    pub(super) fn recognise(&self, feature: Id, entry: &RawEntry<'_>) -> Vec<Option<PreviousName>> {
        let Some(table) = self.0.get(&feature) else {
            return vec![None; entry.count()];
        };
        let names = names(entry, entry.rows());
        let places = table.by_place.get(&entry.item_uid);
        let by_uid = |(at, name): (usize, &RowName)| {
            let place = || places.and_then(|places| places.get(&at));
            table.by_uid.get(&name.uid).or_else(place).copied()
        };
        let mut found: Vec<Option<Id>> = names.rows.iter().enumerate().map(by_uid).collect();
        let claimed: HashSet<Id> = found.iter().flatten().copied().collect();
        if let Some(column) = &names.key {
            let by_key = table.by_key(column, &claimed);
            for (found, name) in found.iter_mut().zip(&names.rows) {
                if found.is_none() && name.key != RowDigest::default() {
                    *found = by_key.get(&name.key).copied();
                }
            }
        }
        let known = found.into_iter().zip(&names.rows);
        let column = column_of(&names);
        known
            .map(|(id, name)| {
                let id = id?;
                let row = table.rows.get(&id)?;
                let same = table.by_uid.get(&name.uid) == Some(&id)
                    && row.key == key_of(column.as_ref(), *name);
                Some(PreviousName {
                    id,
                    digest: row.digest,
                    renamed: !same,
                })
            })
            .collect()
    }
}

impl Table {
    /// Rows by their key in a column, but for those that are known by their uid: of two the newer one.
    fn by_key(&self, column: &str, claimed: &HashSet<Id>) -> HashMap<RowDigest, Id> {
        let mut by_key: HashMap<RowDigest, Id> = HashMap::new();
        for (id, row) in self.rows.iter().filter(|(id, _)| !claimed.contains(id)) {
            let Some((_, key)) = row.key.as_ref().filter(|(known, _)| **known == *column) else {
                continue;
            };
            if *key != RowDigest::default() {
                let newest = by_key.entry(*key).or_insert(*id);
                *newest = (*newest).max(*id);
            }
        }
        by_key
    }
}

/// The key column of some rows, once for all of them.
fn column_of(names: &RowNames) -> Option<Arc<str>> {
    names.key.as_deref().map(Arc::from)
}

fn key_of(column: Option<&Arc<str>>, name: RowName) -> Option<(Arc<str>, RowDigest)> {
    Some((column?.clone(), name.key))
}

/// The verified key column of an entry.
pub(super) fn verified_key<'e>(entry: &'e RawEntry<'_>) -> Option<&'e str> {
    entry.key_column.as_deref().filter(|_| entry.key_unique)
}

/// What rows of an entry are known by.
pub(super) fn names<'t>(entry: &RawEntry<'_>, rows: impl Iterator<Item = RawRow<'t>>) -> RowNames {
    let key = verified_key(entry);
    let digest = key.map(ColumnDigest::of);
    let name = |row: RawRow<'t>| {
        let cell = key.and_then(|key| {
            let mut cells = members(row.data);
            cells.find_map(|(name, cell)| name.is(key).then_some(cell))
        });
        RowName {
            uid: number(row.uid),
            key: match (digest, cell) {
                (Some(column), Some(cell)) => key_digest(column, cell),
                _ => RowDigest::default(),
            },
        }
    };
    RowNames {
        rows: rows.map(name).collect(),
        key: key.map(str::to_owned),
    }
}

/// The digest of a key. An empty cell is none.
fn key_digest(column: ColumnDigest, cell: &str) -> RowDigest {
    match Cell::new(cell) {
        cell if cell.is_empty() => RowDigest::default(),
        cell => RowDigest::default().with_cell(column, cell),
    }
}

/// The number of a uid: a minted one is its own.
fn number(uid: Text<'_>) -> u128 {
    minted(uid).unwrap_or_else(|| {
        let mut number = [0; 16];
        number.copy_from_slice(&Sha256::digest(uid.decoded().as_bytes())[..16]);
        u128::from_be_bytes(number)
    })
}
