//! Changes a workspace on behalf of one job.

use std::future::Future;

use super::ledger::{Entry, RowDigest};
use super::{AnyRecord, Id, KeptRow, Lookup, New, RecordKind, RowData, StoredRow};
use crate::json::Value;
use crate::problem::Code;

/// A workspace that one job may change.
///
/// An implementation is bound to one attempt at one job: it holds the lease, and refuses with
/// [`CommitError::Fenced`] once somebody else has taken the job over.
pub trait Target: Lookup + Sync {
    /// What the job has written so far, in order.
    fn ledger(&self) -> impl Future<Output = Result<Vec<Entry>, Self::Error>> + Send;

    /// As [`rows`](super::Source::rows) gives them, with everything else that is known of a row, and with rows
    /// that are hidden from whoever the job is for: what a job takes away, it keeps.
    fn whole_rows(
        &self,
        feature: Id,
        after: Option<Id>,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<KeptRow>, Self::Error>> + Send {
        async move {
            let rows = self.rows(feature, after, limit).await?;
            Ok(rows.into_iter().map(KeptRow::of).collect())
        }
    }

    /// Writes a unit whole or not at all, and renews the lease.
    fn commit(
        &mut self,
        unit: Unit,
    ) -> impl Future<Output = Result<(), CommitError<Self::Error>>> + Send;
}

/// Changes that are written together, with what the ledger keeps of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Unit {
    /// What is done, in order.
    pub changes: Vec<Change>,
    /// What the ledger remembers; nothing is remembered of a unit that leaves no trace.
    pub entry: Option<Entry>,
    /// How far the job is once the unit is written.
    pub progress: Progress,
    /// What is reported of the job, as JSON text; with the last entry of an undo the list of what it left
    /// as people made it. It is in the last unit and nowhere else: the job
    /// is done when it is written, and nobody can come between the two.
    pub report: Option<String>,
}

/// How far a job is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// `structure`, `rows`, `publish`.
    pub phase: &'static str,
    /// Steps, rows or automations done.
    pub done: u64,
    /// Of how many.
    pub total: u64,
}

