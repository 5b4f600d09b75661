//! Files that versions of an automation attach to their mails.
//!
//! A version keeps the files that its steps name until it is published and another one is in force, so that a mail
//! does not fail for a file that nobody seemed to need. What is kept shows nobody the file.

use tplkit::automation::attached_files;
use tplkit::definitions::Definitions;
use tplkit::json::Value as Json;
use uuid::Uuid;

use super::version::Version;
use crate::store::{Dialect, StoreError, Tx, Value};

/// Keeps the files that a version names, as far as they are there.
///
/// # Errors
/// Those of the store.
pub(super) async fn hold(tx: &mut Tx, version: &Version) -> Result<(), StoreError> {
    let graph = Json::parse(&version.graph_config).unwrap_or_default();
    let files = attached_files(Definitions::embedded(), &graph);
    if files.is_empty() {
        return Ok(());
    }
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
    // Kept from deletion until the transaction ends.
    let lock = "SELECT files.id FROM files WHERE {tenant files.organization_id} \
         AND files.organization_id = $1 AND {any files.id $2} ORDER BY files.id {share files}";
    let parameters = [version.organization.into(), Value::Ids(files.clone())];
    tx.query(lock, &parameters).await?;
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

/// Lets go of what published versions keep but the one that is in force.
///
/// # Errors
/// Those of the store.
pub(super) async fn release_superseded(
    tx: &mut Tx,
    in_force: &Version,
    now: i64,
) -> Result<(), StoreError> {
    let update = "UPDATE main.files SET unused_since = $4 WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND organization_id = $1 AND id IN (SELECT holds.file_id \
         FROM file_holds AS holds JOIN workflow_versions AS old ON old.organization_id = holds.organization_id \
         AND old.id = holds.version_id WHERE holds.organization_id = $1 AND old.workflow_id = $2 \
         AND old.id <> $3 AND NOT old.is_draft)";
    let delete = "DELETE FROM main.file_holds WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND organization_id = $1 AND version_id IN (SELECT old.id FROM workflow_versions AS old \
         WHERE old.organization_id = $1 AND old.workflow_id = $2 AND old.id <> $3 AND NOT old.is_draft)";
    let of: [Value; 3] = [
        in_force.organization.into(),
        in_force.workflow.into(),
        in_force.id.into(),
    ];
    end(tx, in_force.organization, [update, delete], &of, now).await
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
    let update = "UPDATE main.files SET unused_since = $3 WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND organization_id = $1 AND id IN (SELECT holds.file_id \
         FROM file_holds AS holds JOIN workflow_versions AS old ON old.organization_id = holds.organization_id \
         AND old.id = holds.version_id WHERE holds.organization_id = $1 AND old.workflow_id = $2)";
    let delete = "DELETE FROM main.file_holds WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND organization_id = $1 AND version_id IN (SELECT old.id FROM workflow_versions AS old \
         WHERE old.organization_id = $1 AND old.workflow_id = $2)";
    let of: [Value; 2] = [organization.into(), workflow.into()];
    end(tx, organization, [update, delete], &of, now).await
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
    let update = "UPDATE main.files SET unused_since = $3 WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND organization_id = $1 AND id IN (SELECT holds.file_id \
         FROM file_holds AS holds WHERE holds.organization_id = $1 AND holds.version_id = $2)";
    let delete = "DELETE FROM main.file_holds WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND organization_id = $1 AND version_id = $2";
    let of: [Value; 2] = [organization.into(), version.into()];
    end(tx, organization, [update, delete], &of, now).await
}

/// Notes since when files have a use less, whoever sees them, and ends what kept them.
async fn end(
    tx: &mut Tx,
    organization: Uuid,
    [update, delete]: [&'static str; 2],
    of: &[Value],
    now: i64,
) -> Result<(), StoreError> {
    let before = tx.set_administered(vec![organization]).await?;
    let parameters: Vec<Value> = of.iter().cloned().chain([now.into()]).collect();
    tx.query(update, &parameters).await?;
    tx.set_administered(before).await?;
    tx.query(delete, of).await?;
    Ok(())
}
