//! Limits what runs take of a process: permits to work and external calls.
//!
//! A run holds a permit to work while it uses the store, and none while it waits for an external
//! service, so a slow service blocks no other run. The external calls of an organization are
//! limited (across processes by [`call_limit`](super::call_limit)), and so are its runs in one process:
//! further runs stay in the store, and runs of other organizations are claimed instead.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Mutex as Turn, Notify, OwnedMutexGuard, OwnedSemaphorePermit, Semaphore};
use uuid::Uuid;

use super::call_limit::MAX_CALLS;

/// How many runs work at once.
const MAX_WORKERS: usize = 32;
/// From how many runs of one organization on no more of them are claimed.
const MAX_OF_ORGANIZATION: usize = 32;
/// How many runs there are at most, those that wait for others included.
const MAX_RUNS: usize = 4096;

/// What the runs of a process share. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Capacity(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    workers: Arc<Semaphore>,
    organizations: Mutex<HashMap<Uuid, Organization>>,
    /// A permit to work is free again.
    freed: Notify,
}

/// What the runs of one organization share.
#[derive(Debug, Clone)]
struct Organization {
    runs: usize,
    calls: Arc<Semaphore>,
    /// One asks at a time for a permit among the calls of all processes.
    next: Arc<Turn<()>>,
    /// Mails go out and are noted one after the other, so that a crash repeats one of them at most.
    mails: Arc<Turn<()>>,
}

impl Capacity {
    pub(super) fn new() -> Capacity {
        Capacity(Arc::new(Inner {
            workers: Arc::new(Semaphore::new(MAX_WORKERS)),
            organizations: Mutex::default(),
            freed: Notify::new(),
        }))
    }

    fn organizations(&self) -> MutexGuard<'_, HashMap<Uuid, Organization>> {
        let organizations = self.0.organizations.lock();
        organizations.unwrap_or_else(PoisonError::into_inner)
    }

    /// How many more runs may be claimed.
    pub(super) fn free_workers(&self) -> usize {
        let claimed: usize = self.organizations().values().map(|one| one.runs).sum();
        let free = self.0.workers.available_permits();
        free.min(MAX_RUNS.saturating_sub(claimed))
    }

    /// Organizations of which no more runs are claimed at the moment.
    pub(super) fn full(&self) -> Vec<Uuid> {
        let organizations = self.organizations();
        let full = organizations.iter();
        let full = full.filter(|(_, one)| one.runs >= MAX_OF_ORGANIZATION);
        full.map(|(id, _)| *id).collect()
    }

    /// Lets a claimed run in. It has a permit to work at once, when one is free.
    pub(super) fn admit(&self, organization: Uuid) -> RunPermit {
        let mut organizations = self.organizations();
        let known = organizations.entry(organization);
        let known = known.or_insert_with(|| Organization {
            runs: 0,
            calls: Arc::new(Semaphore::new(MAX_CALLS)),
            next: Arc::default(),
            mails: Arc::default(),
        });
        known.runs += 1;
        RunPermit {
            capacity: self.clone(),
            organization,
            calls: known.calls.clone(),
            next: known.next.clone(),
            mails: known.mails.clone(),
            worker: Mutex::new(self.0.workers.clone().try_acquire_owned().ok()),
        }
    }

    /// Until a permit to work is free again.
    pub(super) async fn freed(&self) {
        self.0.freed.notified().await;
    }
}

/// What a run holds.
#[derive(Debug)]
pub(super) struct RunPermit {
    capacity: Capacity,
    organization: Uuid,
    calls: Arc<Semaphore>,
    next: Arc<Turn<()>>,
    mails: Arc<Turn<()>>,
    worker: Mutex<Option<OwnedSemaphorePermit>>,
}

impl RunPermit {
    fn worker(&self) -> MutexGuard<'_, Option<OwnedSemaphorePermit>> {
        self.worker.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Acquires a permit to work, if the run has none.
    pub(super) async fn work(&self) {
        if self.worker().is_some() {
            return;
        }
        let permit = self.capacity.0.workers.clone().acquire_owned().await;
        *self.worker() = permit.ok();
    }

    /// Gives the permit to work back.
    pub(super) fn release_worker(&self) {
        let permit = self.worker().take();
        if permit.is_some() {
            drop(permit);
            self.capacity.0.freed.notify_one();
        }
    }

    /// Waits until the organization may begin another call in this process, and holds it for that.
    pub(super) async fn call(&self) -> Option<OwnedSemaphorePermit> {
        self.calls.clone().acquire_owned().await.ok()
    }

    /// Waits until no other run of the organization asks here for a permit among the calls of all processes.
    pub(super) async fn next(&self) -> OwnedMutexGuard<()> {
        self.next.clone().lock_owned().await
    }

    /// Waits until no other mail of the organization is being sent.
    pub(super) async fn mail(&self) -> OwnedMutexGuard<()> {
        self.mails.clone().lock_owned().await
    }
}

impl Drop for RunPermit {
    fn drop(&mut self) {
        let mut organizations = self.capacity.organizations();
        if let Some(known) = organizations.get_mut(&self.organization) {
            known.runs -= 1;
            if known.runs == 0 {
                organizations.remove(&self.organization);
            }
        }
        drop(organizations);
        // Whoever is woken by it finds room for the organization: to pass over all of its runs takes long.
        self.release_worker();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use uuid::Uuid;

    use super::{Capacity, MAX_CALLS, MAX_OF_ORGANIZATION, MAX_WORKERS};

    #[test]
    fn runs_that_wait_for_others_give_their_permits_back() {
        let capacity = Capacity::new();
        let (one, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let permits: Vec<_> = (0..MAX_OF_ORGANIZATION)
            .map(|_| capacity.admit(one))
            .collect();
        assert_eq!(capacity.free_workers(), MAX_WORKERS - MAX_OF_ORGANIZATION);
        assert_eq!(capacity.full(), [one]);
        let late = capacity.admit(other);
        assert!(late.work().now_or_never().is_none(), "all work");
        for permit in &permits {
            permit.release_worker();
        }
        late.work().now_or_never().expect("a permit is free");
        assert_eq!(capacity.free_workers(), MAX_WORKERS - 1);
        // They count for their organization all the same, until they are over.
        assert_eq!(capacity.full(), [one]);
        drop(permits);
        assert!(capacity.full().is_empty());
        drop(late);
        assert_eq!(capacity.free_workers(), MAX_WORKERS);
        assert!(capacity.organizations().is_empty());
    }

    #[test]
    fn calls_and_mails_of_an_organization_wait_for_each_other_alone() {
        let capacity = Capacity::new();
        let (one, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let (permit, elsewhere) = (capacity.admit(one), capacity.admit(other));
        let mut calls: Vec<_> = (0..MAX_CALLS)
            .map(|_| permit.call().now_or_never().expect("a call is free"))
            .collect();
        let late = capacity.admit(one);
        assert!(late.call().now_or_never().is_none());
        assert!(elsewhere.call().now_or_never().is_some());
        calls.pop();
        assert!(late.call().now_or_never().is_some());
        let mail = permit.mail().now_or_never().expect("is free");
        assert!(late.mail().now_or_never().is_none());
        assert!(elsewhere.mail().now_or_never().is_some());
        drop(mail);
        assert!(late.mail().now_or_never().is_some());
    }
}
