//! Renews a lease while an attempt works under it.

use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::{JoinError, spawn_blocking};
use tokio::time::sleep;

use super::Lease;
use crate::context::Context;
use crate::release_memory;
use crate::store::Store;

/// A lease is renewed at least so often, however long it lasts.
const RENEW: Duration = Duration::from_secs(20);

/// Works under a lease, on a thread of its own: reading a package or a ledger and deciding about rows
/// would keep requests waiting.
///
/// # Errors
/// When the work panicked.
pub async fn under<T: Send + 'static>(
    lease: &Lease,
    store: &Store,
    context: &Context,
    work: impl Future<Output = T> + Send + 'static,
) -> Result<T, JoinError> {
    renewing(lease, store, context, None, work).await
}

/// The same for work that ends when who asked for it has lost the right to it; `forbid` receives the reason.
///
/// # Errors
/// When the work panicked.
pub(super) async fn under_right<T: Send + 'static>(
    lease: &Lease,
    store: &Store,
    context: &Context,
    forbid: &watch::Sender<bool>,
    work: impl Future<Output = T> + Send + 'static,
) -> Result<T, JoinError> {
    renewing(lease, store, context, Some(forbid), work).await
}

async fn renewing<T: Send + 'static>(
    lease: &Lease,
    store: &Store,
    context: &Context,
    forbid: Option<&watch::Sender<bool>>,
    work: impl Future<Output = T> + Send + 'static,
) -> Result<T, JoinError> {
    let length = u64::try_from(lease.length).unwrap_or_default();
    let renewal = RENEW.min(Duration::from_micros(length) / 3);
    release_memory::give_back_now().await;
    let working = spawn_blocking(move || Handle::current().block_on(work));
    let mut working = std::pin::pin!(working);
    loop {
        tokio::select! {
            done = &mut working => {
                release_memory::give_back();
                // Whoever saw the job end may send the next package at once.
                release_memory::give_back_now().await;
                return done;
            }
            () = sleep(renewal) => {
                // Whether it lasts is asked again with every unit; here it is only kept from
                // running out in between.
                if let Err(error) = lease.renew(store, context).await {
                    tracing::warn!(%error, "the lease was not renewed");
                }
                // A long unit asks only at its beginning.
                if let Some(forbid) = forbid
                    && let Ok(false) = lease.still_has_right(store, context).await
                {
                    forbid.send_replace(true);
                }
            }
        }
    }
}
