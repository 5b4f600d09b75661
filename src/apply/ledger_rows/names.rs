//! What rows of a package are known by: the number of their uid and the digest of their key.

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
pub(super) fn number(uid: Text<'_>) -> u128 {
    minted(uid).unwrap_or_else(|| {
        let mut number = [0; 16];
        number.copy_from_slice(&Sha256::digest(uid.decoded().as_bytes())[..16]);
        u128::from_be_bytes(number)
    })
}
