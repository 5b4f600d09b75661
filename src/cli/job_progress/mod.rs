//! Waits for a remote job: polls it until it ends, the time is over, or the network fails for too
//! long. It never writes, leases or stops the job.

mod conclude;
mod poll;
mod progress;
mod wait;

use jiff::SignedDuration;
use tplkit::client::{Client, Job, WithDocument};

use super::error::CliError;
use super::session::Session;
use progress::Progress;

pub(crate) use conclude::{OutcomeReport, conclude, document, summary, text};
pub(crate) use poll::{Poll, Polled};
pub(crate) use wait::{WaitOptions, duration};

/// How long `job watch` waits for a server that is away: whoever watches has nothing else to do.
pub(crate) const WATCH_TIMEOUT: SignedDuration = SignedDuration::from_secs(130);

/// How the waiting ended.
#[derive(Debug)]
pub(crate) enum FollowResult {
    /// The job came to an end.
    Ended {
        job: WithDocument<Job>,
        /// Whether it was an undo from the first look on.
        undo: bool,
    },
    /// The time is over, and the job is not.
    Elapsed(WithDocument<Job>),
}

/// Waits for the end of a job.
pub(crate) fn follow(
    client: &Client,
    id: &str,
    waiting: &WaitOptions,
    session: &Session,
) -> Result<FollowResult, CliError> {
    let poll = Poll::new(session, waiting.limit());
    follow_by(&poll, client, id, session, || {})
}

/// The same for as long as `poll` waits; `seen` is called once there is such a job.
pub(crate) fn follow_by(
    poll: &Poll<'_>,
    client: &Client,
    id: &str,
    session: &Session,
    seen: impl FnOnce(),
) -> Result<FollowResult, CliError> {
    let mut undo = None;
    let mut seen = Some(seen);
    let mut progress = Progress::new(session);
    let ask = || client.job(id);
    let polled = poll.until(&format!("job {id}"), ask, |job| {
        if let Some(seen) = seen.take() {
            seen();
        }
        undo.get_or_insert_with(|| job.record.is_undo());
        progress.show(&job.record);
        job.record.ended().is_some()
    })?;
    Ok(match polled {
        Polled::Ended(job) => FollowResult::Ended {
            job,
            undo: undo.unwrap_or_default(),
        },
        Polled::Elapsed(job) => FollowResult::Elapsed(job),
    })
}
