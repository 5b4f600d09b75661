//! Opens connections: chooses, of the hosts that a URL names, the one that takes writes.
//!
//! Hosts are asked at once, each with its own patience, so that one that is gone delays nobody. When a
//! standby is promoted, its cluster begins a new timeline; the newest one that was seen is remembered, and
//! a primary of before that comes back as it was is neither connected to nor used any more.
//!
//! What must not happen here: statements of transactions, and anything about secrets of the URL.

use std::fmt;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use deadpool::managed::{self, Metrics, RecycleError, RecycleResult};
use deadpool_postgres::ClientWrapper;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Config, Connection};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::TIMEOUT;
use super::connect_error::{Cause, ConnectError};
use super::host_list::{NamedHost, split};
use super::host_probe::{History, history, takes_writes};
use super::socket::{LentSocket, Socket, sign_in};
use crate::store::StoreError;

pub(super) type Pool = managed::Pool<Hosts>;
pub(super) type Object = managed::Object<Hosts>;

/// How long one of several hosts may take for the whole start of a connection.
const HOST_TIMEOUT: Duration = Duration::from_secs(2);
/// How long each of the others is waited for once one takes writes: a newer primary may be among them.
const OTHER_HOSTS_TIMEOUT: Duration = Duration::from_millis(500);

/// The hosts of a database, as the maker of connections to it.
#[derive(Debug)]
pub(super) struct Hosts {
    all: Vec<NamedHost>,
    tls: Tls,
    /// Whether the sockets of sessions can be taken over.
    lends: bool,
    known: Arc<Mutex<HostState>>,
    /// Rises when nothing that is connected is to be used any more.
    era: Arc<AtomicU64>,
}

/// Has nothing to show.
struct Tls(MakeRustlsConnect);

impl fmt::Debug for Tls {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Tls")
    }
}

/// What connections have shown so far.
#[derive(Debug, Default)]
struct HostState {
    /// The host that is asked alone, until a connection to it is lost.
    current: Option<usize>,
    /// The one that was announced last.
    announced: Option<usize>,
    newest: Option<History>,
}

impl HostState {
    /// Has every host asked again, where that one was the only one.
    fn forget(&mut self, number: usize) {
        if self.current == Some(number) {
            self.current = None;
        }
    }
}

/// A host that takes writes.
#[derive(Debug, Clone, Copy)]
struct HostCandidate<'a> {
    /// Its place among those that the URL names.
    number: usize,
    /// Where its cluster is in its history, if it shows that.
    history: Option<&'a History>,
}

/// A connection.
pub(super) struct Session {
    client: ClientWrapper,
    origin: SessionOrigin,
    lent: Option<LentSocket>,
}

impl fmt::Debug for Session {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut session = formatter.debug_struct("Session");
        session
            .field("origin", &self.origin)
            .finish_non_exhaustive()
    }
}

/// Where a connection leads, and what was known of its host when it was made.
#[derive(Debug)]
pub(super) struct SessionOrigin {
    /// The place of its host among those that the URL names.
    number: usize,
    history: Option<History>,
    era: u64,
}

impl Session {
    /// Its host.
    fn candidate(&self) -> HostCandidate<'_> {
        HostCandidate {
            number: self.origin.number,
            history: self.origin.history.as_ref(),
        }
    }

    /// Takes its socket from the driver, to which nothing is left to do.
    ///
    /// # Errors
    /// Where it leads, when it has lost its socket.
    pub(super) fn take_over(self) -> Result<(Socket, SessionOrigin), SessionOrigin> {
        let Session {
            client,
            origin,
            lent,
        } = self;
        let socket = lent.and_then(|lent| lent.take());
        // After its socket: the driver says goodbye on what it has.
        drop(client);
        match socket {
            Some(socket) => Ok((socket, origin)),
            None => Err(origin),
        }
    }
}

impl std::ops::Deref for Session {
    type Target = ClientWrapper;

    fn deref(&self) -> &ClientWrapper {
        &self.client
    }
}

impl std::ops::DerefMut for Session {
    fn deref_mut(&mut self) -> &mut ClientWrapper {
        &mut self.client
    }
}

impl Hosts {
    pub(super) fn new(config: &Config, tls: MakeRustlsConnect) -> Hosts {
        Hosts {
            all: split(config),
            tls: Tls(tls),
            lends: false,
            known: Arc::default(),
            era: Arc::default(),
        }
    }

