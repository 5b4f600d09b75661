//! How long a dry run may go on after it has begun to write. What it wrote keeps others from writing until it is rolled
//! back: on SQLite all of them, on PostgreSQL those who write into the same table.

use tplkit::automation::run::Failure;

use crate::context::Context;

/// How long, in seconds: less than others wait for a lock.
const SECONDS: i64 = 2;

/// The time since a dry run began to write.
#[derive(Debug, Clone)]
pub(super) struct RollbackTime {
    context: Context,
    since: i64,
}

impl RollbackTime {
    /// Starts to measure.
    pub(super) fn start(context: &Context) -> RollbackTime {
        RollbackTime {
            context: context.clone(),
            since: context.now(),
        }
    }

    /// Whether the run may continue.
    ///
    /// # Errors
    /// A failure when it has taken longer than it may.
    pub(super) fn check(&self) -> Result<(), Failure> {
        if self.context.now() - self.since <= SECONDS * 1_000_000 {
            return Ok(());
        }
        let reason = format!(
            "a dry run that writes has {SECONDS} seconds from its first write on, because others wait meanwhile: read fewer rows after it, or split the automation"
        );
        Err(Failure::too_large("", reason))
    }
}
