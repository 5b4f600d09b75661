//! Leases: one attempt at a time may write a row, until its lease ends. Jobs and runs are such rows.
//!
//! The row stores its holder (`lease_owner`, the id of one attempt) and the end of the lease
//! (`locked_until`, by the clock that the statement names). An attempt takes a free row, renews the
//! lease while it works, and gives the row back. Each of its writes has the fence: the statement names
//! the attempt and changes nothing once another one holds the row. A process that was suspended past
//! its lease therefore does no harm.
//!
//! Goes in: a statement, composed of the words of [`lease!`](lease), with the parameters of
//! [`Hold::with`] first. What else it writes is the caller's business.

use uuid::Uuid;

use super::Value;
use crate::context::random;

/// The words of leases in statements.
///
/// | Words | Say |
/// |---|---|
/// | `free CLOCK` | nobody holds the row |
/// | `held CLOCK` | somebody does |
/// | `row` | the row that `$1` (its organization) and `$2` (its id) name, if the scope sees it |
/// | `fence` | the same, while the attempt `$3` holds it |
/// | `set OWNER, UNTIL` | who holds it from now on, and until when |
/// | `renew UNTIL` | whoever holds it holds it as long |
/// | `let go` | nobody holds it |
macro_rules! lease {
    (free $clock:literal) => {
        concat!("(locked_until IS NULL OR locked_until <= ", $clock, ")")
    };
    (held $clock:literal) => {
        concat!("locked_until > ", $clock)
    };
    (row) => {
        "{tenant organization_id} AND {workspace workspace_id} AND organization_id = $1 AND id = $2"
    };
    (fence) => {
        concat!($crate::store::lease!(row), " AND lease_owner = $3")
    };
    (set $owner:literal, $until:literal) => {
        concat!("lease_owner = ", $owner, ", locked_until = ", $until)
    };
    (renew $until:literal) => {
        concat!("locked_until = ", $until)
    };
    (let go) => {
        "lease_owner = NULL, locked_until = NULL"
    };
}
pub(crate) use lease;

/// An attempt at a row: `fence` names it by these parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hold {
    /// Whose the row is.
    pub organization: Uuid,
    /// The row.
    pub id: Uuid,
    /// The attempt.
    pub owner: Uuid,
}

impl Hold {
    /// The id of a new attempt.
    pub fn attempt() -> Uuid {
        Uuid::from_bytes(random())
    }

    /// The parameters of a statement behind the fence: `$1`, `$2`, `$3`, and its own from `$4` on.
    pub(crate) fn with<const N: usize>(self, own: [Value; N]) -> Vec<Value> {
        let mut parameters = Vec::with_capacity(3 + N);
        parameters.extend([self.organization.into(), self.id.into(), self.owner.into()]);
        parameters.extend(own);
        parameters
    }
}
