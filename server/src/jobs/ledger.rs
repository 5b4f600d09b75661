//! What jobs remember of what they wrote.

use tplkit::workspace::ledger::Entry;
use uuid::Uuid;

use super::package::Order;
use super::{Job, Lease};
use crate::store::{Asked, Row, StoreError, Tx};

const ENTRIES: &str = "SELECT entry FROM template_job_entries WHERE {tenant organization_id} \
     AND {workspace workspace_id} AND organization_id = $1 AND job_id = $2 ORDER BY number";

/// The entries of a job, in order.
///
/// # Errors
/// Those of the store, and when an entry is of a newer program.
pub async fn own(tx: &mut Tx, organization: Uuid, job: Uuid) -> Result<Vec<Entry>, StoreError> {
    let rows = tx
        .query(ENTRIES, &[organization.into(), job.into()])
        .await?;
    rows.iter().map(read).collect()
}

fn read(row: &Row) -> Result<Entry, StoreError> {
    let text: String = row.get(0)?;
    serde_json::from_str(&text)
        .map_err(|error| StoreError::Internal(format!("an entry of a ledger: {error}")))
}

/// The statement that adds an entry; the line of the job counts it.
pub(super) fn add(lease: &Lease, number: i64, entry: &Entry) -> Result<Asked, StoreError> {
    let text = serde_json::to_string(entry)
        .map_err(|error| StoreError::Internal(format!("an entry of a ledger: {error}")))?;
    let sql = "INSERT INTO main.template_job_entries {into $1} \
         (organization_id, workspace_id, job_id, number, entry) VALUES ($1, $2, $3, $4, $5)";
    let parameters = vec![
        lease.organization.into(),
        lease.workspace.into(),
        lease.job.into(),
        number.into(),
        text.into(),
    ];
    Ok((sql.into(), parameters))
}

/// The ledgers that a job is bound to (`rest` 6.4): of the jobs of its template that were completed in
/// its workspace before it and not undone, oldest first. A separate copy begins anew.
///
/// # Errors
/// Those of the store.
pub async fn earlier(
    tx: &mut Tx,
    (organization, workspace, template): (Uuid, Uuid, Uuid),
    before: Option<Uuid>,
) -> Result<Vec<Entry>, StoreError> {
    let sql = "SELECT id, request FROM template_jobs WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND organization_id = $1 AND workspace_id = $2 \
         AND template_id = $3 AND id < $4 AND status = 'completed' ORDER BY id";
    let parameters = [
        organization.into(),
        workspace.into(),
        template.into(),
        before.unwrap_or(Uuid::max()).into(),
    ];
    let mut jobs: Vec<Uuid> = Vec::new();
    for row in &tx.query(sql, &parameters).await? {
        let order: String = row.get(1)?;
        if Order::read(&order)?.request.copy {
            jobs.clear();
        }
        jobs.push(row.get(0)?);
    }
    let mut entries = Vec::new();
    for job in jobs {
        entries.extend(own(tx, organization, job).await?);
    }
    Ok(entries)
}

/// As [`earlier`], of a job that exists.
///
/// # Errors
/// Those of the store.
pub(super) async fn before(tx: &mut Tx, job: &Job) -> Result<Vec<Entry>, StoreError> {
    let of = (job.organization, job.workspace, job.template);
    earlier(tx, of, Some(job.id)).await
}
