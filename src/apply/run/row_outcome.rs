//! What becomes of rows of a package, and why a part of a batch was not written.

use super::ledger_state::KnownRow;
use crate::rows::EntryFault;
use crate::workspace::{Refused, StoredRow};

/// What becomes of a row of the package.
#[derive(Debug)]
pub(super) enum RowOutcome {
    /// It enters, as that row of the batch.
    Enters(usize),
    /// It was written before.
    Written(KnownRow, WrittenContent),
    /// The destination has its key.
    Existing(StoredRow),
    /// That row of the package has its key.
    Same(usize),
    /// It cannot be written.
    Failed,
    /// It does not enter.
    Out,
}

/// What a row that was written before holds now, as far as links show it.
#[derive(Debug)]
pub(super) enum WrittenContent {
    /// Nothing points at rows of its table, or it is read once a link points at it.
    Unread,
    Found(StoredRow),
    /// People deleted it.
    Gone,
}

/// Why rows were not written.
pub(super) enum PartRefusal {
    /// These no column could store: positions among those that enter.
    Unfit(Vec<(usize, EntryFault)>),
    /// The store said no.
    Refused(Refused),
    /// Others moved a sequence all the time.
    Contended,
}
