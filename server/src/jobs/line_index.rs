//! The line of each job of a workspace: which jobs go on from each other (`upgrade` 3.1.1).
//!
//! In: all jobs, oldest first. Out: which line each of them goes on with. A first apply and a copy open a
//! line; an upgrade goes on with that of the job that it starts from, everything else with the line of the
//! newest completed job of its template that was not undone by then. A job keeps that line, whatever is
//! undone since. A line goes by the id of the job that opened it.

use std::collections::HashMap;

use tplkit::apply::{Request, Resolutions};
use uuid::Uuid;

use super::package::JobRequest;
use super::{Job, Status};
use crate::ids::{TemplateKey, WorkspaceKey};
use crate::store::{Row, StoreError, Tx, Value};

/// What goes on with a line.
#[derive(Debug, Clone, Copy)]
pub enum Continuing<'r> {
    /// A job that is there.
    Job(Uuid),
    /// One that is to be.
    New(&'r Request),
}

impl<'r> Continuing<'r> {
    /// A job that is to be, unless one is named.
    pub fn of(job: Option<Uuid>, request: &'r Request) -> Continuing<'r> {
        job.map_or(Continuing::New(request), Continuing::Job)
    }
}

/// A job and its line.
#[derive(Debug)]
struct IndexedJob {
    id: Uuid,
    template: Uuid,
    status: Status,
    line: Uuid,
    /// Until when it counted among the completed ones, in microseconds; nothing when it never did.
    completed_until: Option<i64>,
}

/// Which line each job of a workspace goes on with, oldest first.
#[derive(Debug, Default)]
pub(super) struct LineIndex {
    jobs: Vec<IndexedJob>,
    places: HashMap<Uuid, usize>,
}

impl LineIndex {
    /// Reads it.
    ///
    /// # Errors
    /// Those of the store.
    pub(super) async fn read(tx: &mut Tx, place: WorkspaceKey) -> Result<LineIndex, StoreError> {
        let sql = "SELECT id, template_id, status, before_undo, updated_at, created_at, line, \
             CASE WHEN line IS NULL THEN request END FROM template_jobs \
             WHERE {tenant organization_id} AND {workspace workspace_id} AND organization_id = $1 \
             AND workspace_id = $2 ORDER BY id";
        let mut index = LineIndex::default();
        for row in &tx.query(sql, &parameters(place)).await? {
            index.add(row)?;
        }
        Ok(index)
    }

    fn add(&mut self, row: &Row) -> Result<(), StoreError> {
        let (id, template, line): (Uuid, Uuid, Option<Uuid>) =
            (row.get(0)?, row.get(1)?, row.get(6)?);
        let (status, before): (String, Option<String>) = (row.get(2)?, row.get(3)?);
        let status = Status::read(&status)?;
        // Undone jobs of old programs do not say what they were.
        let was_completed = before.is_none_or(|before| before == Status::Completed.as_str());
        let completed_until = match status {
            Status::Completed => Some(i64::MAX),
            // Nothing begins while the undo goes on.
            Status::Undoing if was_completed => Some(i64::MAX),
            Status::Undone if was_completed => Some(row.get(4)?),
            _ => None,
        };
        let line = if let Some(line) = line {
            line
        } else {
            let (created, job_request): (i64, String) = (row.get(5)?, row.get(7)?);
            let request = JobRequest::read(&job_request)?.request;
            let counted = |job: &IndexedJob| job.completed_until > Some(created);
            self.continued(template, &request, counted).unwrap_or(id)
        };
        self.places.insert(id, self.jobs.len());
        self.jobs.push(IndexedJob {
            id,
            template,
            status,
            line,
            completed_until,
        });
        Ok(())
    }

    /// The line of a job.
    pub(super) fn of_job(&self, job: Uuid) -> Option<Uuid> {
        let at = self.places.get(&job)?;
        self.jobs.get(*at).map(|job| job.line)
    }

    /// The line of the newest completed job of a template.
    fn newest(&self, template: Uuid, counts: impl Fn(&IndexedJob) -> bool) -> Option<Uuid> {
        let mut jobs = self.jobs.iter().rev();
        let newest = jobs.find(|job| job.template == template && counts(job));
        newest.map(|job| job.line)
    }

    fn continued(
        &self,
        template: Uuid,
        request: &Request,
        counts: impl Fn(&IndexedJob) -> bool,
    ) -> Option<Uuid> {
        if request.copy {
            return None;
        }
        let base = request.terms.base_job.and_then(|job| self.of_job(job));
        base.or_else(|| self.newest(template, counts))
    }

