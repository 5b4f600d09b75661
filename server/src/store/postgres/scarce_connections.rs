//! Connections of a database that has no more of them to give.
//!
//! A process goes on with those that it has: whoever needs one waits for it, and short reads take those of other
//! transactions where there are none for reads.

use std::time::Duration;

use tokio::time::{sleep, timeout};
use tokio_postgres::error::SqlState;

use super::TIMEOUT;
use super::connect_error::PoolError;
use super::hosts::Object;
use super::startup::ReachedDatabase;

/// How often whoever waits asks again.
const ASK_EVERY: Duration = Duration::from_millis(20);

/// Whether the database, or the role, has as many connections as it may.
pub(super) fn is_used_up(error: &PoolError) -> bool {
    matches!(error, PoolError::Backend(error)
        if error.has_code(&SqlState::TOO_MANY_CONNECTIONS))
}

impl ReachedDatabase {
    /// Takes a connection, or makes one.
    pub(super) async fn connection(&self) -> Result<Object, PoolError> {
        match self.pool.get().await {
            Err(error) if is_used_up(&error) => Box::pin(self.own_connection(error)).await,
            taken => taken,
        }
    }

    /// Waits for one that this process has.
    async fn own_connection(&self, error: PoolError) -> Result<Object, PoolError> {
        let waited = timeout(TIMEOUT, async {
            // One asks for all that wait: each time that nothing is free costs the database a connection.
            let _turn = self.waiting.lock().await;
            let mut has_some = false;
            loop {
                match self.pool.get().await {
                    Err(error) if is_used_up(&error) => {
                        has_some |= self.has_some();
                        if !has_some {
                            return Err(error);
                        }
                    }
                    taken => return taken,
                }
                sleep(ASK_EVERY).await;
            }
        });
        waited.await.unwrap_or(Err(error))
    }

    /// Whether a connection of this process may come free. Where only reads have some, the idle ones make room.
    fn has_some(&self) -> bool {
        if self.pool.status().size > 0 {
            return true;
        }
        let Some(readers) = &self.readers else {
            return false;
        };
        let has_some = readers.status().size > 0;
        drop(readers.retain(|_, _| false));
        has_some
    }
}