    /// The same hosts, and what is known of them, with a configuration of the same URL: the sockets of sessions can be
    /// taken over.
    pub(super) fn lending(&self, config: &Config) -> Hosts {
        Hosts {
            all: split(config),
            tls: Tls(self.tls.0.clone()),
            lends: true,
            known: self.known.clone(),
            era: self.era.clone(),
        }
    }

    /// A host does not respond, or does no longer what it did: what is connected is not used again, and the
    /// next connection asks every host.
    pub(super) fn distrust(&self) {
        self.era.fetch_add(1, Ordering::Relaxed);
        lock_state(&self.known).current = None;
    }

    /// Whether the host that is used takes a connection and responds on it.
    pub(super) async fn responds(&self, patience: Duration) -> bool {
        let only = (self.all.len() == 1).then_some(0);
        let current = lock_state(&self.known).current;
        let Some(number) = only.or(current) else {
            return false;
        };
        let asked = async {
            let session = self.open(number).await?;
            // A pooler takes connections to a database that is gone, too.
            takes_writes(&session).await
        };
        match timeout(patience, asked.boxed()).await {
            Ok(Ok(())) => true,
            Ok(Err(Cause::Database(error))) => {
                error.code() == Some(&SqlState::TOO_MANY_CONNECTIONS)
            }
            Ok(Err(_)) | Err(_) => false,
        }
    }

    /// A connection was lost: the next one asks every host.
    pub(super) fn forget(&self, origin: &SessionOrigin) {
        lock_state(&self.known).forget(origin.number);
    }

    /// The error of a connection that was lost at once.
    pub(super) fn lost(&self, origin: &SessionOrigin) -> ConnectError {
        self.forget(origin);
        let cause = Cause::Socket(io::ErrorKind::NotConnected.into());
        ConnectError(vec![(self.all[origin.number].name.clone(), cause)])
    }

    /// Whether a connection is to be used again, and if not, why.
    pub(super) fn is_trusted(&self, origin: &SessionOrigin) -> Result<(), &'static str> {
        if origin.era != self.era.load(Ordering::Relaxed) {
            return Err("its host is no longer trusted");
        }
        let Some(history) = &origin.history else {
            return Ok(());
        };
        match &lock_state(&self.known).newest {
            Some(newest) if history.is_before(newest) => Err("another host was promoted"),
            _ => Ok(()),
        }
    }

    /// Connects to one of them.
    async fn open(&self, number: usize) -> Result<Session, Cause> {
        let host = &self.all[number];
        let era = self.era.load(Ordering::Relaxed);
        let (client, lent) = if self.lends {
            let (client, connection, lent) = sign_in(&host.config, &self.tls.0).await?;
            let client = self.drive(number, client, connection);
            takes_writes(&client).await?;
            (client, Some(lent))
        } else {
            let connected = host.config.connect(self.tls.0.clone()).await;
            let (client, connection) = connected.map_err(Cause::Database)?;
            (self.drive(number, client, connection), None)
        };
        let history = if self.all.len() > 1 {
            history(&client).await.map_err(Cause::Database)?
        } else {
            None
        };
        let origin = SessionOrigin {
            number,
            history,
            era,
        };
        Ok(Session {
            client,
            origin,
            lent,
        })
    }

    /// Has a task send and receive for a client.
    fn drive<S, T>(
        &self,
        number: usize,
        client: Client,
        connection: Connection<S, T>,
    ) -> ClientWrapper
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
        T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (shared, name) = (self.known.clone(), self.all[number].name.clone());
        let task = tokio::spawn(async move {
            if let Err(error) = connection.await {
                let error = StoreError::from(error);
                tracing::warn!(host = %name, %error, "a connection was lost");
                lock_state(&shared).forget(number);
            }
        });
        ClientWrapper::new(client, task)
    }

    /// Boxed: all that asks for a connection would be as large, and as deep, as its start.
    fn attempt(&self, number: usize, patience: Duration) -> BoxFuture<'_, Result<Session, Cause>> {
        let opened = timeout(patience, self.open(number));
        opened
            .map(|opened| opened.unwrap_or(Err(Cause::Silence)))
            .boxed()
    }

    /// Remembers what was found, unless it is the past.
    fn accept(&self, session: Session) -> Result<Session, Cause> {
        let SessionOrigin {
            number,
            history,
            era,
        } = &session.origin;
        let number = *number;
        let mut known = lock_state(&self.known);
        if let (Some(history), Some(newest)) = (history, &known.newest)
            && history.is_before(newest)
        {
            return Err(Cause::Left {
                timeline: history.timeline,
                newest: newest.timeline,
            });
        }
        if history.is_some() {
            known.newest.clone_from(history);
        }
        // Nobody is to ask a host alone that is no longer trusted since this connection began.
        if *era == self.era.load(Ordering::Relaxed) {
            known.current = Some(number);
        }
        if self.all.len() > 1 && known.announced.replace(number) != Some(number) {
            let timeline = history.as_ref().map(|history| history.timeline);
            tracing::info!(host = %self.all[number].name, timeline, "this host takes the writes");
        }
        Ok(session)
    }

    /// Asks every host at once, and takes the one with the newest history of those that take writes.
    async fn ask_all(&self) -> Result<Session, ConnectError> {
        let mut asked: FuturesUnordered<_> = (0..self.all.len())
            .map(async |number| (number, self.attempt(number, HOST_TIMEOUT).await))
            .collect();
        let mut failed: Vec<(usize, Cause)> = Vec::new();
        let mut best: Option<Session> = None;
        loop {
            let patience = if best.is_some() {
                OTHER_HOSTS_TIMEOUT
            } else {
                TIMEOUT
            };
            let Ok(Some((number, response))) = timeout(patience, asked.next()).await else {
                break;
            };
            match response {
                Err(cause) => failed.push((number, cause)),
                Ok(session) => {
                    let better = best
                        .as_ref()
                        .is_none_or(|best| is_better(session.candidate(), best.candidate()));
                    if better {
                        best = Some(session);
                    }
                }
            }
        }
        if let Some(session) = best {
            let number = session.origin.number;
            match self.accept(session) {
                Ok(session) => return Ok(session),
                Err(cause) => failed.push((number, cause)),
            }
        }
        failed.sort_by_key(|(number, _)| *number);
        let failed = failed.into_iter();
        let failed = failed.map(|(number, cause)| (self.all[number].name.clone(), cause));
        Err(ConnectError(failed.collect()))
    }
}

