//! `POST …/rows:batch`

use axum::response::Response;
use uuid::Uuid;

use super::create::{RowsRequest, write};
use super::row_filter::visible_table;
use crate::call::Call;
use crate::call::lane::in_lane;
use crate::refusal::Refusal;
use crate::rows::{PreparedRow, RowHead, Submission, write_row};

/// `POST …/rows:batch`: all of them or none.
///
/// # Errors
/// 404, 403, 422 for what cannot enter, 409 for a repeated value or when there are rows enough.
pub async fn batch(mut call: Call) -> Result<Response, Refusal> {
    let received = RowsRequest::of(&mut call).await?;
    let Some(table) = visible_table(&call, received.feature)? else {
        return enter(call, received).await;
    };
    let lane = call.app.lanes.batches.clone();
    in_lane(&lane, table.organization, enter(call, received)).await
}

async fn enter(call: Call, received: RowsRequest) -> Result<Response, Refusal> {
    let new = received.prepare(call.app.clone(), Submission::batch).await;
    call.write(new, |tx, ctx| {
        Box::pin(write(tx, ctx, |feature, rows, now| {
            Ok(document(feature, rows, now))
        }))
    })
    .await
}

fn document(feature: Uuid, rows: &[PreparedRow], now: i64) -> Vec<u8> {
    let size: usize = rows.iter().map(|row| row.data.len() + 192).sum();
    let mut out = String::with_capacity(size + 32);
    out.push_str("{\"count\":");
    out.push_str(&rows.len().to_string());
    out.push_str(",\"items\":");
    let mut before = '[';
    for row in rows {
        out.push(std::mem::replace(&mut before, ','));
        let head = RowHead {
            id: row.id,
            feature,
            created_at: now,
            updated_at: now,
        };
        write_row(&mut out, head, &row.data);
    }
    out.push_str("]}");
    out.into_bytes()
}
