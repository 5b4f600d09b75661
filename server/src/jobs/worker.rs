//! Takes up jobs without a lease and executes them, until the process stops.
//!
//! Any number of processes may share a store. A job that this process creates starts at once
//! ([`WorkerSignal`]); the worker polls for others every second.

use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::sleep;
use tplkit::problem::Code;
use tracing::Instrument as _;

use super::attempt::attempt;
use super::claim::take_noted;
use super::failure::Failure;
use super::renewal::under_right;
use super::{Destination, Job, Lease, Status};
use crate::background::TaskContext;
use crate::store::SWEEP;
use crate::wake::WorkerSignal;

/// How many jobs one process carries out at a time.
const AT_A_TIME: usize = 4;
/// How often jobs are looked for that other processes have made.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// How long a job rests when the store does not respond, in microseconds.
pub(super) const RETRY_AFTER_MICROS: i64 = 2_000_000;

/// Carries jobs out.
#[derive(Debug, Clone)]
pub struct Worker {
    /// What it works with.
    pub task_context: TaskContext,
    /// How long it holds a job without renewing, in seconds.
    pub lease_seconds: u32,
    /// Wakes it.
    pub signal: WorkerSignal,
}

impl Worker {
    /// Works until a stop signal, and releases its leases.
    pub async fn run(self, stop: watch::Receiver<bool>) {
        let mut working = JoinSet::new();
        for _ in 0..AT_A_TIME {
            working.spawn(self.clone().work(stop.clone()));
        }
        while working.join_next().await.is_some() {}
    }

    async fn work(self, mut stop: watch::Receiver<bool>) {
        let mut last_error = String::new();
        while !*stop.borrow() {
            let TaskContext { store, context, .. } = &self.task_context;
            match take_noted(store, context, self.length(), SWEEP).await {
                Ok(Some((job, lease))) => {
                    let span = tracing::error_span!("template_job", job = %job.id);
                    let stop = stop.clone();
                    if job.status == Status::Undoing {
                        self.undo(lease, stop).instrument(span).await;
                    } else {
                        self.carry_out(job, lease, stop).instrument(span).await;
                    }
                    last_error.clear();
                    continue;
                }
                Ok(None) => last_error.clear(),
                Err(error) if error.to_string() != last_error => {
                    tracing::warn!(%error, "jobs cannot be looked for, and will be later");
                    last_error = error.to_string();
                }
                Err(_) => {}
            }
            tokio::select! {
                _ = stop.wait_for(|stop| *stop) => {}
                () = self.signal.notified() => {}
                () = sleep(POLL_INTERVAL) => {}
            }
        }
    }

    fn length(&self) -> i64 {
        i64::from(self.lease_seconds) * 1_000_000
    }

    async fn carry_out(&self, job: Job, lease: Lease, mut stop: watch::Receiver<bool>) {
        let TaskContext {
            store,
            context,
            metrics,
            ..
        } = &self.task_context;
        tracing::info!(workspace = %job.workspace, template = %job.template, "job started");
        let (forbid, mut forbidden) = watch::channel(false);
        let (given, task_context) = (lease.clone(), self.task_context.clone());
        let work = Box::pin(async move {
            tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => Ok(false),
                Ok(_) = forbidden.wait_for(|forbidden| *forbidden) => Err(Failure::forbidden()),
                done = attempts(&task_context, &given, &job) => done.map(|()| true),
            }
        });
        let done = under_right(&lease, store, context, &forbid, work).await;
        // The panic itself was logged where it happened.
        let done = done.unwrap_or_else(|_| {
            let detail = "Something went wrong here; it has been recorded. What is written stays.";
            Err(Failure::reported(Code::Internal, detail))
        });
        let outcome = match &done {
            Ok(_) => "ok",
            Err(Failure::Fenced | Failure::RightsChanged | Failure::Later(_)) => "later",
            Err(Failure::Reported(_)) => "failed",
        };
        metrics.ran("template_jobs", outcome);
        self.end(&lease, done).await;
    }

    /// Lets go of a job.
    async fn end(&self, lease: &Lease, done: Result<bool, Failure>) {
        let TaskContext { store, context, .. } = &self.task_context;
        let ended = match done {
            Ok(true) => {
                tracing::info!("job finished");
                Ok(())
            }
            Ok(false) | Err(Failure::RightsChanged) => {
                tracing::info!("job released");
                lease.release(store, context, 0).await
            }
            Err(Failure::Fenced) => {
                tracing::info!("lease lost to another worker");
                Ok(())
            }
            Err(Failure::Later(why)) => {
                tracing::warn!(why, "job postponed: the store is unavailable");
                lease
                    .release(store, context, RETRY_AFTER_MICROS.min(lease.length))
                    .await
            }
            Err(Failure::Reported(report)) => {
                tracing::warn!("job failed");
                lease.fail(store, context, report).await
            }
        };
        if let Err(error) = ended {
            // It runs out by itself.
            tracing::warn!(%error, "the job is held until its lease runs out");
        }
    }
}

/// Attempts a job under one lease until an attempt ends by the rights with which it began: what its creator sees may
/// change on the way, and then what the attempt has read and decided does not count any more. What is written stays.
async fn attempts(task_context: &TaskContext, lease: &Lease, job: &Job) -> Result<(), Failure> {
    let TaskContext {
        store,
        context,
        tables,
        ..
    } = task_context;
    loop {
        let target = Destination::open(store, context, tables, lease.clone()).await?;
        match Box::pin(attempt(target.asking_right(), job)).await {
            Err(Failure::RightsChanged) => {
                tracing::info!("job begins anew: what its creator sees has changed");
            }
            ended => return ended,
        }
    }
}
