//! Checkpoints: a thread next to the writer copies the WAL back into the file.
//!
//! The writer reports the length of the log after each commit. When the log is long enough, the
//! thread checkpoints it on its own connection while the writer continues. A log restarts only when
//! all of it is copied; under constant writing a few pages are always left, and the writer copies
//! those itself once they are few. When the log reaches its bound, the writer copies everything, so
//! the log stays bounded even when the thread is too slow.
//!
//! Nothing waits here: readers of old snapshots hold back a part of the log, which grows until they
//! end. A failed checkpoint loses nothing: it is logged and repeated, and commits continue as long
//! as the log can be written.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use rusqlite::hooks::Wal;
use rusqlite::wal::CheckpointMode;
use rusqlite::{Connection, ErrorCode};

use crate::store::StoreError;

/// When what is done, in pages of the log.
#[derive(Debug, Clone, Copy)]
pub(super) struct CheckpointLengths {
    /// From here on the thread is asked. The longer it is, the more commits share the writing of a page:
    /// rows enter their indexes in random order, so the same pages are changed again and again.
    worth: usize,
    /// How much longer it has to be for one more try.
    step: usize,
    /// What the writer adds itself so that the log may begin anew.
    few: usize,
    /// From here on the writer writes all of it back, as soon as the thread is not at it.
    bound: usize,
}

/// The log takes 48 MB, and what is written while the thread is at it: under a writer that never rests some
/// 16 MB more.
pub(super) const LENGTHS: CheckpointLengths = CheckpointLengths {
    worth: 4000,
    step: 1000,
    few: 1000,
    bound: 12_000,
};

/// What a commit calls for.
#[derive(Debug, PartialEq, Eq)]
enum CheckpointAction {
    Nothing,
    /// The thread is to write back what there is.
    Ask,
    /// The writer is to write back what is left.
    Finish,
}

/// What is known of the log, in pages.
#[derive(Debug, Default)]
struct Log {
    /// How long it was after the last commit.
    length: usize,
    /// How much of it is in the file.
    back: usize,
    /// How long it was when the thread was asked last.
    begun: usize,
    /// How long it was when the writer wrote it back last.
    finished: usize,
    /// Goes up when the log starts over; a report about an earlier one is out of date.
    round: u64,
    /// Whether the thread was asked and has not responded.
    busy: bool,
    /// Whether the last checkpoint failed: logged once, not at every commit.
    failing: bool,
    ended: bool,
    #[cfg(test)]
    done: tests::Done,
}

impl Log {
    /// After a commit: every one adds to the log, unless it began a new one.
    fn committed(&mut self, length: usize, lengths: &CheckpointLengths) -> CheckpointAction {
        if length <= self.length {
            self.round += 1;
            (self.back, self.begun, self.finished) = (0, 0, 0);
        }
        self.length = length;
        let more = |before| before == 0 || length >= before + lengths.step;
        if length >= lengths.bound {
            self.finished = length;
            return CheckpointAction::Finish;
        }
        if self.busy || length < lengths.worth {
            return CheckpointAction::Nothing;
        }
        let left = length.saturating_sub(self.back);
        if self.back > 0 && left <= lengths.few {
            // Where a reader keeps the log from beginning anew, not at every commit.
            if more(self.finished) {
                self.finished = length;
                return CheckpointAction::Finish;
            }
        } else if more(self.begun) {
            self.begun = length;
            self.busy = true;
            return CheckpointAction::Ask;
        }
        CheckpointAction::Nothing
    }

    /// After a checkpoint of the log of that round: how much of it is in the file.
    fn written_back(&mut self, round: u64, outcome: rusqlite::Result<usize>) {
        match outcome {
            Ok(back) => {
                self.failing = false;
                if round == self.round {
                    self.back = back;
                }
            }
            // Somebody else is at it: the thread, or another process.
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {}
            Err(error) => {
                if !self.failing {
                    tracing::warn!(
                        %error,
                        "the log of the store cannot be written back into its file; it is kept, \
                         and grows until it can: see to the disk and its room"
                    );
                }
                self.failing = true;
            }
        }
    }
}

/// What the writer and the thread share.
#[derive(Debug, Default)]
struct CheckpointState {
    log: Mutex<Log>,
    /// The thread was asked, or has responded, or is to end.
    changed: Condvar,
}

impl CheckpointState {
    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'l>(&self, log: MutexGuard<'l, Log>) -> MutexGuard<'l, Log> {
        self.changed
            .wait(log)
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Does what a commit of the writer calls for.
    fn committed(&self, log: &mut Wal, length: usize, lengths: &CheckpointLengths) {
        let mut known = self.log();
        match known.committed(length, lengths) {
            CheckpointAction::Nothing => {}
            CheckpointAction::Ask => self.changed.notify_all(),
            CheckpointAction::Finish => {
                let round = known.round;
                // The disk may take its time, and the thread may want to report that it is done.
                drop(known);
                let outcome = log.checkpoint_v2(CheckpointMode::PASSIVE);
                let mut known = self.log();
                #[cfg(test)]
                known.done.by_writer(&outcome);
                known.written_back(round, outcome.map(|(_, back)| pages(back)));
            }
        }
    }

    /// What the thread does, until it is to end.
    fn serve(&self, connection: &Connection) {
        let mut known = self.log();
        while !known.ended {
            if !known.busy {
                known = self.wait(known);
                continue;
            }
            let round = known.round;
            drop(known);
            let outcome = connection.wal_checkpoint_v2(Some(c"main"), CheckpointMode::PASSIVE);
            known = self.log();
            #[cfg(test)]
            known.done.by_thread(&outcome);
            known.written_back(round, outcome.map(|(_, back)| pages(back)));
            known.busy = false;
            self.changed.notify_all();
        }
    }
}

/// A number of pages as SQLite reports it; what it does not know is less than nothing.
fn pages(count: i32) -> usize {
    usize::try_from(count).unwrap_or_default()
}

/// The thread next to a writer. To be dropped before the connection of the writer, which is then the last
/// to close the file.
#[derive(Debug)]
pub(super) struct Checkpoints {
    shared: Arc<CheckpointState>,
    thread: Option<JoinHandle<()>>,
}

impl Checkpoints {
    /// Takes the checkpoints over from a writer; `own` is another connection to the same file.
    pub(super) fn start(
        writer: &mut Connection,
        own: Connection,
        lengths: CheckpointLengths,
    ) -> Result<Checkpoints, StoreError> {
        let shared = Arc::new(CheckpointState::default());
        let reported = shared.clone();
        writer.wal_hook(Some(move |log: &mut Wal, length| {
            reported.committed(log, pages(length), &lengths);
            // An error here would be taken for one of the commit, which is done.
            Ok(())
        }))?;
        let serving = shared.clone();
        let thread = thread::Builder::new()
            .name("store-checkpoint".to_owned())
            .spawn(move || serving.serve(&own))
            .map_err(|error| StoreError::Unavailable(error.to_string()))?;
        Ok(Checkpoints {
            shared,
            thread: Some(thread),
        })
    }
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        self.shared.log().ended = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // One that panicked has closed the file as well.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests;
