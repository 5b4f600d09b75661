//! Asks a server again and again until something has ended, the time is over, or the server stays away.
//!
//! It says when it begins to wait for a server that is away, for what and how long at most.

use jiff::{SignedDuration, Timestamp};
use tplkit::client::Error;
use tplkit::context::Clock as _;

use crate::cli::client_error;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::session::{Session, SystemClock};

/// Between two questions at first, and at most.
const FIRST_PAUSE: SignedDuration = SignedDuration::from_millis(150);
const MAX_PAUSE: SignedDuration = SignedDuration::from_secs(5);
/// How long the server may be away before it is given up.
const SERVER_TIMEOUT: SignedDuration = SignedDuration::from_secs(75);

/// How the asking ended.
#[derive(Debug)]
pub(crate) enum Polled<T> {
    /// With what has ended.
    Ended(T),
    /// The time is over, and it has not.
    Elapsed(T),
}

/// How long is asked.
pub(crate) struct Poll<'s> {
    session: &'s Session,
    limit: Option<SignedDuration>,
    patience: SignedDuration,
}

impl<'s> Poll<'s> {
    /// Without a limit it is asked until the end.
    pub(crate) fn new(session: &'s Session, limit: Option<SignedDuration>) -> Poll<'s> {
        Poll {
            session,
            limit,
            patience: SERVER_TIMEOUT,
        }
    }

    /// With another time that the server may be away.
    pub(crate) fn patient(mut self, patience: SignedDuration) -> Poll<'s> {
        self.patience = patience;
        self
    }

    /// Asks until `ended` says so of a response.
    ///
    /// # Errors
    /// The server refuses, or is away for too long.
    pub(crate) fn until<T>(
        &self,
        what: &str,
        mut ask: impl FnMut() -> Result<T, Error>,
        mut ended: impl FnMut(&T) -> bool,
    ) -> Result<Polled<T>, CliError> {
        let began = SystemClock.now();
        let deadline = self.limit.and_then(|limit| began.checked_add(limit).ok());
        let mut pause = FIRST_PAUSE;
        let mut outage = Outage::default();
        loop {
            let polled_at = SystemClock.now();
            match ask() {
                Ok(response) => {
                    outage = Outage::default();
                    if ended(&response) {
                        return Ok(Polled::Ended(response));
                    }
                    if !sleep(pause, deadline) {
                        return Ok(Polled::Elapsed(response));
                    }
                }
                Err(error) => {
                    let left = outage.left(polled_at, self.patience);
                    let Some(left) = left.filter(|_| passes(&error)) else {
                        return Err(error.into());
                    };
                    if outage.announce() {
                        let left = left.as_secs();
                        self.session.note(format!(
                            "{error}; waiting for the server to ask about {what} again, {left} s at most"
                        ));
                    } else {
                        self.session.detail(|| format!("{error}; asking again"));
                    }
                    if !sleep(pause, deadline) {
                        return Err(error.into());
                    }
                }
            }
            pause = (pause + pause / 2).min(MAX_PAUSE);
        }
    }
}

/// A server that is away.
#[derive(Default)]
struct Outage {
    since: Option<Timestamp>,
    announced: bool,
}

impl Outage {
    /// What is left of the patience after a question that failed; nothing where one more as long as it would
    /// be over it.
    fn left(&mut self, polled_at: Timestamp, patience: SignedDuration) -> Option<SignedDuration> {
        let now = SystemClock.now();
        let took = now.duration_since(polled_at);
        let away = now.duration_since(*self.since.get_or_insert(polled_at));
        Some(patience - away).filter(|left| *left >= took && *left > SignedDuration::ZERO)
    }

    /// Whether it is said for the first time that the server is away.
    fn announce(&mut self) -> bool {
        !std::mem::replace(&mut self.announced, true)
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

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use jiff::SignedDuration;
    use tplkit::client::{Cause, Error};

    use super::{Poll, Polled};
    use crate::cli::args::{Colour, Global};
    use crate::cli::error::CliError;
    use crate::cli::exit::Exit;
    use crate::cli::session::Session;

    fn session() -> Session {
        Session::new(&Global {
            color: Colour::Never,
            quiet: 1,
            verbose: 0,
        })
    }

    fn away() -> Error {
        Error::Unreachable {
            address: "http://a.test".to_owned(),
            cause: Cause::Connection,
            why: "refused".to_owned(),
            tries: 5,
        }
    }

    fn polled(patience: i64, responds: &[bool]) -> (Result<Polled<()>, CliError>, usize) {
        let (session, count) = (session(), Cell::new(0));
        let poll = Poll::new(&session, None).patient(SignedDuration::from_secs(patience));
        let outcome = poll.until(
            "it",
            || {
                let at = count.replace(count.get() + 1);
                if responds[at.min(responds.len() - 1)] {
                    Ok(())
                } else {
                    Err(away())
                }
            },
            |()| count.get() >= responds.len(),
        );
        (outcome, count.get())
    }

    #[test]
    fn a_server_that_is_away_is_given_up_when_the_patience_is_over() {
        let (outcome, count) = polled(0, &[false]);
        assert_eq!(count, 1);
        assert!(outcome.is_err_and(|error| error.exit() == Exit::Unreachable));
    }

    #[test]
    fn a_server_that_comes_back_in_time_is_asked_again() {
        let (outcome, count) = polled(60, &[true, false, false, true]);
        assert!(matches!(outcome, Ok(Polled::Ended(()))));
        assert_eq!(count, 4);
    }
}
