//! Looks up the principal of a run, with their current rights.

use tplkit::automation::run::Reason;

use super::principal::Principal;
use super::runs::Run;
use super::visibility::{AccountScope, AccountScopes, account_scope};
use crate::store::{Scope, Store, StoreError, Tx};

impl Principal {
    /// Looks up again what the run may do, when that was some time ago; or says why it may do nothing any more.
    ///
    /// # Errors
    /// Those of the store.
    pub(super) async fn renew(
        &mut self,
        store: &Store,
        run: &Run,
        now: i64,
    ) -> Result<Result<(), Reason>, StoreError> {
        if !self.is_old(now) {
            return Ok(Ok(()));
        }
        let found = of(store, run, now).await?;
        Ok(found.map(|principal| *self = principal))
    }
}

/// What the run may do, or why it may do nothing: whoever it works for does not see its workspace any more.
///
/// # Errors
/// Those of the store.
pub(super) async fn of(
    store: &Store,
    run: &Run,
    now: i64,
) -> Result<Result<Principal, Reason>, StoreError> {
    let Some(principal) = run.principal() else {
        return Ok(principal_of(run, None, now));
    };
    let input = (run.organization, principal, now);
    let seen: Option<AccountScope> = store
        .read(&Scope::Operator, input, |tx, (organization, who, now)| {
            Box::pin(account_scope(tx, *organization, *who, *now))
        })
        .await?;
    Ok(principal_of(run, seen, now))
}

/// What runs may do, looked up in the transaction that claims them: many are of few publishers.
///
/// # Errors
/// Those of the store.
pub(super) async fn of_all(tx: &mut Tx, runs: &mut [Run], now: i64) -> Result<(), StoreError> {
    let mut known = AccountScopes::new(now);
    for run in runs {
        let seen = match run.principal() {
            Some(who) => known.of(tx, run.organization, who).await?.cloned(),
            None => None,
        };
        run.allowed = principal_of(run, seen, now).ok();
    }
    Ok(())
}

/// What somebody sees, as far as a run needs it.
fn principal_of(run: &Run, seen: Option<AccountScope>, now: i64) -> Result<Principal, Reason> {
    let lost = match run.caller {
        Some(_) => Reason::StarterLostAccess,
        None => Reason::PublisherLostAccess,
    };
    let seen = seen.filter(|account| account.visible.sees_workspace(run.workspace));
    seen.ok_or(lost).map(|mut account| {
        account.visible.run = Some(run.id);
        Principal {
            scope: account.visible.into(),
            may_write: account.may_write,
            asked_at: now,
        }
    })
}

/// The reason, for readers of the run.
pub(super) fn describe(lost: Reason) -> &'static str {
    match lost {
        Reason::StarterLostAccess => {
            "the user who started the run no longer sees the workspace: a user who does has to start it again"
        }
        _ => {
            "the user who published the version no longer sees the workspace: a user who does has to publish \
             it again"
        }
    }
}
