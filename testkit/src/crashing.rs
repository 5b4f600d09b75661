//! A workspace in memory that fails where a test says, as a process that dies or loses its lease does.
//!
//! Every query and every unit is a call. From the call of a [`Crash`] on all of them fail, until
//! [`Memory::recover`]; the unit of that call is written all the same when the crash says so.
//!
//! The unit tests of the library include this file, so it names the library `tplkit` and nothing else.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tplkit::workspace::ledger::Entry;
use tplkit::workspace::memory::{self, MemoryError, State};
use tplkit::workspace::{
    Change, CommitError, Id, Lookup, RowData, RowWrite, Source, StoredRow, Structure, Target,
    UnfilteredRow, Unit,
};

/// A workspace in memory, and where it fails.
#[derive(Debug)]
pub struct Memory {
    workspace: memory::Memory,
    calls: AtomicU64,
    crash: Option<Crash>,
    fenced: bool,
    ahead: Mutex<RowsAhead>,
    edits: Option<Edits>,
}

/// A row that somebody changes just before each unit that changes it.
#[derive(Debug)]
struct Edits {
    row: Id,
    column: String,
    /// Before how many more units.
    units: u64,
}

/// Rows that somebody said they fetch next.
#[derive(Debug, Default)]
struct RowsAhead {
    rows: Option<(Id, Vec<Id>)>,
    /// How often these were the ones.
    fetched: u64,
}

impl RowsAhead {
    /// Somebody fetches rows.
    fn fetch(&mut self, feature: Id, ids: &[Id]) {
        let said = self.rows.take_if(|said| said.0 == feature && said.1 == ids);
        self.fetched += u64::from(said.is_some());
    }
}

/// When the workspace fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crash {
    /// At which call, counted from 0 since the last [`Memory::recover`].
    pub call: u64,
    /// Whether a commit is written before it fails: the response is lost, the effect is not.
    pub written: bool,
}

/// Why the workspace did not respond.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A crash that was asked for.
    #[error("crashed at call {0}, as asked")]
    Crashed(u64),
    /// What the workspace itself says.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

impl Memory {
    /// A workspace in that state, with a new job.
    pub fn new(state: State) -> Memory {
        Memory {
            workspace: memory::Memory::new(state),
            calls: AtomicU64::new(0),
            crash: None,
            fenced: false,
            ahead: Mutex::default(),
            edits: None,
        }
    }

    /// Somebody changes a cell of a row just before each of the next units that change the row.
    pub fn edit_before(&mut self, row: Id, column: &str, units: u64) {
        let column = column.to_owned();
        self.edits = Some(Edits { row, column, units });
    }

    /// What somebody does just before a unit.
    fn edit_before_unit(&mut self, unit: &Unit) -> Option<Unit> {
        let edits = self.edits.as_mut().filter(|edits| edits.units > 0)?;
        let mut changes = unit.changes.iter();
        let feature = changes.find_map(|change| match change {
            Change::UpdateRows { feature, rows } => {
                let changed = rows.iter().any(|row| row.id == edits.row);
                changed.then_some(*feature)
            }
            _ => None,
        })?;
        edits.units -= 1;
        let text = format!("\"edit {}\"", edits.units);
        let cells = std::iter::once((edits.column.as_str(), text.as_str()));
        let write = RowWrite {
            id: edits.row,
            cells: RowData::from_cells(cells),
            replace: false,
            digest: None,
        };
        let rows = vec![write];
        Some(Unit {
            changes: vec![Change::UpdateRows { feature, rows }],
            entry: None,
            progress: unit.progress,
            report: None,
        })
    }

    /// How often rows were fetched of which that was said before.
    pub fn fetched_as_said(&self) -> u64 {
        self.ahead().fetched
    }

    fn ahead(&self) -> MutexGuard<'_, RowsAhead> {
        self.ahead.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Every later call fails from the given one on, until [`Memory::recover`].
    pub fn crash_at(&mut self, crash: Crash) {
        self.calls = AtomicU64::new(0);
        self.crash = Some(crash);
    }

    /// Somebody else takes the job over: nothing is written any more, until [`Memory::recover`].
    pub fn fence(&mut self) {
        self.fenced = true;
    }

