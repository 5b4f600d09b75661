//! Takes back what a job wrote, under a lease of its own, so that nobody works on the job meanwhile.

use std::sync::Arc;

use tplkit::apply::{UndoError, undo};
use uuid::Uuid;

use super::apply::in_the_way;
use crate::auth::Caller;
use crate::http::App;
use crate::http::problem::{Code, Problem};
use crate::jobs::{self, Destination, Job, Lease, Status};
use crate::store::Tx;
use crate::workspace::ReadError;

/// A job that is to be taken back.
pub(crate) struct Undo {
    app: Arc<App>,
    caller: Arc<Caller>,
    job: Job,
    force: bool,
}

impl Undo {
    pub(crate) fn new(app: &Arc<App>, caller: &Arc<Caller>, job: Job, force: bool) -> Undo {
        Undo {
            app: app.clone(),
            caller: caller.clone(),
            job,
            force,
        }
    }

    /// Does it, and gives the job as it is afterwards.
    ///
    /// # Errors
    /// 409 for what would be lost, while somebody works on the job, and the second time.
    pub(crate) async fn make(self) -> Result<Job, Problem> {
        idle(&self.job)?;
        let App {
            store,
            context,
            config,
            ..
        } = &*self.app;
        let length = i64::from(config.lease_seconds) * 1_000_000;
        let Some(lease) = jobs::take(store, context, &self.job, length).await? else {
            return Err(in_the_way(&self.now().await?));
        };
        let undone = self.under(&lease).await;
        // Also of a job that is undone: nobody works on it any more.
        if let Err(error) = lease.release(store, context, 0).await {
            tracing::warn!(%error, "the job is held until its lease runs out");
        }
        undone?;
        self.now().await
    }

    async fn under(&self, lease: &Lease) -> Result<(), Problem> {
        let App {
            store,
            context,
            tables,
            ..
        } = &*self.app;
        // It may have been asked to go on between the look and the lease.
        idle(&self.now().await?)?;
        let target = Destination::open(store, context, tables, lease.clone());
        let mut target = target.await?;
        undo(&mut target, self.force).await.map_err(problem)
    }

    /// The job as it is now, for whoever holds it or wants to.
    async fn now(&self) -> Result<Job, Problem> {
        let input = (self.job.id, self.app.context.now());
        let scope = self.caller.scope();
        let found = self
            .app
            .store
            .read(&scope, input, |tx, input| Box::pin(find(tx, input)));
        found.await
    }
}

async fn find(tx: &mut Tx, (job, now): &(Uuid, i64)) -> Result<Job, Problem> {
    let job = jobs::find(tx, *job, *now).await?;
    let mut job = job.ok_or_else(Problem::not_found)?;
    jobs::veil(tx, std::slice::from_mut(&mut job)).await?;
    Ok(job)
}

/// A job that nobody works on, nor will.
fn idle(job: &Job) -> Result<(), Problem> {
    if job.status == Status::Undone {
        return Err(conflict());
    }
    if job.status.is_finished() {
        Ok(())
    } else {
        Err(in_the_way(job))
    }
}

fn conflict() -> Problem {
    let told = "The job was undone already; there is nothing left of it.";
    Problem::new(Code::Conflict, told)
}

fn problem(error: UndoError<ReadError>) -> Problem {
    match error {
        UndoError::Conflict => conflict(),
        UndoError::NotEmpty(_) => Problem::new(Code::NotEmpty, format!("{error}.")),
        UndoError::Refused { code, detail } => Problem::new(code, detail),
        UndoError::Fenced => Problem::new(
            Code::JobActive,
            "Somebody else works on the job; nothing was taken away.",
        ),
        UndoError::Store { source, .. } => source.into(),
    }
}

/// What is told when the undo itself broke down.
pub(crate) fn lost(error: &tokio::task::JoinError) -> Problem {
    tracing::error!(%error, "an undo broke down");
    Problem::new(
        Code::Internal,
        "Something went wrong here; it has been recorded.",
    )
}
