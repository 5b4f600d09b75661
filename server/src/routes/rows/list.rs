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
use crate::routes::path_record::Checked;
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
    let input = Checked {
        id: feature,
        query: listing,
    };
    let Some(table) = table else {
        return call.read(input, |tx, ctx| Box::pin(respond(tx, ctx))).await;
    };
    let lane = call.app.lanes.queries.clone();
    in_lane(&lane, table.organization, async move {
        call.read_much(input, |tx, ctx| Box::pin(respond(tx, ctx)))
            .await
    })
    .await
}

async fn respond(
    tx: &mut Tx,
    ctx: &OperationContext<Checked<RowListRequest>>,
) -> Result<ApiResponse, Refusal> {
    match &ctx.input.query {
        Ok(listing) => {
            let mut document = String::from("{\"items\":[");
            let page = query::list(tx, &ctx.tables, listing, &mut document).await?;
            document.push_str("],\"next_cursor\":");
            match &page.next_cursor {
                // It holds nothing that JSON escapes.
                Some(cursor) => document.extend(["\"", cursor.as_str(), "\"}"]),
                None => document.push_str("null}"),
            }
            Ok(respond_with(document.into_bytes(), &page.unknown_columns))
        }
        Err(refusal) => visible(tx, &ctx.tables, ctx.input.id, refusal).await,
    }
}

fn listing(call: &mut Call, feature: Uuid) -> Result<RowListRequest, Refusal> {
    let filter = row_filter(&mut call.query_text, feature);
    let sort = sort(&mut call.query_text);
    let fields = fields(&mut call.query_text);
    let page = match &filter {
        Ok((filter, texts)) => call.page(&format!(
            "{feature} {:?} {texts:?} {sort:?}",
            filter.matching
        )),
        // A cursor cannot be looked at without its filter; everything else can.
        Err(_) => call.page(""),
    };
    let (filter, _) = filter?;
    let sort = sort?;
    let page = page?;
    let after = match &page.after {
        None => None,
        Some(id) => {
            Some(CursorPosition::read(&sort, *id, &page.rest).ok_or_else(PageRequest::unknown)?)
        }
    };
    Ok(RowListRequest {
        filter,
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
