//! `POST /v1/workflows-v2/{workflow_id}/apply`

use axum::http::StatusCode;
use axum::response::Response;
use uuid::Uuid;

use crate::automation::{find, publish};
use crate::http::call::{Asked, Call};
use crate::http::problem::{Code, Problem};
use crate::http::reply::Reply;
use crate::store::Tx;

struct Apply {
    workflow: Uuid,
    version: Result<Option<Uuid>, Problem>,
}

/// `POST /v1/workflows-v2/{workflow_id}/apply`: publishes a draft, the newest when none is named.
///
/// # Errors
/// 404, 403, 422, 409 without a draft and for one whose base is no longer in force.
pub async fn apply(mut call: Call) -> Result<Response, Problem> {
    let workflow = call.path_id(0).await?;
    let fields = call.fields_or_none().await;
    let version = fields.and_then(|mut fields| {
        let version = fields.id("version_id");
        fields.finish()?;
        Ok(version)
    });
    let input = Apply { workflow, version };
    call.write(input, |tx, asked| Box::pin(promote(tx, asked)))
        .await
}

async fn promote(tx: &mut Tx, asked: &Asked<Apply>) -> Result<Reply, Problem> {
    let line = find::lock(tx, asked.input.workflow).await?;
    asked.enter(line.organization)?;
    if let Some(answered) = asked.claim(tx).await? {
        return Ok(answered);
    }
    let named = asked.input.version.as_ref().map_err(Clone::clone)?;
    let draft = match named {
        None => find::newest_draft(tx, line.id).await?.ok_or_else(|| {
            Problem::new(Code::Conflict, "There is no draft that could be published.")
        })?,
        Some(id) => {
            let found = find::by_id(tx, line.id, *id).await?;
            found.ok_or_else(Problem::not_found)?
        }
    };
    if !draft.is_draft {
        return Err(Problem::new(
            Code::DraftStale,
            "That version is no draft any more: it was published meanwhile.",
        ));
    }
    let version = publish(tx, draft, (asked.caller.id, asked.now)).await?;
    asked.keep(tx, Reply::json(StatusCode::OK, &version)?).await
}
