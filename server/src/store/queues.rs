//! Whose queues are looked at for work.
//!
//! On one machine, those of all organizations at once. In a distributed database such a look would ask every shard of
//! every worker, twice a second from each process, and nobody would find work while a worker is away. So there whoever puts
//! something into a queue notes the organization on the coordinator ([`Tx::note_queue`]), and who looks for work asks the
//! workers of organizations that were noted lately, a few organizations at once. Notes are no records: leases end, and
//! instants come, without anybody writing. So now and then each worker is asked which of its organizations have work,
//! each in a transaction of its own, and those are noted.

use std::collections::{BTreeMap, HashMap};
use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future;
use tokio::sync::Semaphore;
use tokio::time::Instant;
use uuid::Uuid;

use super::{Engine, Scope, Store, StoreError, Tx, Value};

/// How long a note is gone by, in microseconds: `distribute.sql` says after which time it is renewed, which is less.
const NOTED: i64 = 30_000_000;
/// How often a process looks at all organizations.
pub const SWEEP: Duration = Duration::from_secs(10);
/// For how long nothing is looked for on a worker that kept a look waiting: everybody else would wait with it.
const REST: Duration = Duration::from_secs(10);

/// How many organizations a process looks at together: each look takes one of its connections, on a worker that hangs for
/// as long as a statement may take.
pub const LOOKS_AT_ONCE: usize = 4;

/// What a process has looked at.
#[derive(Debug, Default)]
pub(super) struct Swept {
    /// When it has looked for each kind of work among all organizations.
    last: Mutex<HashMap<&'static str, Instant>>,
    /// How often it has looked at those that are noted.
    looks: AtomicUsize,
    places: Places,
    workers: Mutex<Workers>,
}

/// The looks that may be under way.
#[derive(Debug)]
struct Places(Semaphore);

impl Default for Places {
    fn default() -> Places {
        Places(Semaphore::new(LOOKS_AT_ONCE))
    }
}

/// Where organizations lie, and which workers kept a look waiting.
#[derive(Debug, Default)]
struct Workers {
    /// The worker of each organization, as of the last look at all of them.
    of: HashMap<Uuid, i64>,
    /// When a look waited for it last.
    waited: HashMap<i64, Instant>,
}

impl Workers {
    fn rests(&self, worker: i64) -> bool {
        let waited = self.waited.get(&worker);
        waited.is_some_and(|since| since.elapsed() < REST)
    }
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

    fn workers(&self) -> MutexGuard<'_, Workers> {
        self.workers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers that a look at that organization waited for its worker.
    fn waited(&self, organization: Uuid) {
        let mut workers = self.workers();
        if let Some(worker) = workers.of.get(&organization).copied() {
            workers.waited.insert(worker, Instant::now());
        }
    }

    fn rests(&self, scope: &Scope) -> bool {
        let Scope::OperatorOf(organization) = scope else {
            return false;
        };
        let workers = self.workers();
        let worker = workers.of.get(organization);
        worker.is_some_and(|worker| workers.rests(*worker))
    }

