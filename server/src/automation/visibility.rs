//! The visibility of the principal of a run in its organization, by current rights.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use uuid::Uuid;

use crate::auth::{Account, Role};
use crate::ids::WorkspaceKey;
use crate::store::{StoreError, Tx, Visible};

/// What somebody sees, and whether they may write.
#[derive(Debug, Clone)]
pub(super) struct AccountScope {
    pub(super) visible: Visible,
    pub(super) may_write: bool,
}

/// What `who` sees in an organization; nothing for who does not belong to it any more. A key sees as an
/// administrator does, until it is deleted or expires.
///
/// # Errors
/// Those of the store.
pub(super) async fn account_scope(
    tx: &mut Tx,
    organization: Uuid,
    who: Uuid,
    now: i64,
) -> Result<Option<AccountScope>, StoreError> {
    let Some(account) = Account::find(tx, organization, who, now).await? else {
        return Ok(None);
    };
    Ok(Some(AccountScope {
        visible: account.visible(tx, organization, who).await?,
        may_write: account.role >= Role::Editor,
    }))
}

/// A row that something happened to.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChangedRow {
    pub(super) workspace: Uuid,
    pub(super) feature: Uuid,
    /// Whose it is.
    pub(super) creator: Option<Uuid>,
}

/// What publishers see, each looked up once.
#[derive(Debug)]
pub(super) struct AccountScopes {
    now: i64,
    known: BTreeMap<(Uuid, Uuid), Option<AccountScope>>,
}

impl AccountScopes {
    pub(super) fn new(now: i64) -> AccountScopes {
        AccountScopes {
            now,
            known: BTreeMap::new(),
        }
    }

    /// What somebody sees in an organization, and nothing for who does not belong to it any more.
    ///
    /// # Errors
    /// Those of the store.
    pub(super) async fn of(
        &mut self,
        tx: &mut Tx,
        organization: Uuid,
        who: Uuid,
    ) -> Result<Option<&AccountScope>, StoreError> {
        let found = match self.known.entry((organization, who)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                unknown.insert(account_scope(tx, organization, who, self.now).await?)
            }
        };
        Ok(found.as_ref())
    }

    /// Whether a run begins of what happened: its publisher sees the row. One whose publisher does not see
    /// the automation itself any more begins, to fail with that reason.
    pub(super) async fn notices(
        &mut self,
        tx: &mut Tx,
        WorkspaceKey {
            organization,
            workspace,
        }: WorkspaceKey,
        publisher: Option<Uuid>,
        row: ChangedRow,
    ) -> Result<bool, StoreError> {
        let Some(publisher) = publisher else {
            return Ok(true);
        };
        let Some(seen) = self.of(tx, organization, publisher).await? else {
            return Ok(true);
        };
        let visible = &seen.visible;
        Ok(!visible.sees_workspace(workspace)
            || visible.sees_row(row.workspace, row.feature, row.creator))
    }
}
