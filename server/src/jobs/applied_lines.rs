//! The lines that completed jobs form in a workspace, each with what it decided (`upgrade` 3.1).

use std::collections::HashMap;

use tplkit::apply::Resolutions;
use uuid::Uuid;

use super::line_index::LineIndex;
use super::package::JobRequest;
use crate::ids::WorkspaceKey;
use crate::store::{StoreError, Tx};

/// A line: the completed, not undone jobs that continue one another.
#[derive(Debug, Clone, PartialEq)]
pub struct AppliedLine {
    /// The template, of the newest job.
    pub template: Uuid,
    /// The jobs, oldest first; there is one at least.
    pub jobs: Vec<AppliedJob>,
    /// What was decided about dependencies, the newest word for each.
    pub resolutions: Resolutions,
}

/// A job of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AppliedJob {
    /// Its id.
    pub id: Uuid,
    /// What it applied.
    pub template: Uuid,
    /// Who its rows belong to.
    pub creator: Option<Uuid>,
    /// When it was completed, in microseconds.
    pub ended: i64,
    /// Whether it is an upgrade with rows.
    pub compares: bool,
}

impl AppliedLine {
    /// The id of the line: that of its first job that stands.
    pub fn id(&self) -> Uuid {
        self.jobs.first().map_or_else(Uuid::nil, |job| job.id)
    }

    /// The job that later ones start from.
    pub fn newest(&self) -> AppliedJob {
        let none = AppliedJob {
            id: Uuid::nil(),
            template: self.template,
            creator: None,
            ended: 0,
            compares: false,
        };
        self.jobs.last().copied().unwrap_or(none)
    }
}

/// All lines of a workspace, by the ids of their first jobs that stand.
///
/// # Errors
/// Those of the store.
pub async fn lines(tx: &mut Tx, place: WorkspaceKey) -> Result<Vec<AppliedLine>, StoreError> {
    let sql = "SELECT id, template_id, created_by, updated_at, request FROM template_jobs \
         WHERE {tenant organization_id} AND {workspace workspace_id} AND organization_id = $1 \
         AND workspace_id = $2 AND status = 'completed' ORDER BY id";
    let index = LineIndex::read(tx, place).await?;
    let parameters = [place.organization.into(), place.workspace.into()];
    let mut lines: Vec<AppliedLine> = Vec::new();
    let mut known: HashMap<Uuid, usize> = HashMap::new();
    for row in &tx.query(sql, &parameters).await? {
        let job_request: String = row.get(4)?;
        let job_request = JobRequest::read(&job_request)?;
        let job = AppliedJob {
            id: row.get(0)?,
            template: row.get(1)?,
            creator: row.get(2)?,
            ended: row.get(3)?,
            compares: job_request.request.compares_rows(),
        };
        let line = index.of_job(job.id).unwrap_or(job.id);
        let at = *known.entry(line).or_insert(lines.len());
        match lines.get_mut(at) {
            Some(line) => {
                line.template = job.template;
                line.jobs.push(job);
                line.resolutions.extend(job_request.resolutions());
            }
            None => lines.push(AppliedLine {
                template: job.template,
                jobs: vec![job],
                resolutions: job_request.resolutions(),
            }),
        }
    }
    Ok(lines)
}
