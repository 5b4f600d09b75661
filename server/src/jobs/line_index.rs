//! The lines of a workspace: jobs that go on from each other (`upgrade` 3.1.1).
//!
//! In: the jobs that stand, oldest first. Out: which of them one continues. A first apply and a copy open
//! a line; an upgrade goes on with that of the job that it starts from, everything else with the line of
//! the newest job of its template.

use std::collections::HashMap;

use tplkit::apply::Request;
use uuid::Uuid;

use super::package::Order;
use crate::ids::WorkspaceKey;
use crate::store::{StoreError, Tx};

/// A job that stands.
#[derive(Debug)]
pub(super) struct LineJob {
    pub(super) id: Uuid,
    pub(super) request: Request,
}

/// Which line each job continues, as they come, oldest first.
#[derive(Debug, Default)]
pub(super) struct LineIndex {
    count: usize,
    of_job: HashMap<Uuid, usize>,
    /// The line of the newest job of each template.
    newest: HashMap<Uuid, usize>,
}

impl LineIndex {
    /// The number of the line of the next job.
    pub(super) fn next(&mut self, template: Uuid, job: Uuid, request: &Request) -> usize {
        let from = |job: Option<Uuid>| job.and_then(|job| self.of_job.get(&job));
        let known = if request.copy {
            None
        } else {
            from(request.terms.base_job).or_else(|| self.newest.get(&template))
        };
        let at = known.copied().unwrap_or(self.count);
        self.count = self.count.max(at + 1);
        self.of_job.insert(job, at);
        self.newest.insert(template, at);
        at
    }
}

/// Jobs by their lines.
#[derive(Debug, Default)]
pub(super) struct Lines {
    all: Vec<Vec<LineJob>>,
    known: LineIndex,
}

impl Lines {
    fn add(&mut self, template: Uuid, job: LineJob) {
        let at = self.known.next(template, job.id, &job.request);
        if at == self.all.len() {
            self.all.push(Vec::new());
        }
        self.all[at].push(job);
    }

    /// The line of a job, else of the one that it starts from, else the newest of a template.
    pub(super) fn of(
        &self,
        template: Uuid,
        job: Option<Uuid>,
        base_job: Option<Uuid>,
    ) -> &[LineJob] {
        let known = |job: Option<Uuid>| job.and_then(|job| self.known.of_job.get(&job));
        let at = match (job, base_job) {
            (None, Some(_)) => known(base_job),
            (None, None) => self.known.newest.get(&template),
            (job, _) => known(job),
        };
        at.and_then(|at| self.all.get(*at))
            .map_or(&[], Vec::as_slice)
    }
}

/// The completed jobs of a workspace, with one that goes on.
pub(super) async fn completed(
    tx: &mut Tx,
    WorkspaceKey {
        organization,
        workspace,
    }: WorkspaceKey,
    job: Option<Uuid>,
) -> Result<Lines, StoreError> {
    let sql = "SELECT id, template_id, request FROM template_jobs WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND organization_id = $1 AND workspace_id = $2 \
         AND (status = 'completed' OR id = $3) ORDER BY id";
    let job = job.unwrap_or_default();
    read(
        tx,
        sql,
        &[organization.into(), workspace.into(), job.into()],
    )
    .await
}

/// All jobs of a workspace that wrote something which was not taken back.
pub(super) async fn in_effect(
    tx: &mut Tx,
    WorkspaceKey {
        organization,
        workspace,
    }: WorkspaceKey,
) -> Result<Lines, StoreError> {
    let sql = "SELECT id, template_id, request FROM template_jobs WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND organization_id = $1 AND workspace_id = $2 \
         AND status IN ('completed', 'failed') ORDER BY id";
    read(tx, sql, &[organization.into(), workspace.into()]).await
}

async fn read(
    tx: &mut Tx,
    sql: &'static str,
    parameters: &[crate::store::Value],
) -> Result<Lines, StoreError> {
    let mut lines = Lines::default();
    for row in &tx.query(sql, parameters).await? {
        let (id, template, order): (Uuid, Uuid, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let request = Order::read(&order)?.request;
        lines.add(template, LineJob { id, request });
    }
    Ok(lines)
}
