//! The threads that own the connections.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::checkpoint::Checkpoints;
use super::connection::SecuredConnection;
use super::queue::Queue;
use super::task::Task;
use crate::context::Stopwatch;
use crate::store::StoreError;

/// How many writes may share one commit.
const MAX_WRITES_PER_COMMIT: usize = 128;
/// From when on a commit waits for no more of them: those that share it are reported at its end.
const MAX_COMMIT_WAIT: Duration = Duration::from_millis(20);

/// Starts the writer; its checkpoints end with it.
pub(super) fn write(
    connection: SecuredConnection,
    checkpoints: Checkpoints,
    tasks: Arc<Queue>,
) -> Result<(), StoreError> {
    spawn("store-writer", move || {
        let mut connection = connection;
        // Goes before the connection does.
        let _checkpoints = checkpoints;
        let mut left_over = None;
        while let Some(first) = left_over.take().or_else(|| tasks.take()) {
            let mut group = Group {
                repeatable: first.may_be_lost(),
                first: Some(first),
                tasks: &tasks,
                room: MAX_WRITES_PER_COMMIT,
                begun: Stopwatch::start(),
                left_over: None,
            };
            match connection.wait_for_disk(!group.repeatable) {
                // Too safe is safe enough.
                Err(error) if !group.repeatable => {
                    if let Some(task) = group.first.take() {
                        task.finish(Err(error));
                    }
                }
                _ => connection = commit_group(connection, &mut group),
            }
            left_over = group.left_over;
        }
    })
}

/// The tasks that share a commit: those that wait. Repeatable ones are among themselves unless another one
/// was first, so that nobody waits for the disk for their sake alone.
struct Group<'t> {
    repeatable: bool,
    first: Option<Box<dyn Task>>,
    tasks: &'t Queue,
    room: usize,
    begun: Stopwatch,
    /// One that came and is for the next group.
    left_over: Option<Box<dyn Task>>,
}

impl Iterator for Group<'_> {
    type Item = Box<dyn Task>;

    fn next(&mut self) -> Option<Box<dyn Task>> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        if self.room == 0 || self.left_over.is_some() || self.begun.elapsed() > MAX_COMMIT_WAIT {
            return None;
        }
        self.room -= 1;
        let task = self.tasks.take_waiting()?;
        if self.repeatable && !task.may_be_lost() {
            self.left_over = Some(task);
            return None;
        }
        Some(task)
    }
}

/// Runs tasks until none waits, then commits them all, then responds to them all. The first has nothing
/// before it that could be undone along with it, so it needs no savepoint; under one, SQLite copies every
/// page before it changes it.
fn commit_group(
    mut connection: SecuredConnection,
    group: impl Iterator<Item = Box<dyn Task>>,
) -> SecuredConnection {
    let mut done: Vec<Box<dyn Task>> = Vec::new();
    for mut task in group {
        let first = !connection.in_transaction();
        let begin = if first {
            "BEGIN IMMEDIATE"
        } else {
            "SAVEPOINT task"
        };
        if let Err(error) = connection.control(begin) {
            task.finish(Err(error));
            continue;
        }
        let keep;
        (connection, keep) = run(connection, &mut task);
        if !connection.in_transaction() {
            // A write that took too long, or an error of the disk, has undone the others with it.
            // They did no wrong: once more without it, which is one task less each time.
            let lost = "the transaction was lost".to_owned();
            task.finish(Err(StoreError::Unavailable(lost)));
            let again: Vec<_> = std::mem::take(&mut done);
            connection = commit_group_of(connection, again);
            continue;
        }
        let end = match (first, keep) {
            (true, true) => Ok(()),
            (true, false) => {
                // Its response rests on nothing that is still to be committed.
                task.finish(connection.control("ROLLBACK"));
                continue;
            }
            (false, true) => connection.control("RELEASE task"),
            (false, false) => connection
                .control("ROLLBACK TO task")
                .and_then(|()| connection.control("RELEASE task")),
        };
        match end {
            Ok(()) => done.push(task),
            Err(error) => task.finish(Err(error)),
        }
    }
    let committed = if connection.in_transaction() {
        connection.control("COMMIT")
    } else if done.is_empty() {
        Ok(())
    } else {
        let lost = "the transaction was lost".to_owned();
        Err(StoreError::Unavailable(lost))
    };
    if committed.is_err() && connection.in_transaction() {
        let _ = connection.control("ROLLBACK");
    }
    for task in done {
        task.finish(committed.clone());
    }
    connection
}

fn commit_group_of(connection: SecuredConnection, tasks: Vec<Box<dyn Task>>) -> SecuredConnection {
    // By way of a trait object: the function would have to be made anew for every depth.
    let tasks: Box<dyn Iterator<Item = Box<dyn Task>>> = Box::new(tasks.into_iter());
    commit_group(connection, tasks)
}

/// Starts one reader of several. It opens its connection for its first task: most servers never need them all, and row
/// security takes longer to set up than a server takes to start otherwise.
pub(super) fn read(
    open: impl Fn() -> Result<SecuredConnection, StoreError> + Send + 'static,
    tasks: Arc<Queue>,
) -> Result<(), StoreError> {
    spawn("store-reader", move || {
        let mut opened = None;
        while let Some(mut task) = tasks.take() {
            let connection = match opened.take().map_or_else(&open, Ok) {
                Ok(connection) => connection,
                Err(error) => {
                    task.finish(Err(error));
                    continue;
                }
            };
            let (connection, result) = run_read(connection, &mut task);
            let passage = task.is_passage();
            task.finish(result);
            if passage {
                connection.forget_pages();
            }
            opened = Some(connection);
        }
    })
}

/// Runs a task that only reads, in a snapshot of its own.
pub(super) fn run_read(
    connection: SecuredConnection,
    task: &mut Box<dyn Task>,
) -> (SecuredConnection, Result<(), StoreError>) {
    if let Err(error) = connection.control("BEGIN") {
        return (connection, Err(error));
    }
    let (connection, _) = run(connection, task);
    // Ends the snapshot; there is nothing to lose.
    if connection.in_transaction() {
        let _ = connection.control("ROLLBACK");
    }
    (connection, Ok(()))
}

fn run(connection: SecuredConnection, task: &mut Box<dyn Task>) -> (SecuredConnection, bool) {
    connection.enter(Some(task.scope()));
    let (connection, keep) = task.run(connection);
    #[cfg(any(test, feature = "row-security-off"))]
    let connection = connection.count();
    connection.enter(None);
    (connection, keep)
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), StoreError> {
    let started = thread::Builder::new().name(name.to_owned()).spawn(work);
    started
        .map(drop)
        .map_err(|error| StoreError::Unavailable(error.to_string()))
}
