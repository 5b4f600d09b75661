//! The handlers that all kinds of records share: what is read from a request, and in which order it
//! is told what is wrong with it. What is done with it says [`model`](crate::model).

use axum::http::StatusCode;
use axum::response::Response;
use uuid::Uuid;

use crate::http::body::Fields;
use crate::http::call::{Asked, Call};
use crate::http::page::PageRequest;
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::model::find::{self, Which};
use crate::model::{self, Change, Create, Kind, Remove, Written};
use crate::store::Tx;

struct List {
    kind: &'static Kind,
    which: Which,
    page: Result<PageRequest, Problem>,
}

/// A page. `filter` says which records a parent in the query stands for.
pub(super) async fn list(
    mut call: Call,
    kind: &'static Kind,
    filter: fn(Uuid) -> Which,
) -> Result<Response, Problem> {
    let parent = kind
        .parent
        .and_then(|_| call.query.optional_id(kind.parent_column()));
    let input = List {
        kind,
        which: parent.map_or(Which::All, filter),
        page: call.page(&parent.map(|id| id.to_string()).unwrap_or_default()),
    };
    call.read(input, |tx, asked| Box::pin(select_page(tx, asked)))
        .await
}

async fn select_page(tx: &mut Tx, asked: &Asked<List>) -> Result<Reply, Problem> {
    let List { kind, which, page } = &asked.input;
    let page = match (page, which, kind.parent) {
        (Ok(page), ..) => page,
        // What cannot be seen is told first.
        (Err(problem), Which::Below(parent), Some(above)) => {
            let parent = find::get(tx, above, *parent).await?;
            return Err(parent.map_or_else(Problem::not_found, |_| problem.clone()));
        }
        (Err(problem), ..) => return Err(problem.clone()),
    };
    let records = find::page(tx, kind, *which, page).await?;
    Reply::json(StatusCode::OK, &page.page(records, |record| record.id))
}

struct Get {
    kind: &'static Kind,
    id: Uuid,
    query: Result<(), Problem>,
}

/// One record.
pub(super) async fn get(mut call: Call, kind: &'static Kind) -> Result<Response, Problem> {
    let id = call.path_id(0).await?;
    let query = call.query.finish();
    call.read(Get { kind, id, query }, |tx, asked| {
        Box::pin(select(tx, asked))
    })
    .await
}

async fn select(tx: &mut Tx, asked: &Asked<Get>) -> Result<Reply, Problem> {
    let found = find::get(tx, asked.input.kind, asked.input.id).await?;
    let record = found.ok_or_else(Problem::not_found)?;
    asked.input.query.clone()?;
    Reply::json(StatusCode::OK, &record)
}

/// Creates a record whose parent stands in the body.
pub(super) async fn create(mut call: Call, kind: &'static Kind) -> Result<Response, Problem> {
    // Who cannot be told what it is to lie in cannot be told more.
    let mut fields = call.body_alone().await?;
    let query = call.query.finish();
    let parent = parent_field(&mut fields, kind)?;
    let body = query.and_then(|()| Written::create(kind, fields));
    create_in(call, kind, parent, body).await
}

fn parent_field(fields: &mut Fields, kind: &Kind) -> Result<Uuid, Problem> {
    let name = kind.parent_column();
    let Some(value) = fields.take(name) else {
        return Err(Problem::fault(name, "is required"));
    };
    let id = value.as_str().and_then(crate::http::query::uuid);
    id.ok_or_else(|| Problem::fault(name, "is no UUID"))
}

/// Creates a record whose parent stands in the path.
pub(super) async fn create_below(mut call: Call, kind: &'static Kind) -> Result<Response, Problem> {
    let parent = call.path_id(0).await?;
    let fields = call.fields().await;
    let body = fields.and_then(|fields| Written::create(kind, fields));
    create_in(call, kind, parent, body).await
}

async fn create_in(
    call: Call,
    kind: &'static Kind,
    parent: Uuid,
    body: Result<Written, Problem>,
) -> Result<Response, Problem> {
    let id = call.app.context.id();
    let input = Create {
        kind,
        parent,
        id,
        body,
    };
    call.shape(input, Some(id), |tx, asked| {
        Box::pin(model::create(tx, asked))
    })
    .await
}

/// The id of a record in the path, and that of what it lies in, where the path has both.
async fn ids(call: &mut Call) -> Result<(Option<Uuid>, Uuid), Problem> {
    let first = call.path_id(0).await?;
    if call.operation.parameters().count() == 1 {
        return Ok((None, first));
    }
    match call.path_id(1).await {
        Ok(second) => Ok((Some(first), second)),
        // What cannot be seen is told first, and then who may not.
        Err(problem) => {
            let found = call.look(first, |tx, asked| Box::pin(above(tx, asked)));
            found.await.and(Err(problem))
        }
    }
}

/// The table that a path begins with.
async fn above(tx: &mut Tx, asked: &Asked<Uuid>) -> Result<(), Problem> {
    let table = asked.tables.read(tx, asked.input).await?;
    let table = table.ok_or_else(Problem::not_found)?;
    asked.enter(table.organization).map(drop)
}

/// Changes a record.
pub(super) async fn patch(mut call: Call, kind: &'static Kind) -> Result<Response, Problem> {
    let (parent, id) = ids(&mut call).await?;
    let fields = call.fields().await;
    let body = fields.and_then(|fields| Written::patch(kind, fields));
    let input = Change {
        kind,
        parent,
        id,
        body,
    };
    call.shape(input, Some(id), |tx, asked| {
        Box::pin(model::change(tx, asked))
    })
    .await
}

/// Deletes a record. Where nothing can be lost there is nothing to force.
pub(super) async fn delete(
    mut call: Call,
    kind: &'static Kind,
    forcible: bool,
) -> Result<Response, Problem> {
    let (parent, id) = ids(&mut call).await?;
    let force = forcible && call.query.flag("force");
    let force = call.query.finish().map(|()| force);
    let input = Remove {
        kind,
        parent,
        id,
        force,
    };
    call.shape(input, None, |tx, asked| Box::pin(model::remove(tx, asked)))
        .await
}
