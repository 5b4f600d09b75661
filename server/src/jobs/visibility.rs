//! The visibility of a job: that of its creator, by current rights (`rest` 2.5).
//!
//! Links are resolved and keys compared with it, so no report shows hidden rows. A creator who left
//! the organization sees nothing restricted.

use super::Lease;
use crate::auth::{Account, restrictions};
use crate::store::{Scope, StoreError, Tx, Visible};

/// What the creator of a job sees and may decide.
#[derive(Debug)]
pub(super) struct CreatorRights {
    /// The scope in which the job reads.
    pub(super) visibility: Scope,
    /// Whether the creator may change visibility (`rest` 2.4).
    pub(super) decides: bool,
}

impl CreatorRights {
    /// Those of the creator of the job that the lease is for.
    ///
    /// # Errors
    /// Those of the store.
    pub(super) async fn find(
        tx: &mut Tx,
        lease: &Lease,
        now: i64,
    ) -> Result<CreatorRights, StoreError> {
        let creator = lease.creator.unwrap_or_default();
        let account = Account::find(tx, lease.organization, creator, now).await?;
        let decides = account.is_some_and(|account| account.administers());
        let visibility = match lease.scope() {
            Scope::Caller(visible) if !decides => {
                let kept = restrictions(tx, lease.organization, creator).await?;
                // A job reads its own workspace, whoever may see it.
                let kept = kept.but_for(lease.workspace);
                Scope::from(kept.of(Visible::clone(&visible)))
            }
            all => all,
        };
        Ok(CreatorRights {
            visibility,
            decides,
        })
    }
}
