//! What an operation asks of its transaction.

use std::time::Duration;

/// Reading or writing, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It only reads, and is expected to be short.
    Glance,
    /// It only reads, and every statement may see a newer state.
    Read,
    /// It only reads, and sees one state.
    Snapshot,
    /// It writes, and somebody waits for it.
    Write,
    /// It writes, and may take long.
    Long,
    /// The same, and it is written again when it is lost.
    Repeatable,
}

impl Kind {
    pub(crate) fn writes(self) -> bool {
        matches!(self, Kind::Write | Kind::Long | Kind::Repeatable)
    }

    /// Whether its statements may take long.
    pub(crate) fn is_long(self) -> bool {
        matches!(self, Kind::Long | Kind::Repeatable)
    }
}

/// How long a statement may take that nobody waits for.
pub(super) const LONG: Duration = Duration::from_secs(600);
