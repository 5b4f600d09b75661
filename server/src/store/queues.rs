//! Whose queues are polled for work.
//!
//! On one machine, those of all organizations at once. In a distributed database such a poll would ask every shard of
//! every worker, twice a second from each process, and nobody would find work while a worker is away. So there whoever puts
//! something into a queue notes the organization on the coordinator ([`Tx::note_queue`]), and who looks for work asks the
//! workers of organizations that were noted lately, a few organizations at once. Where more are noted, each shard is asked
//! first in which of its own something is due: there are as many shards however many organizations there are. Notes are no
//! records: leases end, and instants come, without anybody writing. So now and then the shards are asked about all
//! organizations, and those in which something is due are noted.

use std::collections::HashMap;
use std::future::Future;
use std::time::Duration;

use uuid::Uuid;

use super::polled_shards::{POLLS_AT_ONCE, Shard};
use super::{Engine, Scope, Store, StoreError, Tx, Value};

/// How long a note is gone by, in microseconds: `distribute.sql` says after which time it is renewed, which is less.
const NOTE_TTL_MICROS: i64 = 30_000_000;
/// How often a process polls the queues of all organizations.
pub const SWEEP: Duration = Duration::from_secs(10);

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

/// The shard of each organization, and its worker. Whoever works belongs to one, so all are named here.
const SHARDS: &str = "SELECT known.organization_id, CAST(placed.groupid AS bigint), placed.shardid FROM \
     (SELECT DISTINCT organization_id FROM memberships) AS known JOIN pg_dist_placement AS placed \
     ON placed.shardid = get_shard_id_for_distribution_column('organizations', known.organization_id)";

/// What polls of some workers have found.
struct Due {
    organizations: Vec<Uuid>,
    /// Why a worker was not seen, where one was not.
    unseen: Option<StoreError>,
}

impl Store {
    /// As whom to look for work: all scopes together see all that is to be done. `due` reads the organizations of the list
    /// `$1` in which something is due at the time `$2`; all of them are asked about every so often.
    ///
    /// # Errors
    /// Those of the store; none where a worker alone is away.
    pub async fn queues(
        &self,
        due: &'static str,
        every: Duration,
        now: i64,
    ) -> Result<Vec<Scope>, StoreError> {
        let Engine::Postgres(postgres) = &self.engine else {
            return Ok(vec![Scope::Operator]);
        };
        if !postgres.is_distributed() {
            return Ok(vec![Scope::Operator]);
        }
        if self.swept.is_due(due, every) {
            self.sweep(due, now).await?;
        }
        let noted = self.read(&Scope::Operator, (), |tx, ()| {
            Box::pin(async move {
                let sql = "SELECT organization_id FROM queue_notes WHERE noted_at > {clock} - $1 \
                     ORDER BY organization_id";
                tx.last(sql, &[NOTE_TTL_MICROS.into()]).await
            })
        });
        let noted = noted.await?;
        let noted = noted.iter().map(|row| row.get(0));
        let mut organizations: Vec<Uuid> = noted.collect::<Result<_, StoreError>>()?;
        if organizations.len() > POLLS_AT_ONCE {
            organizations = self.due_among(due, organizations, now).await?.organizations;
        }
        let scopes = organizations.into_iter().map(Scope::OperatorOf);
        Ok(self.swept.in_turn(scopes.collect()))
    }

