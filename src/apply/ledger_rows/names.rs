//! What rows of a package are known by: the number of their uid and the digest of their key.

use std::collections::HashSet;

use sha2::{Digest as _, Sha256};

use crate::apply::uids::minted;
use crate::package::payload::{RawEntry, RawRow};
use crate::rows::{Cell, Text, members};
use crate::workspace::ledger::{ColumnDigest, RowDigest, RowName, RowNames};

/// The verified key column of an entry.
pub(in crate::apply) fn verified_key<'e>(entry: &'e RawEntry<'_>) -> Option<&'e str> {
    entry.key_column.as_deref().filter(|_| entry.key_unique)
}

/// What rows of an entry are known by.
pub(in crate::apply) fn names<'t>(
    entry: &RawEntry<'_>,
    rows: impl Iterator<Item = RawRow<'t>>,
) -> RowNames {
    let key = verified_key(entry);
    let key_of = key.map(|key| (key, ColumnDigest::of(key)));
    let name = |row: RawRow<'t>| RowName {
        uid: number(row.uid),
        key: key_of.map_or_else(RowDigest::default, |(key, column)| {
            cell_digest(row, key, column)
        }),
    };
    RowNames {
        rows: rows.map(name).collect(),
        key: key.map(str::to_owned),
    }
}

/// The digests of the keys of an entry's rows in a column, row by row: its verified key column, or another one that
/// each row fills with a value of its own. Nothing when the column tells no rows apart. `known_as` is what ledgers call
/// the column.
pub(super) fn keys(entry: &RawEntry<'_>, column: &str, known_as: &str) -> Option<Vec<RowDigest>> {
    let digest = ColumnDigest::of(known_as);
    let keys = entry.rows().map(|row| cell_digest(row, column, digest));
    if verified_key(entry) == Some(column) {
        return Some(keys.collect());
    }
    let mut seen = HashSet::new();
    keys.map(|key| (key != RowDigest::default() && seen.insert(key)).then_some(key))
        .collect()
}

/// The digest of a row's cell in a column.
fn cell_digest(row: RawRow<'_>, column: &str, digest: ColumnDigest) -> RowDigest {
    let mut cells = members(row.data);
    let cell = cells.find_map(|(name, cell)| name.is(column).then_some(cell));
    cell.map_or_else(RowDigest::default, |cell| key_digest(digest, cell))
}

/// The digest of a key. An empty cell is none.
fn key_digest(column: ColumnDigest, cell: &str) -> RowDigest {
    match Cell::new(cell) {
        cell if cell.is_empty() => RowDigest::default(),
        cell => RowDigest::default().with_cell(column, cell),
    }
}

/// The number of a uid: a minted one is its own.
pub(super) fn number(uid: Text<'_>) -> u128 {
    minted(uid).unwrap_or_else(|| {
        let mut number = [0; 16];
        number.copy_from_slice(&Sha256::digest(uid.decoded().as_bytes())[..16]);
        u128::from_be_bytes(number)
    })
}
