//! What the system says of the memory of a process.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// How often it is asked.
const OFTEN: Duration = Duration::from_millis(1);

/// Watches a process from when it is idle.
pub(crate) struct RecordWatch {
    process: String,
    /// Bytes of its own before anything was asked of it.
    pub(crate) idle: u64,
}

impl RecordWatch {
    pub(crate) fn of(process: String) -> RecordWatch {
        let mut watch = RecordWatch { process, idle: 0 };
        watch.idle = watch.now();
        watch
    }

    /// Bytes of its own: no pages of files.
    pub(crate) fn now(&self) -> u64 {
        let path = format!("/proc/{}/status", self.process);
        let status = std::fs::read_to_string(path).unwrap_or_default();
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("RssAnon:"));
        let kilobytes = line.and_then(|line| line.trim().split(' ').next()?.parse::<u64>().ok());
        kilobytes.unwrap_or(0) << 10
    }

    /// Does something, and gives the most that the process had meanwhile.
    pub(crate) fn during<T>(&self, work: impl FnOnce() -> T) -> (T, u64) {
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            let watching = scope.spawn(|| {
                let mut peak = 0;
                while !over.load(Ordering::Relaxed) {
                    peak = peak.max(self.now());
                    thread::sleep(OFTEN);
                }
                peak.max(self.now())
            });
            let done = work();
            over.store(true, Ordering::Relaxed);
            (done, watching.join().expect("watches"))
        })
    }
}
