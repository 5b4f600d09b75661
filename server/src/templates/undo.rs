//! Undoes a job within the time of a request.
//!
//! All refusals come before anything is removed. Workers finish what takes longer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tplkit::apply::{TableLosses, UndoError, forced};
use uuid::Uuid;

use super::apply::{in_the_way, moved};
use crate::context::Context;
use crate::ids::TemplateKey;
use crate::jobs::{self, Continuing, Job, Status, UndoResult};
use crate::refusal::{Code, Refusal};
use crate::rows::Tables;
use crate::store::{Scope, Store, StoreError, Tx, Value};
use crate::wake::WorkerSignal;
use crate::workspace::ReadError;

/// What an undo works with.
pub(crate) struct UndoParts {
    pub(crate) store: Store,
    pub(crate) context: Context,
    pub(crate) tables: Tables,
    /// Wakes who goes on with it.
    pub(crate) signal: WorkerSignal,
    /// For how long the job is held at a time, in microseconds.
    pub(crate) lease: i64,
    /// How long it is waited for.
    pub(crate) wait: Duration,
}

/// A job that is to be taken back.
pub(crate) struct Undo {
    pub(crate) parts: UndoParts,
    /// Of who asks.
    pub(crate) scope: Scope,
    /// Who asks: what the undo publishes is theirs.
    pub(crate) by: Uuid,
    pub(crate) job: Job,
    pub(crate) force: bool,
    /// An earlier attempt at the same request may have begun it, or done it.
    pub(crate) again: bool,
}

impl Undo {
    /// Does it, and gives the job as it is afterwards: undone, or being undone.
    ///
    /// # Errors
    /// 409 for what would be lost, while the template is busy in the workspace, and the second time.
    pub(crate) async fn make(self) -> Result<Job, Refusal> {
        if self.again
            && let Some(job) = self.begun_before().await?
        {
            return Ok(job);
        }
        refuse(&self.job)?;
        if let Some(later) = self.upgraded_by().await? {
            let detail =
                format!("The upgrade {later} starts from what this job left; undo that one first.");
            return Err(Refusal::new(Code::Conflict, detail));
        }
        let UndoParts {
            store,
            context,
            tables,
            lease,
            ..
        } = &self.parts;
        let (job, by, force) = (&self.job, self.by, self.force);
        let begun = jobs::Undo::begin(store, context, job, by, force, *lease).await?;
        let Some(undo) = begun else {
            return Err(self.busy().await?);
        };
        let expired = self.expires();
        let work = {
            let (undo, expired) = (undo.clone(), expired.clone());
            let (store, context, tables) = (store.clone(), context.clone(), tables.clone());
            Box::pin(async move { undo.run(&store, &context, &tables, &expired).await })
        };
        let ended = jobs::under(&undo.lease, store, context, work).await;
        // The panic itself was logged where it happened.
        let ended = ended.unwrap_or_else(|_| UndoResult::Failed(panicked().into()));
        self.conclude(&undo, ended).await?;
        self.now().await
    }

    /// The job, when it is undone or being undone as this request asks.
    async fn begun_before(&self) -> Result<Option<Job>, Refusal> {
        let job = self.now().await?;
        if !matches!(job.status, Status::Undoing | Status::Undone) {
            return Ok(None);
        }
        let input = (job.clone(), self.by, self.force);
        let store = &self.parts.store;
        let asked = store.read(&self.scope, input, |tx, (job, by, force)| {
            Box::pin(jobs::was_asked(tx, job, *by, *force))
        });
        let asked: Result<bool, StoreError> = asked.await;
        Ok(asked?.then_some(job))
    }

    /// The upgrade that stands on what the job left.
    async fn upgraded_by(&self) -> Result<Option<Uuid>, Refusal> {
        let store = &self.parts.store;
        let found = store.read(&self.scope, self.job.clone(), |tx, job| {
            Box::pin(jobs::upgraded_by(tx, job))
        });
        let found: Result<Option<Uuid>, StoreError> = found.await;
        Ok(found?)
    }

    /// Set when the request has waited long enough.
    fn expires(&self) -> Arc<AtomicBool> {
        let wait = self.parts.wait;
        let expired = Arc::new(AtomicBool::new(wait.is_zero()));
        let flag = Arc::downgrade(&expired);
        tokio::spawn(async move {
            tokio::time::sleep(wait).await;
            if let Some(flag) = flag.upgrade() {
                flag.store(true, Ordering::Relaxed);
            }
        });
        expired
    }

