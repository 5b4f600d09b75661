//! `GET /v1/files`

use axum::http::StatusCode;
use axum::response::Response;
use uuid::Uuid;

use crate::call::lane::in_lane;
use crate::call::{Call, OperationContext};
use crate::files::find::{self, Filter};
use crate::http::response::ApiResponse;
use crate::model::find::read;
use crate::model::kind::WORKSPACE;
use crate::paging::PageRequest;
use crate::refusal::Refusal;
use crate::store::Tx;

#[derive(Clone)]
struct List {
    workspace: Option<Uuid>,
    attached: Option<bool>,
    page: Result<PageRequest, Refusal>,
}

impl List {
    fn filter(&self, page: &PageRequest) -> Filter {
        Filter {
            workspace: self.workspace,
            attached: self.attached,
            after: page.from(),
            most: page.lookahead(),
        }
    }
}

/// For whom much has to be looked at, if it has to.
enum Effort {
    Short,
    Long(Uuid),
}

/// Lists the files that the caller sees. Where many have to be looked at for a page, it waits for its lane.
///
/// # Errors
/// 404 for a workspace that cannot be seen, 422 for parameters that make no sense, 429.
pub async fn list(mut call: Call) -> Result<Response, Refusal> {
    let workspace = call.query_text.optional_id("workspace_id");
    let attached = call.query_text.word("attached", &["true", "false"]);
    let attached = attached.map(|word| word == "true");
    let of = workspace.map(|id| id.to_string()).unwrap_or_default();
    let page = call.page(&format!("{of} {attached:?}"));
    let list = List {
        workspace,
        attached,
        page,
    };
    let effort = call.query(list.clone(), |tx, ctx| Box::pin(effort(tx, ctx)));
    match effort.await? {
        Effort::Short => call.read(list, |tx, ctx| Box::pin(select(tx, ctx))).await,
        Effort::Long(concerned) => {
            let organization = call.on_behalf_of(concerned)?;
            let lane = call.app.lanes.queries.clone();
            let work = async move {
                call.read_much(list, |tx, ctx| Box::pin(select(tx, ctx)))
                    .await
            };
            in_lane(&lane, organization, work).await
        }
    }
}

async fn effort(tx: &mut Tx, ctx: &OperationContext<List>) -> Result<Effort, Refusal> {
    let list = &ctx.input;
    let mut concerned = Uuid::nil();
    if let Some(workspace) = list.workspace {
        let seen = read(tx, &WORKSPACE, workspace).await?;
        concerned = seen.ok_or_else(Refusal::not_found)?.organization();
    }
    let page = list.page.clone()?;
    if find::is_short(tx, &list.filter(&page)).await? {
        Ok(Effort::Short)
    } else {
        Ok(Effort::Long(concerned))
    }
}

async fn select(tx: &mut Tx, ctx: &OperationContext<List>) -> Result<ApiResponse, Refusal> {
    let page = ctx.input.page.clone()?;
    let found = find::page(tx, &ctx.input.filter(&page)).await?;
    ApiResponse::json(StatusCode::OK, &page.page(found, |file| file.id))
}
