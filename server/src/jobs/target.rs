//! The library's `Target` on the store: the workspace for one attempt at one job.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use tokio::task::{JoinError, JoinHandle};
use tplkit::workspace::ledger::Entry;
use tplkit::workspace::{
    CommitError, Id, Lookup, Sent, Source, StoredRow, Structure, Target, Unit,
};

use super::visibility::{decides, visibility};
use super::{Lease, ledger};
use crate::context::Context;
use crate::rows::Tables;
use crate::store::{Input, Output, QueryFn, Scope, Store, StoreError, Tx};
use crate::workspace::{
    Here, PreparedUnit, ReadError, Stopped, batch, fetch, matching, row_capacity, stands,
    structure, taken, write,
};

/// What stands for a number of entries that nobody has read.
const UNREAD: i64 = -1;

/// The workspace of a job.
#[derive(Debug)]
pub struct Destination {
    writer: UnitWriter,
    visibility: Scope,
    /// Whether its creator may change visibility.
    decides: bool,
    /// Rows that are being written. Should nobody wait for them any more, they are written or not, as if the
    /// process had stopped here: the lease and the ledger tell.
    in_flight: Option<JoinHandle<Result<(), Stopped>>>,
}

/// What writes units, wherever it runs.
#[derive(Debug, Clone)]
struct UnitWriter {
    store: Store,
    context: Context,
    tables: Tables,
    lease: Lease,
    /// Whether the right of who asked for the job is asked again before each unit.
    asks_right: bool,
    /// How many entries the ledger has by all that this attempt has read and written; less than none while
    /// it has read nothing.
    entries: Arc<AtomicI64>,
}

/// A unit with prepared rows.
#[derive(Debug)]
pub struct ReadyUnit {
    unit: Unit,
    prepared: PreparedUnit,
}

/// A unit for the thread of the connection.
struct UnitWrite {
    ready: ReadyUnit,
    here: Here,
    lease: Lease,
    asks_right: bool,
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
        let scope = lease.scope();
        let asked = store.read(&scope, lease.clone(), |tx, lease| {
            Box::pin(async move {
                let eyes = visibility(tx, lease).await?;
                Ok::<_, StoreError>((eyes, decides(tx, lease).await?))
            })
        });
        let (eyes, decides) = asked.await?;
        Ok(Destination {
            visibility: eyes,
            decides,
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
            writer: UnitWriter {
                store: store.clone(),
                context: context.clone(),
                tables: tables.clone(),
                lease,
                asks_right: false,
                entries: Arc::new(AtomicI64::new(UNREAD)),
            },
            in_flight: None,
        }
    }

    /// Asks before each unit whether who asked for the job still has the right to. Whoever takes back
    /// what it wrote acts by a right of their own.
    #[must_use]
    pub fn asking_right(mut self) -> Destination {
        self.writer.asks_right = true;
        self
    }

    /// Whether who asked for the job may still carry it out.
    pub(super) async fn has_right(&self) -> Result<bool, StoreError> {
        let UnitWriter {
            store,
            context,
            lease,
            ..
        } = &self.writer;
        lease.still_has_right(store, context).await
    }

    /// The right by which it is written.
    pub fn lease(&self) -> &Lease {
        &self.writer.lease
    }

    /// Reads something that belongs to the job.
    pub(super) async fn read<I: Input, T: Output>(
        &self,
        input: I,
        work: impl QueryFn<I, T, StoreError>,
    ) -> Result<T, StoreError> {
        let UnitWriter { store, lease, .. } = &self.writer;
        store.read(&lease.scope(), input, work).await
    }

    /// The outcome of a unit, for the executor.
    async fn outcome(&self, written: Result<(), Stopped>) -> Result<(), CommitError<ReadError>> {
        match written {
            Ok(()) => Ok(()),
            Err(Stopped::Fenced) => Err(CommitError::Fenced),
            Err(Stopped::Forbidden) => Err(CommitError::Store(ReadError::Forbidden)),
            Err(Stopped::Store(error)) => Err(CommitError::Store(error.into())),
            // What stood in the way may have been written by whoever took the job over.
            Err(Stopped::Refused(refused)) => match self.writer.lasts().await {
                Ok(true) => Err(CommitError::Refused(refused)),
                Ok(false) => Err(CommitError::Fenced),
                Err(error) => Err(CommitError::Store(error.into())),
            },
        }
    }
}