    /// [`Store::look`].
    async fn look<'s, T, F>(
        &self,
        scopes: &'s [Scope],
        look: impl Fn(&'s Scope) -> F,
    ) -> Vec<(&'s Scope, Result<T, StoreError>)>
    where
        F: Future<Output = Result<T, StoreError>>,
    {
        let awake = scopes.iter().filter(|scope| !self.rests(scope));
        let looks = awake.map(|scope| {
            let found = look(scope);
            async move {
                // Never closed.
                let _place = self.places.0.acquire().await;
                (scope, found.await)
            }
        });
        future::join_all(looks).await
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

    /// Whether it came only after a long wait.
    fn is_of_waiting(&self) -> bool {
        matches!(self, StoreError::TooLong | StoreError::Locked)
    }
}

/// The organizations of each worker. Whoever works belongs to one, so all are named here.
const BY_WORKER: &str = "SELECT CAST(placed.groupid AS bigint), known.organization_id FROM \
     (SELECT DISTINCT organization_id FROM memberships) AS known JOIN pg_dist_placement AS placed \
     ON placed.shardid = get_shard_id_for_distribution_column('organizations', known.organization_id)";

impl Store {
    /// As whom to look for work: all scopes together see all that is to be done. `sweep` reads
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
        let organizations = noted.iter().map(|row| row.get(0).map(Scope::OperatorOf));
        let organizations: Vec<Scope> = organizations.collect::<Result<_, StoreError>>()?;
        Ok(self.swept.in_turn(organizations))
    }

    /// What a look finds in each of some scopes ([`LOOKS_AT_ONCE`]), in their order. Nothing of those whose worker rests: a
    /// look there would wait.
    pub async fn look<'s, T, F>(
        &self,
        scopes: &'s [Scope],
        look: impl Fn(&'s Scope) -> F,
    ) -> Vec<(&'s Scope, Result<T, StoreError>)>
    where
        F: Future<Output = Result<T, StoreError>>,
    {
        self.swept.look(scopes, look).await
    }

    /// Whether a look there would wait for a worker that has just kept one waiting.
    pub fn rests(&self, scope: &Scope) -> bool {
        self.swept.rests(scope)
    }

    /// Passes over what keeps one organization from going on, and no other one: its worker may be away, or slow. A slow one
    /// rests for a while.
    ///
    /// # Errors
    /// The error, where it is another, or one of the whole store.
    pub fn pass_over(&self, scope: &Scope, error: StoreError) -> Result<(), StoreError> {
        match (scope, error) {
            (Scope::OperatorOf(organization), error) if error.is_of_one_worker() => {
                tracing::debug!(%organization, %error, "what an organization has to do waits");
                if error.is_of_waiting() {
                    self.swept.waited(*organization);
                }
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
        self.swept.workers().of = by_worker
            .iter()
            .flat_map(|(worker, of)| of.iter().map(|organization| (*organization, *worker)))
            .collect();
        for (worker, organizations) in by_worker {
            if self.swept.workers().rests(worker) {
                continue;
            }
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
                    if error.is_of_waiting() {
                        self.swept.workers().waited.insert(worker, Instant::now());
                    }
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use tokio::sync::Barrier;
    use tokio::time::{Instant, timeout};
    use uuid::Uuid;

    use super::{LOOKS_AT_ONCE, REST, Scope, Swept};

    /// Two organizations lie on one worker, and a third elsewhere.
    #[test]
    fn a_worker_that_kept_a_look_waiting_rests_for_a_while() {
        let [one, other, elsewhere, new] = [1, 2, 3, 4].map(Uuid::from_u128);
        let swept = Swept::default();
        swept.workers().of = [(one, 1), (other, 1), (elsewhere, 2)].into();
        swept.waited(one);
        let rests = |organization| swept.rests(&Scope::OperatorOf(organization));
        assert_eq!(
            [one, other, elsewhere, new].map(rests),
            [true, true, false, false]
        );
        let before = Instant::now().checked_sub(REST).expect("a time");
        swept.workers().waited.insert(1, before);
        assert!(!rests(one) && !rests(other));
        swept.waited(new);
        assert!(!rests(new), "where it lies is not known");
    }

    #[tokio::test]
    async fn some_are_looked_at_together_and_no_more() {
        let [resting, first, last] = [0, 1, 100].map(Uuid::from_u128);
        let swept = Swept::default();
        swept.workers().of = [(resting, 1)].into();
        swept.waited(resting);
        let mut scopes = vec![Scope::OperatorOf(resting), Scope::OperatorOf(first)];
        scopes.extend(
            (2..)
                .map(Uuid::from_u128)
                .map(Scope::OperatorOf)
                .take(2 * LOOKS_AT_ONCE - 2),
        );
        scopes.push(Scope::OperatorOf(last));
        // Nobody comes through before so many are there.
        let (barrier, under_way) = (Barrier::new(LOOKS_AT_ONCE), AtomicUsize::new(0));
        let looks = swept.look(&scopes, |_| async {
            let others = under_way.fetch_add(1, Ordering::Relaxed);
            barrier.wait().await;
            under_way.fetch_sub(1, Ordering::Relaxed);
            Ok(others)
        });
        let found = timeout(Duration::from_secs(60), looks).await.expect("ends");
        let seen: Vec<&Scope> = found.iter().map(|(scope, _)| *scope).collect();
        assert_eq!(seen, scopes.iter().skip(1).collect::<Vec<_>>());
        for (_, others) in found {
            assert!(others.expect("is found") < LOOKS_AT_ONCE);
        }
    }
}
