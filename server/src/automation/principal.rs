//! The principal of a run: the user who started it or, for row events and schedules, the user who
//! published the version, with their current rights.

use crate::store::Scope;

/// What a run may do.
#[derive(Debug, Clone)]
pub(super) struct Principal {
    /// What it sees.
    pub(super) scope: Scope,
    /// Whether it may write rows.
    pub(super) may_write: bool,
    /// When that was so.
    pub(super) asked_at: i64,
}

/// How long a run uses looked-up rights, in microseconds.
const RIGHTS_TTL_MICROS: i64 = 1_000_000;

impl Principal {
    /// Whether that was so long ago that it has to be looked up again.
    pub(super) fn is_old(&self, now: i64) -> bool {
        now - self.asked_at >= RIGHTS_TTL_MICROS
    }
}
