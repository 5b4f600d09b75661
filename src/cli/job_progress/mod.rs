//! Waits for a remote job: polls it until it ends, the time is over, or the network fails for too
//! long. It never writes, leases or stops the job.

mod conclude;
mod progress;
mod wait;

use jiff::{SignedDuration, Timestamp};
use tplkit::client::{Client, Error, Job, WithDocument};
use tplkit::context::Clock as _;

use super::client_error;
use super::error::CliError;
use super::exit::Exit;
use super::session::{Session, SystemClock};
use progress::Progress;

pub(crate) use conclude::{OutcomeReport, conclude, document, summary, text};
pub(crate) use wait::{WaitOptions, duration};

/// Between two questions at first, and at most.
const FIRST_PAUSE: SignedDuration = SignedDuration::from_millis(150);
const LONGEST_PAUSE: SignedDuration = SignedDuration::from_secs(5);
/// How long the server may be away before it is given up; each question has its own retries.
const OUTAGE: SignedDuration = SignedDuration::from_secs(120);

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
    let began = SystemClock.now();
    let deadline = waiting
        .limit()
        .and_then(|limit| began.checked_add(limit).ok());
    let mut pause = FIRST_PAUSE;
    let mut away: Option<Timestamp> = None;
    let mut undo = None;
    let mut progress = Progress::new(session);
    loop {
        match client.job(id) {
            Ok(job) => {
                away = None;
                progress.show(&job.record);
                let undo = *undo.get_or_insert_with(|| job.record.is_undo());
                if job.record.ended().is_some() {
                    return Ok(FollowResult::Ended { job, undo });
                }
                if !sleep(pause, deadline) {
                    return Ok(FollowResult::Elapsed(job));
                }
            }
            Err(error) => {
                let since = *away.get_or_insert_with(|| SystemClock.now());
                let gone = SystemClock.now().duration_since(since);
                if !passes(&error) || gone > OUTAGE {
                    return Err(error.into());
                }
                session.detail(|| format!("{error}; the job goes on, asking again"));
                if !sleep(pause, deadline) {
                    return Err(error.into());
                }
            }
        }
        pause = (pause + pause / 2).min(LONGEST_PAUSE);
    }
}

/// Whether a failure may be over in a while.
fn passes(error: &Error) -> bool {
    client_error::exit(error) == Exit::Unreachable && !matches!(error, Error::Unreadable { .. })
}

/// Lets time pass; false when there is none left.
fn sleep(pause: SignedDuration, deadline: Option<Timestamp>) -> bool {
    let left = deadline.map_or(pause, |deadline| deadline.duration_since(SystemClock.now()));
    if left <= SignedDuration::ZERO {
        return false;
    }
    std::thread::sleep(pause.min(left).unsigned_abs());
    true
}
