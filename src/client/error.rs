//! Why a request failed.

use std::io;

use super::problem::Problem;
use super::session_error::SessionError;

/// Why a request failed. No text of it holds a credential.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The server refused it.
    #[error("{0}")]
    Refused(Box<Problem>),
    /// No response came, or not a whole one.
    #[error("cannot reach `{address}`: {why}{}", tried(*.tries))]
    Unreachable {
        /// The server.
        address: String,
        /// What kept the response away.
        cause: Cause,
        /// Why, in words.
        why: String,
        /// How often it was tried.
        tries: u32,
    },
    /// The server sends on to another place, where the credential does not belong.
    #[error("`{from}` redirects to `{to}`, which is not followed")]
    Redirected {
        /// What was asked for.
        from: String,
        /// Where the response is said to be.
        to: String,
    },
    /// The response is larger than [`super::Options::largest`].
    #[error("the response to {request} is larger than {largest} bytes")]
    TooLarge {
        /// Method and path.
        request: String,
        /// The bound.
        largest: u64,
    },
    /// A success that is not what the specification says.
    #[error("the response to {request} is not that of the API: {why}")]
    Unreadable {
        /// Method and path.
        request: String,
        /// What is wrong with it.
        why: String,
    },
    /// What was to be sent cannot be read.
    #[error("the body of {request} cannot be read: {source}")]
    Source {
        /// Method and path.
        request: String,
        /// Why.
        source: io::Error,
    },
    /// A request that cannot be sent.
    #[error("{0}")]
    Invalid(String),
    /// The tokens of the session cannot be read or kept.
    #[error("{0}")]
    Session(#[from] SessionError),
    /// Requests cannot be sent at all on this machine.
    #[error("requests cannot be sent from here: {0}")]
    Setup(String),
}

#[cfg(feature = "miette")]
impl miette::Diagnostic for Error {
    fn code<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
        Some(Box::new("tplkit::client"))
    }
}

/// What kept a response away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// No connection, or one that broke.
    Connection,
    /// It took too long.
    Timeout,
    /// The certificate or the encryption was not accepted: the same again tomorrow.
    Tls,
}

impl Error {
    /// The status of a refusal.
    pub fn status(&self) -> Option<u16> {
        match self {
            Error::Refused(problem) => Some(problem.status),
            _ => None,
        }
    }

    /// The same error after so many tries.
    pub(super) fn after(mut self, count: u32) -> Error {
        if let Error::Unreachable { tries, .. } = &mut self {
            *tries = count;
        }
        self
    }
}

fn tried(tries: u32) -> String {
    match tries {
        0 | 1 => String::new(),
        more => format!(" (tried {more} times)"),
    }
}
