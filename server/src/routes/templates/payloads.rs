//! `/v1/templates/{template_id}/payloads`

use axum::http::StatusCode;
use axum::response::Response;
use tplkit::package::uid::is_uid;

use super::{managed_by, offload};
use crate::call::lane::{check, transfer};
use crate::call::{Call, OperationContext};
use crate::http::response::ApiResponse;
use crate::json_body;
use crate::paging::PageRequest;
use crate::refusal::Refusal;
use crate::routes::path_record::Checked;
use crate::store::Tx;
use crate::templates::{self, Entry};

/// `GET …/payloads`
///
/// # Errors
/// 404, 422 for parameters that make no sense.
pub async fn list(mut call: Call) -> Result<Response, Refusal> {
    let id = call.path_id(0).await?;
    let query = call.page(&id.to_string());
    call.read(Checked { id, query }, |tx, ctx| {
        Box::pin(select_page(tx, ctx))
    })
    .await
}

async fn select_page(
    tx: &mut Tx,
    ctx: &OperationContext<Checked<PageRequest>>,
) -> Result<ApiResponse, Refusal> {
    let Checked { id, query } = &ctx.input;
    let template = templates::find(tx, *id).await?;
    let page = query.clone()?;
    let found = templates::page_of_payloads(tx, &template, &page).await?;
    ApiResponse::json(StatusCode::OK, &found)
}

/// `PUT …/payloads/{item_uid}`
///
/// # Errors
/// 403, 404, 422 for an entry that breaks rules by itself or has another uid.
pub async fn put(mut call: Call) -> Result<Response, Refusal> {
    let template = call.path_id(0).await?;
    let organization = managed_by(&mut call, template).await?;
    let lane = call.app.lanes.transfers.clone();
    check(&lane, organization)?;
    if call.body_was_slow().await? {
        managed_by(&mut call, template).await?;
    }
    let bytes = call.bytes().await?;
    let uid = uid(&call)?;
    call.query_text.finish()?;
    transfer(&lane, organization, async move {
        let entry = offload(move || Entry::read(template, &uid, &json_body::text(bytes)?)).await?;
        call.write(entry, |tx, ctx| Box::pin(insert(tx, ctx))).await
    })
    .await
}

/// `DELETE …/payloads/{item_uid}`
///
/// # Errors
/// 403, 404.
pub async fn delete(mut call: Call) -> Result<Response, Refusal> {
    let template = call.path_id(0).await?;
    managed_by(&mut call, template).await?;
    let uid = uid(&call)?;
    call.query_text.finish()?;
    call.write(Entry::named(template, &uid), |tx, ctx| {
        Box::pin(remove(tx, ctx))
    })
    .await
}

async fn insert(tx: &mut Tx, ctx: &OperationContext<Entry>) -> Result<ApiResponse, Refusal> {
    let put = templates::put_payload(tx, ctx.actor(), &ctx.input, ctx.now);
    let (payload, is_new) = put.await?;
    let status = if is_new {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    ApiResponse::json(status, &payload)
}

async fn remove(tx: &mut Tx, ctx: &OperationContext<Entry>) -> Result<ApiResponse, Refusal> {
    templates::remove_payload(tx, ctx.actor(), &ctx.input, ctx.now).await?;
    Ok(ApiResponse::nothing())
}

fn uid(call: &Call) -> Result<String, Refusal> {
    let uid = call.path_text(1);
    if is_uid(uid) {
        Ok(uid.to_owned())
    } else {
        Err(Refusal::fault("path.item_uid", "is not a uid"))
    }
}