/// One change.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Adds a record.
    Create(New),
    /// Replaces a config whole: an object, the list of a rail, or of an automation
    /// [`Automation::config`](super::Automation::config). An automation gets a version with it, which is in force where the
    /// one before was.
    Configure {
        /// What it is.
        kind: RecordKind,
        /// Which.
        id: Id,
        /// The new config.
        config: Value,
    },
    /// Changes what differs between two forms of a record, and nothing else of it. Refused with
    /// [`Code::Conflict`] when something of that is not as it was, and with [`Code::NotFound`] when the
    /// record is gone. Another config or name of an automation is a version, as with
    /// [`Configure`](Change::Configure).
    Update {
        /// The record as it was seen.
        from: Box<AnyRecord>,
        /// The record as it is to be: the same one.
        to: Box<AnyRecord>,
    },
    /// Writes nothing. Refused with [`Code::Conflict`] when the records of that kind in a parent are others
    /// than these, or stand in another order; else they stay so until the unit is written.
    CheckOrder {
        /// What they are: columns, modules or navigation entries.
        kind: RecordKind,
        /// The table of columns, the module of navigation entries; nothing for modules.
        parent: Option<Id>,
        /// They, in order.
        order: Vec<Id>,
    },
    /// Writes nothing. Refused with [`Code::Conflict`] when a record is not what was seen any more, its position
    /// aside, or an automation is live or has a draft next to a published version; with [`Code::NotFound`] when it is gone. Else it stays so until the unit is
    /// written.
    CheckRecord {
        /// The record as it was seen.
        stands: Box<AnyRecord>,
    },
    /// Changes an automation as [`Update`](Change::Update) does, in a draft: what is in force goes on, and other
    /// drafts stay as they are.
    Draft {
        /// The id of the new version.
        version: Id,
        /// The automation as it was seen: its version in force.
        from: Box<AnyRecord>,
        /// The automation as it is to be.
        to: Box<AnyRecord>,
    },
    /// Publishes a draft: it is in force instead of the version that it was begun on, and fires where that
    /// did. Refused with [`Code::DraftStale`] when another version is in force by now.
    PublishDraft {
        /// The automation.
        workflow: Id,
        /// The draft; one that somebody has published is not an error.
        version: Id,
    },
    /// Takes a draft away. Where it was published since, the automation is changed instead.
    RemoveDraft {
        /// The automation; one that is gone is not an error.
        workflow: Id,
        /// The draft; one that is gone is not an error.
        version: Id,
        /// What becomes of the automation when the draft is none any more.
        published: Option<Box<[AnyRecord; 2]>>,
    },
    /// Adds rows; ids ascend.
    InsertRows {
        /// The table.
        feature: Id,
        /// The rows.
        rows: Vec<StoredRow>,
    },
    /// Changes cells of rows.
    UpdateRows {
        /// The table.
        feature: Id,
        /// The rows.
        rows: Vec<RowWrite>,
    },
    /// Adds rows that were taken away, as they were.
    PutRows {
        /// The table.
        feature: Id,
        /// The rows.
        rows: Vec<KeptRow>,
    },
    /// Moves a sequence on; refused with [`Code::Conflict`] when it does not stand at `from`.
    MoveSequence {
        /// The table.
        feature: Id,
        /// The column.
        column: Id,
        /// Where it is.
        from: u64,
        /// Where it is then.
        to: u64,
    },
    /// Puts an automation in force that a job has created: the version that the job wrote is published and becomes
    /// active. A draft that people have begun on it stays one. Refused with [`Code::DraftStale`] when they have published
    /// another version.
    Publish {
        /// The automation.
        workflow: Id,
    },
    /// Takes a record away with everything in it. Refused with [`Code::NotEmpty`] when it is a
    /// table that still has rows, unless `force`. One that is gone already is not an error.
    Remove {
        /// What it is.
        kind: RecordKind,
        /// Which.
        id: Id,
        /// Whether what is in it goes too.
        force: bool,
    },
    /// Takes rows away; those that are gone already are not an error.
    RemoveRows {
        /// The table.
        feature: Id,
        /// The rows.
        rows: Vec<Removal>,
    },
    /// Moves a sequence back, when it still is at `from`.
    RewindSequence {
        /// The table.
        feature: Id,
        /// The column.
        column: Id,
        /// Where the job left it.
        from: u64,
        /// Where it was before.
        to: u64,
    },
    /// Replaces a config when it still is `current`; leaves it alone otherwise.
    Restore {
        /// What it is.
        kind: RecordKind,
        /// Which.
        id: Id,
        /// What the job wrote.
        current: Value,
        /// What was there before.
        config: Value,
    },
}

/// New values for cells of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowWrite {
    /// The row.
    pub id: Id,
    /// Cells that are set; null takes one away.
    pub cells: RowData,
    /// Whether all other cells go.
    pub replace: bool,
    /// What it holds now: another digest refuses the unit with [`Code::NotEmpty`]. Nothing: it is
    /// changed whatever it holds.
    pub digest: Option<RowDigest>,
}

/// A row to be taken away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removal {
    /// The row.
    pub id: Id,
    /// What it held when the job last wrote it: another digest refuses the unit with
    /// [`Code::NotEmpty`]. Nothing: it goes whatever it holds.
    pub digest: Option<RowDigest>,
}

/// Why a store refuses a unit; nothing of the unit was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refused {
    /// The code.
    pub code: Code,
    /// The row at fault: its position among the rows of its change.
    pub row: Option<usize>,
    /// The column at fault.
    pub column: Option<String>,
    /// What is wrong.
    pub message: String,
}

impl Refused {
    /// A row has a value of a unique column that another row holds, a stored one or one that is written with it.
    pub fn repeated(row: usize, column: String) -> Refused {
        Refused {
            code: Code::UniqueViolation,
            row: Some(row),
            message: format!("the value of the unique column {column:?} is already in another row"),
            column: Some(column),
        }
    }
}

/// Why a unit was not written, or not surely.
#[derive(Debug, thiserror::Error)]
pub enum CommitError<E> {
    /// The store looked at it and said no: nothing was written.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// Another attempt holds the job now: nothing was written.
    #[error("another worker has taken the job over")]
    Fenced,
    /// The store failed. Whether the unit was written shows in the ledger.
    #[error("the store failed")]
    Store(#[source] E),
}