/// Whether a host is to be used rather than another: of one cluster the newer one, else the one that the URL names
/// first. Who responds first decides nothing, so that all connections go to the same one.
fn is_better(this: HostCandidate<'_>, other: HostCandidate<'_>) -> bool {
    match (this.history, other.history) {
        (Some(newer), Some(older)) if older.is_before(newer) => true,
        (Some(older), Some(newer)) if older.is_before(newer) => false,
        _ => this.number < other.number,
    }
}

impl managed::Manager for Hosts {
    type Type = Session;
    type Error = ConnectError;

    async fn create(&self) -> Result<Session, ConnectError> {
        if let [only] = &self.all[..] {
            let session = self.attempt(0, TIMEOUT).await;
            let session = session.and_then(|session| self.accept(session));
            return session.map_err(|cause| ConnectError(vec![(only.name.clone(), cause)]));
        }
        let current = lock_state(&self.known).current;
        if let Some(number) = current {
            let session = self.attempt(number, HOST_TIMEOUT).await;
            match session.and_then(|session| self.accept(session)) {
                Ok(session) => return Ok(session),
                Err(_) => lock_state(&self.known).current = None,
            }
        }
        self.ask_all().boxed().await
    }

    async fn recycle(&self, session: &mut Session, _: &Metrics) -> RecycleResult<ConnectError> {
        if session.is_closed() {
            return Err(RecycleError::message("it was closed"));
        }
        self.is_trusted(&session.origin)
            .map_err(RecycleError::message)
    }
}

/// Nothing that is done under the lock can leave it half done.
fn lock_state(shared: &Mutex<HostState>) -> MutexGuard<'_, HostState> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::{History, HostCandidate, is_better};

    #[test]
    fn the_newer_one_of_a_cluster_is_used_else_the_first_in_the_url() {
        let history = |cluster: &str, timeline| {
            let cluster = cluster.to_owned();
            Some(History { cluster, timeline })
        };
        for (first, second, second_is_better) in [
            (history("a", 1), history("a", 2), true),
            (history("a", 2), history("a", 1), false),
            (history("a", 2), history("a", 2), false),
            (history("a", 1), history("b", 2), false),
            (None, history("a", 2), false),
            (None, None, false),
        ] {
            let first = HostCandidate {
                number: 0,
                history: first.as_ref(),
            };
            let second = HostCandidate {
                number: 1,
                history: second.as_ref(),
            };
            // Whichever of them responds first.
            assert_eq!(is_better(second, first), second_is_better);
            assert_eq!(is_better(first, second), !second_is_better);
        }
    }
}
