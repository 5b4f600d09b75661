//! Creates a job, or finds the one to resume.

use tplkit::apply::{Minter, Request, Resolutions};
use uuid::Uuid;

use super::line_index::{Continuing, LineIndex};
use super::package::{PACKAGE, base_numbers};
use super::{Job, JobRequest, PackedPart, Status};
use crate::ids::WorkspaceKey;
use crate::store::{StoreError, Tx, Value, lease};

/// A job that is to be: every decision about it was taken.
#[derive(Debug)]
pub struct New {
    /// Whose it is.
    pub organization: Uuid,
    /// Where it writes.
    pub workspace: Uuid,
    /// Its own id.
    pub id: Uuid,
    /// What it applies.
    pub template: Uuid,
    /// Who asks.
    pub creator: Uuid,
    /// How the package is to be applied.
    pub request: Request,
    /// What earlier jobs of the line decided about dependencies that have other refs in this package.
    pub inherited: Resolutions,
    /// Where the ids of what it creates come from.
    pub minter: Minter,
    /// The package as it is now: the manifest, then its payload entries in order.
    pub parts: Vec<PackedPart>,
    /// In the same way the package that the workspace was set up by, when somebody gave it.
    pub base: Vec<PackedPart>,
    /// In microseconds.
    pub now: i64,
}

/// Writes the job down, with the line that it goes on with; false when an unfinished one of this template or
/// line is in the workspace already.
///
/// # Errors
/// Those of the store.
pub async fn create(tx: &mut Tx, new: &New) -> Result<bool, StoreError> {
    let place = WorkspaceKey {
        organization: new.organization,
        workspace: new.workspace,
    };
    let index = LineIndex::read(tx, place).await?;
    let line = index.line(new.template, Continuing::New(&new.request));
    if index.unfinished(new.template, line).is_some() {
        return Ok(false);
    }
    // Two at once: the store lets one of them in.
    let sql = "INSERT INTO main.template_jobs {into $1} (organization_id, workspace_id, id, \
         template_id, created_by, request, status, phase, done, total, entries, created_at, \
         updated_at, line) VALUES ($1, $2, $3, $4, $5, $6, 'pending', 'structure', 0, 0, 0, \
         $7, $7, $8) \
         ON CONFLICT DO NOTHING RETURNING id";
    let job_request = JobRequest {
        request: new.request.clone(),
        inherited: new.inherited.clone(),
        minter: new.minter,
    };
    let parameters = [
        new.organization.into(),
        new.workspace.into(),
        new.id.into(),
        new.template.into(),
        new.creator.into(),
        job_request.write().into(),
        new.now.into(),
        line.unwrap_or(new.id).into(),
    ];
    if tx.first(sql, &parameters).await?.is_none() {
        return Ok(false);
    }
    tx.note_queue(new.organization).await?;
    let sql = "INSERT INTO main.template_job_parts {into $1} \
         (organization_id, workspace_id, job_id, number, content) VALUES ($1, $2, $3, $4, $5)";
    let parts = new.parts.iter().zip(PACKAGE);
    for (part, number) in parts.chain(new.base.iter().zip(base_numbers())) {
        let parameters: [Value; 5] = [
            new.organization.into(),
            new.workspace.into(),
            new.id.into(),
            number.into(),
            part.packed().into(),
        ];
        tx.query(sql, &parameters).await?;
    }
    Ok(true)
}

/// Lets workers take up a job that is finished, but for an undone one; false when somebody holds it or
/// another job of the template or line is unfinished.
///
/// # Errors
/// Those of the store.
pub async fn reopen(tx: &mut Tx, job: &Job, now: i64) -> Result<bool, StoreError> {
    if !job.status.is_finished() {
        return Ok(!job.held);
    }
    if job.status == Status::Undone {
        return Ok(false);
    }
    let index = LineIndex::read(tx, job.place()).await?;
    let Some(line) = index.free_line(job) else {
        return Ok(false);
    };
    let sql = concat!(
        "UPDATE main.template_jobs SET status = 'pending', phase = 'structure', done = 0, \
         total = 0, error = NULL, updated_at = $3, line = $4 WHERE ",
        lease!(row),
        " AND status IN ('completed', 'failed') AND ",
        lease!(free "{clock $3}"),
        " RETURNING id"
    );
    let parameters = [
        job.organization.into(),
        job.id.into(),
        now.into(),
        line.into(),
    ];
    match tx.first(sql, &parameters).await {
        Err(StoreError::Unique { .. }) => Ok(false),
        row => {
            let opens = row?.is_some();
            if opens {
                tx.note_queue(job.organization).await?;
            }
            Ok(opens)
        }
    }
}
