//! The handlers that all kinds of records share: reading a request, and the order of its refusals.
//! [`model`](crate::model) does the work.

use axum::http::StatusCode;
use axum::response::Response;
use uuid::Uuid;

use crate::call::{Call, OperationContext};
use crate::http::response::ApiResponse;
use crate::json_body::Fields;
use crate::model::find::{self, PageFilter};
use crate::model::{self, Change, Create, KindDescription, RecordInput, Remove};
use crate::paging::PageRequest;
use crate::refusal::{Code, Refusal};
use crate::store::Tx;

struct List {
    kind: &'static KindDescription,
    which: PageFilter,
    page: Result<PageRequest, Refusal>,
}

/// A page. `filter` says which records a parent in the query stands for.
pub(super) async fn list(
    mut call: Call,
    kind: &'static KindDescription,
    filter: fn(Uuid) -> PageFilter,
) -> Result<Response, Refusal> {
    let parent = kind
        .parent
        .and_then(|_| call.query_text.optional_id(kind.parent_column()));
    let input = List {
        kind,
        which: parent.map_or(PageFilter::All, filter),
        page: call.page(&parent.map(|id| id.to_string()).unwrap_or_default()),
    };
    call.read(input, |tx, ctx| Box::pin(select_page(tx, ctx)))
        .await
}

async fn select_page(tx: &mut Tx, ctx: &OperationContext<List>) -> Result<ApiResponse, Refusal> {
    let List { kind, which, page } = &ctx.input;
    let page = match (page, which, kind.parent) {
        (Ok(page), ..) => page,
        // What cannot be seen is reported first.
        (Err(refusal), PageFilter::Below(parent), Some(above)) => {
            let parent = find::get(tx, above, *parent).await?;
            return Err(parent.map_or_else(Refusal::not_found, |_| refusal.clone()));
        }
        (Err(refusal), ..) => return Err(refusal.clone()),
    };
    let records = find::page(tx, kind, *which, page).await?;
    ApiResponse::json(
        StatusCode::OK,
        &page.bounded_page(records, |record| record.id),
    )
}

struct Get {
    kind: &'static KindDescription,
    id: Uuid,
    query: Result<(), Refusal>,
}

/// One record.
pub(super) async fn get(
    mut call: Call,
    kind: &'static KindDescription,
) -> Result<Response, Refusal> {
    let id = call.path_id(0).await?;
    let query = call.query_text.finish();
    call.read(Get { kind, id, query }, |tx, ctx| Box::pin(select(tx, ctx)))
        .await
}

async fn select(tx: &mut Tx, ctx: &OperationContext<Get>) -> Result<ApiResponse, Refusal> {
    let found = find::get(tx, ctx.input.kind, ctx.input.id).await?;
    let record = found.ok_or_else(Refusal::not_found)?;
    ctx.input.query.clone()?;
    ApiResponse::json(StatusCode::OK, &record)
}

/// Creates a record whose parent is in the body.
pub(super) async fn create(
    mut call: Call,
    kind: &'static KindDescription,
) -> Result<Response, Refusal> {
    // The parent is checked first: without it nothing else can be checked.
    let mut fields = call.body_alone().await?;
    let query = call.query_text.finish();
    let parent = parent_field(&mut fields, kind)?;
    let body = query.and_then(|()| RecordInput::create(kind, fields));
    create_in(call, kind, parent, body).await
}

fn parent_field(fields: &mut Fields, kind: &KindDescription) -> Result<Uuid, Refusal> {
    let name = kind.parent_column();
    let Some(value) = fields.take(name) else {
        return Err(Refusal::fault(name, "is required"));
    };
    let id = value.as_str().and_then(crate::ids::uuid);
    id.ok_or_else(|| Refusal::fault(name, "is not a UUID"))
}

/// Creates a record whose parent is in the path.
pub(super) async fn create_below(
    mut call: Call,
    kind: &'static KindDescription,
) -> Result<Response, Refusal> {
    let parent = call.path_id(0).await?;
    let fields = call.fields().await;
    let body = fields.and_then(|fields| RecordInput::create(kind, fields));
    create_in(call, kind, parent, body).await
}

async fn create_in(
    call: Call,
    kind: &'static KindDescription,
    parent: Uuid,
    body: Result<RecordInput, Refusal>,
) -> Result<Response, Refusal> {
    let id = call.app.context.id();
    let input = Create {
        kind,
        parent,
        id,
        body,
    };
    call.write_schema(input, Some(id), |tx, ctx| Box::pin(insert(tx, ctx)))
        .await
}

