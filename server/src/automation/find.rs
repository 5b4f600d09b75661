//! Finds versions of an automation: the active one, the published one, the draft, a page of all.

use uuid::Uuid;

use super::version::{Version, columns};
use crate::paging::{BoundedRecords, PageRequest};
use crate::refusal::Refusal;
use crate::store::{StoreError, Tx, bounded_records};

/// An automation, kept from others until the transaction ends.
#[derive(Debug, Clone, Copy)]
pub struct Workflow {
    /// Whose it is.
    pub organization: Uuid,
    /// Where it is.
    pub workspace: Uuid,
    /// Its id.
    pub id: Uuid,
    /// The newest number that a version has.
    pub last_version: i64,
}

/// Whose an automation is, if there is one: of a caller with one organization, that one.
///
/// # Errors
/// 404 where nobody it could be of is known.
pub async fn organization(tx: &mut Tx, workflow: Uuid) -> Result<Uuid, Refusal> {
    let sql = "SELECT organization_id FROM workflows WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND id = $1";
    let organization = tx.organization_of(sql, workflow).await?;
    organization.ok_or_else(Refusal::not_found)
}

/// The automation, locked.
///
/// # Errors
/// 404 when there is none that may be seen.
pub async fn lock(tx: &mut Tx, workflow: Uuid) -> Result<Workflow, Refusal> {
    let organization = organization(tx, workflow).await?;
    let sql = "SELECT organization_id, workspace_id, id, last_version FROM workflows \
         WHERE {tenant organization_id} AND {workspace workspace_id} AND organization_id = $1 AND id = $2 {lock}";
    let at = [organization.into(), workflow.into()];
    let row = tx.first(sql, &at).await?;
    let row = row.ok_or_else(Refusal::not_found)?;
    Ok(Workflow {
        organization: row.get(0)?,
        workspace: row.get(1)?,
        id: row.get(2)?,
        last_version: row.get(3)?,
    })
}

/// The same, and before it the tables that its versions watch: whoever changes what is watched gives them a new version.
///
/// Who writes rows or deletes tables keeps a table first, and what hangs on it afterwards; so do dry runs and jobs. One
/// that kept the automation first would wait for them, and they for it.
///
/// # Errors
/// 404 when there is none that may be seen.
pub async fn lock_with_tables(tx: &mut Tx, workflow: Uuid) -> Result<Workflow, Refusal> {
    let organization = organization(tx, workflow).await?;
    lock_tables(tx, organization, workflow).await?;
    lock(tx, workflow).await
}

/// Keeps the tables that the versions of an automation watch from others, until the transaction ends.
///
/// # Errors
/// Those of the store.
pub async fn lock_tables(
    tx: &mut Tx,
    organization: Uuid,
    workflow: Uuid,
) -> Result<(), StoreError> {
    let sql = "SELECT id FROM features WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND organization_id = $1 AND id IN (SELECT feature_id FROM workflow_watchers \
         WHERE {tenant organization_id} AND organization_id = $1 AND workflow_id = $2 \
         UNION ALL SELECT trigger_feature_id FROM workflow_versions WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND organization_id = $1 AND workflow_id = $2) ORDER BY id {lock_fields}";
    let of = [organization.into(), workflow.into()];
    tx.query(sql, &of).await.map(drop)
}

macro_rules! one {
    ($rest:literal) => {
        concat!(
            "SELECT ",
            columns!(),
            " FROM workflow_versions WHERE {tenant organization_id} AND {workspace workspace_id} \
             AND workflow_id = $1 ",
            $rest
        )
    };
}

async fn first(
    tx: &mut Tx,
    sql: &'static str,
    workflow: Uuid,
) -> Result<Option<Version>, StoreError> {
    let row = tx.first(sql, &[workflow.into()]).await?;
    row.as_ref().map(Version::read).transpose()
}

/// The version in force: the active one, else the newest published one, else the newest draft.
///
/// # Errors
/// Those of the store.
pub async fn in_force(tx: &mut Tx, workflow: Uuid) -> Result<Option<Version>, StoreError> {
    let sql = one!("ORDER BY is_active DESC, is_draft, version DESC LIMIT 1");
    first(tx, sql, workflow).await
}

/// The published version in force: the active one, else the newest that was published.
///
/// # Errors
/// Those of the store.
pub async fn published(tx: &mut Tx, workflow: Uuid) -> Result<Option<Version>, StoreError> {
    let sql = one!("AND NOT is_draft ORDER BY is_active DESC, version DESC LIMIT 1");
    first(tx, sql, workflow).await
}

