//! A worker resumes the undo of a job.

use std::sync::atomic::AtomicBool;

use tokio::sync::watch;

use super::failure::Failure;
use super::worker::{RETRY_AFTER_MICROS, Worker};
use super::{Lease, Undo, UndoResult, under};
use crate::background::TaskContext;
use crate::store::StoreError;

impl Worker {
    /// Resumes the undo of a job that its first process has left.
    pub(super) async fn undo(&self, lease: Lease, mut stop: watch::Receiver<bool>) {
        let task_context = self.task_context.clone();
        let TaskContext {
            store,
            context,
            metrics,
            ..
        } = &self.task_context;
        tracing::info!("undo resumed");
        let undo = Undo::resume(store, lease.clone()).await;
        let ended = match &undo {
            Ok(undo) => {
                let given = undo.clone();
                let work = Box::pin(async move {
                    let never = AtomicBool::new(false);
                    let TaskContext {
                        store,
                        context,
                        tables,
                        ..
                    } = &task_context;
                    tokio::select! {
                        biased;
                        _ = stop.wait_for(|stop| *stop) => UndoResult::Paused,
                        ended = given.run( store, context, tables, &never) => ended,
                    }
                });
                let ended = under(&lease, store, context, work).await;
                // The panic itself was logged where it happened.
                ended.unwrap_or_else(|_| UndoResult::Failed(panicked().into()))
            }
            Err(error) => UndoResult::Failed(error.clone().into()),
        };
        let (outcome, pause) = match ended {
            UndoResult::Done => ("ok", 0),
            UndoResult::Paused | UndoResult::Fenced => ("later", 0),
            UndoResult::Waiting(detail) => {
                tracing::warn!(%detail, "the undo waits for room");
                if let Ok(undo) = &undo
                    && let Err(error) = undo.wait(store, context, &detail, lease.length).await
                {
                    tracing::warn!(%error, "the job does not say why its undo waits");
                }
                ("later", lease.length)
            }
            UndoResult::Refused(_) => {
                tracing::warn!("undo refused: changes would be lost");
                if let Ok(undo) = &undo
                    && let Err(error) = undo.give_up(store).await
                {
                    tracing::warn!(%error, "the job is held until its lease runs out");
                }
                ("failed", lease.length)
            }
            UndoResult::Failed(error) => match Failure::from(error) {
                Failure::Reported(_) => ("failed", lease.length),
                _ => ("later", RETRY_AFTER_MICROS.min(lease.length)),
            },
        };
        metrics.ran("template_jobs", outcome);
        if let Err(error) = lease.release(store, context, pause).await {
            // It runs out by itself.
            tracing::warn!(%error, "the job is held until its lease runs out");
        }
    }
}

fn panicked() -> StoreError {
    StoreError::Internal("an undo panicked".to_owned())
}
