//! What a job remembers of what it wrote: enough to resume it, to apply again and to undo it.
//!
//! An entry is written in the same transaction as the changes that it tells of. A store keeps
//! entries in order and never looks into them.

use std::hash::{BuildHasher, Hasher};

use serde::{Deserialize, Serialize};

use super::{Id, Kind, RowData};
use crate::json::Value;
use crate::rows::{Cell, hash};

/// One entry. As JSON the kind stands outside (`{"rows": …}`): what is inside keeps its digits only
/// when it is read straight from the text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Entry {
    /// The structure was created.
    Structure(Structure),
    /// Rows were written.
    Rows(Rows),
    /// Cells that point at rows of their own table were written.
    Links(Links),
    /// The links of a table are complete.
    Closed {
        /// The rows item, or the plan step.
        uid: String,
    },
    /// Cells of rows were changed by a step of the plan.
    Updates(Updates),
    /// An automation was put in force.
    Published {
        /// Its ref.
        reference: String,
    },
    /// The job came to its end.
    Completed,
    /// What the job wrote was taken away again.
    Undone,
}

/// What the first phase wrote.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Structure {
    /// What was created, in order, by ref.
    pub created: Vec<Created>,
    /// Configs that were replaced.
    pub replaced: Vec<Replaced>,
    /// Automations to be put in force at the end, by ref: they leave when they are published.
    pub pending_publishes: Vec<String>,
}

/// A record that a job created.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Created {
    /// Its ref in the package.
    #[serde(rename = "ref")]
    pub reference: String,
    /// What it is.
    pub kind: Kind,
    /// Its id.
    pub id: Id,
    /// Its name at the destination.
    pub name: String,
}

/// A config that a job replaced.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Replaced {
    /// The ref of the record; `workspace` for the workspace.
    #[serde(rename = "ref")]
    pub reference: String,
    /// What it is.
    pub kind: Kind,
    /// Its id.
    pub id: Id,
    /// The config before.
    pub before: Value,
    /// The config that was written.
    pub after: Value,
}

/// Rows written together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Rows {
    /// The rows item, or the plan step, that brought them.
    pub uid: String,
    /// The table.
    pub feature: Id,
    /// The rows.
    pub rows: Vec<Written>,
    /// Link cells that were emptied because their row is not at the destination.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub emptied: Vec<Emptied>,
    /// Sequences that were moved on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sequences: Vec<Moved>,
    /// Rows whose links inside the table were written along with them, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settled: Vec<Settled>,
}

/// A row whose links inside its table did not wait for the end of the table. They count when that is
/// complete; whoever goes on before writes them again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settled {
    /// Its position.
    pub position: u32,
    /// Cells with links.
    pub cells: u32,
    /// What it would hold without them.
    pub digest: RowDigest,
}

/// A row that was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// Its position in its payload entry, or in its step.
    pub position: u32,
    /// Its id at the destination.
    pub id: Id,
    /// What it held when it was written.
    pub digest: RowDigest,
}

/// How many cells of a column were emptied, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Emptied {
    /// The column, as the package names it.
    pub column: String,
    /// Rows concerned.
    pub count: u64,
    /// Whether the whole dependency was skipped, rather than single rows missing.
    pub skipped: bool,
}

/// A sequence that was moved on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moved {
    /// The column.
    pub column: Id,
    /// Where it stood.
    pub from: u64,
    /// Where it stands now.
    pub to: u64,
}

/// Links inside one table, written after its rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Links {
    /// The rows item.
    pub uid: String,
    /// The table.
    pub feature: Id,
    /// What the rows hold now.
    pub rows: Vec<Written>,
    /// Cells that were written.
    pub linked: u64,
    /// Cells that stay empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub emptied: Vec<Emptied>,
}

/// Rows that a step of the plan changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Updates {
    /// The plan step.
    pub uid: String,
    /// The table.
    pub feature: Id,
    /// The rows.
    pub rows: Vec<Updated>,
}

/// A row that was changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Updated {
    /// The row.
    pub id: Id,
    /// Its cells before.
    pub before: RowData,
    /// What it holds now.
    pub digest: RowDigest,
}

/// A number that rows with equal cells share, whatever the order of the cells: whether a row was
/// edited since the job wrote it. Persisted, so it must never change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct RowDigest(u64);

/// The part of a digest that is the same for all cells of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnDigest(u64);

impl ColumnDigest {
    /// Of the column of that technical name.
    pub fn of(column: &str) -> ColumnDigest {
        let mut hasher = Words.build_hasher();
        hasher.write(column.as_bytes());
        ColumnDigest(hasher.finish())
    }
}

impl RowDigest {
    /// Of a whole row. Empty cells (null) count as absent.
    pub fn of(data: &RowData) -> RowDigest {
        data.cells().fold(RowDigest(0), |digest, (key, value)| {
            digest.with(ColumnDigest::of(&key.decoded()), value)
        })
    }

    /// With one more cell.
    #[must_use]
    #[inline]
    pub fn with(self, column: ColumnDigest, value: &str) -> RowDigest {
        self.with_cell(column, Cell::new(value))
    }

