//! The ledger of a job: what it wrote, to resume it, to apply again and to undo it.
//!
//! An entry is written in the same transaction as the changes that it reports. A store keeps the
//! entries in order and does not interpret them.

mod digest;
mod names;
mod packed;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use digest::{ColumnDigest, HeldDigest, RowDigest};
pub use names::{RowName, RowNames};

use super::{AnyRecord, Id, KeptRow, RecordKind, RowData};
use crate::json::Value;

/// One entry. As JSON the kind is outside (`{"rows": …}`): what is inside keeps its digits only
/// when it is read straight from the text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Entry {
    /// The structure was created.
    Structure(WrittenStructure),
    /// Rows were written.
    Rows(Rows),
    /// Rows that are there were recognised: an earlier job wrote them, or they are adopted.
    Recognised(RecognisedRows),
    /// Cells that point at rows of their own table were written.
    Links(Links),
    /// The links of a table are complete.
    Closed {
        /// The rows item, or the plan step.
        uid: String,
    },
    /// Cells of rows were changed by a step of the plan.
    Updates(Updates),
    /// Cells of rows were changed by an upgrade, or have another base than the package says.
    Cells(Cells),
    /// Rows of a table, or cells of a column, that are about to be taken away with it.
    Taken(RemovedContent),
    /// An automation was put in force.
    Published {
        /// Its ref.
        reference: String,
        /// Whether it stays paused.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        paused: bool,
    },
    /// The job came to its end.
    Completed,
    /// What the job wrote is being taken away, newest first.
    Undoing {
        /// Rows and records that are gone or as they were before.
        done: u64,
        /// What is not as it was before, because people have changed it since.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        left: Vec<MovedLeaf>,
    },
    /// What the job wrote was taken away again.
    Undone,
}

/// What the first phase wrote.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WrittenStructure {
    /// What was created, in order, by ref.
    pub created: Vec<Created>,
    /// Configs that were replaced.
    pub replaced: Vec<ConfigChange>,
    /// Automations to be put in force at the end, by ref: they leave when they are published.
    pub pending_publishes: Vec<String>,
    /// Records that were there and are known by a ref from now on: an undo forgets that, no more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<Created>,
    /// Records of which leaves were changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<Changed>,
    /// How many leaves.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub leaves: u64,
    /// Records that were taken away, those inside others after them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deleted: Vec<BaseRecord>,
    /// Automations among these that had a version in force.
    #[serde(default, rename = "inForce", skip_serializing_if = "Vec::is_empty")]
    pub in_force: Vec<Id>,
    /// Tables among these that other workspaces share.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shared: Vec<Id>,
    /// Where the sequences of columns among these stood (`to`); they begin anew (`from`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sequences: Vec<MovedSequence>,
    /// Siblings as they stood before one of them went, or before they were put into another order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub siblings: Vec<Siblings>,
    /// What later upgrades start from, where it is another one now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub base: Vec<BaseRecord>,
    /// Whether this is what people had set up before the first job (`upgrade` 3.1.3), and nothing was
    /// written: `known` and `base` say what of it the package stands for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub adopted: bool,
    /// What the report of an upgrade says of records: a job that goes on finds them as they are to be.
    #[serde(default, rename = "told", skip_serializing_if = "Option::is_none")]
    pub reported: Option<Value>,
}

/// Siblings as they stand when one of them is taken away, or all are put into another order: an undo gives them
/// their places back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Siblings {
    /// What they are.
    pub kind: RecordKind,
    /// What they are in; nothing for modules.
    pub parent: Option<Id>,
    /// The ref of that, where they get another order.
    #[serde(default, rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Each of them, the one that goes too.
    pub positions: Vec<Position>,
}

/// Where a record stands among its siblings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// The record.
    pub id: Id,
    /// Its number; of equal ones the smaller id comes first.
    pub order: i64,
}

