//! The library's `Target` on the store: the workspace for one attempt at one job.

use std::collections::HashSet;
use std::sync::atomic::{AtomicI64, Ordering};

use tplkit::workspace::ledger::Entry;
use tplkit::workspace::{
    Change, CommitError, Id, KeptRow, Lookup, Source, StoredRow, Structure, Target, UnfilteredRow,
    Unit,
};

use super::visibility::CreatorRights;
use super::{Lease, ledger};
use crate::context::Context;
use crate::rows::Tables;
use crate::store::{Input, Output, QueryFn, Scope, Store, StoreError, Tx};
use crate::workspace::{
    FileUses, PreparedUnit, ReadError, UnitContext, UnitError, batch, fetch, give_back, matching,
    row_capacity, stands, structure, taken, which, whole_batch, write,
};

/// What stands for a number of entries that nobody has read.
const UNREAD_COUNT: i64 = -1;

/// The workspace of a job.
#[derive(Debug)]
pub struct Destination {
    store: Store,
    context: Context,
    tables: Tables,
    lease: Lease,
    visibility: Scope,
    /// Whether its creator may change visibility.
    decides: bool,
    /// What becomes of uses of files that end.
    file_uses: FileUses,
    /// Whether the rights of who asked for the job are asked again before each unit.
    asks_right: bool,
    /// How many entries the ledger has by all that this attempt has read and written; less than none while
    /// it has read nothing.
    entries: AtomicI64,
}

/// A unit for the thread of the connection.
struct UnitWrite {
    unit: Unit,
    prepared: PreparedUnit,
    here: UnitContext,
    lease: Lease,
    /// The rights by which the attempt reads and decides, where they are asked again.
    rights: Option<CreatorRights>,
    /// How many entries there are, if that is known.
    entries: Option<i64>,
}

impl Destination {
    /// The workspace of the job that the lease is for.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn open(
        store: &Store,
        context: &Context,
        tables: &Tables,
        lease: Lease,
    ) -> Result<Destination, StoreError> {
        let (scope, job) = (lease.scope(), lease.job);
        let input = (lease.clone(), context.now());
        let reading = store.read(&scope, input, |tx, (lease, now)| {
            Box::pin(CreatorRights::find(tx, lease, *now))
        });
        let rights: CreatorRights = reading.await?;
        Ok(Destination {
            visibility: rights.visibility,
            decides: rights.decides,
            file_uses: FileUses::Keep(job),
            ..Destination::unrestricted(store, context, tables, lease)
        })
    }

    /// The same with everything in it, whoever asked for the job: an undo takes away what the ledger
    /// reports, and what is in its way may be anybody's.
    pub fn unrestricted(
        store: &Store,
        context: &Context,
        tables: &Tables,
        lease: Lease,
    ) -> Destination {
        Destination {
            visibility: lease.scope(),
            decides: true,
            file_uses: FileUses::GiveBack(lease.job),
            store: store.clone(),
            context: context.clone(),
            tables: tables.clone(),
            lease,
            asks_right: false,
            entries: AtomicI64::new(UNREAD_COUNT),
        }
    }

    /// Asks before each unit whether who asked for the job still has the right to, and still sees and decides what they
    /// did when the attempt began. An undo does not ask: whoever wants it has the right to when it begins, and half of one
    /// must never be refused.
    #[must_use]
    pub fn asking_right(mut self) -> Destination {
        self.asks_right = true;
        self
    }

    /// Whether who asked for the job may still carry it out.
    pub(super) async fn has_right(&self) -> Result<bool, StoreError> {
        self.lease.still_has_right(&self.store, &self.context).await
    }

    /// The right by which it is written.
    pub fn lease(&self) -> &Lease {
        &self.lease
    }

    /// Reads something that belongs to the job.
    pub(super) async fn read<I: Input, T: Output>(
        &self,
        input: I,
        work: impl QueryFn<I, T, StoreError>,
    ) -> Result<T, StoreError> {
        self.store.read(&self.lease.scope(), input, work).await
    }

    /// The outcome of a unit, for the executor.
    async fn outcome(&self, written: Result<(), UnitError>) -> Result<(), CommitError<ReadError>> {
        match written {
            Ok(()) => Ok(()),
            Err(UnitError::Fenced) => Err(CommitError::Fenced),
            Err(UnitError::Forbidden) => Err(CommitError::Store(ReadError::Forbidden)),
            Err(UnitError::RightsChanged) => Err(CommitError::Store(ReadError::RightsChanged)),
            Err(UnitError::Store(error)) => Err(CommitError::Store(error.into())),
            // What stood in the way may have been written by whoever took the job over.
            Err(UnitError::Refused(refused)) => match self.lasts().await {
                Ok(true) => Err(CommitError::Refused(refused)),
                Ok(false) => Err(CommitError::Fenced),
                Err(error) => Err(CommitError::Store(error.into())),
            },
        }
    }

    async fn write(&self, unit: Unit) -> Result<(), UnitError> {
        let here = UnitContext {
            organization: self.lease.organization,
            workspace: self.lease.workspace,
            creator: self.lease.creator,
            now: self.context.now(),
            file_uses: self.file_uses,
            context: self.context.clone(),
            tables: self.tables.clone(),
        };
        let writing = UnitWrite {
            lease: self.lease.clone(),
            rights: self.asks_right.then(|| CreatorRights {
                visibility: self.visibility.clone(),
                decides: self.decides,
            }),
            entries: Some(self.entries.load(Ordering::Relaxed))
                .filter(|count| *count != UNREAD_COUNT),
            prepared: PreparedUnit::of(&unit.changes, &self.tables, &self.context),
            unit,
            here,
        };
        let (scope, store) = (self.lease.scope(), &self.store);
        let written = if is_repeatable(&writing.unit) {
            let work = store.write_repeatable(&scope, writing, |tx, writing| {
                Box::pin(write_unit(tx, writing))
            });
            work.await
        } else {
            let work = store.write_long(&scope, writing, |tx, writing| {
                Box::pin(write_unit(tx, writing))
            });
            work.await
        };
        self.entries.store(written?, Ordering::Relaxed);
        Ok(())
    }

    /// Whether the attempt still holds the job.
    async fn lasts(&self) -> Result<bool, StoreError> {
        let input = (self.lease.clone(), self.context.now());
        let scope = self.lease.scope();
        let reading = self.store.read(&scope, input, |tx, (lease, now)| {
            Box::pin(async move { lease.entries(tx, *now).await })
        });
        let entries: Option<i64> = reading.await?;
        Ok(entries.is_some())
    }
}

