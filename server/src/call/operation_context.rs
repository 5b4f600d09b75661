//! The context of a store operation, in addition to its transaction.

use std::sync::Arc;

use uuid::Uuid;

use crate::auth::{Actor, Caller, Role};
use crate::context::Context;
use crate::http::idempotency::{self, IdempotencyKey};
use crate::http::response::ApiResponse;
use crate::refusal::Refusal;
use crate::rows::Tables;
use crate::store::Tx;
use crate::wake::WorkerSignal;

/// The context of a store operation: its input and its caller.
#[derive(Debug)]
pub struct OperationContext<I> {
    /// What the handler read from the request.
    pub input: I,
    /// Who asks.
    pub caller: Arc<Caller>,
    /// The least role in the organization concerned.
    pub role: Role,
    /// Under which the response is kept.
    pub key: Option<IdempotencyKey>,
    /// Time and ids.
    pub context: Context,
    /// The shape of tables that were read before.
    pub tables: Tables,
    /// Wakes the automation workers.
    pub signal: WorkerSignal,
    /// The time at which the request came, in microseconds.
    pub now: i64,
}

impl<I> OperationContext<I> {
    /// Who asks, and the least role.
    pub fn actor(&self) -> Actor<'_> {
        Actor {
            caller: &self.caller,
            least: self.role,
        }
    }

    /// The role in the organization of a record that was found.
    ///
    /// # Errors
    /// 404 for strangers, 403 for a role that does not suffice.
    pub fn enter(&self, organization: Uuid) -> Result<Role, Refusal> {
        self.actor().enter(organization)
    }

    /// Claims the key of the request, after visibility and role and before the effect. The response of
    /// an earlier request is the response to this one.
    ///
    /// # Errors
    /// 422 when the key stands for another request, 409 while the first one runs.
    pub async fn claim(&self, tx: &mut Tx) -> Result<Option<ApiResponse>, Refusal> {
        idempotency::claim(tx, self.key.as_ref()).await
    }

    /// The response, kept under the key of the request.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn keep(&self, tx: &mut Tx, response: ApiResponse) -> Result<ApiResponse, Refusal> {
        idempotency::keep(tx, self.key.as_ref(), &response).await?;
        Ok(response)
    }
}