async fn insert(tx: &mut Tx, ctx: &OperationContext<Create>) -> Result<ApiResponse, Refusal> {
    let entered = model::enter(tx, ctx.actor(), &ctx.input).await?;
    if let Some(kept) = ctx.claim(tx).await? {
        return Ok(kept);
    }
    let record = model::create(tx, &ctx.input, entered, ctx.now).await?;
    ctx.keep(tx, ApiResponse::json(StatusCode::CREATED, &record)?)
        .await
}

/// The ids in the path of a record.
struct RecordPath {
    /// What it lies in, where the path names that.
    parent: Option<Uuid>,
    id: Uuid,
}

async fn record_path(call: &mut Call) -> Result<RecordPath, Refusal> {
    let first = call.path_id(0).await?;
    if call.operation.parameters().count() == 1 {
        return Ok(RecordPath {
            parent: None,
            id: first,
        });
    }
    match call.path_id(1).await {
        Ok(id) => Ok(RecordPath {
            parent: Some(first),
            id,
        }),
        // What cannot be seen is reported first, and then who may not.
        Err(refusal) => {
            let found = call.query(first, |tx, ctx| Box::pin(above(tx, ctx)));
            found.await.and(Err(refusal))
        }
    }
}

/// The table that a path begins with.
async fn above(tx: &mut Tx, ctx: &OperationContext<Uuid>) -> Result<(), Refusal> {
    let table = ctx.tables.read(tx, ctx.input).await?;
    let table = table.ok_or_else(Refusal::not_found)?;
    ctx.enter(table.organization).map(drop)
}

/// Changes a record.
pub(super) async fn patch(
    mut call: Call,
    kind: &'static KindDescription,
) -> Result<Response, Refusal> {
    let RecordPath { parent, id } = record_path(&mut call).await?;
    let fields = call.fields().await;
    let body = fields.and_then(|fields| RecordInput::patch(kind, fields));
    let input = Change {
        kind,
        parent,
        id,
        body,
    };
    call.write_schema(input, Some(id), |tx, ctx| Box::pin(update(tx, ctx)))
        .await
}

async fn update(tx: &mut Tx, ctx: &OperationContext<Change>) -> Result<ApiResponse, Refusal> {
    let record = model::change(tx, ctx.actor(), &ctx.input, ctx.now).await?;
    ApiResponse::json(StatusCode::OK, &record)
}

/// Deletes a record. Where nothing can be lost, the operation has no `force`.
pub(super) async fn delete(
    mut call: Call,
    kind: &'static KindDescription,
) -> Result<Response, Refusal> {
    let RecordPath { parent, id } = record_path(&mut call).await?;
    let force = call.operation.takes_query("force") && call.query_text.flag("force");
    let force = call.query_text.finish().map(|()| force);
    let input = Remove {
        kind,
        parent,
        id,
        force,
    };
    if matches!(input.force, Ok(true)) {
        remove_parts(&call, &input).await?;
    }
    call.write_schema(input, None, |tx, ctx| Box::pin(remove(tx, ctx)))
        .await
}

/// Removes what is in a large table or workspace, part after part. What was removed stays so when the request ends before
/// the record itself is deleted: sent again, it goes on.
async fn remove_parts(call: &Call, remove: &Remove) -> Result<(), Refusal> {
    loop {
        let part = call.write_schema_part(remove.clone(), |tx, ctx| Box::pin(remove_part(tx, ctx)));
        match part.await {
            Ok(true) => {}
            Ok(false) => return Ok(()),
            // The deletion says so itself.
            Err(refusal) if matches!(refusal.code, Code::NotFound | Code::Forbidden) => {
                return Ok(());
            }
            Err(refusal) => return Err(refusal),
        }
    }
}

async fn remove_part(tx: &mut Tx, ctx: &OperationContext<Remove>) -> Result<bool, Refusal> {
    model::remove_part(tx, ctx.actor(), &ctx.input, &ctx.tables, ctx.now).await
}

async fn remove(tx: &mut Tx, ctx: &OperationContext<Remove>) -> Result<ApiResponse, Refusal> {
    model::remove(tx, ctx.actor(), &ctx.input, ctx.now).await?;
    Ok(ApiResponse::nothing())
}
