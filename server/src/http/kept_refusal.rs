//! Refusals that a repeated request gets again.
//!
//! They have no effect, so they are kept after the transaction that was refused.

use axum::http::StatusCode;

use super::idempotency::{Claimed, IdempotencyKey, insert_claim, keep};
use super::problem::{RefusalForm, document, status};
use super::response::ApiResponse;
use crate::refusal::{Code, Refusal};
use crate::store::{Scope, Tx};

/// A refusal that is to be kept.
#[derive(Debug)]
pub(crate) struct KeptRefusal {
    pub(crate) key: IdempotencyKey,
    pub(crate) refusal: Refusal,
    pub(crate) form: RefusalForm,
    pub(crate) path: String,
}

impl KeptRefusal {
    /// Whether such a refusal is given again without being checked again.
    pub(crate) fn is_kept(refusal: &Refusal) -> bool {
        let (status, _) = status(refusal.code);
        let passing = [
            StatusCode::UNAUTHORIZED,
            StatusCode::FORBIDDEN,
            StatusCode::PAYLOAD_TOO_LARGE,
            StatusCode::TOO_MANY_REQUESTS,
        ];
        let of_the_key = [Code::IdempotencyInProgress, Code::IdempotencyKeyReused];
        status.is_client_error()
            && !passing.contains(&status)
            && !of_the_key.contains(&refusal.code)
    }
}

/// Keeps a refusal, or finds that the key has a response already: a request that succeeded once does
/// so again, although a second one like it would be refused today.
pub(crate) async fn keep_refusal(
    tx: &mut Tx,
    refused: &KeptRefusal,
) -> Result<ApiResponse, Refusal> {
    let KeptRefusal {
        key,
        refusal,
        form,
        path,
    } = refused;
    let (status, _) = status(refusal.code);
    let response = ApiResponse::written(status, document(refusal, *form, path));
    match insert_claim(tx, key).await? {
        Claimed::Ours => {
            keep(tx, Some(key), &response).await?;
            Ok(response)
        }
        // What became invisible stays invisible.
        Claimed::Theirs(first) if status == StatusCode::NOT_FOUND && first.status != status => {
            Ok(response)
        }
        // So do cells: the conflicts of today take the place of those that were shown then.
        Claimed::Theirs(first) if may_show_hidden(tx, &first) && first.body != response.body => {
            Ok(response)
        }
        Claimed::Theirs(first) => Ok(first),
    }
}

/// Whether a refusal that was kept may show cells that are hidden from the caller by now.
pub(crate) fn may_show_hidden(tx: &Tx, first: &ApiResponse) -> bool {
    let Scope::Caller(visible) = tx.scope() else {
        return false;
    };
    let sees_all = visible.guarded.is_empty() && visible.hidden.is_empty();
    !sees_all && shows_cells(first)
}

/// Whether a refusal that was kept shows cells, as the conflicts of an upgrade do. Both forms of refusals are looked at.
fn shows_cells(first: &ApiResponse) -> bool {
    if first.status != StatusCode::UNPROCESSABLE_ENTITY {
        return false;
    }
    let document: Option<serde_json::Value> = serde_json::from_slice(&first.body).ok();
    document.is_some_and(|document| {
        let conflicts = Code::UpgradeConflicts.as_str();
        document["code"] == conflicts || document["error"] == conflicts
    })
}
