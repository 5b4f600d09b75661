//! The automation workers: start runs for events and due instants, claim runs, and execute them.
//!
//! Any number of processes can do this; the lease decides which one executes a run.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tracing::Instrument as _;
use uuid::Uuid;

use super::capacity::RunPermit;
use super::executor::RunExecutor;
use super::late_release::UnreleasedRun;
use super::stop::passes;
use super::{dispatch, execution, run_lease, runs, schedules};
use crate::cpu_threads;
use crate::store::{POLLS_AT_ONCE, SWEEP, Scope, Store, StoreError, Value};

/// How long nobody polls when no signal comes.
const POLL_AGAIN: Duration = Duration::from_millis(500);
/// How long more runs are claimed from a backlog before it is asked again what else there is to do.
const POLL_AGAIN_IN_BACKLOG: Duration = Duration::from_millis(50);
/// Pause after making runs of a backlog, as a multiple of the time it took: runs that wait already need the store more.
const BACKLOG_PAUSE_FACTOR: u32 = 2;
/// Delay before a failed attempt is retried, in microseconds.
const RETRY_AFTER_MICROS: i64 = 1_000_000;

impl RunExecutor {
    /// Executes runs until a stop signal. Runs in progress are released between two of their steps.
    pub async fn work(self, mut stop: watch::Receiver<bool>) {
        let mut runs = JoinSet::new();
        let mut last_error = String::new();
        // At most one: makes runs of a backlog of events, next to their execution.
        let mut making = JoinSet::new();
        let wanted = Arc::new(Notify::new());
        // Since when runs of a backlog are claimed without a poll of what else there is.
        let mut backlog: Option<Instant> = None;
        loop {
            while runs.try_join_next().is_some() {}
            while making.try_join_next().is_some() {}
            let room = self.capacity.free_workers();
            let known = backlog.is_some_and(|since| since.elapsed() < POLL_AGAIN_IN_BACKLOG);
            // A claim costs much the same however many it finds.
            let room = if known && room < run_lease::MIN_RUNS_PER_CLAIM {
                0
            } else {
                room
            };
            let polled = match (known, room) {
                (true, 0) => Ok(PendingWork::default()),
                (true, _) => self.claim_others(room, self.capacity.full()).await,
                (false, _) => self.find(room, making.is_empty(), SWEEP).await,
            };
            let found = match polled {
                Ok(found) => {
                    last_error.clear();
                    found
                }
                Err(error) => {
                    let text = error.to_string();
                    if text != last_error {
                        tracing::warn!(%error, "automations are not executed at the moment");
                        last_error = text;
                    }
                    PendingWork::default()
                }
            };
            let busy = found.again || !found.runs.is_empty();
            if room > 0 && found.runs.len() < run_lease::found_at_most(room) {
                backlog = None;
                wanted.notify_one();
            } else if room > 0 && !known {
                backlog = Some(Instant::now());
            }
            if found.events && making.is_empty() {
                making.spawn(self.clone().make_runs(wanted.clone(), stop.clone()));
            }
            for run in found.runs {
                let (executor, stop) = (self.clone(), stop.clone());
                let permit = self.capacity.admit(run.organization);
                let span = tracing::error_span!("run", run = %run.id);
                let dry_run = run.dry_run;
                let executed = async move {
                    let unreleased = executor.once(run, permit, &stop).await;
                    if let Some(unreleased) = unreleased {
                        executor.release_late(unreleased, stop).await;
                    }
                };
                let executed = executed.instrument(span);
                if dry_run {
                    runs.spawn(yielding_to_requests(executed));
                } else {
                    runs.spawn(executed);
                }
            }
            if busy && self.capacity.free_workers() > 0 && !*stop.borrow() {
                continue;
            }
            tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => break,
                _ = runs.join_next(), if !runs.is_empty() => {}
                () = self.signal.notified() => {}
                () = self.capacity.freed() => {}
                () = tokio::time::sleep(if backlog.is_some() { POLL_AGAIN_IN_BACKLOG } else { POLL_AGAIN }) => {}
            }
        }
        while runs.join_next().await.is_some() {}
        // It may rest.
        wanted.notify_one();
        while making.join_next().await.is_some() {}
    }

    /// Makes runs of a backlog of events, part by part until there are no more, and rests in between until it
    /// is `wanted`: whoever executes runs has no others.
    async fn make_runs(self, wanted: Arc<Notify>, stop: watch::Receiver<bool>) {
        while !*stop.borrow() && stop.has_changed().is_ok() {
            let began = Instant::now();
            let more = self.dispatch_some(SWEEP).await;
            self.signal.notify();
            // The next poll meets the same failure, and logs it.
            if !matches!(more, Ok(true)) {
                return;
            }
            let _ = tokio::time::timeout(began.elapsed() * BACKLOG_PAUSE_FACTOR, wanted.notified())
                .await;
        }
    }

    /// Does everything that there is to do at this moment of the clock, one run after the other, and
    /// gives how many runs were executed. For whoever wants to see the end of it.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn run_due(&self) -> Result<usize, StoreError> {
        let (_keep, stop) = watch::channel(false);
        let mut executed = 0;
        loop {
            let found = self.find(1, true, Duration::ZERO).await?;
            if found.runs.is_empty() && !found.events && !found.again {
                return Ok(executed);
            }
            for run in found.runs {
                executed += 1;
                let permit = self.capacity.admit(run.organization);
                Box::pin(self.once(run, permit, &stop)).await;
            }
        }
    }

    /// Makes runs of what has happened to rows, and of nothing else.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn take_events(&self) -> Result<(), StoreError> {
        while self.dispatch_some(Duration::ZERO).await? {}
        Ok(())
    }

    /// Makes runs of some events of each queue; true when more may wait.
    async fn dispatch_some(&self, every: Duration) -> Result<bool, StoreError> {
        let now = self.context.now();
        let mut more = false;
        for scope in self.store.queues(DUE, every, now).await? {
            if self.store.rests(&scope) {
                continue;
            }
            match dispatch::dispatch(&self.store, &scope, now).await {
                Ok(one) => more |= one,
                Err(error) => self.store.pass_over(&scope, error)?,
            }
        }
        Ok(more)
    }

    /// Executes the first of the runs that can go on now, until it ends or waits, and gives its id. For whoever
    /// decides what comes next.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn run_next(&self) -> Result<Option<Uuid>, StoreError> {
        let (_keep, stop) = watch::channel(false);
        let mut found = None;
        let now = self.context.now();
        for scope in self.store.queues(DUE, Duration::ZERO, now).await? {
            if self.store.rests(&scope) {
                continue;
            }
            found = self.claim(&scope, 1, Vec::new()).await?.runs.pop();
            if found.is_some() {
                break;
            }
        }
        let Some(run) = found else {
            return Ok(None);
        };
        let id = run.id;
        let permit = self.capacity.admit(run.organization);
        Box::pin(self.once(run, permit, &stop)).await;
        Ok(Some(id))
    }

    /// Makes runs of what has happened, and claims so many. Where somebody makes runs of `events` already, they are
    /// left to them. All organizations are polled every so often.
    async fn find(
        &self,
        room: usize,
        events: bool,
        every: Duration,
    ) -> Result<PendingWork, StoreError> {
        let mut found = PendingWork::default();
        let now = self.context.now();
        let scopes = self.store.queues(DUE, every, now).await?;
        for together in scopes.chunks(POLLS_AT_ONCE) {
            let full = self.capacity.full();
            let polls = self
                .store
                .poll(together, |scope| self.waiting(scope, full.clone()));
            for (scope, waiting) in polls.await {
                let left = room - found.runs.len().min(room);
                let more = match waiting {
                    // What was done for another one has waited for its worker.
                    Ok(_) if self.store.rests(scope) => continue,
                    Ok(mut waiting) => {
                        waiting.events &= events;
                        self.find_in(scope, waiting, left, full.clone()).await
                    }
                    Err(error) => Err(error),
                };
                if !found.add_found(&self.store, scope, more)? {
                    return Ok(found);
                }
            }
        }
        Ok(found)
    }

    async fn find_in(
        &self,
        scope: &Scope,
        waiting: Backlog,
        room: usize,
        full: Vec<Uuid>,
    ) -> Result<PendingWork, StoreError> {
        let mut more = false;
        if waiting.events {
            // Those that are runs by then are executed first.
            more = dispatch::dispatch(&self.store, scope, self.context.now()).await?;
        }
        if waiting.schedules {
            schedules::begin_due(self, scope).await?;
        }
        let mut found = PendingWork::default();
        if room > 0 && (waiting.runs || waiting.events || waiting.schedules) {
            found = self.claim_in(scope, room, full).await?;
        }
        found.events = more;
        Ok(found)
    }

    /// Claims so many runs, of other organizations than those.
    async fn claim_others(&self, room: usize, full: Vec<Uuid>) -> Result<PendingWork, StoreError> {
        let mut found = PendingWork::default();
        let now = self.context.now();
        for scope in self.store.queues(DUE, SWEEP, now).await? {
            if self.store.rests(&scope) {
                continue;
            }
            let left = room - found.runs.len().min(room);
            if left == 0 {
                break;
            }
            let more = self.claim_in(&scope, left, full.clone()).await;
            if !found.add_found(&self.store, &scope, more)? {
                break;
            }
        }
        Ok(found)
    }

    /// The same in one scope.
    async fn claim_in(
        &self,
        scope: &Scope,
        room: usize,
        full: Vec<Uuid>,
    ) -> Result<PendingWork, StoreError> {
        let claimed = self.claim(scope, room, full).await?;
        for _ in 0..claimed.abandoned {
            self.counted.finished(false);
            tracing::error!("a run was given up: attempts at it ended with their process");
        }
        Ok(PendingWork {
            again: claimed.abandoned > 0,
            runs: claimed.runs,
            events: false,
        })
    }

    /// The claim itself.
    async fn claim(
        &self,
        scope: &Scope,
        most: usize,
        full: Vec<Uuid>,
    ) -> Result<run_lease::Claimed, StoreError> {
        let request = run_lease::ClaimRequest {
            owner: self.context.id(),
            most,
            lease: self.lease(),
            now: self.context.now(),
        };
        let input = (request, full, self.attempts.clone());
        let claimed = self
            .store
            .write(scope, input, |tx, (request, full, attempts)| {
                Box::pin(run_lease::claim(tx, *request, full, attempts))
            });
        claimed.await
    }

    /// Whether there is anything to do, asked without writing. Runs of organizations that hold all they may
    /// are nothing to do.
    async fn waiting(&self, scope: &Scope, full: Vec<Uuid>) -> Result<Backlog, StoreError> {
        let input = (self.context.now(), full);
        self.store
            .read(scope, input, |tx, (now, full)| {
                Box::pin(async move {
                    let sql = "SELECT id FROM workflow_events WHERE {queue organization_id} LIMIT 1 {across queue}";
                    let events = tx.first(sql, &[]).await?.is_some();
                    let sql = "SELECT workflow_id FROM workflow_schedules WHERE {queue organization_id} \
                         AND (due_at IS NULL OR due_at <= $1) LIMIT 1 {across queue}";
                    let schedules = tx.first(sql, &[(*now).into()]).await?.is_some();
                    let sql = concat!(
                        "SELECT id FROM workflow_runs WHERE ",
                        run_lease::waits!(),
                        run_lease::of_others!(),
                        " AND {queue organization_id} LIMIT 1 {across queue}"
                    );
                    let full = Value::Ids(full.clone());
                    let runs = tx.first(sql, &[(*now).into(), full]).await?.is_some();
                    Ok(Backlog {
                        events,
                        schedules,
                        runs,
                    })
                })
            })
            .await
    }

    /// Executes a run, whatever happens. What is not a fault of the run's is tried again, and in the end given up:
    /// no run goes on for ever, and none ends with an error of the server for its reason. Gives the run back of which the
    /// store could not hear that nobody is at work on it any more.
    async fn once(
        &self,
        mut run: runs::Run,
        permit: RunPermit,
        stop: &watch::Receiver<bool>,
    ) -> Option<UnreleasedRun> {
        let attempt = self.attempts.begin(&run);
        permit.work().await;
        self.counted.started();
        let executed =
            AssertUnwindSafe(execution::execute(self, &mut run, &permit, stop)).catch_unwind();
        let wake_at = self.context.now() + RETRY_AFTER_MICROS;
        let left = match executed.await {
            Ok(Ok(())) => return None,
            Ok(Err(error)) if passes(&error) => {
                tracing::warn!(%error, "a run was left, and is taken up again later");
                // Not at once: what is not there now is not there a moment later either.
                let released = execution::release(self, &run, Some(wake_at)).await;
                if released.as_ref().is_err_and(passes) {
                    return Some(UnreleasedRun { run, attempt });
                }
                released
            }
            Ok(Err(error)) => {
                tracing::error!(%error, "an attempt at a run failed");
                execution::leave(self, &run, wake_at).await
            }
            // The panic itself was logged where it happened.
            Err(_) => execution::leave(self, &run, wake_at).await,
        };
        if let Err(error) = left {
            tracing::warn!(%error, "a run was not let go of; its lease will end");
        }
        None
    }
}