impl Siblings {
    /// Those of a column or a navigation entry. Other records that are taken away have no place.
    pub fn of(structure: &super::Structure, record: &AnyRecord) -> Option<Siblings> {
        let has_place = matches!(record.kind, RecordKind::Column | RecordKind::Rail);
        let all = AnyRecord::siblings(structure, record.kind, record.parent);
        has_place.then(|| Siblings::of_all(record.kind, record.parent, None, &all))
    }

    /// All in a parent, which the ref names.
    pub fn of_all(
        kind: RecordKind,
        parent: Option<Id>,
        reference: Option<String>,
        all: &[AnyRecord],
    ) -> Siblings {
        let positions = all.iter().map(|one| Position {
            id: one.id,
            order: one.order.unwrap_or_default(),
        });
        Siblings {
            kind,
            parent,
            reference,
            positions: positions.collect(),
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it so")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Whether a ledger holds records that a job wrote and no base: it was written before ledgers had one.
pub fn is_unnoted(entries: &[Entry]) -> bool {
    let structures = || {
        entries.iter().filter_map(|entry| match entry {
            Entry::Structure(structure) => Some(structure),
            _ => None,
        })
    };
    structures().any(|done| !done.created.is_empty() || !done.replaced.is_empty())
        && structures().all(|done| done.base.is_empty())
}

/// A record with the ref that it is known by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BaseRecord {
    /// The ref; `workspace` for the workspace.
    #[serde(rename = "ref")]
    pub reference: String,
    /// Its name in the package, where that is not its name at the destination.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What the package says of it, in the destination's references; of one that was taken away what it
    /// was.
    #[serde(rename = "thing")]
    pub record: AnyRecord,
}

impl BaseRecord {
    /// A record with its name in the package.
    pub fn new(reference: &str, name: &str, record: AnyRecord) -> BaseRecord {
        BaseRecord {
            reference: reference.to_owned(),
            name: (name != record.name).then(|| name.to_owned()),
            record,
        }
    }

    /// Its name in the package.
    pub fn package_name(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.record.name)
    }
}

/// A record of which leaves were changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Changed {
    /// The ref; `workspace` for the workspace.
    #[serde(rename = "ref")]
    pub reference: String,
    /// The record before.
    pub before: AnyRecord,
    /// The record after.
    pub after: AnyRecord,
    /// Of an automation the version with that, which came as a draft.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draft: Option<Id>,
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
pub struct ConfigChange {
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
    pub rows: Vec<WrittenRow>,
    /// Cells that were emptied: links whose row is not at the destination, ids of files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub emptied: Vec<EmptiedColumn>,
    /// Sequences that were moved on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sequences: Vec<MovedSequence>,
    /// Rows whose links inside the table were written along with them, in order. The name in stored ledgers
    /// is older.
    #[serde(rename = "settled", default, skip_serializing_if = "Vec::is_empty")]
    pub early_links: Vec<EarlyLinks>,
    /// What the rows are known by, in the same order; nothing for rows of a step.
    #[serde(default, skip_serializing_if = "RowNames::is_empty")]
    pub names: RowNames,
}

/// Rows of earlier jobs that stand for rows of this package: from now on under its names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecognisedRows {
    /// The rows item.
    pub uid: String,
    /// The table.
    pub feature: Id,
    /// The rows at the destination.
    pub rows: Vec<Id>,
    /// What they are known by in this package, in the same order.
    pub names: RowNames,
    /// Whether no job wrote them: people had set them up before the first one. What they held is not known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub adopted: bool,
}

/// A row whose links inside its table did not wait for the end of the table. They count when that is
/// complete; whoever goes on before writes them again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct EarlyLinks {
    /// Its position.
    pub position: u32,
    /// Cells with links.
    pub cells: u32,
    /// What it would hold without them.
    pub digest: RowDigest,
}

/// A row that was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrittenRow {
    /// Its position in its payload entry, or in its step.
    pub position: u32,
    /// Its id at the destination.
    pub id: Id,
    /// What it held when it was written.
    pub digest: RowDigest,
}

