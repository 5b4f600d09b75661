//! The `Idempotency-Key` of a request whose body goes through as it comes.
//!
//! What the request stands for is known when its body has ended. Until then the key is taken: another request with it
//! is refused. A request that comes to nothing gives the key back, and nothing is kept.

use tokio::runtime::Handle;

use super::Call;
use crate::context::Context;
use crate::http::idempotency::{self, IdempotencyKey, KeyedRequest, Reserved};
use crate::http::response::ApiResponse;
use crate::refusal::Refusal;
use crate::store::{Scope, Store, StoreError};

/// How often a taken key is taken for longer, in microseconds.
const RENEWED: i64 = 20 * 1_000_000;

/// A key that is taken until it is given back, or until its response is kept.
#[derive(Debug)]
pub struct StreamedKey {
    key: IdempotencyKey,
    store: Store,
    scope: Scope,
    context: Context,
    reserved: Reserved,
    renewed: i64,
    /// There is something to give back.
    held: bool,
    /// The body has ended.
    known: bool,
}

impl Call {
    /// Takes the key of the request, if it has one, before its body comes.
    ///
    /// # Errors
    /// 422 for a key that is none, 409 while another request has it.
    pub async fn streamed_key(&self) -> Result<Option<StreamedKey>, Refusal> {
        let name = idempotency::check(&self.headers)?;
        if name.is_empty() {
            return Ok(None);
        }
        let caller = self.caller()?;
        let request = KeyedRequest {
            method: self.operation.method,
            path: &self.decoded_path(),
            name,
        };
        let now = self.app.context.now();
        let key = IdempotencyKey::new(caller.id, request, [0; 32], &self.app.in_flight, now);
        let (store, scope) = (self.app.store.clone(), caller.scope());
        let reserved = store.write(&scope, key.clone(), |tx, key| {
            Box::pin(idempotency::reserve(tx, key))
        });
        let reserved = reserved.await?;
        if reserved == Reserved::Ours {
            key.reserve();
        }
        Ok(Some(StreamedKey {
            held: reserved == Reserved::Ours,
            key,
            store,
            scope,
            context: self.app.context.clone(),
            reserved,
            renewed: now,
            known: false,
        }))
    }
}

impl StreamedKey {
    /// Holds the key while the body comes.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn hold(&mut self) -> Result<(), Refusal> {
        let now = self.context.now();
        if !self.held || now - self.renewed < RENEWED {
            return Ok(());
        }
        self.renewed = now;
        let input = (self.key.clone(), now);
        let renewed: Result<(), StoreError> = self
            .store
            .write(&self.scope, input, |tx, (key, now)| {
                Box::pin(idempotency::renew(tx, key, *now))
            })
            .await;
        Ok(renewed?)
    }

    /// The body has ended: from now on the key is that of a request of which everything is known, and whatever
    /// its response is, it is kept under it. Gives the response to an earlier one.
    ///
    /// # Errors
    /// 422 when the key stands for another request.
    pub async fn end(
        &mut self,
        call: &Call,
        fingerprint: [u8; 32],
    ) -> Result<Option<ApiResponse>, Refusal> {
        let key = self.key.of_request(fingerprint);
        self.known = true;
        if self.reserved == Reserved::Ours {
            // A body ends once.
            let _ = call.key.set(key);
            return Ok(None);
        }
        let kept = self.store.read(&self.scope, key, |tx, key| {
            Box::pin(idempotency::kept_response(tx, key))
        });
        match kept.await? {
            Some(kept) => Ok(Some(kept)),
            // It has expired while the body came.
            None => Err(Refusal::unavailable(
                "What was kept under this Idempotency-Key has expired; send the request again.",
            )),
        }
    }

    /// Whether everything is known of the request.
    pub fn is_known(&self) -> bool {
        self.known
    }

    /// What the request comes to is kept under the key.
    pub fn done(mut self) {
        self.held = false;
    }

    /// The request comes to nothing: the key is free when this returns.
    pub async fn free(mut self) {
        if !std::mem::take(&mut self.held) {
            return;
        }
        free(&self.store, &self.scope, self.key.clone()).await;
    }
}

async fn free(store: &Store, scope: &Scope, key: IdempotencyKey) {
    let freed: Result<(), StoreError> = store
        .write(scope, key, |tx, key| Box::pin(idempotency::free(tx, key)))
        .await;
    if let Err(error) = freed {
        // It is free when its time is over.
        tracing::warn!(%error, "the key of a request that came to nothing was not given back");
    }
}

impl Drop for StreamedKey {
    /// The client has gone.
    fn drop(&mut self) {
        let (true, Ok(runtime)) = (self.held, Handle::try_current()) else {
            return;
        };
        let (store, scope, key) = (self.store.clone(), self.scope.clone(), self.key.clone());
        runtime.spawn(async move { free(&store, &scope, key).await });
    }
}
