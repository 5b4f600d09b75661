//! What people changed in what a template made in a workspace (`upgrade` 4.1).

use tplkit::apply::{self, ApplyError, DriftInput};
use tplkit::definitions::Definitions;
use tplkit::upgrade::Drift;
use tplkit::workspace::Source as _;
use uuid::Uuid;

use super::applied::Applied;
use super::apply::{ApplyTarget, check_base_job};
use crate::ids::WorkspaceKey;
use crate::jobs::{self, AppliedLine, LedgerPart, Status};
use crate::refusal::{Code, Refusal};
use crate::rows::Tables;
use crate::store::Tx;
use crate::workspace::{ReadError, Snapshot};

/// Which line is compared with its workspace.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DriftRequest {
    pub(crate) organization: Uuid,
    pub(crate) workspace: Uuid,
    pub(crate) template: Uuid,
    /// Any job of the line; without one it is that of the newest job of the template.
    pub(crate) job: Option<Uuid>,
    /// Whether cells are shown, and count.
    pub(crate) cells: bool,
}

impl DriftRequest {
    /// The line.
    ///
    /// # Errors
    /// 404 where the template was never applied, or all of it was undone, and for a job of something else
    /// (a template of the same `manifest.id` is the same); 409 for one that was undone or is not completed.
    pub(crate) async fn line(&self, tx: &mut Tx, now: i64) -> Result<AppliedLine, Refusal> {
        let lines = jobs::lines(
            tx,
            WorkspaceKey {
                organization: self.organization,
                workspace: self.workspace,
            },
        )
        .await?;
        // Another template may have gone on with a line: it is a line of both.
        let applied = |line: &AppliedLine| {
            let jobs = line.jobs.iter().filter(|job| job.template == self.template);
            jobs.map(|job| job.id).max()
        };
        let Some(job) = self.job else {
            let newest = lines.into_iter().filter(|line| applied(line).is_some());
            let newest = newest.max_by_key(applied);
            return newest.ok_or_else(Refusal::not_found);
        };
        let mut named = lines.into_iter();
        let named = named.find(|line| line.jobs.iter().any(|one| one.id == job));
        if let Some(line) = named.as_ref().filter(|line| applied(line).is_some()) {
            return Ok(line.clone());
        }
        let place = ApplyTarget {
            organization: self.organization,
            workspace: self.workspace,
            template: self.template,
        };
        check_base_job(tx, place, job, now).await?;
        if let Some(line) = named {
            return Ok(line);
        }
        let here = jobs::find(tx, job, now).await?;
        let here = here.ok_or_else(Refusal::not_found)?;
        let why = match here.status {
            Status::Undone => "The job was undone; name one that stands.",
            _ => "The job is not completed; name one that is.",
        };
        Err(Refusal::new(Code::Conflict, why))
    }
}

/// Compares a line with the workspace as the scope sees it.
///
/// # Errors
/// Those of the store.
pub(crate) async fn drift(
    tx: &mut Tx,
    wanted: &DriftRequest,
    line: &AppliedLine,
    tables: &Tables,
) -> Result<Drift, Refusal> {
    let applied = Applied::read(tx, wanted.organization, line, LedgerPart::All).await?;
    let package = applied.package()?;
    let legacy_jobs = applied.legacy_jobs()?;
    let older = applied.older()?;
    let rows = applied.row_bases(&package, &older);
    let unseen = applied.unseen(tx, line).await?;
    let snapshot = Snapshot::new(tx, wanted.workspace, tables);
    let structure = snapshot.structure().await?;
    let input = DriftInput {
        template: wanted.template,
        past: applied.past(&package, &legacy_jobs, &rows),
        request: &applied.request,
        unseen: &unseen,
        cells: wanted.cells,
        definitions: Definitions::embedded(),
    };
    let drift = Box::pin(apply::drift(&snapshot, &structure, input)).await;
    drift.map_err(refused)
}

fn refused(error: ApplyError<ReadError>) -> Refusal {
    match error {
        ApplyError::Store { source, .. } => source.into(),
        error => {
            tracing::error!(%error, "the drift of a template cannot be worked out");
            Refusal::internal()
        }
    }
}
