//! `GET …/rows:aggregate`

use axum::response::Response;
use tplkit::rows::query::Operation;
use uuid::Uuid;

use super::row_filter::{respond_with, row_filter, visible, visible_table};
use crate::call::lane::in_lane;
use crate::call::{Call, OperationContext};
use crate::http::query::Query;
use crate::http::response::ApiResponse;
use crate::refusal::Refusal;
use crate::routes::path_record::Checked;
use crate::rows::query::{self, AggregateQuery, Cost, MOST_COUNTED};
use crate::store::Tx;

/// `GET …/rows:aggregate`
///
/// # Errors
/// 404 for a table that is missing or hidden, 422 for parameters that make no sense.
pub async fn aggregate(mut call: Call) -> Result<Response, Refusal> {
    let feature = call.path_id(0).await?;
    let query = aggregate_query(&mut call.query_text, feature);
    let caller = call.caller()?;
    let lane = visible_table(&call, feature)?.and_then(|table| {
        let cost = query.as_ref().ok()?.cost(&table, &caller);
        (cost != Cost::Short).then_some((cost, table.organization))
    });
    let input = Checked { id: feature, query };
    let Some((cost, organization)) = lane else {
        return call.read(input, |tx, ctx| Box::pin(respond(tx, ctx))).await;
    };
    let lane = call.app.lanes.queries.clone();
    in_lane(&lane, organization, async move {
        if cost == Cost::Indexed {
            return call.read(input, |tx, ctx| Box::pin(respond(tx, ctx))).await;
        }
        call.read_much(input, |tx, ctx| Box::pin(respond(tx, ctx)))
            .await
    })
    .await
}

async fn respond(
    tx: &mut Tx,
    ctx: &OperationContext<Checked<AggregateQuery>>,
) -> Result<ApiResponse, Refusal> {
    match &ctx.input.query {
        Ok(query) => {
            let found = query::aggregate(tx, &ctx.tables, query).await?;
            Ok(respond_with(found.document, &found.unknown_columns))
        }
        Err(refusal) => visible(tx, &ctx.tables, ctx.input.id, refusal).await,
    }
}

fn aggregate_query(query: &mut Query, feature: Uuid) -> Result<AggregateQuery, Refusal> {
    let word = query.text("op");
    let operation = word.as_deref().and_then(Operation::parse);
    if operation.is_none() {
        query.refuse("op", "has to be count, sum or avg");
    }
    let column = query.text("column");
    if operation.is_some_and(Operation::needs_column) && column.is_none() {
        query.refuse("column", "is required: the key whose numbers are looked at");
    }
    if column.as_ref().is_some_and(|column| column.contains('\0')) {
        query.refuse("column", "holds U+0000, which no key holds");
    }
    let limit = query.integer("limit", 1, MOST_COUNTED.into());
    if limit.is_some() && operation.is_some_and(Operation::needs_column) {
        query.refuse(
            "limit",
            "is for op=count: sum and avg look at the first 10,000 rows",
        );
    }
    let filter = row_filter(query, feature);
    query.finish()?;
    let (filter, _) = filter?;
    Ok(AggregateQuery {
        filter,
        // There are faults without it.
        operation: operation.unwrap_or(Operation::Count),
        column,
        limit: limit.and_then(|limit| u32::try_from(limit).ok()),
    })
}
