//! Runs short reads on the calling thread.
//!
//! Handing a read to another thread costs more than most reads. So a read that is expected to be
//! short runs at once, with a time limit that the thread's other tasks do not notice. A read that
//! takes longer is aborted and goes to the reader threads.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::connection::SecuredConnection;
use super::task::Task;
use super::threads;
use crate::store::StoreError;

/// How long a statement may take before it counts as long.
const SHORT_READ: Duration = Duration::from_millis(1);

/// How many threads can be served at once; there are seldom more that ask.
const MAX_CONNECTIONS: usize = 8;

/// Connections to borrow.
pub(super) struct InlineReads(Mutex<Vec<SecuredConnection>>);

impl std::fmt::Debug for InlineReads {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("InlineReads")
    }
}

impl InlineReads {
    /// Opens one for each processor; `open` is given how long a statement may take.
    pub(super) fn open(
        open: impl Fn(Duration) -> Result<SecuredConnection, StoreError>,
    ) -> Result<InlineReads, StoreError> {
        let count = std::thread::available_parallelism().map_or(1, usize::from);
        let connections = (0..count.min(MAX_CONNECTIONS)).map(|_| {
            let mut connection = open(SHORT_READ)?;
            connection.be_brief();
            Ok(connection)
        });
        let connections: Result<_, StoreError> = connections.collect();
        Ok(InlineReads(Mutex::new(connections?)))
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.free().len()
    }

    /// Runs a task to its end. Gives it back when everything is borrowed, or when it takes long: then
    /// it has read and reported nothing.
    pub(super) fn run(&self, mut task: Box<dyn Task>) -> Option<Box<dyn Task>> {
        let Some(connection) = self.free().pop() else {
            return Some(task);
        };
        let (mut connection, result) = threads::run_read(connection, &mut task);
        let timed_out = connection.timed_out();
        self.free().push(connection);
        if timed_out {
            return Some(task);
        }
        task.finish(result);
        None
    }

    fn free(&self) -> std::sync::MutexGuard<'_, Vec<SecuredConnection>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};
    use std::thread::{ThreadId, current};

    use crate::store::{Scope, Store, StoreError, TransactionMode, Tx};

    /// Where it ran, each time that it did.
    type Ran = Arc<Mutex<Vec<ThreadId>>>;

    async fn count(tx: &mut Tx, ran: &Ran, sql: &'static str) -> Result<i64, StoreError> {
        ran.lock().expect("no panic").push(current().id());
        let row = tx.first(sql, &[]).await?;
        row.map_or(Ok(0), |row| row.get(0))
    }

    async fn short_read(
        store: &Store,
        work: impl for<'a> Fn(&'a mut Tx, &'a Ran) -> crate::store::Work<'a, i64, StoreError>
        + Send
        + Sync
        + 'static,
    ) -> (i64, Vec<ThreadId>) {
        let ran = Ran::default();
        let ended = store
            .run(
                TransactionMode::ShortRead,
                &Scope::Authentication,
                None,
                ran.clone(),
                work,
            )
            .await;
        let ran = ran.lock().expect("no panic").clone();
        (ended.result.expect("a response"), ran)
    }

    #[tokio::test]
    async fn what_is_short_runs_here_and_what_is_long_elsewhere() {
        let store = Store::open("sqlite::memory:").await.expect("opens");
        let (one, ran) = short_read(&store, |tx, ran| Box::pin(count(tx, ran, "SELECT 1"))).await;
        assert_eq!((one, ran), (1, vec![current().id()]));
        // Longer than a short read on any machine, and shorter than a statement may take.
        let (many, ran) = short_read(&store, |tx, ran| {
            let sql = "SELECT count(*) FROM (SELECT 1 FROM (VALUES (1), (2), (3), (4), (5), (6), (7), (8)) a, \
                 (VALUES (1), (2), (3), (4), (5), (6), (7), (8)) b, \
                 (VALUES (1), (2), (3), (4), (5), (6), (7), (8)) c, \
                 (VALUES (1), (2), (3), (4), (5), (6), (7), (8)) d, \
                 (VALUES (1), (2), (3), (4), (5), (6), (7), (8)) e, \
                 (VALUES (1), (2), (3), (4), (5), (6), (7), (8)) f)";
            Box::pin(count(tx, ran, sql))
        })
        .await;
        assert_eq!(many, 8 * 8 * 8 * 8 * 8 * 8);
        assert_eq!(ran.len(), 2);
        assert_eq!(ran[0], current().id());
        assert_ne!(ran[1], current().id());
        // And the connection is as good as before.
        let (one, ran) = short_read(&store, |tx, ran| Box::pin(count(tx, ran, "SELECT 1"))).await;
        assert_eq!((one, ran), (1, vec![current().id()]));
    }
}
