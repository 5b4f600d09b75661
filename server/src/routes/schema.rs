//! `/v1/schema` and `/v1/schema/definitions`: the model in one answer, and what it may hold.

use axum::http::StatusCode;
use axum::response::Response;
use tplkit::definitions::Definitions;
use uuid::Uuid;

use crate::definitions;
use crate::http::SchemaCap;
use crate::http::call::{Asked, Call, json};
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::model::schema;
use crate::store::Tx;

struct Schema {
    workspace: Option<Uuid>,
    cap: SchemaCap,
    query: Result<(), Problem>,
}

/// `GET /v1/schema`
///
/// # Errors
/// 404 for a workspace that cannot be seen.
pub async fn get(mut call: Call) -> Result<Response, Problem> {
    let workspace = call.query.optional_id("workspace_id");
    let input = Schema {
        workspace,
        cap: call.app.config.schema_cap,
        query: call.query.finish(),
    };
    call.read(input, |tx, asked| Box::pin(select(tx, asked)))
        .await
}

async fn select(tx: &mut Tx, asked: &Asked<Schema>) -> Result<Reply, Problem> {
    if asked.input.workspace.is_none() {
        asked.input.query.clone()?;
    }
    let cap = asked.input.cap;
    let found = schema::read(
        tx,
        asked.input.workspace,
        (cap.features as usize, cap.columns as usize),
    )
    .await?;
    asked.input.query.clone()?;
    Reply::json(StatusCode::OK, &found)
}

/// `GET /v1/schema/definitions`
///
/// # Errors
/// 422 for a format that does not exist.
pub async fn definitions(mut call: Call) -> Result<Response, Problem> {
    let format = call.query.text("format");
    let document = match format.as_deref() {
        None | Some("generated") => definitions::document(Definitions::embedded()),
        Some("legacy") => definitions::legacy(Definitions::embedded()),
        Some(_) => {
            let told = "is neither generated nor legacy";
            return Err(Problem::fault("query.format", told));
        }
    };
    call.query.finish()?;
    json(StatusCode::OK, &document)
}
