//! `GET …/rows`

use axum::response::Response;
use tplkit::rows::query::Sort;
use uuid::Uuid;

use super::row_filter::{malformed, respond_with, row_filter, visible, visible_table};
use crate::call::lane::in_lane;
use crate::call::{Call, OperationContext};
use crate::http::query::Query;
use crate::http::response::ApiResponse;
use crate::paging::PageRequest;
use crate::refusal::Refusal;
use crate::rows::query::{self, Cost, CursorPosition, RowListRequest};
use crate::store::Tx;

/// `GET …/rows`
///
/// # Errors
/// 404 for a table that is missing or hidden, 422 for parameters that make no sense.
pub async fn list(mut call: Call) -> Result<Response, Refusal> {
    let feature = call.path_id(0).await?;
    let listing = listing(&mut call, feature);
    let table = visible_table(&call, feature)?.filter(|table| {
        let cost = listing.as_ref().map(|listing| listing.cost(table));
        cost.is_ok_and(|cost| cost != Cost::Short)
    });
    let input = (feature, listing);
    let Some(table) = table else {
        return call.read(input, |tx, ctx| Box::pin(respond(tx, ctx))).await;
    };
    let lane = call.app.lanes.questions.clone();
    in_lane(&lane, table.organization, async move {
        call.read_much(input, |tx, ctx| Box::pin(respond(tx, ctx)))
            .await
    })
    .await
}

async fn respond(
    tx: &mut Tx,
    ctx: &OperationContext<(Uuid, Result<RowListRequest, Refusal>)>,
) -> Result<ApiResponse, Refusal> {
    match &ctx.input {
        (_, Ok(listing)) => {
            let found = query::list(tx, &ctx.tables, listing).await?;
            Ok(respond_with(found))
        }
        (feature, Err(problem)) => visible(tx, &ctx.tables, *feature, problem).await,
    }
}

fn listing(call: &mut Call, feature: Uuid) -> Result<RowListRequest, Refusal> {
    let filter = row_filter(&mut call.query_text, feature);
    let sort = sort(&mut call.query_text);
    let fields = fields(&mut call.query_text);
    let page = match &filter {
        Ok((question, texts)) => call.page(&format!(
            "{feature} {:?} {texts:?} {sort:?}",
            question.matching
        )),
        // A cursor cannot be looked at without its question; everything else can.
        Err(_) => call.page(""),
    };
    let (question, _) = filter?;
    let sort = sort?;
    let page = page?;
    let after = match &page.after {
        None => None,
        Some(id) => {
            Some(CursorPosition::read(&sort, *id, &page.rest).ok_or_else(PageRequest::unknown)?)
        }
    };
    Ok(RowListRequest {
        filter: question,
        sort,
        fields,
        page,
        after,
    })
}

fn sort(query: &mut Query) -> Result<Sort, Refusal> {
    let Some(text) = query.text("sort") else {
        return Ok(Sort::default());
    };
    Sort::parse(&text).ok_or_else(|| {
        let why = "names no column; it is written `column` or `-column`";
        malformed([("query.sort".to_owned(), why.to_owned())])
    })
}

fn fields(query: &mut Query) -> Option<Vec<String>> {
    let text = query.text("fields")?;
    let fields: Vec<String> = text.split(',').map(str::to_owned).collect();
    if fields.iter().any(String::is_empty) {
        query.refuse(
            "fields",
            "names an empty key; keys are separated by single commas",
        );
    }
    Some(fields)
}
