//! Why no connection was opened: what each host said, and the error of the store that it comes to.

use std::io;
use std::sync::Arc;

use deadpool::managed;
use tokio_postgres::error::SqlState;

use super::socket::StartError;
use crate::store::StoreError;

pub(super) type PoolError = managed::PoolError<ConnectError>;

/// Why none of the hosts could be used: what each said.
#[derive(Debug)]
pub(super) struct ConnectError(pub(super) Vec<(Arc<str>, Cause)>);

/// What one of them said.
#[derive(Debug)]
pub(super) enum Cause {
    Database(tokio_postgres::Error),
    Socket(io::Error),
    Silence,
    /// It writes a timeline that another host has left behind.
    Left {
        timeline: u32,
        newest: u32,
    },
}

impl ConnectError {
    /// Whether one of them said that.
    pub(super) fn has_code(&self, code: &SqlState) -> bool {
        self.0
            .iter()
            .any(|(_, cause)| matches!(cause, Cause::Database(error) if error.code() == Some(code)))
    }
}

impl From<StartError> for Cause {
    fn from(error: StartError) -> Cause {
        match error {
            StartError::Socket(error) => Cause::Socket(error),
            StartError::Driver(error) => Cause::Database(error),
        }
    }
}

impl From<Cause> for StoreError {
    fn from(cause: Cause) -> StoreError {
        match cause {
            Cause::Database(error) => error.into(),
            Cause::Socket(error) => {
                StoreError::Unavailable(format!("error connecting to server: {error}"))
            }
            Cause::Silence => StoreError::silent(),
            Cause::Left { timeline, newest } => StoreError::Unavailable(format!(
                "it takes writes on timeline {timeline}, and timeline {newest} was seen: another host \
                 was promoted after it, and it has to become a standby of that one"
            )),
        }
    }
}

impl From<ConnectError> for StoreError {
    fn from(error: ConnectError) -> StoreError {
        let mut texts = Vec::new();
        let mut turned_away = true;
        for (host, cause) in error.0 {
            let text = match StoreError::from(cause) {
                StoreError::TurnedAway(text) => text,
                other => {
                    turned_away = false;
                    match other {
                        // What goes wrong while connecting can be right the next time.
                        StoreError::Unavailable(text) | StoreError::Internal(text) => text,
                        other => other.to_string(),
                    }
                }
            };
            texts.push(format!("{host}: {text}"));
        }
        let text = texts.join("; ");
        if turned_away {
            StoreError::TurnedAway(text)
        } else {
            StoreError::Unavailable(text)
        }
    }
}

impl From<PoolError> for StoreError {
    fn from(error: PoolError) -> StoreError {
        use managed::{PoolError, TimeoutType};
        match error {
            PoolError::Backend(error) => error.into(),
            PoolError::Timeout(TimeoutType::Wait) => {
                StoreError::Unavailable("all connections are in use".to_owned())
            }
            PoolError::Timeout(_) => StoreError::silent(),
            PoolError::Closed => StoreError::Unavailable("the pool is closed".to_owned()),
            other => StoreError::Unavailable(format!("{other:?}")),
        }
    }
}
