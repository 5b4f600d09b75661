//! Tests of checkpoints: when they run, in which thread, and what delays them.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;

use super::super::connection::{SecuredConnection, make_writer, open};
use super::super::queue::queue;
use super::super::threads;
use super::{CheckpointAction, CheckpointLengths, Checkpoints, LENGTHS, Log};
use crate::store::{Isolation, migrate};

/// Checkpoints that came to an end, by whom.
#[derive(Debug, Default)]
pub(super) struct Done {
    thread: usize,
    writer: usize,
}

impl Done {
    pub(super) fn by_thread<T>(&mut self, outcome: &rusqlite::Result<T>) {
        self.thread += usize::from(outcome.is_ok());
    }

    pub(super) fn by_writer<T>(&mut self, outcome: &rusqlite::Result<T>) {
        self.writer += usize::from(outcome.is_ok());
    }
}

/// Short enough for a test; a commit of these tests adds a handful of pages.
const SHORT: CheckpointLengths = CheckpointLengths {
    worth: 40,
    step: 10,
    few: 10,
    bound: 200,
};

/// A writer of a table, and the thread next to it.
struct Written {
    checkpoints: Checkpoints,
    writer: Connection,
}

impl Written {
    fn new(file: &Path, lengths: CheckpointLengths) -> Written {
        let mut writer = open(file).expect("opens");
        writer
            .execute_batch(
                "CREATE TABLE t (a BLOB); CREATE TABLE schema_migrations (number INTEGER, name TEXT)",
            )
            .expect("creates");
        make_writer(&writer).expect("is made one");
        let own = open(file).expect("opens");
        let checkpoints = Checkpoints::start(&mut writer, own, lengths).expect("starts");
        Written {
            checkpoints,
            writer,
        }
    }

    fn commit(&self) {
        let sql = "INSERT INTO t VALUES (randomblob(9000))";
        self.writer.execute(sql, []).expect("commits");
    }

    /// Commits, and lets the thread end what it was asked for. Gives how long the log is.
    fn commit_and_checkpoint(&self) -> usize {
        self.commit();
        let mut log = self.checkpoints.shared.log();
        while log.busy {
            log = self.checkpoints.shared.wait(log);
        }
        log.length
    }

    fn done(&self) -> (usize, usize) {
        let log = self.checkpoints.shared.log();
        (log.done.thread, log.done.writer)
    }
}

#[test]
fn the_thread_is_asked_first_and_the_writer_ends_it() {
    let mut log = Log::default();
    let lengths = CheckpointLengths {
        worth: 100,
        step: 10,
        few: 10,
        bound: 200,
    };
    let after = |log: &mut Log, length| log.committed(length, &lengths);
    assert_eq!(after(&mut log, 99), CheckpointAction::Nothing);
    assert_eq!(after(&mut log, 100), CheckpointAction::Ask);
    assert_eq!(
        after(&mut log, 130),
        CheckpointAction::Nothing,
        "one request at a time"
    );
    log.written_back(0, Ok(100));
    log.busy = false;
    assert_eq!(
        after(&mut log, 131),
        CheckpointAction::Ask,
        "31 are not few"
    );
    log.written_back(0, Ok(131));
    log.busy = false;
    assert_eq!(after(&mut log, 140), CheckpointAction::Finish);
    log.written_back(0, Ok(140));
    // A reader keeps it from beginning anew.
    assert_eq!(after(&mut log, 141), CheckpointAction::Nothing);
    assert_eq!(after(&mut log, 150), CheckpointAction::Finish);
    log.written_back(0, Ok(150));
    assert_eq!(after(&mut log, 199), CheckpointAction::Ask);
    assert_eq!(
        after(&mut log, 200),
        CheckpointAction::Finish,
        "whoever is at it"
    );
    assert_eq!(after(&mut log, 201), CheckpointAction::Finish);
    log.busy = false;
    // It started over, and a report about the log before is out of date.
    assert_eq!(after(&mut log, 110), CheckpointAction::Ask);
    log.written_back(0, Ok(201));
    log.busy = false;
    assert_eq!(after(&mut log, 119), CheckpointAction::Nothing);
    assert_eq!(after(&mut log, 120), CheckpointAction::Ask);
    assert_eq!(log.round, 1);
}

