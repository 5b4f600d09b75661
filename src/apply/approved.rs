//! An approved package: every decision is taken, and the executor only carries it out.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{
    DroppedKey, Minter, NotCarried, NotPublished, RedactedField, Refusal, RenamedRecord,
    UnresolvedEntry, UpgradeTerms,
};
use crate::package::Tool;
use crate::rows::Cell;
use crate::upgrade::{
    BaseView, Conflict, KeptRecord, LeftRecord, Rename, SeenLeaves, UnusedDecision, Update,
};
use crate::workspace::{Change, Column, Id, RecordKind, ledger};

/// Everything that will be done, in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Approved {
    /// The first phase: one transaction.
    pub structure: StructureWork,
    /// The second phase: tables in the order in which their rows enter. Tables whose rows do not
    /// enter stand here too, because rows of others point at theirs.
    pub tables: Vec<TableWork>,
    /// Steps of a hand-written plan that write rows, in order, after the tables.
    pub row_steps: Vec<RowStep>,
    /// The third phase: automations that go live.
    pub publish: Vec<Publish>,
    /// Automations that were live at the source and stay drafts, because they are not whole.
    pub not_published: Vec<NotPublished>,
    /// Secrets that the export cleared.
    pub redacted: Vec<RedactedField>,
    /// What is bound to things that an earlier job made.
    pub bound: Vec<Bound>,
    /// Fields and tables that could not be carried over, known before anything is written.
    pub unresolved: Vec<UnresolvedEntry>,
    /// Things that get another name, because theirs is taken.
    pub renamed: Vec<RenamedRecord>,
    /// Config keys that the definitions do not have.
    pub dropped_keys: Vec<DroppedKey>,
    /// What the package says and the destination does not get, because it is there already.
    pub not_carried: Vec<NotCarried>,
    /// How rows that are there are compared.
    pub base_rows: BaseRows,
    /// What an upgrade does and asks; nothing of a plain apply.
    pub upgrade: Option<Box<UpgradeWork>>,
    /// Whether it is a separate copy, for which no earlier job counts.
    pub copy: bool,
    /// Where the ids come from.
    pub minter: Minter,
}

/// What an upgrade does to what is there, and what it asks. All of it enters the digest of a plan, so it holds no map
/// without an order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UpgradeWork {
    /// What it starts from.
    pub base: Option<BaseView>,
    /// Leaves that become something else.
    pub update: Vec<Update>,
    /// What somebody has to decide first.
    pub conflicts: Vec<Conflict>,
    /// What stays as people made it.
    pub kept: Vec<KeptRecord>,
    /// What the package no longer has.
    pub left: Vec<LeftRecord>,
    /// What may be something else under a new name.
    pub renames: Vec<Rename>,
    /// Decisions that did nothing.
    pub unused: Vec<UnusedDecision>,
    /// Refs of tables whose word decided nothing about records: it may decide about cells.
    pub words: BTreeSet<String>,
    /// What the package says and the destination does not get.
    pub not_carried: Vec<NotCarried>,
    /// Refs of records that are created once more.
    pub again: Vec<String>,
    /// How many leaves of records are written.
    pub leaves: u64,
    /// How many leaves and records were decided.
    pub decided: u64,
    /// Columns and tables that go with what they hold.
    pub dropped: Vec<Dropped>,
    /// Drafts that wait because of what is to go.
    pub held_back: Vec<HeldBack>,
    /// Refs of columns and tables that are to go although nothing allows to lose what they hold.
    pub destructive: Vec<String>,
    /// Why decisions are refused that would lose cells.
    pub losing: Vec<Refusal>,
    /// What was decided, for the rows.
    pub terms: UpgradeTerms,
    /// Columns that are created in tables that are there.
    pub fresh_columns: BTreeSet<Id>,
    /// Columns of the package that stay away, as it names them, by the refs of their tables.
    pub absent_columns: BTreeMap<String, Vec<String>>,
    /// Leaves that people changed and somebody decided about.
    pub seen: SeenLeaves,
}

/// The path of what a column or a table holds, among what a plan has seen.
pub(super) const HELD: &str = "rows";

/// A column or a table that goes with what it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dropped {
    /// What it is.
    pub kind: RecordKind,
    /// Its ref in the base.
    pub reference: String,
    /// Its id.
    pub id: Id,
}

/// A draft that waits because it needs what is to go. Where all of that stays, it takes the place of what is in force
/// like any other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldBack {
    /// The automation.
    pub publish: Publish,
    /// What it needs, of what goes with what it holds.
    pub needs: Vec<Id>,
}

/// How rows that are there are compared with what was applied.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BaseRows {
    /// Tables of the base that are there, by their refs.
    pub tables: Vec<(String, Id)>,
    /// Whether rows and cells are compared at all.
    pub cells: bool,
    /// Rows items whose rows are compared cell by cell.
    pub reference: BTreeSet<String>,
    /// The packages that say what cells are compared with, newest first.
    pub packages: Vec<BasePackageRows>,
}

/// What the rows of a package that was applied call tables and columns.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BasePackageRows {
    /// Tables that are there, by their refs.
    pub tables: Vec<(String, Id)>,
    /// The names of columns by their ids at the destination.
    pub columns: HashMap<Id, String>,
}

/// The first phase.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StructureWork {
    /// What is created and replaced. Nothing, when the ledger says that it was done.
    pub changes: Vec<Change>,
    /// What the ledger keeps of it.
    pub entry: ledger::WrittenStructure,
}

