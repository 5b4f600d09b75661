//! Parameters that all row queries share.

use std::sync::Arc;

use axum::http::{HeaderName, HeaderValue, StatusCode};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use tplkit::rows::query::{FilterFault, Match, parse};
use uuid::Uuid;

use crate::call::Call;
use crate::http::query::Query;
use crate::http::response::ApiResponse;
use crate::ids::WorkspaceKey;
use crate::refusal::{Code, Fault, Refusal};
use crate::rows::query::RowFilter;
use crate::rows::{Table, Tables};
use crate::store::Tx;

/// Reads `filter` and `match`; gives the filters as they were written, too.
pub(super) fn row_filter(
    query: &mut Query,
    feature: Uuid,
) -> Result<(RowFilter, Vec<String>), Refusal> {
    let texts = query.texts("filter");
    let matching = query.text("match").map(|word| Match::parse(&word));
    if matching == Some(None) {
        query.refuse("match", "has to be all or any");
    }
    let filters = parse(&texts).map_err(|faults| refused(&faults))?;
    let filter = RowFilter {
        feature,
        filters,
        matching: matching.flatten().unwrap_or_default(),
    };
    Ok((filter, texts))
}

fn refused(faults: &[FilterFault]) -> Refusal {
    malformed(faults.iter().map(|fault| {
        let path = format!("query.filter[{}]", fault.index);
        (path, fault.reason.to_string())
    }))
}

/// The header that names columns which the table does not have.
const UNKNOWN_COLUMNS: HeaderName = HeaderName::from_static("x-unknown-columns");

/// Characters that need no encoding in that header.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// The response with a document, and the columns that the query names and the table does not have.
pub(super) fn respond_with(document: Vec<u8>, unknown_columns: &[String]) -> ApiResponse {
    let response = ApiResponse::written(StatusCode::OK, document);
    if unknown_columns.is_empty() {
        return response;
    }
    let names = unknown_columns.iter();
    let names = names.map(|name| utf8_percent_encode(name, PLAIN).to_string());
    match HeaderValue::try_from(names.collect::<Vec<_>>().join(",")) {
        Ok(unknown) => response.with(UNKNOWN_COLUMNS, unknown),
        Err(_) => response,
    }
}

/// The refusal of filters, or of a sort, that cannot be read: where, and why.
pub(super) fn malformed(faults: impl IntoIterator<Item = (String, String)>) -> Refusal {
    let faults = faults.into_iter().map(|(path, message)| Fault {
        path,
        code: Code::InvalidFilter.as_str(),
        message,
    });
    Refusal::invalid_with(Code::InvalidFilter, faults.collect())
}

/// The table as it was last seen, where nothing hides it from the caller. What is not known yet costs little to
/// find out, and what is hidden costs nothing, so neither has to wait for others.
///
/// # Errors
/// 401 on a public operation that nobody is signed in for.
pub(super) fn visible_table(call: &Call, feature: Uuid) -> Result<Option<Arc<Table>>, Refusal> {
    let caller = call.caller()?;
    let table = call.app.tables.peek(feature).filter(|table| {
        caller.sees_workspace(WorkspaceKey {
            organization: table.organization,
            workspace: table.workspace,
        })
    });
    Ok(table)
}

/// The refusal, unless the caller does not see the table: that is reported first.
///
/// # Errors
/// Always: 404, or the refusal.
pub(super) async fn visible(
    tx: &mut Tx,
    tables: &Tables,
    feature: Uuid,
    refusal: &Refusal,
) -> Result<ApiResponse, Refusal> {
    match tables.read(tx, feature).await? {
        Some(_) => Err(refusal.clone()),
        None => Err(Refusal::not_found()),
    }
}
