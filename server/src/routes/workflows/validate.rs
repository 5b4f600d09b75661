//! `POST /v1/workflows-v2/validate`

use axum::http::StatusCode;
use axum::response::Response;
use uuid::Uuid;

use super::halves::Halves;
use crate::automation::{Place, judge};
use crate::http::body::Fields;
use crate::http::call::{Asked, Call};
use crate::http::problem::Problem;
use crate::http::query;
use crate::http::reply::Reply;
use crate::model::kind::WORKSPACE;
use crate::model::{Record, find};
use crate::store::Tx;

struct Question {
    workspace: Uuid,
    body: Result<(Halves, Option<Uuid>), Problem>,
}

/// `POST /v1/workflows-v2/validate`: the verdict of a save, without one.
///
/// # Errors
/// 404 for a workspace that is not seen, 422 for a body that cannot be read.
pub async fn validate(mut call: Call) -> Result<Response, Problem> {
    let mut fields = call.body_alone().await?;
    let query = call.query.finish();
    let workspace = workspace(&mut fields)?;
    let body = query.and_then(|()| read(fields));
    call.read(Question { workspace, body }, |tx, asked| {
        Box::pin(answer(tx, asked))
    })
    .await
}

/// The workspace that a body names: who cannot be told where cannot be told more.
pub(super) fn workspace(fields: &mut Fields) -> Result<Uuid, Problem> {
    let Some(value) = fields.take("workspace_id") else {
        return Err(Problem::fault("workspace_id", "is required"));
    };
    let id = value.as_str().and_then(query::uuid);
    id.ok_or_else(|| Problem::fault("workspace_id", "is no UUID"))
}

fn read(mut fields: Fields) -> Result<(Halves, Option<Uuid>), Problem> {
    let halves = Halves::take(&mut fields);
    let workflow = fields.id("workflow_id");
    fields.finish()?;
    Ok((halves, workflow))
}

async fn answer(tx: &mut Tx, asked: &Asked<Question>) -> Result<Reply, Problem> {
    let found = find::get(tx, &WORKSPACE, asked.input.workspace).await?;
    let workspace = found.ok_or_else(Problem::not_found)?;
    verdict(tx, asked, &workspace).await
}

async fn verdict(
    tx: &mut Tx,
    asked: &Asked<Question>,
    workspace: &Record,
) -> Result<Reply, Problem> {
    let (halves, workflow) = asked.input.body.as_ref().map_err(Clone::clone)?;
    let place = Place {
        organization: workspace.organization(),
        workspace: workspace.id,
        workflow: *workflow,
    };
    let (trigger, graph) = (halves.trigger().write(), halves.graph().write());
    let judged = judge(tx, place, &trigger, &graph).await?;
    Reply::json(StatusCode::OK, &judged)
}
