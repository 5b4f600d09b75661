//! The `Idempotency-Key` of a request whose body goes through as it comes.
//!
//! What the request stands for is known when its body has ended. The key is renewed until the handler is done, however
//! long that takes: another request with it is refused, in other processes too. By then a success is kept; a refusal is
//! kept right after it, before the key runs out. A request that comes to nothing gives the key back, and nothing is kept.

use std::time::Duration;

use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::Call;
use crate::context::Context;
use crate::http::idempotency::{self, IdempotencyKey, KeyedRequest, Reserved};
use crate::http::response::ApiResponse;
use crate::refusal::Refusal;
use crate::store::{Scope, Store, StoreError};

/// How often a taken key is taken for longer, in microseconds.
const RENEWED: i64 = 20 * 1_000_000;
/// How often the clock is looked at for that.
const CLOCK_INTERVAL: Duration = Duration::from_secs(1);

/// A key that is taken until it is given back, or until its response is kept.
#[derive(Debug)]
pub struct StreamedKey {
    key: IdempotencyKey,
    store: Store,
    scope: Scope,
    reserved: Reserved,
    /// There is something to give back.
    held: bool,
    /// The body has ended.
    known: bool,
    /// Takes the key for longer until this is dropped.
    _renewal: Option<Renewal>,
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
            path: &self.canonical_path(),
            name,
        };
        let now = self.app.context.now();
        let context = &self.app.context;
        let key = IdempotencyKey::new(caller.id, request, [0; 32], &self.app.in_flight, now)
            .reserved_as(context.id());
        let (store, scope) = (self.app.store.clone(), self.confirmed_scope()?);
        let reserved = store.write(&scope, key.clone(), |tx, key| {
            Box::pin(idempotency::reserve(tx, key))
        });
        let reserved = reserved.await?;
        let held = reserved == Reserved::Ours;
        let renewal = held.then(|| {
            key.reserve();
            Renewal::start(store.clone(), scope.clone(), key.clone(), context.clone())
        });
        Ok(Some(StreamedKey {
            held,
            key,
            store,
            scope,
            reserved,
            known: false,
            _renewal: renewal,
        }))
    }
}

/// A key that is taken for longer.
struct RenewedKey {
    key: IdempotencyKey,
    /// Since when it counts as taken.
    now: i64,
}

/// A task that takes a key for longer, until this is dropped.
#[derive(Debug)]
struct Renewal(JoinHandle<()>);

impl Renewal {
    /// Of a key that has just been taken.
    fn start(store: Store, scope: Scope, key: IdempotencyKey, context: Context) -> Renewal {
        Renewal(tokio::spawn(async move {
            let mut renewed = context.now();
            loop {
                sleep(CLOCK_INTERVAL).await;
                let now = context.now();
                if now - renewed < RENEWED {
                    continue;
                }
                let key = key.clone();
                let kept: Result<bool, StoreError> = store
                    .write(&scope, RenewedKey { key, now }, |tx, renewed| {
                        Box::pin(idempotency::renew(tx, &renewed.key, renewed.now))
                    })
                    .await;
                match kept {
                    Ok(true) => renewed = now,
                    // Another request has it: this one finds out where its response would be kept.
                    Ok(false) => return,
                    Err(error) => {
                        tracing::warn!(%error, "the key of an upload was not taken for longer; it is tried again");
                    }
                }
            }
        }))
    }
}

impl Drop for Renewal {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl StreamedKey {
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
        .write(scope, key.clone(), |tx, key| {
            Box::pin(idempotency::free(tx, key))
        })
        .await;
    if let Err(error) = freed {
        // It is free when its time is over.
        tracing::warn!(%error, "the key of a request that came to nothing was not given back");
    }
    // Whatever still has the key, the next request has its turn.
    key.mark_responded();
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
