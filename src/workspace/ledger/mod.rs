//! The ledger of a job: what it wrote, to resume it, to apply again and to undo it.
//!
//! An entry is written in the same transaction as the changes that it reports. A store keeps the
//! entries in order and does not interpret them.

mod digest;
mod names;
mod packed;

use serde::{Deserialize, Serialize};

pub use digest::{ColumnDigest, RowDigest};
pub use names::{RowName, RowNames};

use super::{Id, RecordKind, RowData};
use crate::json::Value;

/// One entry. As JSON the kind is outside (`{"rows": …}`): what is inside keeps its digits only
/// when it is read straight from the text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Entry {
    /// The structure was created.
    Structure(Structure),
    /// Rows were written.
    Rows(Rows),
    /// Rows that an earlier job wrote were recognised.
    Recognised(Recognised),
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
    /// What the job wrote is being taken away, newest first.
    Undoing {
        /// Rows and records that are gone or as they were before.
        done: u64,
    },
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
    pub kind: RecordKind,
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
    pub kind: RecordKind,
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
    #[serde(with = "packed")]
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
    /// What the rows are known by, in the same order; nothing for rows of a step.
    #[serde(default, skip_serializing_if = "RowNames::is_empty")]
    pub names: RowNames,
}

/// Rows of earlier jobs that stand for rows of this package: from now on under its names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Recognised {
    /// The rows item.
    pub uid: String,
    /// The table.
    pub feature: Id,
    /// The rows at the destination.
    pub rows: Vec<Id>,
    /// What they are known by in this package, in the same order.
    pub names: RowNames,
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    /// Where it is now.
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
    #[serde(with = "packed")]
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

#[cfg(test)]
mod tests {
    use super::{
        Created, Emptied, Entry, Links, Moved, Recognised, Replaced, RowDigest, RowName, RowNames,
        Rows, Settled, Structure, Updated, Updates, Written,
    };
    use crate::workspace::{RecordKind, RowData};

    #[test]
    fn every_entry_is_read_back_as_it_was_written() {
        let id = uuid::Uuid::from_u128(7);
        let digest = RowDigest::of(&RowData::trusted(r#"{"a":1}"#));
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
        let names = || RowNames {
            key: Some("code".to_owned()),
            rows: vec![RowName {
                uid: u128::MAX - 5,
                key: digest,
            }],
        };
        let entries = vec![
            Entry::Structure(Structure {
                created: vec![Created {
                    reference: "f_a".to_owned(),
                    kind: RecordKind::Feature,
                    id,
                    name: "a".to_owned(),
                }],
                replaced: vec![Replaced {
                    reference: "workspace".to_owned(),
                    kind: RecordKind::Workspace,
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
                names: names(),
            }),
            Entry::Recognised(Recognised {
                uid: uid(),
                feature: id,
                rows: vec![id],
                names: names(),
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
            Entry::Undoing { done: u64::MAX },
            Entry::Undone,
        ];
        for entry in entries {
            // A variant that is added here has to be added above.
            match &entry {
                Entry::Structure(_)
                | Entry::Rows(_)
                | Entry::Recognised(_)
                | Entry::Links(_)
                | Entry::Closed { .. }
                | Entry::Updates(_)
                | Entry::Published { .. }
                | Entry::Completed
                | Entry::Undoing { .. }
                | Entry::Undone => {}
            }
            let text = serde_json::to_string(&entry).expect("writes");
            let read: Entry = serde_json::from_str(&text).expect(&text);
            assert_eq!(read, entry, "{text}");
        }
    }
}
