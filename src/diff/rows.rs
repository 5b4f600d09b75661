//! Rows: by key column where both sides found it filled and distinct, else by content.
//!
//! Rows are streamed. What is kept of the first side is a key or a digest per row and where the
//! row stands; of differing rows the first few are told.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::flat::{self, Fields, below, compact};
use super::names::Names;
use super::thing::Side;
use super::{Fate, FieldChange};
use crate::json::scan::Scanner;
use crate::json::{Doc, Node, skip_value};

/// How many differing rows of a table are told.
const TOLD: usize = 10;

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
    pub fate: Fate,
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
    let diffs = tables.into_iter().map(|(table, (old, new))| {
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
            names: &first.names,
        };
        let new = Rows {
            entries: &new,
            names: &second.names,
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
    names: &'r Names<'d>,
}

impl<'d> Rows<'_, 'd> {
    /// Gives every row's text.
    fn each(&self, mut see: impl FnMut(&'d str)) {
        for entry in self.entries {
            let rows = entry.get("rows").filter(|rows| rows.is_array());
            let Some(rows) = rows else { continue };
            let text = rows.text();
            let mut scanner = Scanner::new(text, rows.span().start + 1);
            // The text was found well-formed before.
            let mut more = scanner.first_element().unwrap_or(false);
            while more {
                let start = scanner.pos;
                if skip_value(&mut scanner, text).is_err() {
                    return;
                }
                see(&text[start..scanner.pos]);
                more = scanner.next_element().unwrap_or(false);
            }
        }
    }

    /// A row as it is compared: cells, and for links the table and column they lead to. uids of
    /// rows differ between packages, so the value in the cell says which row is meant.
    fn cells(&self, row: &str) -> Fields {
        let mut fields = Fields::new();
        let Ok(doc) = Doc::parse(row) else {
            return fields;
        };
        let root = doc.root();
        if !root.is_object() {
            fields.insert(String::new(), compact(root, &Names::default()));
        }
        for member in root.members() {
            let key = member.key().unwrap_or_default();
            match key {
                "uid" => {}
                "data" => {
                    for cell in member.members() {
                        let column = cell.key().unwrap_or_default();
                        // Row data is data: `"$f_x"` in a cell names nothing.
                        fields.insert(column.to_owned(), compact(cell, &Names::default()));
                    }
                }
                "refs" => {
                    for cell in member.members() {
                        let path = below("refs", cell.key().unwrap_or_default());
                        fields.insert(path, self.link(cell));
                    }
                }
                other => {
                    fields.insert(below("row", other), compact(member, &Names::default()));
                }
            }
        }
        fields
    }

    fn link(&self, link: Node<'_>) -> String {
        let one = |link: Node<'_>| {
            let table = link.get_str("featureRef").unwrap_or_default();
            let table = table.strip_prefix('$').unwrap_or(table);
            let table = self.names.name(table).unwrap_or(table);
            format!("{table}.{}", link.get_str("valueColumn").unwrap_or("(row)"))
        };
        let links: Vec<String> = match link.get("rows") {
            Some(rows) => rows.elements().map(one).collect(),
            None => vec![one(link)],
        };
        serde_json::to_string(&links).unwrap_or_default()
    }
}

impl RowsDiff {
    fn by_key(&mut self, key: &str, old: &Rows<'_, '_>, new: &Rows<'_, '_>) {
        let mut known: HashMap<String, Vec<&str>> = HashMap::new();
        let key_of = |cells: &Fields| cells.get(key).cloned().unwrap_or_default();
        old.each(|row| known.entry(key_of(&old.cells(row))).or_default().push(row));
        // The last of them first, so that popping gives them in order.
        for rows in known.values_mut() {
            rows.reverse();
        }
        new.each(|row| {
            let cells = new.cells(row);
            let key = key_of(&cells);
            match known.get_mut(&key).and_then(Vec::pop) {
                None => self.tell(Fate::Added, Some(key), &Fields::new(), &cells),
                Some(before) => {
                    let before = old.cells(before);
                    if before != cells {
                        self.tell(Fate::Changed, Some(key), &before, &cells);
                    }
                }
            }
        });
        old.each(|row| {
            let cells = old.cells(row);
            let key = key_of(&cells);
            if known.get_mut(&key).and_then(Vec::pop).is_some() {
                self.tell(Fate::Removed, Some(key), &cells, &Fields::new());
            }
        });
    }

    fn by_content(&mut self, old: &Rows<'_, '_>, new: &Rows<'_, '_>) {
        let mut known: HashMap<u128, usize> = HashMap::new();
        old.each(|row| *known.entry(digest(&old.cells(row))).or_default() += 1);
        new.each(|row| {
            let cells = new.cells(row);
            match known.get_mut(&digest(&cells)).filter(|count| **count > 0) {
                Some(count) => *count -= 1,
                None => self.tell(Fate::Added, None, &Fields::new(), &cells),
            }
        });
        old.each(|row| {
            let cells = old.cells(row);
            if let Some(count) = known.get_mut(&digest(&cells)).filter(|count| **count > 0) {
                *count -= 1;
                self.tell(Fate::Removed, None, &cells, &Fields::new());
            }
        });
    }

    fn tell(&mut self, fate: Fate, key: Option<String>, old: &Fields, new: &Fields) {
        let (count, told) = match fate {
            Fate::Added => (&mut self.added, &self.first),
            Fate::Removed => (&mut self.removed, &self.first),
            Fate::Changed => (&mut self.changed, &self.first),
        };
        *count += 1;
        if told.len() < TOLD {
            self.first.push(RowChange {
                fate,
                cells: flat::changes(old, new),
                key,
            });
        }
    }
}

/// FNV-1a of 128 bits over a row's cells: one number per row instead of the row.
fn digest(cells: &Fields) -> u128 {
    const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013B;
    let step = |hash: u128, byte: u8| (hash ^ u128::from(byte)).wrapping_mul(PRIME);
    // A byte that UTF-8 never has keeps the parts apart.
    let parts = cells.iter().flat_map(|(path, text)| [path, text]);
    parts.fold(BASIS, |hash, part| {
        step(part.bytes().fold(hash, step), 0xFF)
    })
}