    /// With one more cell, told apart already.
    #[must_use]
    #[inline]
    pub fn with_cell(self, column: ColumnDigest, cell: Cell<'_>) -> RowDigest {
        if matches!(cell, Cell::Null) {
            return self;
        }
        let mut hasher = WordHasher(column.0);
        hasher.write_u64(hash(&Words, cell));
        // A sum does not depend on the order of the cells.
        RowDigest(self.0.wrapping_add(hasher.finish()))
    }
}

/// Eight bytes at a time, multiplied and folded: the same on every machine, for ever.
#[derive(Clone, Copy)]
struct Words;

struct WordHasher(u64);

impl BuildHasher for Words {
    type Hasher = WordHasher;

    fn build_hasher(&self) -> WordHasher {
        WordHasher(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for WordHasher {
    fn finish(&self) -> u64 {
        let mixed = (self.0 ^ (self.0 >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        mixed ^ (mixed >> 29)
    }

    fn write(&mut self, bytes: &[u8]) {
        let mut words = bytes.chunks_exact(8);
        for word in &mut words {
            self.write_u64(word.try_into().map_or(0, u64::from_le_bytes));
        }
        let mut last = [0; 8];
        last[..words.remainder().len()].copy_from_slice(words.remainder());
        self.write_u64(u64::from_le_bytes(last));
        self.write_u64(bytes.len() as u64);
    }

    fn write_u8(&mut self, byte: u8) {
        self.write_u64(u64::from(byte));
    }

    fn write_u32(&mut self, word: u32) {
        self.write_u64(u64::from(word));
    }

    #[inline]
    fn write_u64(&mut self, word: u64) {
        let mixed = (self.0 ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = mixed ^ (mixed >> 32);
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }

    fn write_i64(&mut self, word: i64) {
        self.write(&word.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::{
        ColumnDigest, Created, Emptied, Entry, Links, Moved, Replaced, RowDigest, Rows, Settled,
        Structure, Updated, Updates, Written,
    };
    use crate::workspace::{Kind, RowData};

    fn digest(text: &str) -> RowDigest {
        RowDigest::of(&RowData::parse(text).expect("JSON"))
    }

    #[test]
    fn a_digest_sees_values_not_their_spelling_or_order() {
        let one = digest(r#"{"a":1.0,"b":["x",{"c":null,"d":2}]}"#);
        assert_eq!(
            one,
            digest(r#"{"b":["x",{"d":2.00,"c":null}],"a":1,"e":null}"#)
        );
        assert_ne!(one, digest(r#"{"a":"1","b":["x",{"c":null,"d":2}]}"#));
        assert_ne!(one, digest(r#"{"b":1.0,"a":["x",{"c":null,"d":2}]}"#));
    }

    #[test]
    fn a_digest_grows_cell_by_cell_and_never_changes() {
        let whole = digest(r#"{"a":"x","b":[1]}"#);
        assert_eq!(
            whole,
            digest(r#"{"a":"x"}"#).with(ColumnDigest::of("b"), "[1]")
        );
        assert_eq!(
            serde_json::to_string(&whole).expect("writes"),
            "16529040587737800896"
        );
    }

    #[test]
    fn every_entry_is_read_back_as_it_was_written() {
        let id = uuid::Uuid::from_u128(7);
        let digest = digest(r#"{"a":1}"#);
        let value = |text: &str| crate::json::Value::parse(text).expect("JSON");
        let written = Written {
            position: 3,
            id,
            digest,
        };
        let emptied = Emptied {
            column: "to".to_owned(),
            count: 2,
            skipped: true,
        };
        let uid = || "u_1".to_owned();
        let entries = vec![
            Entry::Structure(Structure {
                created: vec![Created {
                    reference: "f_a".to_owned(),
                    kind: Kind::Feature,
                    id,
                    name: "a".to_owned(),
                }],
                replaced: vec![Replaced {
                    reference: "workspace".to_owned(),
                    kind: Kind::Workspace,
                    id,
                    before: value(r#"{"n":1.50}"#),
                    after: value("[{}]"),
                }],
                pending_publishes: vec!["w_a".to_owned()],
            }),
            Entry::Rows(Rows {
                uid: uid(),
                feature: id,
                rows: vec![written],
                emptied: vec![emptied.clone()],
                sequences: vec![Moved {
                    column: id,
                    from: 1,
                    to: u64::MAX,
                }],
                settled: vec![Settled {
                    position: 3,
                    cells: 2,
                    digest,
                }],
            }),
            Entry::Links(Links {
                uid: uid(),
                feature: id,
                rows: vec![written],
                linked: 4,
                emptied: vec![emptied],
            }),
            Entry::Closed { uid: uid() },
            Entry::Updates(Updates {
                uid: uid(),
                feature: id,
                rows: vec![Updated {
                    id,
                    before: RowData::trusted(r#"{"a":null,"b":"é"}"#),
                    digest,
                }],
            }),
            Entry::Published {
                reference: "w_a".to_owned(),
            },
            Entry::Completed,
            Entry::Undone,
        ];
        for entry in entries {
            // A variant that is added here has to be added above.
            match &entry {
                Entry::Structure(_)
                | Entry::Rows(_)
                | Entry::Links(_)
                | Entry::Closed { .. }
                | Entry::Updates(_)
                | Entry::Published { .. }
                | Entry::Completed
                | Entry::Undone => {}
            }
            let text = serde_json::to_string(&entry).expect("writes");
            let read: Entry = serde_json::from_str(&text).expect(&text);
            assert_eq!(read, entry, "{text}");
        }
    }
}
