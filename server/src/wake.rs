//! Wakes workers of this process: one signal for those of jobs, another for those of automations.
//! Other processes poll.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

/// Wakes the workers that wait for it. Cheap to clone: clones are one signal.
#[derive(Debug, Clone, Default)]
pub struct WorkerSignal(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    marked: AtomicBool,
    notify: Notify,
}

impl WorkerSignal {
    /// There is something to do.
    pub fn notify(&self) {
        self.0.notify.notify_one();
    }

    /// Notes that there is something to do once the transaction has ended.
    pub fn mark(&self) {
        self.0.marked.store(true, Ordering::Relaxed);
    }

    /// A transaction has ended: there is something to do if it was noted.
    pub fn notify_if_marked(&self) {
        if self.0.marked.swap(false, Ordering::Relaxed) {
            self.notify();
        }
    }

    /// Until there is something to do.
    pub(crate) async fn notified(&self) {
        self.0.notify.notified().await;
    }
}
