//! The job that an upgrade is asked to start from (`upgrade` 3.1.1, 3.1.3).

use tplkit::json::Doc;
use uuid::Uuid;

use super::ApplyTarget;
use crate::jobs::{self, Job, Status};
use crate::refusal::{Code, Refusal};
use crate::store::Tx;
use crate::templates;

/// Says nothing of a job in that workspace, of the same template or of one that is the same by its
/// `manifest.id` and of the same organization.
///
/// # Errors
/// 404 for any other.
pub(crate) async fn check(
    tx: &mut Tx,
    place: ApplyTarget,
    job: Uuid,
    now: i64,
) -> Result<(), Refusal> {
    let job = jobs::find(tx, job, now).await?;
    let job = job.filter(|job| job.workspace == place.workspace);
    let job = job.ok_or_else(Refusal::not_found)?;
    if job.template == place.template || is_same(tx, place, &job).await? {
        return Ok(());
    }
    Err(Refusal::not_found())
}

async fn is_same(tx: &mut Tx, place: ApplyTarget, job: &Job) -> Result<bool, Refusal> {
    let record = templates::find(tx, place.template).await?;
    if record.organization_id != job.organization {
        return Ok(false);
    }
    let own = templates::read_package(tx, &record).await?.text();
    let Some((_, theirs)) = jobs::read_package(tx, job.organization, job.id, false).await? else {
        return Ok(false);
    };
    let own = id_of(&own);
    Ok(own.is_some() && own == id_of(&theirs))
}

/// The `manifest.id` of a package.
fn id_of(text: &str) -> Option<String> {
    let doc = Doc::parse_package(text).ok()?;
    let id = doc.root().get("manifest")?.get("id")?;
    id.as_str().map(str::to_owned)
}

/// Why no upgrade starts from a job that is there.
///
/// # Errors
/// Those of the store.
pub(super) async fn unfit(
    tx: &mut Tx,
    job: Option<Uuid>,
    now: i64,
) -> Result<Option<Refusal>, Refusal> {
    let Some(job) = job else { return Ok(None) };
    let job = jobs::find(tx, job, now).await?;
    let why = match job.map(|job| job.status) {
        Some(Status::Completed) => return Ok(None),
        Some(Status::Undone | Status::Undoing) => "was undone",
        _ => "is not completed",
    };
    let detail = format!("The job of `baseJob` {why}; name one that is completed.");
    Ok(Some(Refusal::new(Code::Conflict, detail)))
}
