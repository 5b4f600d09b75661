//! The word to stop: the first time in order, the second time at once.

use std::io;

use tokio::sync::watch;

/// Hears SIGTERM and SIGINT, from now on.
pub(super) struct Signals {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
}

impl Signals {
    pub(super) fn new() -> io::Result<Signals> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            Ok(Signals {
                terminate: signal(SignalKind::terminate())?,
                interrupt: signal(SignalKind::interrupt())?,
            })
        }
        #[cfg(not(unix))]
        Ok(Signals {})
    }

    /// Waits for the next word.
    pub(super) async fn next(&mut self) {
        #[cfg(unix)]
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
        #[cfg(not(unix))]
        {
            let _ = tokio::signal::ctrl_c().await;
        }
    }

    /// Passes on the first word; ends with the second.
    pub(super) async fn heed(mut self, stop: watch::Sender<bool>) {
        self.next().await;
        // Before anything else: nothing that has to do with the log keeps a process from stopping.
        stop.send_replace(true);
        tracing::info!("stopping: open requests end, then this process does");
        self.next().await;
        tracing::warn!("stopping at once");
    }
}