impl UnitWriter {
    async fn write(&self, ready: ReadyUnit) -> Result<(), Stopped> {
        let here = Here {
            organization: self.lease.organization,
            workspace: self.lease.workspace,
            creator: self.lease.creator,
            now: self.context.now(),
            context: self.context.clone(),
            tables: self.tables.clone(),
        };
        let writing = UnitWrite {
            lease: self.lease.clone(),
            asks_right: self.asks_right,
            entries: Some(self.entries.load(Ordering::Relaxed)).filter(|count| *count != UNREAD),
            ready,
            here,
        };
        let (scope, store) = (self.lease.scope(), &self.store);
        let written = if is_repeatable(&writing.ready.unit) {
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
        let asked = self.store.read(&scope, input, |tx, (lease, now)| {
            Box::pin(async move { lease.entries(tx, *now).await })
        });
        let entries: Option<i64> = asked.await?;
        Ok(entries.is_some())
    }
}

/// What became of a unit that was written outside of the attempt. Who panicked has written nothing that could
/// be relied on, and the panic hook has logged it.
fn ended(writing: Result<Result<(), Stopped>, JoinError>) -> Result<(), Stopped> {
    let lost = |_| StoreError::Internal("it is not known whether rows were written".to_owned());
    writing.map_err(lost)?
}

/// Whether a unit may be lost in a power cut: rows, which whoever resumes finds missing in the ledger, and
/// writes again with the same ids. Nothing but the job goes by them: they set off no automation, nobody is
/// notified of them before the job ends, and whatever else is kept meanwhile keeps them, too. Structure,
/// automations that go live, the end and the undo are kept when they are answered for.
fn is_repeatable(unit: &Unit) -> bool {
    unit.progress.phase == "rows" && unit.report.is_none()
}

/// Writes a unit; gives how many entries the ledger has after it.
async fn write_unit(tx: &mut Tx, writing: &UnitWrite) -> Result<i64, Stopped> {
    let UnitWrite {
        ready: ReadyUnit { unit, prepared },
        here,
        lease,
        asks_right,
        entries,
    } = writing;
    let stands = lease.entries(tx, here.now).await?;
    let stands = stands.ok_or(Stopped::Fenced)?;
    if *asks_right && !lease.has_right(tx, here.now).await? {
        return Err(Stopped::Forbidden);
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
    lease.advance(tx, unit, (stands, here.now)).await
}

impl Source for Destination {
    type Error = ReadError;

    async fn structure(&self) -> Result<Structure, ReadError> {
        let workspace = self.writer.lease.workspace;
        let asked = self
            .writer
            .store
            .snapshot(&self.visibility, workspace, |tx, workspace| {
                Box::pin(structure(tx, *workspace))
            });
        let mut found = asked.await?;
        found.row_access_stays = !self.decides;
        Ok(found)
    }

    async fn rows(
        &self,
        feature: Id,
        after: Option<Id>,
        limit: usize,
    ) -> Result<Vec<StoredRow>, ReadError> {
        let asked = ((feature, after, limit), self.writer.tables.clone());
        let asked = self
            .writer
            .store
            .read(&self.visibility, asked, |tx, (asked, tables)| {
                Box::pin(batch(tx, &tables.sizes, *asked))
            });
        asked.await
    }
}

impl Lookup for Destination {
    async fn matching(
        &self,
        feature: Id,
        column: &str,
        values: &[String],
    ) -> Result<Vec<Option<StoredRow>>, ReadError> {
        let asked = (
            feature,
            column.to_owned(),
            values.to_vec(),
            self.writer.tables.clone(),
        );
        let asked = self
            .writer
            .store
            .read(&self.visibility, asked, |tx, asked| {
                let (feature, column, values, tables) = asked;
                Box::pin(matching(tx, tables, *feature, column, values))
            });
        asked.await
    }

    async fn fetch(&self, feature: Id, rows: &[Id]) -> Result<Vec<Option<StoredRow>>, ReadError> {
        let asked = (feature, rows.to_vec());
        let asked = self
            .writer
            .store
            .read(&self.visibility, asked, |tx, asked| {
                Box::pin(fetch(tx, asked.0, &asked.1))
            });
        asked.await
    }

    async fn taken(
        &self,
        feature: Id,
        column: &str,
        values: &[String],
    ) -> Result<Vec<bool>, ReadError> {
        let asked = (
            feature,
            column.to_owned(),
            values.to_vec(),
            self.writer.tables.clone(),
        );
        let asked = self
            .writer
            .store
            .read(&self.visibility, asked, |tx, asked| {
                let (feature, column, values, tables) = asked;
                Box::pin(taken(tx, tables, *feature, column, values))
            });
        asked.await
    }

    async fn row_capacity(&self) -> Result<Option<u64>, ReadError> {
        let workspace = self.writer.lease.workspace;
        let asked = self
            .writer
            .store
            .read(&self.visibility, workspace, |tx, workspace| {
                Box::pin(row_capacity(tx, *workspace))
            });
        asked.await
    }

    async fn sequence(&self, feature: Id, column: Id) -> Result<u64, ReadError> {
        let asked = self
            .writer
            .store
            .read(&self.visibility, (feature, column), |tx, asked| {
                Box::pin(stands(tx, asked.0, asked.1))
            });
        asked.await
    }
}

impl Target for Destination {
    type Ready = ReadyUnit;

    async fn ledger(&self) -> Result<Vec<Entry>, ReadError> {
        let job = (self.writer.lease.organization, self.writer.lease.job);
        let asked = self.writer.store.read(&self.visibility, job, |tx, job| {
            Box::pin(ledger::own(tx, job.0, job.1))
        });
        let entries: Vec<Entry> = asked.await?;
        let count = i64::try_from(entries.len()).unwrap_or(i64::MAX);
        self.writer.entries.store(count, Ordering::Relaxed);
        Ok(entries)
    }

    async fn commit(&mut self, unit: Unit) -> Result<(), CommitError<ReadError>> {
        let written = self.writer.write(self.ready(unit)).await;
        self.outcome(written).await
    }

    async fn expect(&self, feature: Id) {
        let UnitWriter { store, tables, .. } = &self.writer;
        if tables.peek(feature).is_some() {
            return;
        }
        let input = (feature, tables.clone());
        let asked = store.read(&self.visibility, input, |tx, (feature, tables)| {
            Box::pin(async move { tables.read(tx, *feature).await.map(drop) })
        });
        // The write that follows reports what is wrong.
        let _: Result<(), StoreError> = asked.await;
    }

    fn ready(&self, unit: Unit) -> ReadyUnit {
        let UnitWriter {
            tables, context, ..
        } = &self.writer;
        ReadyUnit {
            prepared: PreparedUnit::of(&unit.changes, tables, context),
            unit,
        }
    }

    async fn send(&mut self, ready: ReadyUnit) -> Sent<ReadError> {
        let hand = self.writer.clone();
        self.in_flight = Some(tokio::spawn(async move { hand.write(ready).await }));
        Sent::InFlight
    }

    async fn flush(&mut self) -> Result<(), CommitError<ReadError>> {
        let Some(under_way) = self.in_flight.take() else {
            return Ok(());
        };
        let written = ended(under_way.await);
        self.outcome(written).await
    }
}

#[cfg(test)]
mod tests {
    use super::{Stopped, ended};
    use crate::store::StoreError;

    #[tokio::test]
    async fn a_write_that_panics_is_no_write() {
        assert!(matches!(ended(Ok(Ok(()))), Ok(())));
        assert!(matches!(
            ended(Ok(Err(Stopped::Fenced))),
            Err(Stopped::Fenced)
        ));
        let panicked = tokio::spawn(async { panic!("on purpose") }).await;
        let reported = ended(panicked);
        assert!(
            matches!(reported, Err(Stopped::Store(StoreError::Internal(_)))),
            "{reported:?}"
        );
    }
}
