//! A worker resumes the undo of a job.

use std::sync::atomic::AtomicBool;

use tokio::sync::watch;

use super::failure::Failure;
use super::worker::{REST, Worker};
use super::{Ended, Lease, Undo, under};
use crate::background::Bench;
use crate::store::StoreError;

impl Worker {
    /// Resumes the undo of a job that its first process has left.
    pub(super) async fn undo(&self, lease: Lease, mut stop: watch::Receiver<bool>) {
        let bench = self.bench.clone();
        let Bench {
            store,
            context,
            metrics,
            ..
        } = &self.bench;
        tracing::info!("goes on being undone");
        let undo = Undo::resume(store, lease.clone()).await;
        let ended = match &undo {
            Ok(undo) => {
                let given = undo.clone();
                let work = Box::pin(async move {
                    let never = AtomicBool::new(false);
                    let Bench {
                        store,
                        context,
                        tables,
                        ..
                    } = &bench;
                    tokio::select! {
                        biased;
                        _ = stop.wait_for(|stop| *stop) => Ended::Paused,
                        ended = given.run((store, context, tables), &never) => ended,
                    }
                });
                let ended = under(&lease, (store, context), work).await;
                // The panic itself was told where it happened.
                ended.unwrap_or_else(|_| Ended::Failed(panicked().into()))
            }
            Err(error) => Ended::Failed(error.clone().into()),
        };
        let (outcome, pause) = match ended {
            Ended::Done => ("ok", 0),
            Ended::Paused | Ended::Fenced => ("later", 0),
            Ended::Refused(_) => {
                tracing::warn!("is not undone: something would be lost");
                if let Ok(undo) = &undo
                    && let Err(error) = undo.give_up(store).await
                {
                    tracing::warn!(%error, "the job is held until its lease runs out");
                }
                ("failed", lease.length)
            }
            Ended::Failed(error) => match Failure::from(error) {
                Failure::Reported(_) => ("failed", lease.length),
                _ => ("later", REST.min(lease.length)),
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