/// Whether a unit may be lost in a power cut: rows, which whoever resumes finds missing in the ledger, and
/// writes again with the same ids. Nothing but the job goes by them: they set off no automation, nobody is
/// notified of them before the job ends, and whatever else is kept meanwhile keeps them, too. Structure,
/// automations that go live, the end and the undo are durable once they are committed.
fn is_repeatable(unit: &Unit) -> bool {
    let of_rows = |change: &Change| {
        matches!(
            change,
            Change::InsertRows { .. }
                | Change::UpdateRows { .. }
                | Change::RemoveRows { .. }
                | Change::MoveSequence { .. }
        )
    };
    unit.progress.phase == "rows" && unit.report.is_none() && unit.changes.iter().all(of_rows)
}

/// Writes a unit; gives how many entries the ledger has after it.
async fn write_unit(tx: &mut Tx, writing: &UnitWrite) -> Result<i64, UnitError> {
    let UnitWrite {
        unit,
        prepared,
        here,
        lease,
        rights,
        entries,
    } = writing;
    let stands = lease.entries(tx, here.now).await?;
    let stands = stands.ok_or(UnitError::Fenced)?;
    if let Some(rights) = rights {
        let now = CreatorRights::while_permitted(tx, lease, here.now).await?;
        if now.ok_or(UnitError::Forbidden)? != *rights {
            return Err(UnitError::RightsChanged);
        }
    }
    if let Some(known) = entries
        && *known != stands
    {
        // The database came back without its last commits while this process went on.
        let lost =
            format!("the store has {stands} of the {known} entries of the job: some were lost");
        return Err(StoreError::Unavailable(lost).into());
    }
    write(tx, here, &unit.changes, prepared).await?;
    if let (Some(Entry::Undone), FileUses::GiveBack(job)) = (&unit.entry, here.file_uses) {
        give_back(tx, here.organization, job, here.now).await?;
    }
    lease.advance(tx, unit, stands, here.now).await
}

impl Source for Destination {
    type Error = ReadError;

    async fn structure(&self) -> Result<Structure, ReadError> {
        let workspace = self.lease.workspace;
        let reading = self
            .store
            .snapshot(&self.visibility, workspace, |tx, workspace| {
                Box::pin(structure(tx, *workspace))
            });
        let mut found = reading.await?;
        found.row_access_stays = !self.decides;
        Ok(found)
    }

    async fn rows(
        &self,
        feature: Id,
        after: Option<Id>,
        limit: usize,
    ) -> Result<Vec<StoredRow>, ReadError> {
        let query = BatchQuery {
            feature,
            after,
            limit,
            tables: self.tables.clone(),
        };
        let reading = self.store.read(&self.visibility, query, |tx, query| {
            Box::pin(query.read(tx))
        });
        reading.await
    }
}

/// A batch of rows to read.
struct BatchQuery {
    feature: Id,
    /// The last row of the batch before.
    after: Option<Id>,
    limit: usize,
    tables: Tables,
}

impl BatchQuery {
    async fn read(&self, tx: &mut Tx) -> Result<Vec<StoredRow>, ReadError> {
        let sizes = &self.tables.sizes;
        batch(tx, sizes, self.feature, self.after, self.limit).await
    }
}

