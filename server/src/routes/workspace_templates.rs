//! `/v1/workspaces/{workspace_id}/templates`: what was applied there, and what people changed in it.

use axum::http::StatusCode;
use axum::response::Response;
use uuid::Uuid;

use crate::call::lane::transfer;
use crate::call::{Call, OperationContext};
use crate::http::response::ApiResponse;
use crate::ids::WorkspaceKey;
use crate::jobs::{self, AppliedLine};
use crate::model::find;
use crate::model::kind::WORKSPACE;
use crate::paging::{Page, PageRequest};
use crate::refusal::{Code, Refusal};
use crate::store::Tx;
use crate::templates::{self, DriftRequest};

/// `GET /v1/workspaces/{workspace_id}/templates`
///
/// # Errors
/// 404 for a workspace that cannot be seen, 422 for parameters that make no sense.
pub async fn list(mut call: Call) -> Result<Response, Refusal> {
    let workspace = call.path_id(0).await?;
    let organization = call.query(workspace, |tx, ctx| Box::pin(owner(tx, ctx)));
    let organization = organization.await?;
    let page = call.page(&workspace.to_string())?;
    let lane = call.app.lanes.transfers.clone();
    let wanted = TemplateList {
        place: WorkspaceKey {
            organization,
            workspace,
        },
        page,
    };
    transfer(&lane, organization, async move {
        let found = call.snapshot(wanted, |tx, ctx| Box::pin(select_page(tx, ctx)));
        found.await.map(ApiResponse::response)
    })
    .await
}

struct TemplateList {
    place: WorkspaceKey,
    page: PageRequest,
}

async fn select_page(
    tx: &mut Tx,
    ctx: &OperationContext<TemplateList>,
) -> Result<ApiResponse, Refusal> {
    let TemplateList { place, page } = &ctx.input;
    let mut lines = jobs::lines(tx, *place).await?;
    lines.retain(|line| line.id() > page.from());
    let (lines, more) = page.cut(lines);
    let items = templates::applied(tx, *place, &lines, &ctx.tables).await?;
    let last = lines.last().filter(|_| more).map(AppliedLine::id);
    let page = Page {
        items,
        next_cursor: last.map(|last| page.cursor(last, &[])),
    };
    ApiResponse::json(StatusCode::OK, &page)
}

/// `GET /v1/workspaces/{workspace_id}/templates/{template_id}/drift`
///
/// # Errors
/// 404 for a workspace that cannot be seen and a template that was not applied there, 409 for a job that does
/// not stand, 422 for parameters that make no sense.
pub async fn drift(mut call: Call) -> Result<Response, Refusal> {
    let workspace = call.path_id(0).await?;
    let template = call.path_id(1).await?;
    let organization = call.query(workspace, |tx, ctx| Box::pin(owner(tx, ctx)));
    let organization = organization.await?;
    let wanted = DriftRequest {
        organization,
        workspace,
        template,
        cells: call.query_text.flag("rows"),
        job: call.query_text.optional_id("job"),
    };
    let wanted = Comparison {
        wanted,
        query: call.query_text.finish(),
    };
    let lane = call.app.lanes.transfers.clone();
    transfer(&lane, organization, async move {
        let found = call.snapshot(wanted, |tx, ctx| Box::pin(compare(tx, ctx)));
        found.await.map(ApiResponse::response)
    })
    .await
}

struct Comparison {
    wanted: DriftRequest,
    /// Reported when it is clear that the template was applied there.
    query: Result<(), Refusal>,
}

async fn compare(tx: &mut Tx, ctx: &OperationContext<Comparison>) -> Result<ApiResponse, Refusal> {
    let Comparison { wanted, query } = &ctx.input;
    let line = match (wanted.line(tx, ctx.now).await, query) {
        (Ok(_), Err(fault)) => return Err(fault.clone()),
        (Err(refusal), Err(fault)) if refusal.code == Code::Conflict => return Err(fault.clone()),
        (line, _) => line?,
    };
    let drift = templates::drift(tx, wanted, &line, &ctx.tables).await?;
    ApiResponse::json(StatusCode::OK, &drift)
}

/// Whose workspace it is.
async fn owner(tx: &mut Tx, ctx: &OperationContext<Uuid>) -> Result<Uuid, Refusal> {
    let found = find::get(tx, &WORKSPACE, ctx.input).await?;
    let found = found.ok_or_else(Refusal::not_found)?;
    Ok(found.organization())
}