/// How many cells of a column were emptied, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmptiedColumn {
    /// The column, as the package names it.
    pub column: String,
    /// Rows concerned.
    pub count: u64,
    /// Whether the whole dependency was skipped, rather than single rows missing.
    pub skipped: bool,
    /// Whether the cells named files.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub file: bool,
}

/// A sequence that was moved on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MovedSequence {
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
    pub rows: Vec<WrittenRow>,
    /// Cells that were written.
    pub linked: u64,
    /// Cells that stay empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub emptied: Vec<EmptiedColumn>,
}

/// A leaf or a cell that people changed while something was about to write it, and that stays so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schemas",
    derive(schemars::JsonSchema),
    schemars(rename = "TemplateJobMoved")
)]
pub struct MovedLeaf {
    /// What it belongs to; nothing of a row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<RecordKind>,
    /// Its ref; of a row that of the table.
    #[serde(rename = "ref")]
    pub reference: String,
    /// The uid of a row in the package.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
    /// Its id; not of cells that whoever the job is for does not see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Id>,
    /// The path of the leaf.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The column of a cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// Of cells that are not shown: how many of the table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
}

impl MovedLeaf {
    /// Cells of a table that whoever the job is for does not see.
    pub fn unseen(reference: &str, count: u64) -> MovedLeaf {
        MovedLeaf {
            kind: None,
            reference: reference.to_owned(),
            uid: None,
            id: None,
            path: None,
            column: None,
            count: Some(count),
        }
    }
}

/// What became of cells of rows that an earlier job wrote.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cells {
    /// The rows item.
    pub uid: String,
    /// The ref of the table.
    #[serde(default, rename = "ref", skip_serializing_if = "String::is_empty")]
    pub reference: String,
    /// The table.
    pub feature: Id,
    /// Cells of these rows that stay as people made them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub kept: u64,
    /// Cells of these rows that somebody decided.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub decided: u64,
    /// Cells of these rows that became null because the package names a file there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub emptied: Vec<EmptiedColumn>,
    /// Which of their cells are meant.
    #[serde(default, skip_serializing_if = "CellsPart::is_all")]
    pub part: CellsPart,
    /// The rows.
    pub rows: Vec<CellsOf>,
}

/// Which cells of its rows an entry is about. What is said of their other cells stands in other entries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CellsPart {
    /// All of them.
    #[default]
    All,
    /// Unique values that the rows give up before new rows enter, which take them.
    UniqueValues,
    /// Links that follow rows whose values the job has changed.
    Links,
}

impl CellsPart {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
    fn is_all(&self) -> bool {
        *self == CellsPart::All
    }
}

/// What became of the cells of a row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellsOf {
    /// The row.
    pub id: Id,
    /// Its uid in the package.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
    /// Whether whoever the job is for does not see it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hidden: bool,
    /// Cells that were written, before; without those that were not there.
    pub before: RowData,
    /// The same cells after.
    pub after: RowData,
    /// What the row holds now, when that is its base; nothing when people changed it elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<RowDigest>,
    /// Cells whose base is not what the package says, with that base: null where there is none.
    pub stays: RowData,
    /// Of these, the columns that keep a file where the package brings another text, or what they hold where it links
    /// to a row that is not there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Of these, the columns whose cells are not compared: those of rows of transactional data.
    #[serde(default, rename = "notCompared", skip_serializing_if = "Vec::is_empty")]
    pub not_compared: Vec<String>,
    /// Whether the row could not be changed: a job that goes on tries it again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
}

/// Rows of a table that is taken away, or cells of a column that is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RemovedContent {
    /// The table.
    pub feature: Id,
    /// The name of the column, whose cells alone stand in the rows; nothing when the rows themselves go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// The rows, by ascending id.
    pub rows: Vec<KeptRow>,
}

/// Rows that a step of the plan changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Updates {
    /// The plan step.
    pub uid: String,
    /// The table.
    pub feature: Id,
    /// Cells that became null because the step names a file there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub emptied: Vec<EmptiedColumn>,
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
    /// The columns that keep a file where the step brings another text, as the package names them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
}
