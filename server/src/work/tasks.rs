//! The tasks that every process does.

use std::time::Duration;

use super::Task;
use crate::auth::remove_expired_sessions;

/// All tasks.
pub const TASKS: &[Task] = &[Task {
    name: "expired_sessions",
    every: Duration::from_secs(600),
    run: |bench| {
        Box::pin(async move { remove_expired_sessions(&bench.store, &bench.context).await })
    },
}];