    /// Releases the job, for a worker to resume it.
    async fn conclude(&self, undo: &jobs::Undo, ended: UndoResult) -> Result<(), Refusal> {
        let UndoParts { store, context, .. } = &self.parts;
        let refusal = match ended {
            UndoResult::Done | UndoResult::Paused => None,
            // Workers have it.
            UndoResult::Fenced => return Ok(()),
            UndoResult::Waiting(detail) => {
                undo.wait(store, context, &detail, undo.lease.length)
                    .await?;
                return Ok(());
            }
            UndoResult::Refused(error) => Some(self.refused(error).await),
            UndoResult::Failed(error) => Some(error.into()),
        };
        if let Some(refusal) = refusal
            && undo.give_up(store).await?
        {
            return Err(refusal);
        }
        if let Err(error) = undo.lease.release(store, context, 0).await {
            tracing::warn!(%error, "the job is held until its lease runs out");
        }
        self.parts.signal.notify();
        Ok(())
    }

    /// Why nobody can take the job back now.
    async fn busy(&self) -> Result<Refusal, Refusal> {
        let now = self.now().await?;
        if let Err(refusal) = refuse(&now) {
            return Ok(refusal);
        }
        let input = (
            TemplateKey {
                organization: now.organization,
                workspace: now.workspace,
                template: now.template,
            },
            now.id,
            self.parts.context.now(),
        );
        let found = self
            .parts
            .store
            .read(&self.scope, input, |tx, (of, job, now)| {
                Box::pin(jobs::unfinished(tx, *of, Continuing::Job(*job), *now))
            });
        let active: Option<Job> = found.await?;
        Ok(match active {
            Some(active) => in_the_way(&active, now.template),
            None if now.held => in_the_way(&now, now.template),
            None => moved(),
        })
    }

    /// The job as it is now, for whoever holds it or wants to.
    async fn now(&self) -> Result<Job, Refusal> {
        let input = (self.job.id, self.parts.context.now());
        let found = self.parts.store.read(&self.scope, input, |tx, (job, now)| {
            Box::pin(find(tx, *job, *now))
        });
        found.await
    }

    async fn refused(&self, error: UndoError<ReadError>) -> Refusal {
        match error {
            UndoError::NotEmpty(lost) => match self.describe(lost).await {
                Ok(detail) => Refusal::new(Code::NotEmpty, detail),
                Err(error) => error.into(),
            },
            UndoError::Refused { code, detail } => Refusal::new(code, detail),
            UndoError::Conflict => conflict(),
            // These are not refusals.
            UndoError::Waiting { .. } | UndoError::Fenced | UndoError::Store { .. } => moved(),
        }
    }

    /// What would be lost. Tables that the caller does not see have no name here.
    async fn describe(&self, lost: Vec<TableLosses>) -> Result<String, StoreError> {
        let ids: Vec<Uuid> = lost.iter().filter_map(|lost| lost.table).collect();
        let store = &self.parts.store;
        let reading = store.read(&self.scope, ids, |tx, ids| Box::pin(visible(tx, ids)));
        let visible: Vec<Uuid> = reading.await?;
        let texts = lost.iter().map(|lost| {
            if lost.table.is_none_or(|table| visible.contains(&table)) {
                lost.to_string()
            } else {
                lost.of("a table that you do not see")
            }
        });
        let texts: Vec<String> = texts.collect();
        Ok(format!(
            "People have worked on what the job wrote: {}; {}.",
            texts.join(", "),
            forced(&lost)
        ))
    }
}

async fn visible(tx: &mut Tx, tables: &[Uuid]) -> Result<Vec<Uuid>, StoreError> {
    let sql = "SELECT id FROM features WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND {any id $1}";
    let rows = tx.query(sql, &[Value::Ids(tables.to_vec())]).await?;
    rows.iter().map(|row| row.get(0)).collect()
}

async fn find(tx: &mut Tx, job: Uuid, now: i64) -> Result<Job, Refusal> {
    let job = jobs::find(tx, job, now).await?;
    let mut job = job.ok_or_else(Refusal::not_found)?;
    jobs::redact(tx, std::slice::from_mut(&mut job)).await?;
    Ok(job)
}

/// A job that somebody works on or will, or that was taken back.
fn refuse(job: &Job) -> Result<(), Refusal> {
    match job.status {
        Status::Undone => Err(conflict()),
        Status::Completed | Status::Failed => Ok(()),
        _ => Err(in_the_way(job, job.template)),
    }
}

fn conflict() -> Refusal {
    let detail = "The job was undone already; there is nothing left of it.";
    Refusal::new(Code::Conflict, detail)
}

fn panicked() -> StoreError {
    StoreError::Internal("an undo panicked".to_owned())
}

/// The response when the undo itself broke down.
pub(crate) fn lost(error: &tokio::task::JoinError) -> Refusal {
    tracing::error!(%error, "an undo broke down");
    Refusal::new(
        Code::Internal,
        "Something went wrong here; it has been recorded.",
    )
}
