//! `GET /v1/templates` and `GET /v1/templates/{template_id}`.

use axum::http::StatusCode;
use axum::response::Response;
use uuid::Uuid;

use crate::http::call::{Asked, Call};
use crate::http::page::PageRequest;
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::store::Tx;
use crate::templates::{self, Filter};

const SCOPES: [&str; 4] = ["organization", "workspace", "module", "feature"];
const VISIBILITIES: [&str; 3] = ["system", "org", "public"];

/// `GET /v1/templates`: what the caller's organizations have, and what is for everybody.
///
/// # Errors
/// 422 for parameters that make no sense.
pub async fn list(mut call: Call) -> Result<Response, Problem> {
    let filter = Filter {
        scope: call.query.word("scope", &SCOPES),
        visibility: call.query.word("visibility", &VISIBILITIES),
    };
    let page = call.page(&format!("{filter:?}"))?;
    call.read((filter, page), |tx, asked| Box::pin(select_page(tx, asked)))
        .await
}

async fn select_page(tx: &mut Tx, asked: &Asked<(Filter, PageRequest)>) -> Result<Reply, Problem> {
    let (filter, page) = &asked.input;
    let found = templates::page(tx, *filter, page).await?;
    Reply::json(StatusCode::OK, &page.page(found, |record| record.id))
}

/// `GET /v1/templates/{template_id}`, with the manifest.
///
/// # Errors
/// 404.
pub async fn get(mut call: Call) -> Result<Response, Problem> {
    let id = call.path_id(0).await?;
    let query = call.query.finish();
    call.read((id, query), |tx, asked| Box::pin(select(tx, asked)))
        .await
}

async fn select(tx: &mut Tx, asked: &Asked<(Uuid, Result<(), Problem>)>) -> Result<Reply, Problem> {
    let (id, query) = &asked.input;
    let found = templates::get(tx, *id).await?;
    query.clone()?;
    Reply::json(StatusCode::OK, &found)
}
