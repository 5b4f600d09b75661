//! The columns of a table, arranged for fast reading of rows.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use crate::apply::ColumnWork;
use crate::definitions::Definitions;
use crate::json::scan::Scanner;
use crate::json::write_string;
use crate::rows::{Rule, Text, value};
use crate::workspace::Id;
use crate::workspace::ledger::ColumnDigest;

/// The columns of a table that receives rows.
#[derive(Debug)]
pub(super) struct Columns<'a> {
    /// In the order of the package.
    pub(super) all: Vec<Slot<'a>>,
    /// Those that must be filled when a row comes without them.
    pub(super) required: Vec<usize>,
    by_name: HashMap<&'a str, usize, RandomState>,
    /// The names of columns that stay away.
    absent: &'a [String],
}

/// One column.
#[derive(Debug)]
pub(super) struct Slot<'a> {
    /// What becomes of its cells.
    pub(super) work: &'a ColumnWork,
    /// What it asks of them.
    pub(super) rule: Rule<'a>,
    /// The key at the destination, as JSON, with the colon.
    pub(super) key: String,
    /// For the digest of a row.
    pub(super) digest: ColumnDigest,
    /// Its position among the identity columns, for minting.
    pub(super) identity: u32,
    /// The key in the rows.
    pub(super) name: &'a str,
    /// The same, as it is mostly written, with the colon.
    token: String,
}

impl<'a> Columns<'a> {
    pub(super) fn new(columns: &'a [ColumnWork], definitions: &Definitions) -> Columns<'a> {
        Columns::called(columns, definitions, |work| &work.package_name)
    }

    /// The same columns, as the rows of a package that was applied call them.
    pub(super) fn of_base(
        columns: &'a [ColumnWork],
        definitions: &Definitions,
        names: &'a HashMap<Id, String>,
    ) -> Columns<'a> {
        Columns::called(columns, definitions, |work| {
            names.get(&work.column.id).map_or("", String::as_str)
        })
    }

    fn called(
        columns: &'a [ColumnWork],
        definitions: &Definitions,
        name: impl Fn(&'a ColumnWork) -> &'a str,
    ) -> Columns<'a> {
        let mut identities = 0;
        let slot = |work: &'a ColumnWork| {
            let name = name(work);
            let mut rule = Rule::of(&work.column, definitions);
            // Files do not travel, so a job asks for none.
            rule.required &= !rule.file;
            let identity = identities;
            identities += u32::from(rule.identity.is_some());
            Slot {
                work,
                rule,
                key: write_string(&work.column.name) + ":",
                digest: ColumnDigest::of(&work.column.name),
                identity,
                name,
                // No key begins so: nothing in a row is meant for a column without a name there.
                token: match name {
                    "" => "\0".to_owned(),
                    name => write_string(name) + ":",
                },
            }
        };
        let all: Vec<Slot<'a>> = columns.iter().map(slot).collect();
        let required = |slot: &Slot<'_>| {
            slot.rule.required || slot.rule.identity.is_some() || slot.work.left_empty
        };
        Columns {
            required: (0..all.len()).filter(|at| required(&all[*at])).collect(),
            by_name: all
                .iter()
                .enumerate()
                .map(|(at, slot)| (slot.name, at))
                .filter(|(name, _)| !name.is_empty())
                .collect(),
            all,
            absent: &[],
        }
    }

    /// The same, where columns of the package stay away: their cells are passed over.
    #[must_use]
    pub(super) fn without(self, absent: &'a [String]) -> Columns<'a> {
        Columns { absent, ..self }
    }

    /// Whether a name is that of a column that stays away.
    fn is_absent(&self, name: &Text<'_>) -> bool {
        self.absent.iter().any(|absent| name.is(absent))
    }

    /// Whether rows have a name for a column.
    pub(super) fn has(&self, column: usize) -> bool {
        self.all
            .get(column)
            .is_some_and(|slot| !slot.name.is_empty())
    }

    /// Whether rows have no name for columns that the package has.
    pub(super) fn is_partial(&self) -> bool {
        let known = |slot: &&Slot<'_>| !slot.work.package_name.is_empty();
        let mut known = self.all.iter().filter(known);
        known.any(|slot| slot.name.is_empty())
    }

    /// The column that rows call so.
    pub(super) fn named(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// The cells of a row.
    pub(super) fn cells<'l, 't>(&'l self, data: &'t str) -> Cells<'l, 'a, 't> {
        let mut scanner = Scanner::new(data, 1);
        let more = scanner.first_member().unwrap_or_default();
        Cells {
            columns: self,
            text: data,
            scanner,
            next: 0,
            more,
        }
    }

    /// The value of one column in a row.
    pub(super) fn cell<'t>(&self, data: &'t str, column: usize) -> Option<&'t str> {
        let mut cells = self.cells(data);
        cells.find_map(|(key, value)| {
            matches!(key, Key::Column(at) if at == column).then_some(value)
        })
    }
}

/// Whose cell it is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Key<'t> {
    /// Of a column.
    Column(usize),
    /// Of a column that the table does not have.
    Unknown(Text<'t>),
    /// Of a column that stays away.
    Absent,
}

/// The cells of a row, one after another.
pub(super) struct Cells<'l, 'a, 't> {
    columns: &'l Columns<'a>,
    text: &'t str,
    scanner: Scanner<'t>,
    /// The column that is expected next: rows mostly hold the same columns in the same order.
    next: usize,
    more: bool,
}

/// Columns that may be passed over before a key is looked up.
const MAX_PASSED_COLUMNS: usize = 4;

impl<'t> Cells<'_, '_, 't> {
    #[inline]
    fn guessed(&mut self) -> Option<usize> {
        let rest = self.text.as_bytes().get(self.scanner.pos..)?;
        let slots = self.columns.all.iter().enumerate().skip(self.next);
        for (at, slot) in slots.take(MAX_PASSED_COLUMNS) {
            if rest.starts_with(slot.token.as_bytes()) {
                self.scanner.pos += slot.token.len();
                self.scanner.next_token();
                self.next = at + 1;
                return Some(at);
            }
        }
        None
    }

    fn looked_up(&mut self) -> Option<Key<'t>> {
        let key = self.scanner.string().ok()?;
        self.scanner.colon().ok()?;
        let key = Text {
            inner: self.text.get(key.inner())?,
            escaped: key.escaped,
        };
        let found = if key.escaped {
            self.columns.named(&key.decoded())
        } else {
            self.columns.named(key.inner)
        };
        Some(match found {
            Some(at) => {
                self.next = at + 1;
                Key::Column(at)
            }
            None if self.columns.is_absent(&key) => Key::Absent,
            None => Key::Unknown(key),
        })
    }
}

impl<'t> Iterator for Cells<'_, '_, 't> {
    type Item = (Key<'t>, &'t str);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if !self.more {
            return None;
        }
        let key = match self.guessed() {
            Some(at) => Key::Column(at),
            None => self.looked_up()?,
        };
        let value = value(self.text, &mut self.scanner)?;
        self.more = self.scanner.next_member().unwrap_or_default();
        Some((key, value))
    }
}