    /// Works again.
    pub fn recover(&mut self) {
        self.calls = AtomicU64::new(0);
        self.fenced = false;
        self.crash = None;
    }

    /// Calls since the last [`Memory::recover`]: every one is a checkpoint to crash at.
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// Counts a call, and says whether it fails (and whether its effect is kept).
    fn call(&self) -> Result<(), Crash> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        match self.crash {
            Some(crash) if call >= crash.call => Err(Crash {
                call,
                // Whoever is dead writes nothing.
                written: crash.written && call == crash.call,
            }),
            _ => Ok(()),
        }
    }

    fn read(&self) -> Result<&memory::Memory, Error> {
        match self.call() {
            Ok(()) => Ok(&self.workspace),
            Err(crash) => Err(Error::Crashed(crash.call)),
        }
    }
}

impl Deref for Memory {
    type Target = memory::Memory;

    fn deref(&self) -> &memory::Memory {
        &self.workspace
    }
}

impl DerefMut for Memory {
    fn deref_mut(&mut self) -> &mut memory::Memory {
        &mut self.workspace
    }
}

impl Source for Memory {
    type Error = Error;

    async fn structure(&self) -> Result<Structure, Error> {
        Ok(self.read()?.structure().await?)
    }

    async fn rows(
        &self,
        feature: Id,
        after: Option<Id>,
        limit: usize,
    ) -> Result<Vec<StoredRow>, Error> {
        Ok(self.read()?.rows(feature, after, limit).await?)
    }
}

impl Lookup for Memory {
    async fn matching(
        &self,
        feature: Id,
        column: &str,
        values: &[String],
    ) -> Result<Vec<Option<StoredRow>>, Error> {
        Ok(self.read()?.matching(feature, column, values).await?)
    }

    async fn fetch(&self, feature: Id, ids: &[Id]) -> Result<Vec<Option<StoredRow>>, Error> {
        let workspace = self.read()?;
        self.ahead().fetch(feature, ids);
        Ok(workspace.fetch(feature, ids).await?)
    }

    async fn fetch_ahead(&self, feature: Id, rows: &[Id]) -> Result<(), Error> {
        self.ahead().rows = Some((feature, rows.to_vec()));
        Ok(())
    }

    async fn hidden(&self, feature: Id, rows: &[Id]) -> Result<Vec<Option<StoredRow>>, Error> {
        Ok(self.read()?.hidden(feature, rows).await?)
    }

    async fn with_hidden(
        &self,
        feature: Id,
        after: Option<Id>,
        limit: usize,
    ) -> Result<Vec<UnfilteredRow>, Error> {
        Ok(self.read()?.with_hidden(feature, after, limit).await?)
    }

    async fn taken(
        &self,
        feature: Id,
        column: &str,
        values: &[String],
    ) -> Result<Vec<bool>, Error> {
        Ok(self.read()?.taken(feature, column, values).await?)
    }

    async fn row_capacity(&self) -> Result<Option<u64>, Error> {
        Ok(self.read()?.row_capacity().await?)
    }

    async fn sequence(&self, feature: Id, column: Id) -> Result<Option<u64>, Error> {
        Ok(self.read()?.sequence(feature, column).await?)
    }
}

impl Target for Memory {
    async fn ledger(&self) -> Result<Vec<Entry>, Error> {
        Ok(self.read()?.ledger().await?)
    }

    async fn commit(&mut self, unit: Unit) -> Result<(), CommitError<Error>> {
        let crash = self.call().err();
        if self.fenced {
            return Err(CommitError::Fenced);
        }
        if let Some(edit) = self.edit_before_unit(&unit) {
            let edited = self.workspace.commit(edit).await;
            assert!(edited.is_ok(), "people may");
        }
        if crash.is_none_or(|crash| crash.written) {
            let written = self.workspace.commit(unit).await;
            written.map_err(|error| match error {
                CommitError::Fenced => CommitError::Fenced,
                CommitError::Refused(refused) => CommitError::Refused(refused),
                CommitError::Store(error) => CommitError::Store(error.into()),
            })?;
        }
        match crash {
            Some(crash) => Err(CommitError::Store(Error::Crashed(crash.call))),
            None => Ok(()),
        }
    }
}