/// Carries out a dry run. Anybody who edits can begin one of a draft that nobody has looked at, and it may compute for
/// long; so requests come first.
async fn yielding_to_requests(executed: impl Future<Output = ()> + Send + 'static) {
    if let Err(error) = cpu_threads::run_low_priority(executed).await {
        tracing::error!(%error, "a dry run was left, and is taken up again when its lease has ended");
    }
}

/// The organizations of a list in which something is due.
const DUE: &str = concat!(
    "SELECT organization_id FROM (\
     SELECT organization_id FROM workflow_events WHERE {any organization_id $1} \
     UNION SELECT organization_id FROM workflow_schedules \
     WHERE {any organization_id $1} AND (due_at IS NULL OR due_at <= $2) \
     UNION SELECT organization_id FROM workflow_runs WHERE {any organization_id $1} AND ",
    run_lease::waits!("$2"),
    ") AS due {across queue}"
);

struct Backlog {
    events: bool,
    schedules: bool,
    runs: bool,
}

/// What a poll has found.
#[derive(Default)]
struct PendingWork {
    /// Runs that are ours to execute now.
    runs: Vec<runs::Run>,
    /// Whether more events wait than were read.
    events: bool,
    /// Whether it is to be polled again at once.
    again: bool,
}

impl PendingWork {
    /// Adds what was found in one scope. Whether to poll the next one.
    fn add_found(
        &mut self,
        store: &Store,
        scope: &Scope,
        more: Result<PendingWork, StoreError>,
    ) -> Result<bool, StoreError> {
        match more {
            Ok(more) => self.add(more),
            Err(error) => match store.pass_over(scope, error) {
                // What was claimed before is carried out; the next poll meets the same failure.
                Err(error) if self.runs.is_empty() => return Err(error),
                Err(_) => return Ok(false),
                Ok(()) => {}
            },
        }
        Ok(true)
    }

    fn add(&mut self, more: PendingWork) {
        self.runs.extend(more.runs);
        self.events |= more.events;
        self.again |= more.again;
    }
}
