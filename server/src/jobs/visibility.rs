//! The visibility of a job: that of its creator, by current rights (`rest` 2.5).
//!
//! Links are resolved and keys compared with it, so no report shows hidden rows. A creator who left
//! the organization sees nothing restricted.

use super::Lease;
use super::permission::Permission;
use crate::auth::{Account, Restrictions, restrictions};
use crate::store::{Scope, StoreError, Tx, Visible};

/// What the creator of a job sees and may decide.
#[derive(Debug, Clone, PartialEq, Eq)]
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
        if account.is_some_and(|account| account.administers()) {
            return Ok(CreatorRights::of_administrator(lease));
        }
        let kept = restrictions(tx, lease.organization, creator).await?;
        Ok(CreatorRights::within(lease, kept))
    }

    /// The same as [`find`](CreatorRights::find) while the creator may carry the job out; nothing when they have lost the
    /// right to. It takes no more statements than asking for that right alone.
    ///
    /// # Errors
    /// Those of the store.
    pub(super) async fn while_permitted(
        tx: &mut Tx,
        lease: &Lease,
        now: i64,
    ) -> Result<Option<CreatorRights>, StoreError> {
        let creator = lease.creator.unwrap_or_default();
        let account = Account::find(tx, lease.organization, creator, now).await?;
        let permission = account.as_ref().map(Permission::of);
        match permission.unwrap_or(Permission::Nowhere) {
            Permission::Everywhere => Ok(Some(CreatorRights::of_administrator(lease))),
            Permission::WhereSeen => {
                let kept = restrictions(tx, lease.organization, creator).await?;
                let sees = !kept.hides(lease.workspace);
                Ok(sees.then(|| CreatorRights::within(lease, kept)))
            }
            Permission::Nowhere => Ok(None),
        }
    }

    fn of_administrator(lease: &Lease) -> CreatorRights {
        CreatorRights {
            visibility: lease.scope(),
            decides: true,
        }
    }

    /// Those of somebody from whom this is kept.
    fn within(lease: &Lease, kept: Restrictions) -> CreatorRights {
        let visibility = match lease.scope() {
            // A job reads its own workspace, whoever may see it.
            Scope::Caller(visible) => {
                let kept = kept.but_for(lease.workspace);
                let mut visible = kept.of(Visible::clone(&visible));
                // Files that nothing shows are for who uploaded them, and for administrators.
                visible.administered.clear();
                Scope::from(visible)
            }
            all => all,
        };
        CreatorRights {
            visibility,
            decides: false,
        }
    }
}
