//! The embedded store: one writing thread with group commit, a fixed pool of reading threads.
//!
//! A task is an operation. It runs to its end on the thread that owns the connection, so a write
//! transaction never waits for the network or for another task. Writes that arrive while the disk
//! is busy share the next commit, each in a savepoint of its own. Readers work on snapshots and
//! never wait for the writer. Short reads run on the calling thread. Large reads have reader
//! threads of their own. Tasks wait for a thread in a queue in which organizations take turns. A
//! separate thread does the checkpoints.

mod checkpoint;
mod connection;
mod file_lock;
mod functions;
mod inline_reads;
mod queue;
mod row_security;
mod task;
mod threads;

use std::path::{Path, PathBuf};
#[cfg(any(test, feature = "row-security-off"))]
use std::sync::Arc;

use checkpoint::Checkpoints;
pub(super) use connection::SecuredConnection;
pub(super) use file_lock::{FileLock, refuse_other_name};
use inline_reads::InlineReads;
use queue::{QueueFull, TaskSender, queue};
pub(super) use task::Task;
use tempfile::TempDir;

use super::{Isolation, Options, StoreError, migrate};
use crate::lanes::LaneSizes;

/// How many tasks may wait; more are refused, so that waiting does not grow without bound.
const MAX_WAITING_TASKS: usize = 4096;
const READERS: usize = 4;
/// Readers beyond those that lanes let in, for the heavy reads of template jobs.
const HEAVY_READERS: usize = 2;

/// An open database.
#[derive(Debug)]
pub(super) struct Sqlite {
    writer: TaskSender,
    readers: TaskSender,
    /// Those for what reads much.
    heavy: TaskSender,
    inline: InlineReads,
    /// How many connections run tasks, for metrics.
    pub(super) connections: usize,
    /// What all statements took so far, in steps of SQLite's machine.
    #[cfg(any(test, feature = "row-security-off"))]
    steps: Arc<std::sync::atomic::AtomicU64>,
    /// Keeps the folder of a database in memory until the store goes.
    _temporary: Option<Temporary>,
}

impl Sqlite {
    /// Opens a file, and starts the threads that work on it. `None` is a database that lives as
    /// long as the store.
    pub(super) fn open(
        file: Option<&Path>,
        isolation: Isolation,
        options: &Options,
    ) -> Result<Sqlite, StoreError> {
        let opened = |file: &Path| {
            let sqlite = Sqlite::open_file(file, isolation, options);
            sqlite.map_err(|error| error.of_file(file))
        };
        if let Some(file) = file {
            return opened(file);
        }
        let temporary = Temporary::new()?;
        let sqlite = opened(&temporary.file)?;
        Ok(Sqlite {
            _temporary: Some(temporary),
            ..sqlite
        })
    }

    fn open_file(
        path: &Path,
        isolation: Isolation,
        options: &Options,
    ) -> Result<Sqlite, StoreError> {
        let limit = options.statement_timeout;
        let mut first = connection::open(path)?;
        migrate::sqlite(&mut first)?;
        connection::make_writer(&first)?;
        connection::map(&first)?;
        let own = connection::open_again(path)?;
        let checkpoints = Checkpoints::start(&mut first, own, checkpoint::LENGTHS)?;
        #[cfg(any(test, feature = "row-security-off"))]
        let steps = Arc::default();
        let secured = {
            #[cfg(any(test, feature = "row-security-off"))]
            let steps = Arc::clone(&steps);
            move |connection, may_write, limit| {
                let secured = SecuredConnection::new(connection, isolation, may_write, limit)?;
                #[cfg(any(test, feature = "row-security-off"))]
                let secured = secured.counted(&steps);
                Ok::<_, StoreError>(secured)
            }
        };
        let (writer, tasks) = queue(MAX_WAITING_TASKS);
        threads::write(secured(first, true, limit)?, checkpoints, tasks)?;
        let start = |count| {
            let (readers, tasks) = queue(MAX_WAITING_TASKS);
            for _ in 0..count {
                let (path, secured) = (path.to_owned(), secured.clone());
                let open = move || secured(connection::open_again(&path)?, false, limit);
                threads::read(open, tasks.clone())?;
            }
            Ok::<_, StoreError>(readers)
        };
        let heavy = LaneSizes::of_machine().heavy_reads() + HEAVY_READERS;
        let inline = InlineReads::open(|limit| {
            let inline = connection::open_again(path)?;
            connection::map(&inline)?;
            secured(inline, false, limit)
        })?;
        Ok(Sqlite {
            writer,
            readers: start(READERS)?,
            heavy: start(heavy)?,
            connections: 1 + READERS + heavy + inline.count(),
            inline,
            #[cfg(any(test, feature = "row-security-off"))]
            steps,
            _temporary: None,
        })
    }

