//! The table of background tasks.

use std::time::Duration;

use super::Task;
use super::expired::{remove_expired_sessions, remove_kept_responses, remove_old_runs};
use super::queue::measure_queue;
use crate::rows::{fill_slots, give_slots};

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
];
