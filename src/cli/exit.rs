//! The exit codes, all of them.

use std::process::ExitCode;

/// How the command ended, for scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done; clean.
    Done = 0,
    /// Something is wrong with a package, or it is not what was asked for.
    Findings = 1,
    /// Usage, configuration, a file that cannot be read or written.
    Usage = 2,
    /// Not signed in, or not allowed.
    Denied = 4,
    /// The server cannot be reached, or not for now.
    Unreachable = 5,
    /// A stale plan, or a base that moved: nothing was written.
    Stale = 6,
    /// Applied in part: rows failed, or more is unresolved than was accepted.
    Partial = 68,
    /// A job goes on.
    Running = 69,
    /// A bug.
    Bug = 101,
    /// Stopped by Ctrl-C, SIGTERM or SIGHUP, or by a no at a prompt.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}
