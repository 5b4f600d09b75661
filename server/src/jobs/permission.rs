//! Checks that the creator of a job still has the permission for it (`rest` 2.6), when the job is
//! taken up and before each unit (`visibility` does that along with what the creator sees). A lost permission takes
//! effect at once.

use uuid::Uuid;

use super::Job;
use crate::auth::{Account, KeyScope, Role, sees_workspace};
use crate::ids::WorkspaceKey;
use crate::store::{StoreError, Tx, lease};

/// Where in its organization an account may apply templates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Permission {
    /// In every workspace.
    Everywhere,
    /// In those that it sees.
    WhereSeen,
    /// Nowhere.
    Nowhere,
}

impl Permission {
    /// That of an account.
    pub(super) fn of(account: &Account) -> Permission {
        match account {
            // A key acts as an administrator, as far as its scopes go.
            Account {
                scopes: Some(scopes),
                ..
            } if !scopes.has(KeyScope::Structure) => Permission::Nowhere,
            Account { role, .. } if *role >= Role::Admin => Permission::Everywhere,
            Account {
                role: Role::Editor, ..
            } => Permission::WhereSeen,
            Account { .. } => Permission::Nowhere,
        }
    }
}

/// Whether somebody may apply templates to a workspace of the organization at that time.
///
/// # Errors
/// Those of the store.
pub(super) async fn may_apply(
    tx: &mut Tx,
    place: WorkspaceKey,
    who: Uuid,
    now: i64,
) -> Result<bool, StoreError> {
    let Some(account) = Account::find(tx, place.organization, who, now).await? else {
        return Ok(false);
    };
    match Permission::of(&account) {
        Permission::Everywhere => Ok(true),
        Permission::WhereSeen => sees_workspace(tx, place, who).await,
        Permission::Nowhere => Ok(false),
    }
}

/// Whether nothing in the organization is kept from somebody at that time.
async fn administers(
    tx: &mut Tx,
    organization: Uuid,
    who: Uuid,
    now: i64,
) -> Result<bool, StoreError> {
    let account = Account::find(tx, organization, who, now).await?;
    Ok(account.is_some_and(|account| account.administers()))
}

/// Lets a job act as the one who asks for it now, when who asked before has lost the right to; and a job that has
/// ended also when who asked before administers the organization and who asks now does not: whoever starts a pass
/// decides no more than they may themselves. It keeps its ledger; what it reported was for another reader.
///
/// # Errors
/// Those of the store.
pub async fn hand_over(tx: &mut Tx, job: &Job, to: Uuid, now: i64) -> Result<(), StoreError> {
    let before = job.created_by.unwrap_or_default();
    if before == to {
        return Ok(());
    }
    let organization = job.organization;
    let stays = may_apply(tx, job.place(), before, now).await?;
    // A job that waits goes on without anybody who resumes it.
    let starter_decides_more = stays
        && job.status.is_finished()
        && administers(tx, organization, before, now).await?
        && !administers(tx, organization, to, now).await?;
    if stays && !starter_decides_more {
        return Ok(());
    }
    let sql = concat!(
        "UPDATE main.template_jobs SET created_by = $3, report = NULL WHERE ",
        lease!(row)
    );
    let parameters = [job.organization.into(), job.id.into(), to.into()];
    tx.query(sql, &parameters).await.map(drop)
}
