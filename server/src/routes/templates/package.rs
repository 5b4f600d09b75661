//! Whole packages: `POST /v1/templates/import`, `GET` and `PUT /v1/templates/{template_id}/package`.

use axum::response::Response;
use uuid::Uuid;

use super::{aside, entered, written};
use crate::http::body;
use crate::http::call::{Asked, Call};
use crate::http::lane::{check, transfer};
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::store::Tx;
use crate::templates::{self, Create, Origin, Parcel, Replace};

/// `POST /v1/templates/import`: a file becomes a template. Who has one organization need not name it.
///
/// # Errors
/// 404 and 403 for the organization, 422 for a package that breaks rules.
pub async fn import(mut call: Call) -> Result<Response, Problem> {
    let organization = match call.query.optional_id("organization_id") {
        Some(organization) => organization,
        None => only_one(&mut call)?,
    };
    let lane = call.app.lanes.transfers.clone();
    if !organization.is_nil() {
        call.enter(organization)?;
        check(&lane, organization)?;
    }
    let bytes = call.bytes().await?;
    call.query.finish()?;
    transfer(&lane, organization, async move {
        let parcel = aside(move || Parcel::read(text(bytes)?, Origin::File)).await?;
        let input = Create {
            organization,
            parcel,
        };
        call.write(input, |tx, asked| Box::pin(templates::create(tx, asked)))
            .await
    })
    .await
}

/// The caller's organization, if it is one; otherwise it is noted that one has to be named.
fn only_one(call: &mut Call) -> Result<Uuid, Problem> {
    if let [(organization, _)] = call.caller()?.organizations[..] {
        return Ok(organization);
    }
    let told = "is required: it is not clear which is meant";
    call.query.refuse("organization_id", told);
    Ok(Uuid::nil())
}

/// A package comes as a file, which may begin with a byte-order mark.
fn text(mut bytes: Vec<u8>) -> Result<String, Problem> {
    if bytes.starts_with(b"\xEF\xBB\xBF") {
        bytes.drain(..3);
    }
    body::text(bytes)
}

/// `GET /v1/templates/{template_id}/package`: the file, in canonical form.
///
/// # Errors
/// 404.
pub async fn get(mut call: Call) -> Result<Response, Problem> {
    let id = call.path_id(0).await?;
    let query = call.query.finish();
    let lane = call.app.lanes.transfers.clone();
    transfer(&lane, call.on_behalf_of(Uuid::nil())?, async move {
        let package = call.survey((id, query), |tx, asked| Box::pin(select(tx, asked)));
        package.await.map(Reply::response)
    })
    .await
}

async fn select(tx: &mut Tx, asked: &Asked<(Uuid, Result<(), Problem>)>) -> Result<Reply, Problem> {
    let (id, query) = &asked.input;
    let template = templates::find(tx, *id).await?;
    query.clone()?;
    Ok(written(
        templates::read_package(tx, &template).await?.text(),
    ))
}

/// `PUT /v1/templates/{template_id}/package`: another manifest and other payloads, or nothing.
///
/// # Errors
/// 403, 404, 422 for a package that breaks rules.
pub async fn put(mut call: Call) -> Result<Response, Problem> {
    let id = call.path_id(0).await?;
    let organization = entered(&mut call, id).await?;
    let lane = call.app.lanes.transfers.clone();
    check(&lane, organization)?;
    let bytes = call.bytes().await?;
    call.query.finish()?;
    transfer(&lane, organization, async move {
        let parcel = aside(move || Parcel::read(text(bytes)?, Origin::Store)).await?;
        call.write(Replace { id, parcel }, |tx, asked| {
            Box::pin(templates::replace(tx, asked))
        })
        .await
    })
    .await
}
