//! Whose queues are looked at for work.
//!
//! On one machine, those of all organizations at once. In a distributed database such a look would ask every shard of
//! every worker, twice a second from each process, and nobody would find work while a worker is away. So there whoever puts
//! something into a queue notes the organization on the coordinator ([`Tx::note_queue`]), and who looks for work asks the
//! workers of organizations that were noted lately, one organization after another. Notes are no records: leases end, and
//! instants come, without anybody writing. So now and then each worker is asked which of its organizations have work,
//! each in a transaction of its own, and those are noted.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use uuid::Uuid;

use super::{Engine, Scope, Store, StoreError, Tx, Value};

/// How long a note is gone by, in microseconds: `distribute.sql` says after which time it is renewed, which is less.
const NOTED: i64 = 30_000_000;
/// How often a process looks at all organizations.
pub const SWEEP: Duration = Duration::from_secs(10);

/// When a process has looked for each kind of work among all organizations.
#[derive(Debug, Default)]
pub(super) struct Swept(Mutex<HashMap<&'static str, Instant>>);

impl Swept {
    /// Whether it is time for another look, which is then being taken.
    fn is_due(&self, sweep: &'static str, every: Duration) -> bool {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = last.get(sweep);
        if known.is_some_and(|since| since.elapsed() < every) {
            return false;
        }
        last.insert(sweep, Instant::now());
        true
    }
}

/// The organizations of each worker. Whoever works belongs to one, so all are named here.
const BY_WORKER: &str = "SELECT CAST(placed.groupid AS bigint), known.organization_id FROM \
     (SELECT DISTINCT organization_id FROM memberships) AS known JOIN pg_dist_placement AS placed \
     ON placed.shardid = get_shard_id_for_distribution_column('organizations', known.organization_id)";

impl Store {
    /// As whom to look for work, one scope after another: all of them together see all that is to be done. `sweep` reads
    /// organizations of the list `$1` in which something is due at the time `$2`; it is asked every so often.
    ///
    /// # Errors
    /// Those of the store; none where a worker alone is away.
    pub async fn queues(
        &self,
        sweep: &'static str,
        every: Duration,
        now: i64,
    ) -> Result<Vec<Scope>, StoreError> {
        let Engine::Postgres(postgres) = &self.engine else {
            return Ok(vec![Scope::Operator]);
        };
        if !postgres.is_distributed() {
            return Ok(vec![Scope::Operator]);
        }
        if self.swept.is_due(sweep, every) {
            self.sweep(sweep, now).await?;
        }
        let noted = self.read(&Scope::Operator, (), |tx, ()| {
            Box::pin(async move {
                let sql = "SELECT organization_id FROM queue_notes WHERE noted_at > {clock} - $1";
                tx.last(sql, &[NOTED.into()]).await
            })
        });
        let noted = noted.await?;
        let organizations = noted.iter().map(|row| row.get(0).map(Scope::OperatorOf));
        organizations.collect()
    }

    /// Notes the organizations in which something is due. A worker that is away is left out: what lies there waits.
    async fn sweep(&self, sweep: &'static str, now: i64) -> Result<(), StoreError> {
        let workers = self.read(&Scope::Operator, (), |tx, ()| {
            Box::pin(async move { tx.last(BY_WORKER, &[]).await })
        });
        let mut by_worker = BTreeMap::<i64, Vec<Uuid>>::new();
        for row in workers.await? {
            by_worker.entry(row.get(0)?).or_default().push(row.get(1)?);
        }
        for organizations in by_worker.into_values() {
            let noted = self.write(
                &Scope::Operator,
                (organizations, now),
                move |tx, (organizations, now)| {
                    Box::pin(async move {
                        let parameters = [Value::Ids(organizations.clone()), (*now).into()];
                        for row in tx.query(sweep, &parameters).await? {
                            tx.note_queue(row.get(0)?).await?;
                        }
                        Ok::<_, StoreError>(())
                    })
                },
            );
            match noted.await {
                Ok(()) => {}
                Err(error @ (StoreError::Unavailable(_) | StoreError::TooLong)) => {
                    tracing::warn!(%error, "no work is looked for on a worker of the database at the moment");
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl Tx {
    /// Notes that something was put into a queue of an organization. Nothing to do on one machine.
    ///
    /// # Errors
    /// Those of the store.
    pub(crate) async fn note_queue(&mut self, organization: Uuid) -> Result<(), StoreError> {
        if !self.is_distributed() {
            return Ok(());
        }
        let sql = "SELECT note_queue($1) {into $1}";
        self.query(sql, &[organization.into()]).await.map(drop)
    }
}
