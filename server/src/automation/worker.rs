//! The automation workers: start runs for events and due instants, claim runs, and execute them.
//!
//! Any number of processes can do this; the lease decides which one executes a run.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tracing::Instrument as _;
use uuid::Uuid;

use super::capacity::RunPermit;
use super::executor::RunExecutor;
use super::step::passes;
use super::{events, execution, runs, schedules};
use crate::offload;
use crate::store::{Scope, StoreError, Value};

/// How long nobody looks when no signal comes.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// After which time a run is taken up again whose attempt ended with an error, in microseconds.
const AGAIN: i64 = 1_000_000;

impl RunExecutor {
    /// Executes runs until a stop signal. Runs in progress are released between two of their steps.
    pub async fn work(self, mut stop: watch::Receiver<bool>) {
        let mut runs = JoinSet::new();
        let mut reported = String::new();
        loop {
            while runs.try_join_next().is_some() {}
            let found = match self.find(self.capacity.free_workers()).await {
                Ok(found) => {
                    reported.clear();
                    found
                }
                Err(error) => {
                    let text = error.to_string();
                    if text != reported {
                        tracing::warn!(%error, "automations are not executed at the moment");
                        reported = text;
                    }
                    PendingWork::default()
                }
            };
            let busy = found.more || !found.runs.is_empty();
            for run in found.runs {
                let (executor, stop) = (self.clone(), stop.clone());
                let permit = self.capacity.admit(run.organization);
                let span = tracing::error_span!("run", run = %run.id);
                let dry_run = run.dry_run;
                let executed = async move { executor.once(run, permit, &stop).await };
                let executed = executed.instrument(span);
                if dry_run {
                    runs.spawn(beside_requests(executed));
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
                () = tokio::time::sleep(LOOK_AGAIN) => {}
            }
        }
        while runs.join_next().await.is_some() {}
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
            let found = self.find(1).await?;
            if found.runs.is_empty() && !found.more {
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
        while events::dispatch(&self.store, self.context.now()).await? {}
        Ok(())
    }

    /// Executes the first of the runs that can go on now, until it ends or waits, and gives its id. For whoever
    /// decides what comes next.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn run_next(&self) -> Result<Option<Uuid>, StoreError> {
        let (_keep, stop) = watch::channel(false);
        let Some(run) = self.claim(1, Vec::new()).await?.runs.pop() else {
            return Ok(None);
        };
        let id = run.id;
        let permit = self.capacity.admit(run.organization);
        Box::pin(self.once(run, permit, &stop)).await;
        Ok(Some(id))
    }

    /// Makes runs of what has happened, and claims so many.
    async fn find(&self, room: usize) -> Result<PendingWork, StoreError> {
        let full = self.capacity.full();
        let waiting = self.waiting(full.clone()).await?;
        let mut found = PendingWork::default();
        if waiting.events {
            // The rest is for the next round: those that are runs by then are executed meanwhile.
            found.more = events::dispatch(&self.store, self.context.now()).await?;
        }
        if waiting.schedules {
            schedules::begin_due(self).await?;
        }
        if room > 0 && (waiting.runs || waiting.events || waiting.schedules) {
            let claimed = self.claim(room, full).await?;
            for _ in 0..claimed.abandoned {
                self.counted.finished(false);
                tracing::error!("a run was given up: attempts at it ended with their process");
            }
            found.more |= claimed.abandoned > 0;
            found.runs = claimed.runs;
        }
        Ok(found)
    }

    /// Claims at most so many runs, of other organizations than those.
    async fn claim(&self, most: usize, full: Vec<Uuid>) -> Result<runs::Claimed, StoreError> {
        let request = runs::ClaimRequest {
            owner: self.context.id(),
            most,
            lease: self.lease(),
            now: self.context.now(),
        };
        let input = (request, full);
        let claimed = self
            .store
            .write(&Scope::Operator, input, |tx, (request, full)| {
                Box::pin(runs::claim(tx, *request, full))
            });
        claimed.await
    }

    /// Whether there is anything to do, asked without writing. Runs of organizations that hold all they may
    /// are nothing to do.
    async fn waiting(&self, full: Vec<Uuid>) -> Result<Backlog, StoreError> {
        let input = (self.context.now(), full);
        self.store
            .read(&Scope::Operator, input, |tx, (now, full)| {
                Box::pin(async move {
                    let sql = "SELECT id FROM workflow_events LIMIT 1";
                    let events = tx.first(sql, &[]).await?.is_some();
                    let sql = "SELECT workflow_id FROM workflow_schedules \
                         WHERE due_at IS NULL OR due_at <= $1 LIMIT 1";
                    let schedules = tx.first(sql, &[(*now).into()]).await?.is_some();
                    let sql = concat!(
                        "SELECT id FROM workflow_runs WHERE ",
                        runs::waits!(),
                        " AND NOT {any organization_id $2} LIMIT 1"
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
    /// no run goes on for ever, and none ends with an error of the server for its reason.
    async fn once(&self, mut run: runs::Run, permit: RunPermit, stop: &watch::Receiver<bool>) {
        permit.work().await;
        self.counted.started();
        let executed =
            AssertUnwindSafe(execution::execute(self, &mut run, &permit, stop)).catch_unwind();
        let wake_at = self.context.now() + AGAIN;
        let left = match executed.await {
            Ok(Ok(())) => return,
            Ok(Err(error)) if passes(&error) => {
                tracing::warn!(%error, "a run was left, and is taken up again later");
                // Not at once: what is not there now is not there a moment later either.
                execution::release(self, &run, Some(wake_at)).await
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
    }
}

/// Carries out a dry run. Anybody who edits can begin one of a draft that nobody has looked at, and it may compute for
/// long; so requests come first.
async fn beside_requests(executed: impl Future<Output = ()> + Send + 'static) {
    if let Err(error) = offload::give_way(executed).await {
        tracing::error!(%error, "a dry run was left, and is taken up again when its lease has ended");
    }
}

struct Backlog {
    events: bool,
    schedules: bool,
    runs: bool,
}

/// What a look has found.
#[derive(Default)]
struct PendingWork {
    /// Runs that are ours to execute now.
    runs: Vec<runs::Run>,
    /// Whether more events wait than were looked at.
    more: bool,
}