    /// What a poll finds in each of some scopes ([`POLLS_AT_ONCE`]), in their order. Nothing of those whose worker rests: a
    /// poll there would wait.
    pub async fn poll<'s, T, F>(
        &self,
        scopes: &'s [Scope],
        poll: impl Fn(&'s Scope) -> F,
    ) -> Vec<(&'s Scope, Result<T, StoreError>)>
    where
        F: Future<Output = Result<T, StoreError>>,
    {
        let awake = scopes.iter().filter(|scope| !self.rests(scope));
        let polls = awake.map(|scope| {
            let found = poll(scope);
            async move { (scope, found.await) }
        });
        self.swept.together(polls).await
    }

    /// Whether a poll there would wait for a worker that has just kept one waiting.
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
    async fn sweep(&self, due: &'static str, now: i64) -> Result<(), StoreError> {
        let shards = self.read(&Scope::Operator, (), |tx, ()| {
            Box::pin(async move { tx.last(SHARDS, &[]).await })
        });
        let mut of = HashMap::new();
        for row in shards.await? {
            let shard = Shard {
                worker: row.get(1)?,
                id: row.get(2)?,
            };
            of.insert(row.get(0)?, shard);
        }
        let all: Vec<Uuid> = of.keys().copied().collect();
        self.swept.set_shards(of);
        let mut found = self.due_among(due, all, now).await?;
        // Whoever notes new ones at the same time has the same order.
        found.organizations.sort_unstable();
        if let Some(error) = found.unseen {
            tracing::warn!(%error, "no work is looked for on a worker of the database at the moment");
        }
        if found.organizations.is_empty() {
            return Ok(());
        }
        let noted = self.write(
            &Scope::Operator,
            found.organizations,
            |tx, organizations| {
                Box::pin(async move {
                    for organization in organizations {
                        tx.note_queue(*organization).await?;
                    }
                    Ok(())
                })
            },
        );
        noted.await
    }

    /// In which of these something is due. Each worker is asked in a transaction of its own, and none that rests. An
    /// organization that was made since the last sweep may have something.
    async fn due_among(
        &self,
        due: &'static str,
        organizations: Vec<Uuid>,
        now: i64,
    ) -> Result<Due, StoreError> {
        let by_place = self.swept.by_place(organizations);
        let polls = by_place
            .known
            .into_iter()
            .map(|(worker, shards)| async move {
                // Another poll may have waited for it meanwhile.
                if self.swept.worker_rests(worker) {
                    return Ok(Vec::new());
                }
                let polled = self.due_on(due, shards.into_values().collect(), now).await;
                if polled.as_ref().is_err_and(StoreError::is_of_waiting) {
                    self.swept.waited_for(worker);
                }
                polled
            });
        let mut found = Due {
            organizations: by_place.unknown,
            unseen: None,
        };
        for polled in self.swept.together(polls).await {
            match polled {
                Ok(organizations) => found.organizations.extend(organizations),
                Err(error) if error.is_of_one_worker() => found.unseen = Some(error),
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    /// In which organizations of one worker something is due, asked shard by shard: a statement that lists those of several
    /// is planned for each of them, with the whole list.
    async fn due_on(
        &self,
        due: &'static str,
        shards: Vec<Vec<Uuid>>,
        now: i64,
    ) -> Result<Vec<Uuid>, StoreError> {
        let input = (shards, now);
        let found = self.read(&Scope::Operator, input, move |tx, (shards, now)| {
            Box::pin(async move {
                let mut found = Vec::new();
                for organizations in shards {
                    let parameters = [Value::Ids(organizations.clone()), (*now).into()];
                    for row in tx.query(due, &parameters).await? {
                        found.push(row.get(0)?);
                    }
                }
                Ok(found)
            })
        });
        found.await
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
    use tokio::time::timeout;
    use uuid::Uuid;

    use super::{POLLS_AT_ONCE, Scope, Shard, Store};

    #[tokio::test]
    async fn some_are_polled_together_and_no_more() {
        let [resting, first, last] = [0, 1, 100].map(Uuid::from_u128);
        let store = Store::open("sqlite::memory:").await.expect("opens");
        store
            .swept
            .set_shards([(resting, Shard { worker: 1, id: 1 })].into());
        store.swept.waited(resting);
        let mut scopes = vec![Scope::OperatorOf(resting), Scope::OperatorOf(first)];
        scopes.extend(
            (2..)
                .map(Uuid::from_u128)
                .map(Scope::OperatorOf)
                .take(2 * POLLS_AT_ONCE - 2),
        );
        scopes.push(Scope::OperatorOf(last));
        // Nobody comes through before so many are there.
        let (barrier, in_flight) = (Barrier::new(POLLS_AT_ONCE), AtomicUsize::new(0));
        let polls = store.poll(&scopes, |_| async {
            let others = in_flight.fetch_add(1, Ordering::Relaxed);
            barrier.wait().await;
            in_flight.fetch_sub(1, Ordering::Relaxed);
            Ok(others)
        });
        let found = timeout(Duration::from_secs(60), polls).await.expect("ends");
        let seen: Vec<&Scope> = found.iter().map(|(scope, _)| *scope).collect();
        assert_eq!(seen, scopes.iter().skip(1).collect::<Vec<_>>());
        for (_, others) in found {
            assert!(others.expect("is found") < POLLS_AT_ONCE);
        }
    }
}
