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
        run: |bench| {
            Box::pin(async move { remove_expired_sessions(&bench.store, &bench.context).await })
        },
    },
    Task {
        name: "kept_answers",
        every: Duration::from_secs(600),
        run: |bench| {
            Box::pin(async move { remove_kept_responses(&bench.store, &bench.context).await })
        },
    },
    Task {
        name: "old_runs",
        every: Duration::from_secs(600),
        run: |bench| {
            Box::pin(async move {
                match bench.keep_runs {
                    Some(kept) => remove_old_runs(&bench.store, &bench.context, kept).await,
                    None => Ok(0),
                }
            })
        },
    },
    Task {
        name: "queue",
        every: Duration::from_secs(15),
        run: |bench| Box::pin(async move { measure_queue(&bench).await }),
    },
    Task {
        name: "hot_columns",
        every: Duration::from_secs(60),
        run: |bench| {
            Box::pin(async move { give_slots(&bench.store, &bench.context, &bench.tables).await })
        },
    },
    Task {
        name: "slots",
        every: Duration::from_secs(10),
        run: |bench| Box::pin(async move { fill_slots(&bench.store, &bench.context).await }),
    },
];
