//! What a process has looked at, where organizations lie, and which workers rest.

use std::collections::{BTreeMap, HashMap};
use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future;
use tokio::sync::Semaphore;
use tokio::time::Instant;
use uuid::Uuid;

use super::Scope;

/// How many polls of a process are in flight at most: each takes one of its connections, on a worker that hangs for as
/// long as a statement may take.
pub const POLLS_AT_ONCE: usize = 4;

/// How long polls skip a node that responded slowly: everybody else would wait with it.
const SLOW_NODE_PAUSE: Duration = Duration::from_secs(10);

/// What a process has looked at.
#[derive(Debug, Default)]
pub(super) struct Swept {
    /// When it has polled for each kind of work among all organizations.
    last: Mutex<HashMap<&'static str, Instant>>,
    /// How often it has polled those that are noted.
    polls: AtomicUsize,
    places: Places,
    workers: Mutex<Workers>,
}

/// The polls that may be in flight.
#[derive(Debug)]
struct Places(Semaphore);

impl Default for Places {
    fn default() -> Places {
        Places(Semaphore::new(POLLS_AT_ONCE))
    }
}

/// Where rows of some organizations lie together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shard {
    pub(super) worker: i64,
    pub(super) id: i64,
}

/// Where organizations lie, and which workers kept a poll waiting.
#[derive(Debug, Default)]
struct Workers {
    /// The shard of each organization, as of the last poll of all of them.
    of: HashMap<Uuid, Shard>,
    /// When a poll waited for it last.
    waited: HashMap<i64, Instant>,
}

impl Workers {
    fn rests(&self, worker: i64) -> bool {
        let waited = self.waited.get(&worker);
        waited.is_some_and(|since| since.elapsed() < SLOW_NODE_PAUSE)
    }
}

/// Some organizations by where they lie.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ByPlace {
    /// Those of each shard of each worker.
    pub(super) known: BTreeMap<i64, BTreeMap<i64, Vec<Uuid>>>,
    /// Made since the last poll of all.
    pub(super) unknown: Vec<Uuid>,
}

impl Swept {
    /// Whether it is time for another poll, which is then made.
    pub(super) fn is_due(&self, sweep: &'static str, every: Duration) -> bool {
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

    /// Remembers where all organizations lie.
    pub(super) fn set_shards(&self, of: HashMap<Uuid, Shard>) {
        self.workers().of = of;
    }

    pub(super) fn by_place(&self, organizations: impl IntoIterator<Item = Uuid>) -> ByPlace {
        let workers = self.workers();
        let mut by_place = ByPlace::default();
        for organization in organizations {
            let Some(shard) = workers.of.get(&organization) else {
                by_place.unknown.push(organization);
                continue;
            };
            let of_worker = by_place.known.entry(shard.worker).or_default();
            of_worker.entry(shard.id).or_default().push(organization);
        }
        by_place
    }

    /// Remembers that a poll of that organization waited for its worker.
    pub(super) fn waited(&self, organization: Uuid) {
        let shard = self.workers().of.get(&organization).copied();
        if let Some(shard) = shard {
            self.waited_for(shard.worker);
        }
    }

    pub(super) fn waited_for(&self, worker: i64) {
        self.workers().waited.insert(worker, Instant::now());
    }

    pub(super) fn rests(&self, scope: &Scope) -> bool {
        let Scope::OperatorOf(organization) = scope else {
            return false;
        };
        let workers = self.workers();
        let shard = workers.of.get(organization);
        shard.is_some_and(|shard| workers.rests(shard.worker))
    }

    pub(super) fn worker_rests(&self, worker: i64) -> bool {
        self.workers().rests(worker)
    }

    /// What some polls find, in their order, of which [`POLLS_AT_ONCE`] are in flight.
    pub(super) async fn together<F: Future>(
        &self,
        polls: impl IntoIterator<Item = F>,
    ) -> Vec<F::Output> {
        let polls = polls.into_iter().map(|poll| async {
            // Never closed.
            let _place = self.places.0.acquire().await;
            poll.await
        });
        future::join_all(polls).await
    }

    /// The list with another one first each time: whoever comes first takes what a process can carry out.
    pub(super) fn in_turn<T>(&self, mut list: Vec<T>) -> Vec<T> {
        if !list.is_empty() {
            let first = self.polls.fetch_add(1, Ordering::Relaxed) % list.len();
            list.rotate_left(first);
        }
        list
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;
    use uuid::Uuid;

    use super::{ByPlace, SLOW_NODE_PAUSE, Scope, Shard, Swept};

    /// Two organizations lie on one worker, and a third elsewhere.
    #[test]
    fn a_worker_that_kept_a_look_waiting_rests_for_a_while() {
        let [one, other, elsewhere, new] = [1, 2, 3, 4].map(Uuid::from_u128);
        let swept = Swept::default();
        let shard = |worker, id| Shard { worker, id };
        swept.set_shards(
            [
                (one, shard(1, 1)),
                (other, shard(1, 2)),
                (elsewhere, shard(2, 3)),
            ]
            .into(),
        );
        swept.waited(one);
        let rests = |organization| swept.rests(&Scope::OperatorOf(organization));
        assert_eq!(
            [one, other, elsewhere, new].map(rests),
            [true, true, false, false]
        );
        let before = Instant::now().checked_sub(SLOW_NODE_PAUSE).expect("a time");
        swept.workers().waited.insert(1, before);
        assert!(!rests(one) && !rests(other));
        swept.waited(new);
        assert!(!rests(new), "where it lies is not known");
    }

    #[test]
    fn those_of_one_shard_are_asked_about_together() {
        let [one, other, elsewhere, far, new] = [1, 2, 3, 4, 5].map(Uuid::from_u128);
        let swept = Swept::default();
        let shard = |worker, id| Shard { worker, id };
        let near = [
            (one, shard(1, 1)),
            (other, shard(1, 1)),
            (elsewhere, shard(1, 2)),
        ];
        swept.set_shards(near.into_iter().chain([(far, shard(2, 3))]).collect());
        let by_place = ByPlace {
            known: [
                (1, [(1, vec![one, other]), (2, vec![elsewhere])].into()),
                (2, [(3, vec![far])].into()),
            ]
            .into(),
            unknown: vec![new],
        };
        assert_eq!(swept.by_place([one, elsewhere, new, far, other]), by_place);
    }
}
