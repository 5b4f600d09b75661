//! Whole packages: `POST /v1/templates/import`, `GET` and `PUT /v1/templates/{template_id}/package`.

use axum::http::StatusCode;
use axum::response::Response;
use uuid::Uuid;

use super::{insert, managed_by, offload, written};
use crate::call::lane::{check, transfer};
use crate::call::{Call, OperationContext};
use crate::http::response::ApiResponse;
use crate::json_body;
use crate::refusal::Refusal;
use crate::routes::path_record::Checked;
use crate::store::Tx;
use crate::templates::{self, Create, Origin, PackageParts, Replace};

/// `POST /v1/templates/import`: a file becomes a template. Who has one organization need not name it.
///
/// # Errors
/// 404 and 403 for the organization, 422 for a package that breaks rules.
pub async fn import(mut call: Call) -> Result<Response, Refusal> {
    let organization = match call.query_text.optional_id("organization_id") {
        Some(organization) => organization,
        None => only_one(&mut call)?,
    };
    let lane = call.app.lanes.transfers.clone();
    if !organization.is_nil() {
        call.enter(organization)?;
        check(&lane, organization)?;
        if call.body_was_slow().await? {
            call.enter(organization)?;
        }
    }
    let bytes = call.bytes().await?;
    call.query_text.finish()?;
    transfer(&lane, organization, async move {
        let parts = offload(move || PackageParts::read(text(bytes)?, Origin::File)).await?;
        let input = Create {
            organization,
            parts,
        };
        call.write(input, |tx, ctx| Box::pin(insert(tx, ctx))).await
    })
    .await
}

/// The caller's organization, if it is one; otherwise it is noted that one has to be named.
fn only_one(call: &mut Call) -> Result<Uuid, Refusal> {
    if let [only] = &call.caller()?.organizations[..] {
        return Ok(only.organization);
    }
    let message = "is required: it is not clear which is meant";
    call.query_text.refuse("organization_id", message);
    Ok(Uuid::nil())
}

/// A package comes as a file, which may begin with a byte-order mark.
fn text(mut bytes: Vec<u8>) -> Result<String, Refusal> {
    if bytes.starts_with(b"\xEF\xBB\xBF") {
        bytes.drain(..3);
    }
    json_body::text(bytes)
}

/// `GET /v1/templates/{template_id}/package`: the file, in canonical form.
///
/// # Errors
/// 404.
pub async fn get(mut call: Call) -> Result<Response, Refusal> {
    let id = call.path_id(0).await?;
    let query = call.query_text.finish();
    let lane = call.app.lanes.transfers.clone();
    transfer(&lane, call.on_behalf_of(Uuid::nil())?, async move {
        let package = call.snapshot(Checked { id, query }, |tx, ctx| Box::pin(select(tx, ctx)));
        package.await.map(ApiResponse::response)
    })
    .await
}

async fn select(tx: &mut Tx, ctx: &OperationContext<Checked<()>>) -> Result<ApiResponse, Refusal> {
    let Checked { id, query } = &ctx.input;
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
pub async fn put(mut call: Call) -> Result<Response, Refusal> {
    let id = call.path_id(0).await?;
    let organization = managed_by(&mut call, id).await?;
    let lane = call.app.lanes.transfers.clone();
    check(&lane, organization)?;
    if call.body_was_slow().await? {
        managed_by(&mut call, id).await?;
    }
    let bytes = call.bytes().await?;
    call.query_text.finish()?;
    transfer(&lane, organization, async move {
        let parts = offload(move || PackageParts::read(text(bytes)?, Origin::Store)).await?;
        call.write(Replace { id, parts }, |tx, ctx| Box::pin(replace(tx, ctx)))
            .await
    })
    .await
}

async fn replace(tx: &mut Tx, ctx: &OperationContext<Replace>) -> Result<ApiResponse, Refusal> {
    let record = templates::replace(tx, ctx.actor(), &ctx.input, ctx.now).await?;
    ApiResponse::json(StatusCode::OK, &record)
}
