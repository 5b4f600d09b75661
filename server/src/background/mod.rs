//! Background tasks.
//!
//! A task has a name and a period, never overlaps with itself, runs in parallel with other tasks,
//! and ends with the process. Every process of a store runs all tasks, so each task has to tolerate
//! that.

mod expired;
mod queue;
mod tasks;

use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tracing::Instrument as _;

pub use expired::{remove_expired_sessions, remove_kept_responses, remove_old_runs};
pub use queue::measure_queue;
pub use tasks::{TASKS, tasks};

use crate::context::{Context, Stopwatch, micros, random};
use crate::files::Files;
use crate::metrics::Metrics;
use crate::rows::Tables;
use crate::store::{Store, StoreError};

/// What a task works with.
#[derive(Debug, Clone)]
pub struct TaskContext {
    /// Where everything is kept.
    pub store: Store,
    /// Time and ids.
    pub context: Context,
    /// Where runs are counted.
    pub metrics: Arc<Metrics>,
    /// What this process has seen asked of tables.
    pub tables: Tables,
    /// How long finished runs of automations are kept; for ever when nothing is said.
    pub keep_runs: Option<Duration>,
    /// Where files are, and how long those without a use are kept.
    pub files: Files,
}

/// Does a task once, and says how much it did.
pub type TaskFn = fn(TaskContext) -> Pin<Box<dyn Future<Output = Result<u64, StoreError>> + Send>>;

/// Something that is done now and then.
#[derive(Clone, Copy)]
pub struct Task {
    /// In logs and metrics.
    pub name: &'static str,
    /// From the end of a run to the next, give or take a tenth.
    pub every: Duration,
    /// Does it once.
    pub run: TaskFn,
}

impl std::fmt::Debug for Task {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Task({} every {:?})", self.name, self.every)
    }
}

/// Runs all tasks until a stop signal, and waits for the one in progress.
///
/// The metrics show the tasks from the call on, not from the first poll: whoever reads them first
/// sees every family.
pub fn run(
    tasks: Vec<Task>,
    task_context: TaskContext,
    stop: watch::Receiver<bool>,
) -> impl Future<Output = ()> {
    for task in &tasks {
        task_context.metrics.will_run(task.name);
    }
    async move {
        let mut running = JoinSet::new();
        for task in tasks {
            running.spawn(repeat(task, task_context.clone(), stop.clone()));
        }
        while running.join_next().await.is_some() {}
    }
}

async fn repeat(task: Task, task_context: TaskContext, mut stop: watch::Receiver<bool>) {
    // Processes that start together need not work together. The first run comes early, so that what
    // is wrong with it shows early.
    let mut pause = task.every.min(Duration::from_secs(10)).mul_f64(fraction());
    loop {
        tokio::select! {
            biased;
            // Whoever could say so being gone says so, too.
            _ = stop.wait_for(|stop| *stop) => return,
            () = tokio::time::sleep(pause) => {}
        }
        once(task, &task_context)
            .instrument(tracing::error_span!("upkeep", task = task.name))
            .await;
        pause = task.every.mul_f64(0.9 + 0.2 * fraction());
    }
}

/// Runs a task once, and says what became of it.
async fn once(task: Task, task_context: &TaskContext) {
    let watch = Stopwatch::start();
    // A bug in one task neither stops the others nor ends the attempts.
    let ran = AssertUnwindSafe((task.run)(task_context.clone()))
        .catch_unwind()
        .await;
    let micros = micros(watch.elapsed());
    let outcome = match ran {
        Ok(Ok(0)) => {
            tracing::debug!(micros, "nothing to do");
            "ok"
        }
        Ok(Ok(done)) => {
            tracing::info!(done, micros, "done");
            "ok"
        }
        Ok(Err(error)) => {
            tracing::warn!(%error, micros, "not done, and tried again later");
            "failed"
        }
        // The panic itself was logged where it happened.
        Err(_) => "panicked",
    };
    task_context.metrics.ran(task.name, outcome);
}

/// From 0 to 1.
fn fraction() -> f64 {
    f64::from(u32::from_le_bytes(random())) / f64::from(u32::MAX)
}
