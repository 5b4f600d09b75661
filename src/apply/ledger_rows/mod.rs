//! Finds the rows of a package that earlier jobs wrote, even when their uids changed (`upgrade`
//! 1.3).
//!
//! In: the ledgers of earlier jobs, and the rows of a payload entry. Out: for each row its
//! counterpart at the destination, matched by uid or else by verified key: that of the entry where
//! the ledgers know a row by it, too, else the one that they know it by.
//!
//! A key column is found by the name that the entry gives it. Ledgers hold digests of keys and not
//! the records of their columns, so the caller passes the columns that a later package calls otherwise.

mod names;
mod table;

use std::collections::{HashMap, HashSet};

use crate::package::payload::RawEntry;
use crate::rows::Text;
use crate::workspace::Id;
use crate::workspace::ledger::{Entry, RowDigest, RowName};

use names::{keys, number};
pub(super) use names::{names, verified_key};
use table::{KeyColumn, LedgerTable, Recorded};

/// The rows that ledgers know, by table.
#[derive(Debug, Default)]
pub(super) struct LedgerRows(HashMap<Id, LedgerTable>);

/// A row of the package that is at the destination, or was.
#[derive(Debug, Clone, Copy)]
pub(super) struct PreviousName {
    pub(super) id: Id,
    /// What it held when it was written.
    pub(super) digest: RowDigest,
    /// Whether the ledgers know it by other names than this package gives it.
    pub(super) renamed: bool,
}

/// Columns of a table that earlier packages called otherwise: the name then, and the one in an entry.
pub(super) type EarlierNames = [(String, String)];

/// What an entry calls a column that earlier packages called so.
fn called<'n>(entry: &RawEntry<'_>, earlier_names: &'n EarlierNames, name: &'n str) -> &'n str {
    let mut renamed = earlier_names.iter();
    let renamed = renamed.find(|(before, now)| before == name && entry.columns.contains(now));
    renamed.map_or(name, |(_, now)| now)
}

