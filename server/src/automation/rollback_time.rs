//! How long a dry run may go on after it has begun to write. What it wrote keeps others from writing until it is rolled
//! back: on SQLite all of them, on PostgreSQL those who write the same rows, unique values or sequences, and in an
//! organization with a row quota all who enter rows.

use std::time::Duration;

use tokio::time::Instant;
use tplkit::automation::run::Failure;

use crate::context::{Context, micros};

/// How long: less than others wait for a lock.
const MAX_DURATION: Duration = Duration::from_secs(2);

/// The time since a dry run began to write: by the clock of the server, and by one that nobody sets.
#[derive(Debug, Clone)]
pub(super) struct RollbackTime {
    context: Context,
    since: i64,
    started: Instant,
}

impl RollbackTime {
    /// Starts to measure.
    pub(super) fn start(context: &Context) -> RollbackTime {
        RollbackTime {
            context: context.clone(),
            since: context.now(),
            started: Instant::now(),
        }
    }

    /// Whether the run may continue.
    ///
    /// # Errors
    /// A failure when it has taken longer than it may.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let most = i64::try_from(micros(MAX_DURATION)).unwrap_or(i64::MAX);
        if self.context.now() - self.since <= most && self.started.elapsed() <= MAX_DURATION {
            return Ok(());
        }
        let reason = format!(
            "a dry run that writes has {} seconds from its first write on, because others wait meanwhile: read and write fewer rows, or split the automation",
            MAX_DURATION.as_secs()
        );
        Err(Failure::too_large("", reason))
    }
}