impl Lookup for Destination {
    async fn matching(
        &self,
        feature: Id,
        column: &str,
        values: &[String],
    ) -> Result<Vec<Option<StoredRow>>, ReadError> {
        let input = (
            feature,
            column.to_owned(),
            values.to_vec(),
            self.tables.clone(),
        );
        let reading = self.store.read(&self.visibility, input, |tx, input| {
            let (feature, column, values, tables) = input;
            Box::pin(matching(tx, tables, *feature, column, values))
        });
        reading.await
    }

    async fn fetch(&self, feature: Id, rows: &[Id]) -> Result<Vec<Option<StoredRow>>, ReadError> {
        let input = (feature, rows.to_vec(), self.tables.clone());
        let reading = self
            .store
            .read(&self.visibility, input, |tx, (feature, rows, tables)| {
                Box::pin(fetch(tx, &tables.sizes, *feature, rows))
            });
        reading.await
    }

    async fn hidden(&self, feature: Id, rows: &[Id]) -> Result<Vec<Option<StoredRow>>, ReadError> {
        let all = self.lease.scope();
        if rows.is_empty() || self.visibility == all {
            return Ok(vec![None; rows.len()]);
        }
        let input = (feature, rows.to_vec(), self.tables.clone());
        let reading = self.store.read(&all, input, |tx, (feature, rows, tables)| {
            Box::pin(fetch(tx, &tables.sizes, *feature, rows))
        });
        reading.await
    }

    async fn with_hidden(
        &self,
        feature: Id,
        after: Option<Id>,
        limit: usize,
    ) -> Result<Vec<UnfilteredRow>, ReadError> {
        let all = self.lease.scope();
        if self.visibility == all {
            let rows = self.rows(feature, after, limit).await?;
            let seen = |row| UnfilteredRow { row, hidden: false };
            return Ok(rows.into_iter().map(seen).collect());
        }
        let query = BatchQuery {
            feature,
            after,
            limit,
            tables: self.tables.clone(),
        };
        let rows = self
            .store
            .read(&all, query, |tx, query| Box::pin(query.read(tx)));
        let rows: Vec<StoredRow> = rows.await?;
        let ids: Vec<Id> = rows.iter().map(|row| row.id).collect();
        let seen = self
            .store
            .read(&self.visibility, (feature, ids), |tx, (feature, ids)| {
                Box::pin(which(tx, *feature, ids))
            });
        let seen: HashSet<Id> = seen.await?;
        let marked = rows.into_iter().map(|row| {
            let hidden = !seen.contains(&row.id);
            UnfilteredRow { row, hidden }
        });
        Ok(marked.collect())
    }

    async fn taken(
        &self,
        feature: Id,
        column: &str,
        values: &[String],
    ) -> Result<Vec<bool>, ReadError> {
        let input = (
            feature,
            column.to_owned(),
            values.to_vec(),
            self.tables.clone(),
        );
        let reading = self.store.read(&self.visibility, input, |tx, input| {
            let (feature, column, values, tables) = input;
            Box::pin(taken(tx, tables, *feature, column, values))
        });
        reading.await
    }

    async fn row_capacity(&self) -> Result<Option<u64>, ReadError> {
        let workspace = self.lease.workspace;
        let reading = self
            .store
            .read(&self.visibility, workspace, |tx, workspace| {
                Box::pin(row_capacity(tx, *workspace))
            });
        reading.await
    }

    async fn sequence(&self, feature: Id, column: Id) -> Result<Option<u64>, ReadError> {
        let reading = self
            .store
            .read(&self.visibility, (feature, column), |tx, input| {
                Box::pin(stands(tx, input.0, input.1))
            });
        reading.await.map(Some)
    }
}

impl Target for Destination {
    async fn ledger(&self) -> Result<Vec<Entry>, ReadError> {
        let job = (self.lease.organization, self.lease.job);
        let reading = self.store.read(&self.visibility, job, |tx, job| {
            Box::pin(ledger::own(tx, job.0, job.1))
        });
        let entries: Vec<Entry> = reading.await?;
        let count = i64::try_from(entries.len()).unwrap_or(i64::MAX);
        self.entries.store(count, Ordering::Relaxed);
        Ok(entries)
    }

    async fn whole_rows(
        &self,
        feature: Id,
        after: Option<Id>,
        limit: usize,
    ) -> Result<Vec<KeptRow>, ReadError> {
        let input = (feature, after, limit);
        // What goes is kept, whoever sees it.
        let scope = self.lease.scope();
        let reading = self
            .store
            .read(&scope, input, |tx, (feature, after, limit)| {
                Box::pin(whole_batch(tx, *feature, *after, *limit))
            });
        reading.await
    }

    async fn commit(&mut self, unit: Unit) -> Result<(), CommitError<ReadError>> {
        let written = self.write(unit).await;
        self.outcome(written).await
    }
}
