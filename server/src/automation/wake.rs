//! Wakes the automation workers of this process. Other processes poll.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

/// A bell that is pulled inside a transaction and rings after it.
#[derive(Debug, Clone, Default)]
pub struct WorkerSignal(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    marked: AtomicBool,
    notify: Notify,
}

impl WorkerSignal {
    /// Notes that there is something to do once the transaction has ended.
    pub fn mark(&self) {
        self.0.marked.store(true, Ordering::Relaxed);
    }

    /// Rings, if it was pulled.
    pub fn notify(&self) {
        if self.0.marked.swap(false, Ordering::Relaxed) {
            self.0.notify.notify_one();
        }
    }

    /// Until it rings.
    pub(super) async fn notified(&self) {
        self.0.notify.notified().await;
    }
}