    /// What all statements took so far, in steps of SQLite's machine.
    #[cfg(any(test, feature = "row-security-off"))]
    pub(super) fn steps(&self) -> u64 {
        self.steps.load(std::sync::atomic::Ordering::Relaxed)
    }

    /// Hands a task to the writer.
    pub(super) fn write(&self, task: Box<dyn Task>) {
        hand(&self.writer, task);
    }

    /// Runs a short task, or hands it to the next free reader.
    pub(super) fn read(&self, task: Box<dyn Task>) {
        let task = if task.is_brief() {
            self.inline.run(task)
        } else {
            Some(task)
        };
        if let Some(task) = task {
            let heavy = task.is_heavy();
            hand(if heavy { &self.heavy } else { &self.readers }, task);
        }
    }
}

fn hand(threads: &TaskSender, task: Box<dyn Task>) {
    if let Err(QueueFull(task)) = threads.put(task) {
        task.finish(Err(StoreError::Unavailable("too much to do".to_owned())));
    }
}

/// A folder for a database that nobody keeps. SQLite's own databases in memory cannot be shared by
/// a writer and readers that do not wait for each other. It goes with this value; the threads may still hold the file,
/// and the system keeps it for them.
#[derive(Debug)]
struct Temporary {
    _folder: TempDir,
    file: PathBuf,
}

impl Temporary {
    fn new() -> Result<Temporary, StoreError> {
        let mut folder = tempfile::Builder::new();
        folder.prefix("tplkit-");
        // It lies where everybody may look, and stays there when the process is killed.
        #[cfg(unix)]
        folder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let folder = folder.tempdir();
        let folder = folder.map_err(|error| StoreError::NoFolder(error.to_string()))?;
        let file = folder.path().join("memory.db");
        Ok(Temporary {
            _folder: folder,
            file,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, RwLock};

    use super::HEAVY_READERS;
    use crate::lanes::LaneSizes;
    use crate::store::{Scope, Store, StoreError};

    /// Counts who has begun, and is held until the test lets go.
    type Held = Arc<(RwLock<()>, RwLock<usize>)>;

    async fn wait(tx: &mut crate::store::Tx, held: &Held) -> Result<(), StoreError> {
        *held.1.write().expect("no panic") += 1;
        drop(held.0.read().expect("no panic"));
        tx.last("SELECT 1", &[]).await.map(drop)
    }

    #[tokio::test]
    async fn reads_that_take_long_keep_no_other_waiting() {
        let store = Store::open("sqlite::memory:").await.expect("opens");
        let held = Held::default();
        let own = held.clone();
        let (go, stop) = std::sync::mpsc::channel::<()>();
        let (locked, is_locked) = std::sync::mpsc::channel();
        let keeper = std::thread::spawn(move || {
            let _lock = own.0.write().expect("no panic");
            locked.send(()).expect("is waited for");
            let _ = stop.recv();
        });
        is_locked.recv().expect("is locked");
        let count = LaneSizes::of_machine().heavy_reads() + HEAVY_READERS;
        let long = (0..count).map(|_| {
            let (store, held) = (store.clone(), held.clone());
            tokio::spawn(async move {
                let read = store.snapshot(&Scope::Authentication, held, |tx, held| {
                    Box::pin(wait(tx, held))
                });
                read.await
            })
        });
        let long: Vec<_> = long.collect();
        while *held.1.read().expect("no panic") < count {
            tokio::task::yield_now().await;
        }
        store.ready().await.expect("responds meanwhile");
        drop(go);
        keeper.join().expect("ends");
        for long in long {
            let done: Result<(), StoreError> = long.await.expect("ends");
            done.expect("responds");
        }
    }

    /// Readers open the file for their first task, which may come while somebody moves it.
    #[tokio::test]
    async fn a_file_that_was_moved_away_is_not_made_anew() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, moved) = (folder.path().join("a.db"), folder.path().join("b.db"));
        let store = Store::open(&format!("sqlite:{}", file.display())).await;
        let store = store.expect("opens");
        std::fs::rename(&file, &moved).expect("moves");
        let look = || {
            store.snapshot(&Scope::Operator, (), |tx, ()| {
                Box::pin(async move { tx.last("SELECT 1", &[]).await.map(drop) })
            })
        };
        let refused: Result<(), StoreError> = look().await;
        refused.expect_err("nothing is there");
        assert!(!file.exists(), "it was made anew");
        std::fs::rename(&moved, &file).expect("moves back");
        let found: Result<(), StoreError> = look().await;
        found.expect("reads");
    }
}
