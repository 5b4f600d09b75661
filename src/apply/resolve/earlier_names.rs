//! Names that columns had in packages applied earlier: rows are known by their key under the name of then
//! (`upgrade` 1.3, 3.2.2).

use std::collections::{BTreeSet, HashMap};

use indexmap::IndexMap;

use super::built::BuiltColumn;
use super::upgrade::Base;
use crate::apply::TableWork;
use crate::workspace::ledger::Entry;
use crate::workspace::{Id, RecordKind};

/// Notes them with each table, next to the names in this package.
pub(super) fn note_earlier_names(
    tables: &mut [TableWork],
    entries: &[Entry],
    base: &Base,
    columns: &IndexMap<&str, BuiltColumn>,
) {
    let noted = entries.iter().filter_map(|entry| match entry {
        Entry::Structure(structure) => Some(&structure.base),
        _ => None,
    });
    let mut names: HashMap<Id, BTreeSet<&str>> = HashMap::new();
    for based in noted.flatten().chain(base.all()) {
        if based.record.kind != RecordKind::Column {
            continue;
        }
        let of = names.entry(based.record.id).or_default();
        of.insert(based.package_name());
    }
    for table in tables {
        let own = columns.values();
        let own = own.filter(|column| Some(column.feature) == table.feature);
        table.earlier_names = own
            .flat_map(|column| {
                let before = names.get(&column.column.id).into_iter().flatten();
                let other = before.filter(|before| **before != column.package_name);
                other.map(|before| ((*before).to_owned(), column.package_name.clone()))
            })
            .collect();
    }
}
