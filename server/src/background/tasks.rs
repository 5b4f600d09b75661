//! The table of background tasks.

use std::time::Duration;

use super::Task;
use super::expired::{remove_expired_sessions, remove_kept_responses, remove_old_runs};
use super::queue::measure_queue;
use crate::automation::bring_back_schedules;
use crate::files::sweep::Sweep;
use crate::rows::{empty_search, fill_search, fill_slots, give_slots};

/// How often files are looked for that nothing uses.
const SWEEP: Duration = Duration::from_secs(60);

/// All tasks of a process that keeps files without a use for so long.
pub fn tasks(grace: Duration) -> Vec<Task> {
    let mut tasks = TASKS.to_vec();
    for task in &mut tasks {
        if task.name == FILES {
            // Whoever keeps them for less looks oftener.
            task.every = SWEEP.min(grace.max(Duration::from_secs(1)));
        }
    }
    tasks
}

const FILES: &str = "files";

/// All tasks.
pub const TASKS: &[Task] = &[
    Task {
        name: "expired_sessions",
        every: Duration::from_secs(600),
        run: |task_context| {
            Box::pin(async move {
                remove_expired_sessions(&task_context.store, &task_context.context).await
            })
        },
    },
    Task {
        name: "kept_answers",
        every: Duration::from_secs(600),
        run: |task_context| {
            Box::pin(async move {
                remove_kept_responses(&task_context.store, &task_context.context).await
            })
        },
    },
    Task {
        name: "old_runs",
        every: Duration::from_secs(600),
        run: |task_context| {
            Box::pin(async move {
                match task_context.keep_runs {
                    Some(kept) => {
                        remove_old_runs(&task_context.store, &task_context.context, kept).await
                    }
                    None => Ok(0),
                }
            })
        },
    },
    Task {
        name: "far_schedules",
        every: Duration::from_secs(600),
        run: |task_context| {
            Box::pin(async move {
                bring_back_schedules(&task_context.store, &task_context.context).await
            })
        },
    },
    Task {
        name: FILES,
        every: SWEEP,
        run: |task_context| {
            Box::pin(async move {
                let sweep = Sweep {
                    place: task_context.files.place().ok().cloned(),
                    grace: task_context.files.grace,
                    store: task_context.store,
                    context: task_context.context,
                };
                sweep.run().await
            })
        },
    },
    Task {
        name: "queue",
        every: Duration::from_secs(15),
        run: |task_context| Box::pin(async move { measure_queue(&task_context).await }),
    },
    Task {
        name: "hot_columns",
        every: Duration::from_secs(60),
        run: |task_context| {
            Box::pin(async move {
                give_slots(
                    &task_context.store,
                    &task_context.context,
                    &task_context.tables,
                )
                .await
            })
        },
    },
    Task {
        name: "slots",
        every: Duration::from_secs(10),
        run: |task_context| {
            Box::pin(async move { fill_slots(&task_context.store, &task_context.context).await })
        },
    },
    Task {
        name: "search",
        every: Duration::from_secs(10),
        run: |task_context| {
            Box::pin(async move { fill_search(&task_context.store, &task_context.context).await })
        },
    },
    Task {
        name: "searched_no_more",
        every: Duration::from_secs(600),
        run: |task_context| Box::pin(async move { empty_search(&task_context.store).await }),
    },
];

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{FILES, tasks};

    /// How often files are looked for where they are kept for so many seconds.
    fn sweeps(grace: u64) -> Duration {
        let tasks = tasks(Duration::from_secs(grace));
        let sweep = tasks.iter().find(|task| task.name == FILES);
        sweep.expect("a sweeper").every
    }

    #[test]
    fn files_are_looked_for_each_minute_and_oftener_where_they_are_kept_for_less() {
        for (grace, every) in [(86_400, 60), (60, 60), (59, 59), (3, 3), (0, 1)] {
            assert_eq!(sweeps(grace), Duration::from_secs(every), "{grace}");
        }
    }
}
