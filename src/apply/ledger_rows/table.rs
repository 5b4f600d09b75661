//! The rows that ledgers know of one table.

use std::collections::{HashMap, HashSet};
use std::num::NonZeroU16;

use crate::workspace::Id;
use crate::workspace::ledger::{Cells, Links, RecognisedRows, RowDigest, RowNames, Rows};

/// There is a table like this for each row of a package, so it keeps sorted lists instead of maps.
#[derive(Debug, Default)]
pub(super) struct LedgerTable {
    /// By their ids.
    pub(super) rows: Vec<Row>,
    /// By their uids; a row has every uid that it ever had.
    uids: Vec<(u128, Id)>,
    /// Columns that were keys, as the packages named them.
    key_columns: Vec<String>,
    /// Rows of which only the position is known: by rows item or step.
    pub(super) by_place: HashMap<String, HashMap<usize, Id>>,
}

/// A row as the pass knew it that wrote or last recognised it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    pub(super) id: Id,
    pub(super) digest: RowDigest,
    /// The digest of its key, if its table has a key column.
    pub(super) key: RowDigest,
    pub(super) key_column: Option<KeyColumn>,
    /// What the entry says. Only rows that were written are left once all entries are read.
    recorded: Recorded,
}

/// A key column of a table: its place among them, from one on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct KeyColumn(NonZeroU16);

/// What an entry says of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Recorded {
    Written,
    Renamed,
    /// Cells were written into it later.
    Changed,
}

impl LedgerTable {
    /// Notes rows that a pass wrote.
    pub(super) fn write(&mut self, written: &Rows) {
        let names = written.names.rows.iter().copied().map(Some);
        let names = names.chain(std::iter::repeat(None));
        let key_column = self.add_key_column(&written.names);
        self.rows.reserve(written.rows.len());
        self.uids.reserve(written.names.rows.len());
        for (row, name) in written.rows.iter().zip(names) {
            self.rows.push(Row {
                id: row.id,
                digest: row.digest,
                key: name.map(|name| name.key).unwrap_or_default(),
                key_column: key_column.filter(|_| name.is_some()),
                recorded: Recorded::Written,
            });
            if let Some(name) = name {
                self.uids.push((name.uid, row.id));
            } else {
                let places = self.by_place.entry(written.uid.clone()).or_default();
                places.insert(row.position as usize, row.id);
            }
        }
    }

    /// Notes what rows are known by from now on.
    pub(super) fn name(&mut self, recognised: &RecognisedRows, recorded: Recorded) {
        let key_column = self.add_key_column(&recognised.names);
        for (id, name) in recognised.rows.iter().zip(&recognised.names.rows) {
            self.rows.push(Row {
                id: *id,
                digest: RowDigest::default(),
                key: name.key,
                key_column,
                recorded,
            });
            self.uids.push((name.uid, *id));
        }
    }

    /// Notes what rows hold after a merge. Of a row that people changed no digest is that of its base.
    pub(super) fn merge(&mut self, cells: &Cells) {
        let rows = cells.rows.iter().map(|row| Row {
            id: row.id,
            digest: row.digest.unwrap_or_default(),
            key: RowDigest::default(),
            key_column: None,
            recorded: Recorded::Changed,
        });
        self.rows.extend(rows);
    }

    /// Notes what rows hold with the links inside their table, which were written after them.
    pub(super) fn link(&mut self, links: &Links) {
        let rows = links.rows.iter().map(|row| Row {
            id: row.id,
            digest: row.digest,
            key: RowDigest::default(),
            key_column: None,
            recorded: Recorded::Changed,
        });
        self.rows.extend(rows);
    }

    /// Makes one of everything that is said of a row.
    pub(super) fn sort(&mut self) {
        // Stable: what was said later comes later.
        self.rows.sort_by_key(|row| row.id);
        self.rows.dedup_by(|later, row| {
            let same = later.id == row.id;
            if same {
                row.add(*later);
            }
            same
        });
        // Without the pass that wrote it nobody vouches for a row.
        self.rows.retain(|row| row.recorded == Recorded::Written);
        self.rows.shrink_to_fit();
        let mut uids = std::mem::take(&mut self.uids);
        uids.retain(|(_, id)| self.row(*id).is_some());
        uids.sort_by_key(|(uid, _)| *uid);
        uids.dedup_by(|later, known| {
            let same = later.0 == known.0;
            if same {
                *known = *later;
            }
            same
        });
        uids.shrink_to_fit();
        self.uids = uids;
    }

    pub(super) fn row(&self, id: Id) -> Option<&Row> {
        let at = self.rows.binary_search_by_key(&id, |row| row.id).ok()?;
        self.rows.get(at)
    }

    pub(super) fn by_uid(&self, uid: u128) -> Option<Id> {
        let at = self.uids.binary_search_by_key(&uid, |(uid, _)| *uid).ok()?;
        self.uids.get(at).map(|(_, id)| *id)
    }

    /// Rows that are known by a uid.
    pub(super) fn named(&self) -> impl Iterator<Item = Id> + '_ {
        self.uids.iter().map(|(_, id)| *id)
    }

    /// Rows by their key in a column, but for those that are known by their uid: of two the newer one.
    pub(super) fn by_key(
        &self,
        column: KeyColumn,
        claimed: &HashSet<Id>,
    ) -> HashMap<RowDigest, Id> {
        let rows = self.rows.iter().filter(|row| {
            row.key_column == Some(column)
                && row.key != RowDigest::default()
                && !claimed.contains(&row.id)
        });
        // The ids of newer rows are greater.
        rows.map(|row| (row.key, row.id)).collect()
    }

    /// The key column of some rows, once for all of them.
    fn add_key_column(&mut self, names: &RowNames) -> Option<KeyColumn> {
        let name = names.key.as_ref()?;
        self.key_column(name).or_else(|| {
            self.key_columns.push(name.clone());
            KeyColumn::at(self.key_columns.len() - 1)
        })
    }

    /// The columns that were keys, with their names, the newest first.
    pub(super) fn key_columns(&self) -> impl Iterator<Item = (KeyColumn, &str)> {
        let known = self.key_columns.iter().enumerate().rev();
        known.filter_map(|(at, name)| Some((KeyColumn::at(at)?, name.as_str())))
    }

    pub(super) fn key_column(&self, name: &str) -> Option<KeyColumn> {
        let mut known = self.key_columns.iter();
        KeyColumn::at(known.position(|known| known == name)?)
    }
}

impl Row {
    /// Adds what is said of it later.
    fn add(&mut self, later: Row) {
        match (self.recorded, later.recorded) {
            (_, Recorded::Written) => *self = later,
            (Recorded::Written, Recorded::Renamed) => {
                (self.key, self.key_column) = (later.key, later.key_column);
            }
            (Recorded::Written, Recorded::Changed) => self.digest = later.digest,
            (Recorded::Renamed | Recorded::Changed, _) => {}
        }
    }
}

impl KeyColumn {
    fn at(position: usize) -> Option<KeyColumn> {
        NonZeroU16::new(u16::try_from(position + 1).ok()?).map(KeyColumn)
    }
}
