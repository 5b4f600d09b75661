//! The `Idempotency-Key` of a request whose effect has transactions of its own.
//!
//! The key is reserved before the effect, and the response is kept behind it. A request that ends without a response
//! that is kept leaves the key to its next attempt; that of a process that died is free when its time is over. Either
//! way the next attempt learns that there was one before, which may have had its effect.

use axum::response::Response;

use super::{Call, OperationContext};
use crate::http::idempotency::{self, IdempotencyKey};
use crate::http::kept_refusal::KeptRefusal;
use crate::http::response::ApiResponse;
use crate::refusal::Refusal;
use crate::store::{Scope, Store, StoreError, Tx};

/// What stands under the key of a request before its effect.
#[derive(Debug)]
pub enum Reservation {
    /// The response of an earlier request, which is the response to this one.
    Kept(ApiResponse),
    /// The key is this request's, or it has none.
    Ours {
        /// An earlier attempt at this very request had the key, and nobody knows what came of it.
        again: bool,
    },
}

impl Call {
    /// Reserves the key of the request for an effect that has a transaction of its own.
    ///
    /// # Errors
    /// 422 when the key stands for another request, 409 while the first one runs.
    pub async fn reserve(&mut self) -> Result<Reservation, Refusal> {
        let Some(key) = self.key.get().cloned() else {
            return Ok(Reservation::Ours { again: false });
        };
        let scope = self.confirmed_scope()?;
        let store = &self.app.store;
        let reserved = store.write(&scope, key.clone(), |tx, key| Box::pin(reserve(tx, key)));
        let reserved: Reservation = reserved.await?;
        if let Reservation::Ours { .. } = reserved {
            key.reserve();
        }
        Ok(reserved)
    }

    /// Whether an earlier attempt at this very request has taken its key and has no response so far. Takes nothing.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn was_reserved(&mut self) -> Result<bool, Refusal> {
        let Some(key) = self.key.get().cloned() else {
            return Ok(false);
        };
        let scope = self.confirmed_scope()?;
        let found = self.app.store.read(&scope, key, |tx, key| {
            Box::pin(idempotency::was_reserved(tx, key))
        });
        let found: Result<bool, StoreError> = found.await;
        Ok(found?)
    }

    /// Responds with what became of an effect that had a transaction of its own; under a key it is kept.
    ///
    /// # Errors
    /// The refusal that became of it; those of the key, or the store's.
    pub async fn respond(self, done: Result<ApiResponse, Refusal>) -> Result<Response, Refusal> {
        let Some(key) = self.key.get().cloned() else {
            return done.map(ApiResponse::response);
        };
        let (store, scope) = (self.app.store.clone(), self.confirmed_scope()?);
        let responded = match done {
            Ok(response) => {
                self.write(response, |tx, context| Box::pin(keep(tx, context)))
                    .await
            }
            Err(refusal) => Err(refusal),
        };
        // What is kept of refusals is kept by whoever passes them on.
        if let Err(refusal) = &responded
            && !KeptRefusal::is_kept(refusal)
        {
            leave(&store, &scope, key).await;
        }
        responded
    }
}

async fn reserve(tx: &mut Tx, key: &IdempotencyKey) -> Result<Reservation, Refusal> {
    let again = idempotency::was_reserved(tx, key).await?;
    let kept = idempotency::claim(tx, Some(key)).await?;
    Ok(kept.map_or(Reservation::Ours { again }, Reservation::Kept))
}

async fn keep(
    tx: &mut Tx,
    context: &OperationContext<ApiResponse>,
) -> Result<ApiResponse, Refusal> {
    match context.claim(tx).await? {
        Some(kept) => Ok(kept),
        None => context.keep(tx, context.input.clone()).await,
    }
}

async fn leave(store: &Store, scope: &Scope, key: IdempotencyKey) {
    let left: Result<(), StoreError> = store
        .write(scope, key, |tx, key| Box::pin(idempotency::leave(tx, key)))
        .await;
    if let Err(error) = left {
        tracing::warn!(%error, "the key of a request that came to nothing is free when its time is over");
    }
}