#[test]
fn the_file_grows_and_the_log_does_not_without_the_writer() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("x.db");
    let written = Written::new(&file, SHORT);
    let size = || std::fs::metadata(&file).expect("is there").len();
    let before = size();
    let longest = (0..100).map(|_| written.commit_and_checkpoint()).max();
    let (thread, writer) = written.done();
    assert!(thread > 1, "{thread}");
    assert_eq!(writer, 0);
    assert!(size() > before + 100 * 4096, "{before}");
    let allowed = SHORT.worth + SHORT.step;
    assert!(longest <= Some(allowed), "{longest:?}");
}

#[test]
fn the_log_is_bounded_where_the_thread_does_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let lengths = CheckpointLengths {
        worth: usize::MAX,
        ..SHORT
    };
    let written = Written::new(&folder.path().join("x.db"), lengths);
    let longest = (0..200).map(|_| written.commit_and_checkpoint()).max();
    let (thread, writer) = written.done();
    assert_eq!(thread, 0);
    assert!(writer > 1, "{writer}");
    assert!(longest <= Some(lengths.bound + lengths.step), "{longest:?}");
}

#[test]
fn an_old_snapshot_is_kept_and_the_log_is_bounded_again_after_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("x.db");
    let written = Written::new(&file, SHORT);
    written.commit_and_checkpoint();
    let reader = open(&file).expect("opens");
    let count = || reader.query_row("SELECT count(*) FROM t", [], |row| row.get::<_, i64>(0));
    reader.execute_batch("BEGIN").expect("begins");
    assert_eq!(count(), Ok(1));
    let held = (0..200).map(|_| written.commit_and_checkpoint()).max();
    assert!(held > Some(SHORT.bound + SHORT.step), "{held:?}");
    assert_eq!(count(), Ok(1));
    reader.execute_batch("COMMIT").expect("ends");
    // The next commit writes everything back, and the one after it begins anew.
    written.commit_and_checkpoint();
    let after = (0..100).map(|_| written.commit_and_checkpoint()).max();
    assert!(after <= Some(SHORT.worth + SHORT.step), "{after:?}");
    assert_eq!(count(), Ok(302));
}

#[test]
fn writers_that_do_not_wait_for_the_thread_lose_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("x.db");
    let written = Written::new(&file, SHORT);
    for _ in 0..2000 {
        written.commit();
    }
    drop(written);
    let again = open(&file).expect("opens");
    let ask = |sql| again.query_row(sql, [], |row| row.get::<_, rusqlite::types::Value>(0));
    assert_eq!(ask("SELECT count(*) FROM t"), Ok(2000_i64.into()));
    assert_eq!(
        ask("PRAGMA integrity_check"),
        Ok("ok".to_owned().into()),
        "of the file"
    );
}

#[test]
fn a_file_that_cannot_be_written_fails_no_commit() {
    let mut log = Log::default();
    let full = || {
        let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_FULL);
        Err(rusqlite::Error::SqliteFailure(code, None))
    };
    log.committed(LENGTHS.worth, &LENGTHS);
    log.written_back(0, full());
    assert!(log.failing);
    assert_eq!(log.back, 0);
    log.written_back(0, Ok(LENGTHS.worth));
    assert!(!log.failing);
}

/// The last to close the file is the writer, which takes the log away with it.
#[test]
fn the_thread_ends_with_the_writer() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("x.db");
    let mut writer = open(&file).expect("opens");
    migrate::sqlite(&mut writer).expect("migrates");
    let own = open(&file).expect("opens");
    let checkpoints = Checkpoints::start(&mut writer, own, LENGTHS).expect("starts");
    let alive = std::sync::Arc::downgrade(&checkpoints.shared);
    let secured =
        SecuredConnection::new(writer, Isolation::BOTH, true, Duration::ZERO).expect("builds");
    let (tasks, received) = queue(1);
    threads::write(secured, checkpoints, received).expect("starts");
    let log = file.with_extension("db-wal");
    assert!(log.exists());
    drop(tasks);
    while log.exists() {
        std::thread::yield_now();
    }
    assert_eq!(alive.strong_count(), 0);
}
