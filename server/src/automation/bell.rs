//! Wakes who plays automations, in this process. Others notice by looking now and then.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

/// A bell that is pulled inside a transaction and rings after it.
#[derive(Debug, Clone, Default)]
pub struct Bell(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    pulled: AtomicBool,
    notify: Notify,
}

impl Bell {
    /// Notes that there is something to do once the transaction has ended.
    pub fn pull(&self) {
        self.0.pulled.store(true, Ordering::Relaxed);
    }

    /// Rings, if it was pulled.
    pub fn ring(&self) {
        if self.0.pulled.swap(false, Ordering::Relaxed) {
            self.0.notify.notify_one();
        }
    }

    /// Until it rings.
    pub(super) async fn heard(&self) {
        self.0.notify.notified().await;
    }
}