    /// The line that is there and that is gone on with; nothing where one is opened.
    pub(super) fn line(&self, template: Uuid, continuing: Continuing<'_>) -> Option<Uuid> {
        match continuing {
            Continuing::Job(job) => self.of_job(job),
            Continuing::New(request) => self.continued(template, request, is_completed),
        }
    }

    /// The unfinished job of a template or of a line: there is one at most.
    pub(super) fn unfinished(&self, template: Uuid, line: Option<Uuid>) -> Option<Uuid> {
        let mut jobs = self.jobs.iter().filter(|job| !job.status.is_finished());
        let one = jobs.find(|job| job.template == template || Some(job.line) == line);
        one.map(|job| job.id)
    }

    /// The line of a job that is to become unfinished again; nothing while another one of its template or line
    /// is in the way.
    pub(super) fn free_line(&self, job: &Job) -> Option<Uuid> {
        let line = self.of_job(job.id).unwrap_or(job.id);
        let active = self.unfinished(job.template, Some(line));
        active.is_none_or(|active| active == job.id).then_some(line)
    }
}

fn is_completed(job: &IndexedJob) -> bool {
    job.status == Status::Completed
}

fn parameters(place: WorkspaceKey) -> [Value; 2] {
    [place.organization.into(), place.workspace.into()]
}

/// The job that is not finished and keeps others from a template, and from the line that they go on with.
///
/// # Errors
/// Those of the store.
pub async fn unfinished(
    tx: &mut Tx,
    TemplateKey {
        organization,
        workspace,
        template,
    }: TemplateKey,
    continuing: Continuing<'_>,
    now: i64,
) -> Result<Option<Job>, StoreError> {
    let place = WorkspaceKey {
        organization,
        workspace,
    };
    let index = LineIndex::read(tx, place).await?;
    let line = index.line(template, continuing);
    match index.unfinished(template, line) {
        Some(job) => super::find(tx, job, now).await,
        None => Ok(None),
    }
}

/// A job that stands.
#[derive(Debug)]
pub(super) struct LineJob {
    pub(super) id: Uuid,
    pub(super) request: Request,
    /// What became of dependencies.
    pub(super) resolutions: Resolutions,
}

/// Jobs by their lines.
#[derive(Debug, Default)]
pub(super) struct Lines {
    by_line: HashMap<Uuid, Vec<LineJob>>,
    index: LineIndex,
}

impl Lines {
    /// The line of a job, else of the one that it starts from, else the newest of a template.
    pub(super) fn of(
        &self,
        template: Uuid,
        job: Option<Uuid>,
        base_job: Option<Uuid>,
    ) -> &[LineJob] {
        let line = match job.or(base_job) {
            Some(job) => self.index.of_job(job),
            None => self.index.newest(template, is_completed),
        };
        line.and_then(|line| self.by_line.get(&line))
            .map_or(&[], Vec::as_slice)
    }
}

/// The completed jobs of a workspace, with one that goes on.
pub(super) async fn completed(
    tx: &mut Tx,
    place: WorkspaceKey,
    job: Option<Uuid>,
) -> Result<Lines, StoreError> {
    let sql = "SELECT id, request FROM template_jobs WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND organization_id = $1 AND workspace_id = $2 \
         AND (status = 'completed' OR id = $3) ORDER BY id";
    let [organization, workspace] = parameters(place);
    let job = job.unwrap_or_default();
    read(tx, place, sql, &[organization, workspace, job.into()]).await
}

/// All jobs of a workspace that wrote something which was not taken back.
pub(super) async fn in_effect(tx: &mut Tx, place: WorkspaceKey) -> Result<Lines, StoreError> {
    let sql = "SELECT id, request FROM template_jobs WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND organization_id = $1 AND workspace_id = $2 \
         AND status IN ('completed', 'failed') ORDER BY id";
    read(tx, place, sql, &parameters(place)).await
}

async fn read(
    tx: &mut Tx,
    place: WorkspaceKey,
    sql: &'static str,
    parameters: &[Value],
) -> Result<Lines, StoreError> {
    let mut lines = Lines {
        index: LineIndex::read(tx, place).await?,
        ..Lines::default()
    };
    for row in &tx.query(sql, parameters).await? {
        let (id, job_request): (Uuid, String) = (row.get(0)?, row.get(1)?);
        let job_request = JobRequest::read(&job_request)?;
        let line = lines.index.of_job(id).unwrap_or(id);
        let jobs = lines.by_line.entry(line).or_default();
        jobs.push(LineJob {
            id,
            resolutions: job_request.resolutions(),
            request: job_request.request,
        });
    }
    Ok(lines)
}
