//! Holds the files that versions of an automation attach to their mails.
//!
//! A version keeps the files that its steps name until it is published and another one is in force, so that a mail
//! does not fail for a file that nobody seemed to need. What is kept shows nobody the file. A job keeps what the
//! versions hold that it supersedes ([`file_holds`](crate::workspace)): its undo brings their steps back.

use tplkit::automation::attached_files;
use tplkit::definitions::Definitions;
use tplkit::json::Value as Json;
use uuid::Uuid;

use super::version::Version;
use crate::files::release::{self, release_holds};
use crate::store::{Dialect, StoreError, Tx, Value};

/// Keeps the files that a version names, as far as they are there: those that whoever saves it sees, and those that
/// another version of the automation, or the undo of a job that changed it, holds already.
///
/// # Errors
/// Those of the store.
pub(super) async fn hold(tx: &mut Tx, version: &Version) -> Result<(), StoreError> {
    let graph = Json::parse(&version.graph_config).unwrap_or_default();
    let named = attached_files(Definitions::embedded(), &graph);
    if named.is_empty() {
        return Ok(());
    }
    let mut files = lock(tx, version.organization, &named).await?;
    let unseen: Vec<Uuid> = named
        .into_iter()
        .filter(|file| !files.contains(file))
        .collect();
    let before = tx.set_administered(vec![version.organization]).await?;
    if !unseen.is_empty() {
        files.extend(inherited(tx, version, unseen).await?);
    }
    if !files.is_empty() {
        insert(tx, version, files).await?;
    }
    tx.set_administered(before).await?;
    Ok(())
}

/// Those of some files that are held for the automation already. They are locked.
async fn inherited(
    tx: &mut Tx,
    version: &Version,
    files: Vec<Uuid>,
) -> Result<Vec<Uuid>, StoreError> {
    let there = lock(tx, version.organization, &files).await?;
    if there.is_empty() {
        return Ok(there);
    }
    let sql = "SELECT DISTINCT holds.file_id FROM file_holds AS holds \
         LEFT JOIN workflow_versions AS versions ON versions.organization_id = holds.organization_id \
         AND versions.id = holds.version_id \
         WHERE {tenant holds.organization_id} AND {workspace holds.workspace_id} \
         AND holds.organization_id = $1 \
         AND (versions.workflow_id = $2 OR holds.feature_id = $2) AND {any holds.file_id $3} ORDER BY holds.file_id";
    let parameters = [
        version.organization.into(),
        version.workflow.into(),
        Value::Ids(there),
    ];
    let rows = tx.query(sql, &parameters).await?;
    rows.iter().map(|row| row.get(0)).collect()
}

async fn insert(tx: &mut Tx, version: &Version, files: Vec<Uuid>) -> Result<(), StoreError> {
    macro_rules! insert {
        ($id:literal) => {
            concat!(
                "INSERT INTO main.file_holds {into $1} (organization_id, workspace_id, id, file_id, version_id, \
                 created_at) SELECT files.organization_id, files.workspace_id, ",
                $id,
                ", files.id, $3, $4 FROM files WHERE files.organization_id = $1 AND files.workspace_id = $2 \
                 AND {any files.id $5} ON CONFLICT DO NOTHING"
            )
        };
    }
    let sql = match tx.dialect()? {
        Dialect::Sqlite => insert!("randomblob(16)"),
        Dialect::Postgres => insert!("gen_random_uuid()"),
    };
    let parameters = [
        version.organization.into(),
        version.workspace.into(),
        version.id.into(),
        version.created_at.into(),
        Value::Ids(files),
    ];
    tx.query(sql, &parameters).await?;
    Ok(())
}

/// Keeps the files that the steps of an automation name from deletion until the transaction ends, as far as they are there,
/// and gives all that are named. Whoever validates the steps behind it finds what is there at the end, too.
///
/// # Errors
/// Those of the store.
pub async fn lock_files(
    tx: &mut Tx,
    organization: Uuid,
    graph: &Json,
) -> Result<Vec<Uuid>, StoreError> {
    let files = attached_files(Definitions::embedded(), graph);
    if !files.is_empty() {
        lock(tx, organization, &files).await?;
    }
    Ok(files)
}

/// Keeps files from deletion until the transaction ends; gives those that are there, as the caller sees them.
async fn lock(tx: &mut Tx, organization: Uuid, files: &[Uuid]) -> Result<Vec<Uuid>, StoreError> {
    let sql = "SELECT files.id FROM files WHERE {tenant files.organization_id} \
         AND files.organization_id = $1 AND {any files.id $2} ORDER BY files.id {share files}";
    let parameters = [organization.into(), Value::Ids(files.to_vec())];
    let rows = tx.query(sql, &parameters).await?;
    rows.iter().map(|row| row.get(0)).collect()
}

/// Lets go of what published versions keep but the one that is in force.
///
/// # Errors
/// Those of the store.
pub(super) async fn release_superseded(
    tx: &mut Tx,
    in_force: &Version,
    now: i64,
) -> Result<(), StoreError> {
    let holds = release_holds!(
        "$4",
        "version_id IN (SELECT old.id FROM workflow_versions AS old WHERE old.organization_id = $1 \
         AND old.workflow_id = $2 AND old.id <> $3 AND NOT old.is_draft)"
    );
    let of: [Value; 3] = [
        in_force.organization.into(),
        in_force.workflow.into(),
        in_force.id.into(),
    ];
    release::holds(tx, in_force.organization, holds, &of, now).await
}

/// Lets go of what all versions of an automation keep, which is about to go.
///
/// # Errors
/// Those of the store.
pub(super) async fn release_all(
    tx: &mut Tx,
    organization: Uuid,
    workflow: Uuid,
    now: i64,
) -> Result<(), StoreError> {
    let holds = release_holds!(
        "$3",
        "version_id IN (SELECT old.id FROM workflow_versions AS old WHERE old.organization_id = $1 \
         AND old.workflow_id = $2)"
    );
    let of: [Value; 2] = [organization.into(), workflow.into()];
    release::holds(tx, organization, holds, &of, now).await
}

/// Lets go of what a draft keeps, which is about to go.
///
/// # Errors
/// Those of the store.
pub(super) async fn release_version(
    tx: &mut Tx,
    organization: Uuid,
    version: Uuid,
    now: i64,
) -> Result<(), StoreError> {
    let holds = release_holds!("$3", "version_id = $2");
    let of: [Value; 2] = [organization.into(), version.into()];
    release::holds(tx, organization, holds, &of, now).await
}