/// The rows of one table.
#[derive(Debug, Clone, PartialEq)]
pub struct TableWork {
    /// Position of the entry among the package's payloads.
    pub entry: usize,
    /// uid of the rows item.
    pub uid: String,
    /// The ref of the table, without the dollar.
    pub feature_ref: String,
    /// The table at the destination; nothing when nobody bound the ref, and then no row enters.
    pub feature: Option<Id>,
    /// Which rows enter.
    pub mode: Mode,
    /// The columns that rows may carry, and all identity columns, as the package orders them.
    pub columns: Vec<ColumnWork>,
    /// All columns that the package knows: in one of which it has no cell any more it is empty, and not
    /// unknown. An upgrade and drift compare them.
    pub compared: Vec<ColumnWork>,
    /// Columns that earlier packages called otherwise: the name then, and the one in this package. Rows are known by
    /// their key under the name that it had.
    pub earlier_names: Vec<(String, String)>,
    /// The ordinal of the id of its first row.
    pub first_ordinal: u32,
}

/// Which rows of a table enter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mode {
    /// Every row that the ledger does not know.
    All,
    /// Those whose key no row of the destination has.
    MissingByKey {
        /// The key column, as the package names it: one of the table's `columns`.
        column: String,
    },
    /// None.
    None,
}

/// One column of a table that receives rows.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnWork {
    /// Its technical name in the package: the key in rows, and what `valueColumn` says. Empty for
    /// a column that only the destination has: no cell of the package is meant for it.
    pub package_name: String,
    /// The column at the destination, with its name, type and config there.
    pub column: Column,
    /// What becomes of its cells.
    pub link: LinkWork,
    /// What cells of a link hold of the rows that they point at.
    pub linked_value: LinkedValue,
    /// Whether cells of a link hold identities that its rows have at the source, and others here.
    pub source_identities: bool,
    /// Whether a row without such a cell holds null there: somebody listed it under `leaveEmpty`.
    pub left_empty: bool,
}

impl ColumnWork {
    /// Whether it is not known what a cell of the package would be here: the column shows other values, and no row is
    /// named next to the cell.
    pub(crate) fn is_unknown(&self, cell: &str) -> bool {
        self.linked_value != LinkedValue::AsPackaged && !Cell::new(cell).is_empty()
    }

    /// Whether a cell next to which no row is named becomes empty: it holds an identity of the source, which is one of
    /// another row here (`rest` 6.3), or it is not known what it would be.
    pub(crate) fn is_emptied(&self, cell: &str) -> bool {
        (self.source_identities && !Cell::new(cell).is_empty()) || self.is_unknown(cell)
    }
}

/// What a link cell holds of the row that it points at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum LinkedValue {
    /// The value of the column that the package names next to the row.
    #[default]
    AsPackaged,
    /// The value of the column of that name at the destination: people chose another one than the package.
    Column(String),
    /// Nothing that the package could know: people made it a link to another table.
    Unknown,
}

/// What becomes of the cells of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkWork {
    /// They are data. So are cells of a link column whose rows were never distinguished.
    Data,
    /// Cells with `refs` hold what the target rows hold at the destination.
    Refs,
    /// They become empty: the dependency that they point at was skipped.
    Skipped {
        /// The ref of the dependency.
        dependency: String,
    },
    /// They hold identities of rows that do not come along, to a table that arrives without them:
    /// they become empty.
    Absent,
    /// They hold identities of rows of a mapped table, and stay where those rows exist.
    Identity {
        /// The mapped table.
        feature: Id,
        /// The name of its identity column at the destination.
        column: String,
    },
}

/// A step of a hand-written plan that writes rows.
#[derive(Debug, Clone, PartialEq)]
pub struct RowStep {
    /// uid of the step.
    pub uid: String,
    /// Its tool.
    pub tool: Tool,
    /// What it writes.
    pub work: RowStepWork,
}

/// What a row step writes. `data` objects are JSON text.
#[derive(Debug, Clone, PartialEq)]
pub enum RowStepWork {
    /// `insert_row`, `insert_rows`.
    Insert {
        /// The ref of the table.
        feature_ref: String,
        /// The table at the destination.
        feature: Id,
        /// Its columns.
        columns: Vec<ColumnWork>,
        /// The `data` of each row.
        rows: Vec<String>,
        /// The ordinal of the id of the first.
        first_ordinal: u32,
    },
    /// `update_row`, `bulk_update_rows`: rows are named by their uid in a payload.
    Update {
        /// The ref of the table; `update_row` does not say it.
        feature_ref: Option<String>,
        /// uid and `data` of each row.
        rows: Vec<(String, String)>,
        /// Whether cells that are not named stay.
        merge: bool,
    },
    /// Nothing is written: rows are left out, or nobody bound the table.
    Nothing,
}

/// An automation that goes live.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Publish {
    /// Its ref.
    pub reference: String,
    /// The automation at the destination.
    pub id: Id,
    /// Its name there.
    pub name: String,
    /// The draft that an upgrade made: it takes the place of what was in force. Nothing: the version with which the
    /// automation was created is published.
    pub draft: Option<Id>,
    /// Whether it fires from then on.
    pub live: bool,
}

/// Something of the package that an earlier job made and that still exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bound {
    /// What it is.
    pub kind: RecordKind,
    /// Its ref.
    pub reference: String,
    /// Its id.
    pub id: Id,
    /// Its name at the destination.
    pub name: String,
}