/// The active version.
///
/// # Errors
/// Those of the store.
pub async fn active(tx: &mut Tx, workflow: Uuid) -> Result<Option<Version>, StoreError> {
    first(tx, one!("AND is_active LIMIT 1"), workflow).await
}

/// The active version of an automation of the organization.
///
/// # Errors
/// Those of the store.
pub async fn active_of(
    tx: &mut Tx,
    organization: Uuid,
    workflow: Uuid,
) -> Result<Option<Version>, StoreError> {
    let sql = one!("AND is_active AND organization_id = $2 LIMIT 1");
    let parameters = [workflow.into(), organization.into()];
    let row = tx.first(sql, &parameters).await?;
    row.as_ref().map(Version::read).transpose()
}

/// The newest draft.
///
/// # Errors
/// Those of the store.
pub async fn newest_draft(tx: &mut Tx, workflow: Uuid) -> Result<Option<Version>, StoreError> {
    first(
        tx,
        one!("AND is_draft ORDER BY version DESC LIMIT 1"),
        workflow,
    )
    .await
}

/// The newest version, whatever it is.
///
/// # Errors
/// Those of the store.
pub async fn newest(tx: &mut Tx, workflow: Uuid) -> Result<Option<Version>, StoreError> {
    first(tx, one!("ORDER BY version DESC LIMIT 1"), workflow).await
}

/// The version of that id.
///
/// # Errors
/// Those of the store.
pub async fn by_id(tx: &mut Tx, workflow: Uuid, id: Uuid) -> Result<Option<Version>, StoreError> {
    let sql = one!("AND id = $2");
    let row = tx.first(sql, &[workflow.into(), id.into()]).await?;
    row.as_ref().map(Version::read).transpose()
}

/// The version of that number, of an automation of the organization.
///
/// # Errors
/// Those of the store.
pub async fn by_number(
    tx: &mut Tx,
    organization: Uuid,
    workflow: Uuid,
    version: i64,
) -> Result<Option<Version>, StoreError> {
    let sql = one!("AND version = $2 AND organization_id = $3");
    let parameters = [workflow.into(), version.into(), organization.into()];
    let row = tx.first(sql, &parameters).await?;
    row.as_ref().map(Version::read).transpose()
}

/// All drafts that the scope sees, by automation and number.
///
/// # Errors
/// Those of the store.
pub async fn drafts(tx: &mut Tx) -> Result<Vec<Version>, StoreError> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM workflow_versions WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND is_draft ORDER BY workflow_id, version"
    );
    tx.query(sql, &[])
        .await?
        .iter()
        .map(Version::read)
        .collect()
}

/// Which versions a list shows.
#[derive(Debug, Clone, Copy, Default)]
pub struct WorkflowFilter {
    /// Of automations of this workspace.
    pub workspace: Option<Uuid>,
    /// Those that fire, or those that do not.
    pub active: Option<bool>,
}

/// A page of versions in the order of their ids, and one more if another page follows. It ends early where they are
/// large.
///
/// # Errors
/// Those of the store.
pub async fn page(
    tx: &mut Tx,
    which: WorkflowFilter,
    page: &PageRequest,
) -> Result<BoundedRecords<Version>, StoreError> {
    macro_rules! list {
        ($which:literal) => {
            concat!(
                "SELECT ",
                columns!(),
                " FROM workflow_versions WHERE {tenant organization_id} \
                 AND {workspace workspace_id} AND id > $1 ",
                $which,
                " ORDER BY id LIMIT $2 {bounded}"
            )
        };
    }
    let mut parameters = vec![page.from().into(), page.lookahead().into()];
    parameters.extend(which.workspace.map(Into::into));
    let sql = match (which.workspace.is_some(), which.active) {
        (false, None) => list!(""),
        (false, Some(true)) => list!("AND is_active"),
        (false, Some(false)) => list!("AND NOT is_active"),
        (true, None) => list!("AND workspace_id = $3"),
        (true, Some(true)) => list!("AND workspace_id = $3 AND is_active"),
        (true, Some(false)) => list!("AND workspace_id = $3 AND NOT is_active"),
    };
    let rows = tx.last(sql, &parameters).await?;
    bounded_records(rows, Version::read)
}