impl LedgerRows {
    /// Reads ledgers, oldest first.
    pub(super) fn read<'e>(entries: impl IntoIterator<Item = &'e Entry>) -> LedgerRows {
        let mut known = LedgerRows::default();
        for entry in entries {
            match entry {
                Entry::Rows(rows) => known.0.entry(rows.feature).or_default().write(rows),
                Entry::Recognised(rows) if rows.adopted => {
                    // What a row held is not known: each of its cells is compared.
                    let table = known.0.entry(rows.feature).or_default();
                    table.name(rows, Recorded::Written);
                }
                Entry::Recognised(rows) => {
                    if let Some(table) = known.0.get_mut(&rows.feature) {
                        table.name(rows, Recorded::Renamed);
                    }
                }
                Entry::Cells(cells) => {
                    if let Some(table) = known.0.get_mut(&cells.feature) {
                        table.merge(cells);
                    }
                }
                Entry::Links(links) => {
                    if let Some(table) = known.0.get_mut(&links.feature) {
                        table.link(links);
                    }
                }
                Entry::Undoing { .. } | Entry::Undone => known.0.clear(),
                _ => {}
            }
        }
        known.0.values_mut().for_each(LedgerTable::sort);
        known
    }

    /// Whether a rows item or step wrote rows into a table.
    pub(super) fn has(&self, feature: Id, uid: &str) -> bool {
        let table = self.0.get(&feature);
        table.is_some_and(|table| table.by_place.contains_key(uid))
    }

    /// The row of a table that a uid stood for.
    pub(super) fn row_of(&self, feature: Id, uid: Text<'_>) -> Option<Id> {
        self.0.get(&feature)?.by_uid(number(uid))
    }

    /// By table the rows that are known by a name.
    pub(super) fn named(&self) -> HashMap<Id, HashSet<Id>> {
        let tables = self.0.iter();
        tables
            .map(|(feature, table)| (*feature, table.named().collect()))
            .collect()
    }

    /// The rows of a table that none of these are.
    pub(super) fn others(&self, feature: Id, claimed: &HashSet<Id>, steps: &[&str]) -> usize {
        let Some(table) = self.0.get(&feature) else {
            return 0;
        };
        let of_steps = steps.iter().filter_map(|uid| table.by_place.get(*uid));
        let of_steps: HashSet<Id> = of_steps.flat_map(HashMap::values).copied().collect();
        let rows = table.rows.iter().map(|row| row.id);
        rows.filter(|id| !claimed.contains(id) && !of_steps.contains(id))
            .count()
    }

    /// Whether keys tell the rows of an entry from every row of a table, so that another key is another row.
    pub(super) fn distinguishes(
        &self,
        feature: Id,
        entry: &RawEntry<'_>,
        earlier_names: &EarlierNames,
    ) -> bool {
        let Some(table) = self.0.get(&feature) else {
            return true;
        };
        let tells = |(column, name): (KeyColumn, &str)| {
            let of_rows = table.rows.iter().any(|row| row.key_column == Some(column));
            let own = called(entry, earlier_names, name);
            (of_rows && keys(entry, own, name).is_some()).then_some(column)
        };
        let telling: Vec<KeyColumn> = table.key_columns().filter_map(tells).collect();
        let mut rows = table.rows.iter();
        rows.all(|row| row.key_column.is_some_and(|key| telling.contains(&key)))
    }

    /// For each row of an entry the one that stands for it in a table.
    pub(super) fn recognise(
        &self,
        feature: Id,
        entry: &RawEntry<'_>,
        earlier_names: &EarlierNames,
    ) -> Vec<Option<PreviousName>> {
        let Some(table) = self.0.get(&feature) else {
            return vec![None; entry.count()];
        };
        let names = names(entry, entry.rows());
        let places = table.by_place.get(&entry.item_uid);
        let by_uid = |(at, name): (usize, &RowName)| {
            let place = || places.and_then(|places| places.get(&at)).copied();
            table.by_uid(name.uid).or_else(place)
        };
        let mut found: Vec<Option<Id>> = names.rows.iter().enumerate().map(by_uid).collect();
        let key = names.key.as_deref().map(|key| table.key_column(key));
        // Its own key counts before those of earlier packages.
        let mut columns: Vec<(KeyColumn, &str)> = table.key_columns().collect();
        let own = |name| Some(called(entry, earlier_names, name)) == names.key.as_deref();
        columns.sort_by_key(|(_, name)| !own(name));
        let mut claimed: HashSet<Id> = found.iter().flatten().copied().collect();
        for (column, name) in columns {
            let by_key = table.by_key(column, &claimed);
            if by_key.is_empty() || found.iter().all(Option::is_some) {
                continue;
            }
            let Some(keys) = keys(entry, called(entry, earlier_names, name), name) else {
                continue;
            };
            for (found, key) in found.iter_mut().zip(keys) {
                if found.is_none() && key != RowDigest::default() {
                    *found = by_key.get(&key).copied();
                    claimed.extend(*found);
                }
            }
        }
        let known = found.into_iter().zip(&names.rows);
        known
            .map(|(id, name)| {
                let row = table.row(id?)?;
                let same_key = match key {
                    None => row.key_column.is_none(),
                    Some(column) => {
                        column.is_some() && row.key_column == column && row.key == name.key
                    }
                };
                Some(PreviousName {
                    id: row.id,
                    digest: row.digest,
                    renamed: !same_key || table.by_uid(name.uid) != Some(row.id),
                })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::LedgerRows;
    use crate::workspace::Id;
    use crate::workspace::RowData;
    use crate::workspace::ledger::{Entry, Links, RowDigest, RowNames, Rows, WrittenRow};

    #[test]
    fn a_row_holds_the_links_that_were_written_after_it() {
        let (feature, id) = (Id::from_u128(1), Id::from_u128(2));
        let row = |data| WrittenRow {
            position: 0,
            id,
            digest: RowDigest::of(&RowData::trusted(data)),
        };
        let entries = [
            Entry::Rows(Rows {
                uid: "r_people".to_owned(),
                feature,
                rows: vec![row(r#"{"name":"Ada"}"#)],
                emptied: Vec::new(),
                sequences: Vec::new(),
                early_links: Vec::new(),
                names: RowNames::default(),
            }),
            Entry::Links(Links {
                uid: "r_people".to_owned(),
                feature,
                rows: vec![row(r#"{"name":"Ada","boss":"Bo"}"#)],
                linked: 1,
                emptied: Vec::new(),
            }),
        ];
        let known = LedgerRows::read(&entries);
        let digest = known.0[&feature].row(id).expect("is known").digest;
        assert_eq!(digest, row(r#"{"name":"Ada","boss":"Bo"}"#).digest);
    }
}
