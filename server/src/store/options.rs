//! How a store is to behave, and how much it has to do.

use std::time::Duration;

/// How a store is to behave.
#[derive(Debug, Clone)]
pub struct Options {
    /// How long a statement may take; zero is for ever.
    pub statement_timeout: Duration,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            statement_timeout: Duration::from_secs(5),
        }
    }
}

/// How much there is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Depth {
    /// Connections to the database.
    pub connections: usize,
    /// Those of them that are in use.
    pub busy: usize,
    /// Operations that wait for one.
    pub waiting: usize,
}
