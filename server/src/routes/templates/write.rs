//! `POST /v1/templates`, `PATCH` and `DELETE /v1/templates/{template_id}`.

use axum::http::StatusCode;
use axum::response::Response;
use tplkit::json::Node;
use uuid::Uuid;

use super::{insert, managed_by, offload};
use crate::call::lane::transfer;
use crate::call::{Call, OperationContext};
use crate::http::response::ApiResponse;
use crate::json_body;
use crate::refusal::{Fault, Refusal};
use crate::store::Tx;
use crate::templates::{self, Change, Create, Origin, PackageParts, Remove};

/// `POST /v1/templates`: a manifest whose payloads follow.
///
/// # Errors
/// 404 and 403 for the organization, 422 for a manifest that breaks rules.
pub async fn create(mut call: Call) -> Result<Response, Refusal> {
    let text = json_body::text(call.bytes().await?)?;
    let query = call.query_text.finish();
    let (organization, manifest) = {
        let doc = json_body::read(&text)?;
        let root = doc.root();
        if !root.is_object() {
            return Err(json_body::not_an_object());
        }
        let organization = organization(root)?;
        // Who may not is refused before anything else is reported.
        call.enter(organization)?;
        query?;
        (organization, manifest(root)?)
    };
    drop(text);
    let lane = call.app.lanes.transfers.clone();
    transfer(&lane, organization, async move {
        let parts = offload(move || PackageParts::read(manifest, Origin::Store)).await?;
        let input = Create {
            organization,
            parts,
        };
        call.write(input, |tx, ctx| Box::pin(insert(tx, ctx))).await
    })
    .await
}

fn organization(root: Node<'_>) -> Result<Uuid, Refusal> {
    let name = "organization_id";
    let Some(value) = root.get(name) else {
        return Err(Refusal::fault(name, "is required"));
    };
    let id = value.as_str().and_then(crate::ids::uuid);
    id.ok_or_else(|| Refusal::fault(name, "is not a UUID"))
}

/// The manifest in an envelope of its own, when nothing is next to it that means nothing.
pub(crate) fn manifest(root: Node<'_>) -> Result<String, Refusal> {
    let names = root.members().filter_map(Node::key);
    let unknown = names.filter(|name| !["organization_id", "manifest"].contains(name));
    let mut faults: Vec<Fault> = unknown
        .map(|name| Fault::new(name, json_body::UNKNOWN_FIELD))
        .collect();
    let manifest = root.get("manifest");
    if manifest.is_none() {
        faults.push(Fault::new("manifest", "is required"));
    }
    match manifest {
        Some(manifest) if faults.is_empty() => Ok(format!("{{\"manifest\":{}}}", manifest.raw())),
        _ => Err(Refusal::invalid(faults)),
    }
}

/// `PATCH /v1/templates/{template_id}`: what the catalog shows of it, and to whom.
///
/// # Errors
/// 403 for fields that never change and for who may not, 404, 422.
pub async fn patch(mut call: Call) -> Result<Response, Refusal> {
    let id = call.path_id(0).await?;
    let change = Change::read(id, call.fields().await);
    call.write(change, |tx, ctx| Box::pin(update(tx, ctx)))
        .await
}

async fn update(tx: &mut Tx, ctx: &OperationContext<Change>) -> Result<ApiResponse, Refusal> {
    let record = Change::make(tx, ctx.actor(), &ctx.input, ctx.now).await?;
    ApiResponse::json(StatusCode::OK, &record)
}

/// `DELETE /v1/templates/{template_id}`
///
/// # Errors
/// 403, 404, 409 for one that is in use, where only an unused one is to go.
pub async fn delete(mut call: Call) -> Result<Response, Refusal> {
    let id = call.path_id(0).await?;
    managed_by(&mut call, id).await?;
    let unused = call.query_text.flag("unused");
    call.query_text.finish()?;
    call.write(Remove { id, unused }, |tx, ctx| Box::pin(remove(tx, ctx)))
        .await
}

async fn remove(tx: &mut Tx, ctx: &OperationContext<Remove>) -> Result<ApiResponse, Refusal> {
    templates::remove(tx, ctx.actor(), &ctx.input).await?;
    Ok(ApiResponse::nothing())
}
