//! Connections for reads of one statement: sessions that have the role of authentication between transactions, and
//! carry each read in one message each way (`wire`).
//!
//! They are found, trusted and left as the other connections are (`hosts`), and what is known of a host holds for both.

use std::fmt;

use deadpool::managed::{self, Metrics, RecycleError, RecycleResult};

use super::connect_error::ConnectError;
use super::hosts::{Hosts, SessionOrigin};
use super::wire::{Wire, WireError, WireResponses, WireStatement};

pub(super) type ReadPool = managed::Pool<Readers>;

/// The maker of such connections.
#[derive(Debug)]
pub(super) struct Readers(Hosts);

/// Such a connection.
pub(super) struct Reader {
    wire: Wire,
    origin: SessionOrigin,
}

impl fmt::Debug for Reader {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut reader = formatter.debug_struct("Reader");
        reader.field("origin", &self.origin).finish_non_exhaustive()
    }
}

/// One that was taken from the pool. It goes back only where the response to everything that was sent on it was read.
pub(super) struct TakenReader(Option<managed::Object<Readers>>);

impl Readers {
    /// Connections to the hosts that a maker of others knows, made with its configuration.
    pub(super) fn new(hosts: Hosts) -> Readers {
        Readers(hosts)
    }
}

impl managed::Manager for Readers {
    type Type = Reader;
    type Error = ConnectError;

    async fn create(&self) -> Result<Reader, ConnectError> {
        let session = self.0.create().await?;
        let (socket, origin) = session.take_over().map_err(|origin| self.0.lost(&origin))?;
        let wire = Wire::new(socket);
        Ok(Reader { wire, origin })
    }

    async fn recycle(&self, reader: &mut Reader, _: &Metrics) -> RecycleResult<ConnectError> {
        self.0
            .is_trusted(&reader.origin)
            .map_err(RecycleError::message)?;
        if !reader.wire.is_silent().await {
            self.0.forget(&reader.origin);
            return Err(RecycleError::message("it was closed"));
        }
        Ok(())
    }
}

impl TakenReader {
    /// Takes a connection from the pool, or makes one.
    pub(super) async fn from(
        pool: &ReadPool,
    ) -> Result<TakenReader, managed::PoolError<ConnectError>> {
        Ok(TakenReader(Some(pool.get().await?)))
    }

    /// Runs two statements as one transaction.
    pub(super) async fn transact(
        &mut self,
        first: &WireStatement<'_>,
        second: &WireStatement<'_>,
    ) -> Result<WireResponses, WireError> {
        let Some(reader) = &mut self.0 else {
            return Err(std::io::Error::from(std::io::ErrorKind::NotConnected).into());
        };
        let ran = reader.wire.transact(first, second).await;
        if let Err(WireError::Lost(error)) = &ran {
            tracing::warn!(%error, "a connection was lost");
            if let Some(pool) = managed::Object::pool(reader) {
                pool.manager().0.forget(&reader.origin);
            }
        }
        ran
    }
}

impl Drop for TakenReader {
    fn drop(&mut self) {
        if let Some(reader) = self.0.take()
            && reader.wire.is_pending()
        {
            drop(managed::Object::take(reader));
        }
    }
}
