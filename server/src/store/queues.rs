//! Whose queues are looked at for work.
//!
//! On one machine, those of all organizations at once. In a distributed database such a look would ask every shard of
//! every worker, twice a second from each process, and nobody would find work while a worker is away. So there whoever puts
//! something into a queue notes the organization on the coordinator ([`Tx::note_queue`]), and who looks for work asks the
//! workers of organizations that were noted lately, one organization after another. Notes are no records: leases end, and
//! instants come, without anybody writing. So now and then each worker is asked which of its organizations have work,
//! each in a transaction of its own, and those are noted.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use uuid::Uuid;

use super::{Engine, Scope, Store, StoreError, Tx, Value};

/// How long a note is gone by, in microseconds: `distribute.sql` says after which time it is renewed, which is less.
const NOTED: i64 = 30_000_000;
/// How often a process looks at all organizations.
pub const SWEEP: Duration = Duration::from_secs(10);
/// For how long an organization is not looked at whose worker kept a look waiting: the others would wait with it.
const REST: Duration = Duration::from_secs(10);

/// What a process has looked at.
#[derive(Debug, Default)]
pub(super) struct Swept {
    /// When it has looked for each kind of work among all organizations.
    last: Mutex<HashMap<&'static str, Instant>>,
    /// How often it has looked at those that are noted.
    looks: AtomicUsize,
    /// When a look at an organization failed last.
    failed: Mutex<HashMap<Uuid, Instant>>,
}

impl Swept {
    /// Whether it is time for another look, which is then being taken.
    fn is_due(&self, sweep: &'static str, every: Duration) -> bool {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let known = last.get(sweep);
        if known.is_some_and(|since| since.elapsed() < every) {
            return false;
        }
        last.insert(sweep, Instant::now());
        true
    }

    fn fail(&self, organization: Uuid) {
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.insert(organization, Instant::now());
    }

    /// Leaves out those at which a look has failed lately.
    fn without_failed(&self, organizations: Vec<Uuid>) -> Vec<Uuid> {
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.retain(|_, since| since.elapsed() < REST);
        let left = organizations.into_iter();
        left.filter(|organization| !failed.contains_key(organization))
            .collect()
    }

    /// The list with another one first each time: whoever comes first takes what a process can carry out.
    fn in_turn<T>(&self, mut list: Vec<T>) -> Vec<T> {
        if !list.is_empty() {
            let first = self.looks.fetch_add(1, Ordering::Relaxed) % list.len();
            list.rotate_left(first);
        }
        list
    }
}

impl StoreError {
    /// Whether a worker of a distributed database may be why, and the others go on.
    fn is_of_one_worker(&self) -> bool {
        matches!(
            self,
            StoreError::Unavailable(_) | StoreError::TooLong | StoreError::Locked
        )
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
                let sql = "SELECT organization_id FROM queue_notes WHERE noted_at > {clock} - $1 \
                     ORDER BY organization_id";
                tx.last(sql, &[NOTED.into()]).await
            })
        });
        let noted = noted.await?;
        let organizations = noted.iter().map(|row| row.get(0));
        let organizations = organizations.collect::<Result<_, StoreError>>()?;
        let organizations = self.swept.without_failed(organizations).into_iter();
        let scopes = organizations.map(Scope::OperatorOf).collect();
        Ok(self.swept.in_turn(scopes))
    }

    /// Passes over what keeps one organization from going on, and no other one: its worker may be away, or slow. It is not
    /// looked at for a while.
    ///
    /// # Errors
    /// The error, where it is another, or one of the whole store.
    pub fn pass_over(&self, scope: &Scope, error: StoreError) -> Result<(), StoreError> {
        match (scope, error) {
            (Scope::OperatorOf(organization), error) if error.is_of_one_worker() => {
                tracing::debug!(%organization, %error, "what an organization has to do waits");
                self.swept.fail(*organization);
                Ok(())
            }
            (_, error) => Err(error),
        }
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
                Err(error) if error.is_of_one_worker() => {
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
