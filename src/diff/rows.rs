//! Compares rows by key column when it is filled and distinct on both sides, otherwise by content.
//!
//! Rows are streamed; memory holds a key or digest and the position of each row of the first side.
//! Only the first differing rows are reported.

use std::borrow::Cow;
use std::collections::BTreeMap;

use foldhash::quality::RandomState;
#[cfg(not(target_arch = "wasm32"))]
use rayon::prelude::*;
use serde::Serialize;

use super::flat::{self, Fields};
use super::item::Side;
use super::row::{Digest, Reader};
use super::{ChangeKind, FieldChange};
use crate::json::Node;
use crate::rows::elements;

/// How many differing rows of a table are reported.
const MOST_LISTED: usize = 10;

/// The differences of one table's rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RowsDiff {
    /// Name of the table.
    pub table: String,
    /// The column that rows were matched by; without one, they were compared whole.
    pub key: Option<String>,
    /// Rows that only the second package has.
    pub added: usize,
    /// Rows that only the first one has.
    pub removed: usize,
    /// Rows that both have and that differ.
    pub changed: usize,
    /// The first of them.
    pub first: Vec<RowChange>,
}

/// A row that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RowChange {
    /// What became of it.
    pub change_kind: ChangeKind,
    /// Its cells: all of them, or those that differ when it was changed.
    pub cells: Vec<FieldChange>,
    /// Its key, as JSON.
    pub key: Option<String>,
}

/// Compares the rows of all tables.
pub(super) fn compare(first: &Side<'_>, second: &Side<'_>) -> Vec<RowsDiff> {
    let mut tables: BTreeMap<&str, (Vec<Node<'_>>, Vec<Node<'_>>)> = BTreeMap::new();
    for (table, entry) in &first.payloads {
        tables.entry(table).or_default().0.push(*entry);
    }
    for (table, entry) in &second.payloads {
        tables.entry(table).or_default().1.push(*entry);
    }
    let states = [RandomState::default(), RandomState::default()];
    // Tables have nothing to do with each other. A browser has one thread for them.
    #[cfg(not(target_arch = "wasm32"))]
    let tables = tables.into_par_iter();
    #[cfg(target_arch = "wasm32")]
    let tables = tables.into_iter();
    let diffs = tables.map(|(table, (old, new))| {
        let mut diff = RowsDiff {
            table: table.to_owned(),
            key: key(&old, &new),
            added: 0,
            removed: 0,
            changed: 0,
            first: Vec::new(),
        };
        let old = Rows {
            entries: &old,
            reader: Reader {
                names: &first.names,
                states: &states,
            },
        };
        let new = Rows {
            entries: &new,
            reader: Reader {
                names: &second.names,
                states: &states,
            },
        };
        match diff.key.clone() {
            Some(key) => diff.by_key(&key, &old, &new),
            None => diff.by_content(&old, &new),
        }
        diff
    });
    diffs
        .filter(|diff| diff.added + diff.removed + diff.changed > 0)
        .collect()
}

/// The key column that all entries of both sides name and vouch for.
fn key(old: &[Node<'_>], new: &[Node<'_>]) -> Option<String> {
    let all = || old.iter().chain(new);
    let key = all().next()?.get_str("keyColumn")?;
    let agrees = |entry: &Node<'_>| {
        entry.get_str("keyColumn") == Some(key)
            && entry.get("keyUnique").and_then(Node::as_bool) == Some(true)
    };
    // Where one side has no rows at all, they are added or removed whatever their key.
    all().all(agrees).then(|| key.to_owned())
}

/// The rows of one table in one package.
struct Rows<'r, 'd> {
    entries: &'r [Node<'d>],
    reader: Reader<'r, 'd>,
}

type HashMap<K, V> = std::collections::HashMap<K, V, RandomState>;

impl<'d> Rows<'_, 'd> {
    /// Gives every row's text.
    fn each(&self, mut see: impl FnMut(&'d str)) {
        for entry in self.entries {
            let rows = entry.get("rows").filter(|rows| rows.is_array());
            let Some(rows) = rows else { continue };
            // The text was found well-formed before.
            elements(rows.raw()).for_each(&mut see);
        }
    }

    /// Key, digest and text of every row.
    fn digests(&self, key: Option<&str>) -> Vec<RowText<'d>> {
        let mut looks = Vec::new();
        self.each(|text| {
            let (key, digest) = self.reader.digest_row(text, key);
            looks.push(RowText { key, digest, text });
        });
        looks
    }
}

/// What is kept of a row.
struct RowText<'d> {
    key: Cow<'d, str>,
    digest: Digest,
    text: &'d str,
}

impl RowsDiff {
    fn by_key(&mut self, key: &str, old: &Rows<'_, '_>, new: &Rows<'_, '_>) {
        let (old_rows, new_rows) = (old.digests(Some(key)), new.digests(Some(key)));
        let mut known: HashMap<&str, Vec<usize>> = HashMap::default();
        // The last of them first, so that popping gives them in order.
        for (index, row) in old_rows.iter().enumerate().rev() {
            known.entry(&row.key).or_default().push(index);
        }
        for row in &new_rows {
            let before = known.get_mut(row.key.as_ref()).and_then(Vec::pop);
            let Some(before) = before.map(|index| &old_rows[index]) else {
                self.add(ChangeKind::Added, Some(&row.key), || {
                    (Fields::new(), new.reader.cells(row.text))
                });
                continue;
            };
            if before.digest != row.digest {
                self.add(ChangeKind::Changed, Some(&row.key), || {
                    (old.reader.cells(before.text), new.reader.cells(row.text))
                });
            }
        }
        let mut left: Vec<usize> = known.into_values().flatten().collect();
        left.sort_unstable();
        for row in left.into_iter().map(|index| &old_rows[index]) {
            self.add(ChangeKind::Removed, Some(&row.key), || {
                (old.reader.cells(row.text), Fields::new())
            });
        }
    }

    fn by_content(&mut self, old: &Rows<'_, '_>, new: &Rows<'_, '_>) {
        let (old_rows, new_rows) = (old.digests(None), new.digests(None));
        let mut known: HashMap<Digest, usize> = HashMap::default();
        for row in &old_rows {
            *known.entry(row.digest).or_default() += 1;
        }
        for row in &new_rows {
            match known.get_mut(&row.digest).filter(|count| **count > 0) {
                Some(count) => *count -= 1,
                None => self.add(ChangeKind::Added, None, || {
                    (Fields::new(), new.reader.cells(row.text))
                }),
            }
        }
        for row in &old_rows {
            if let Some(count) = known.get_mut(&row.digest).filter(|count| **count > 0) {
                *count -= 1;
                self.add(ChangeKind::Removed, None, || {
                    (old.reader.cells(row.text), Fields::new())
                });
            }
        }
    }

    fn add(
        &mut self,
        change_kind: ChangeKind,
        key: Option<&str>,
        cells: impl FnOnce() -> (Fields, Fields),
    ) {
        let count = match change_kind {
            ChangeKind::Added => &mut self.added,
            ChangeKind::Removed => &mut self.removed,
            ChangeKind::Changed => &mut self.changed,
        };
        *count += 1;
        if self.first.len() < MOST_LISTED {
            let (old, new) = cells();
            self.first.push(RowChange {
                change_kind,
                cells: flat::changes(&old, &new),
                key: key.map(str::to_owned),
            });
        }
    }
}
