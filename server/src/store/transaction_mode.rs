//! The mode of a transaction.

use std::time::Duration;

/// Reading or writing, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TransactionMode {
    /// It only reads, and is expected to be short.
    ShortRead,
    /// It only reads, and every statement may see a newer state.
    Read,
    /// The same, and it is known to take long: it runs where it keeps no other read waiting.
    Heavy,
    /// It only reads, takes long as well, and sees one state.
    Snapshot,
    /// It writes, and somebody waits for it.
    Write,
    /// It writes what a later write of the same request looks for: that one, when it ends, makes both safe from a power
    /// cut.
    Preliminary,
    /// It writes, and may take long.
    Long,
    /// The same, and it is written again when it is lost.
    Repeatable,
}

impl TransactionMode {
    pub(crate) fn writes(self) -> bool {
        matches!(
            self,
            TransactionMode::Write
                | TransactionMode::Preliminary
                | TransactionMode::Long
                | TransactionMode::Repeatable
        )
    }

    /// Whether it reads so much that short reads must not wait behind it.
    pub(crate) fn is_heavy(self) -> bool {
        matches!(self, TransactionMode::Heavy | TransactionMode::Snapshot)
    }

    /// Whether its statements need not be one state, so that the last one may end the transaction.
    pub(crate) fn only_reads(self) -> bool {
        matches!(
            self,
            TransactionMode::ShortRead | TransactionMode::Read | TransactionMode::Heavy
        )
    }

    /// Whether what it writes may be lost in a power cut: it is looked for, or written again.
    pub(crate) fn may_be_lost(self) -> bool {
        matches!(
            self,
            TransactionMode::Preliminary | TransactionMode::Repeatable
        )
    }

    /// Whether its statements may take long.
    pub(crate) fn is_long(self) -> bool {
        matches!(self, TransactionMode::Long | TransactionMode::Repeatable)
    }
}

/// How long a statement may take that nobody waits for.
pub(super) const LONG: Duration = Duration::from_secs(600);
