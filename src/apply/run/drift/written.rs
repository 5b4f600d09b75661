//! What ledgers say that the rows of a table hold, asked for by ranges of ids.
//!
//! Goes in: the entries of a line. Comes out: for the rows of a range what they held when the line last wrote
//! them. Of all rows together no more is kept than where each entry begins and ends.

use std::collections::HashMap;

use crate::workspace::Id;
use crate::workspace::ledger::{Entry, RowDigest};

/// The entries about a table, in their order.
pub(super) struct WrittenRows<'e> {
    parts: Vec<Part<'e>>,
}

/// An entry, and the range of its rows.
struct Part<'e> {
    least: Id,
    most: Id,
    entry: &'e Entry,
}

impl<'e> WrittenRows<'e> {
    /// Those of a table.
    pub(super) fn of(entries: &'e [Entry], table: Id) -> WrittenRows<'e> {
        let mut parts: Vec<Part<'_>> = Vec::new();
        for entry in entries {
            let (feature, ids) = match entry {
                Entry::Rows(rows) => (rows.feature, range(rows.rows.iter().map(|row| row.id))),
                Entry::Recognised(of) if of.adopted => (of.feature, range(of.rows.iter().copied())),
                Entry::Links(links) => (links.feature, range(links.rows.iter().map(|row| row.id))),
                Entry::Updates(of) => (of.feature, range(of.rows.iter().map(|row| row.id))),
                Entry::Cells(cells) => (cells.feature, range(cells.rows.iter().map(|row| row.id))),
                Entry::Undoing { .. } | Entry::Undone => {
                    parts.clear();
                    continue;
                }
                _ => continue,
            };
            if let (true, Some((least, most))) = (feature == table, ids) {
                parts.push(Part { least, most, entry });
            }
        }
        WrittenRows { parts }
    }

    /// Whether the line wrote none.
    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// What rows after one and up to another held; a number that no row has where people had changed others
    /// of their cells by then.
    pub(super) fn between(&self, after: Option<Id>, until: Option<Id>) -> HashMap<Id, RowDigest> {
        let holds =
            |id: Id| after.is_none_or(|after| id > after) && until.is_none_or(|until| id <= until);
        let mut found = HashMap::new();
        let meets = |part: &&Part<'_>| {
            after.is_none_or(|after| part.most > after)
                && until.is_none_or(|until| part.least <= until)
        };
        for part in self.parts.iter().filter(meets) {
            match part.entry {
                Entry::Rows(rows) => {
                    let rows = rows.rows.iter().filter(|row| holds(row.id));
                    found.extend(rows.map(|row| (row.id, row.digest)));
                }
                Entry::Recognised(rows) => {
                    let rows = rows.rows.iter().copied().filter(|id| holds(*id));
                    found.extend(rows.map(|id| (id, RowDigest::default())));
                }
                Entry::Links(links) => {
                    let rows = links.rows.iter().filter(|row| holds(row.id));
                    found.extend(rows.map(|row| (row.id, row.digest)));
                }
                // A step may change a row that the line did not write.
                Entry::Updates(updates) => {
                    for row in &updates.rows {
                        if let Some(digest) = found.get_mut(&row.id) {
                            *digest = row.digest;
                        }
                    }
                }
                Entry::Cells(cells) => {
                    for row in &cells.rows {
                        if let Some(digest) = found.get_mut(&row.id) {
                            *digest = row.digest.unwrap_or_default();
                        }
                    }
                }
                _ => {}
            }
        }
        found
    }
}

fn range(ids: impl Iterator<Item = Id>) -> Option<(Id, Id)> {
    ids.fold(None, |range, id| {
        let (least, most) = range.unwrap_or((id, id));
        Some((least.min(id), most.max(id)))
    })
}
