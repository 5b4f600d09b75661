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
use tokio_postgres::{Client, Config, Connection, SimpleQueryMessage};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::PATIENCE;
use super::host_list::{NamedHost, split};
use super::socket::{LentSocket, Socket, StartError, sign_in};
use crate::store::{StoreError, sql_log};

pub(super) type Pool = managed::Pool<Hosts>;
pub(super) type Object = managed::Object<Hosts>;
pub(super) type PoolError = managed::PoolError<ConnectError>;

/// How long one of several hosts may take for the whole start of a connection.
const HOST: Duration = Duration::from_secs(2);
/// How long each of the others is waited for once one takes writes: a newer primary may be among them.
const OTHERS: Duration = Duration::from_millis(500);
/// Where this cluster is in its history. Every role may call both functions; what is not PostgreSQL, or
/// shows none of it, has no history.
const HISTORY: &str = "SELECT system_identifier, substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) \
     FROM pg_control_system()";

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

/// A cluster, and the timeline that it writes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct History {
    cluster: String,
    timeline: u32,
}

impl History {
    /// Whether the other one is of the same cluster, after a promotion.
    fn is_before(&self, other: &History) -> bool {
        self.cluster == other.cluster && self.timeline < other.timeline
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

/// Why none of the hosts could be used: what each said.
#[derive(Debug)]
pub(super) struct ConnectError(Vec<(Arc<str>, Cause)>);

#[derive(Debug)]
enum Cause {
    Database(tokio_postgres::Error),
    Socket(io::Error),
    Silence,
    /// It writes a timeline that another host has left behind.
    Left {
        timeline: u32,
        newest: u32,
    },
}

impl ConnectError {
    /// Whether one of them said that.
    pub(super) fn has_code(&self, code: &SqlState) -> bool {
        self.0
            .iter()
            .any(|(_, cause)| matches!(cause, Cause::Database(error) if error.code() == Some(code)))
    }
}

impl From<StartError> for Cause {
    fn from(error: StartError) -> Cause {
        match error {
            StartError::Socket(error) => Cause::Socket(error),
            StartError::Driver(error) => Cause::Database(error),
        }
    }
}

impl From<Cause> for StoreError {
    fn from(cause: Cause) -> StoreError {
        match cause {
            Cause::Database(error) => error.into(),
            Cause::Socket(error) => {
                StoreError::Unavailable(format!("error connecting to server: {error}"))
            }
            Cause::Silence => StoreError::silent(),
            Cause::Left { timeline, newest } => StoreError::Unavailable(format!(
                "it takes writes on timeline {timeline}, and timeline {newest} was seen: another host \
                 was promoted after it, and it has to become a standby of that one"
            )),
        }
    }
}

impl From<ConnectError> for StoreError {
    fn from(error: ConnectError) -> StoreError {
        let mut texts = Vec::new();
        let mut turned_away = true;
        for (host, cause) in error.0 {
            let text = match StoreError::from(cause) {
                StoreError::TurnedAway(text) => text,
                other => {
                    turned_away = false;
                    match other {
                        // What goes wrong while connecting can be right the next time.
                        StoreError::Unavailable(text) | StoreError::Internal(text) => text,
                        other => other.to_string(),
                    }
                }
            };
            texts.push(format!("{host}: {text}"));
        }
        let text = texts.join("; ");
        if turned_away {
            StoreError::TurnedAway(text)
        } else {
            StoreError::Unavailable(text)
        }
    }
}

impl From<PoolError> for StoreError {
    fn from(error: PoolError) -> StoreError {
        use managed::{PoolError, TimeoutType};
        match error {
            PoolError::Backend(error) => error.into(),
            PoolError::Timeout(TimeoutType::Wait) => {
                StoreError::Unavailable("all connections are in use".to_owned())
            }
            PoolError::Timeout(_) => StoreError::silent(),
            PoolError::Closed => StoreError::Unavailable("the pool is closed".to_owned()),
            other => StoreError::Unavailable(format!("{other:?}")),
        }
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
            return Err("its host is not trusted any more");
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
            .map(async |number| (number, self.attempt(number, HOST).await))
            .collect();
        let mut failed: Vec<(usize, Cause)> = Vec::new();
        let mut best: Option<Session> = None;
        loop {
            let patience = if best.is_some() { OTHERS } else { PATIENCE };
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
            let session = self.attempt(0, PATIENCE).await;
            let session = session.and_then(|session| self.accept(session));
            return session.map_err(|cause| ConnectError(vec![(only.name.clone(), cause)]));
        }
        let current = lock_state(&self.known).current;
        if let Some(number) = current {
            let session = self.attempt(number, HOST).await;
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

/// Whether it says that there is no such function, or that it is not for everybody, or not supported.
fn has_no_history(error: &tokio_postgres::Error) -> bool {
    let code = error.code().map_or("", SqlState::code);
    code.starts_with("42") || code.starts_with("0A")
}

/// The value of a setting, as the driver asks for it where it connects by itself.
const READ_ONLY: &str = "SHOW transaction_read_only";

/// Refuses a host that takes no writes.
async fn takes_writes(client: &Client) -> Result<(), Cause> {
    sql_log::control(READ_ONLY);
    let messages = client
        .simple_query(READ_ONLY)
        .await
        .map_err(Cause::Database)?;
    let is_read_only = messages.iter().any(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0) == Some("on"),
        _ => false,
    });
    if is_read_only {
        let why = "database does not allow writes";
        let error = io::Error::new(io::ErrorKind::PermissionDenied, why);
        return Err(Cause::Socket(error));
    }
    Ok(())
}

async fn history(client: &Client) -> Result<Option<History>, tokio_postgres::Error> {
    sql_log::control(HISTORY);
    let messages = match client.simple_query(HISTORY).await {
        Ok(messages) => messages,
        // What has no such functions, or keeps them to itself, says so.
        Err(error) if has_no_history(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    let row = messages.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    });
    let read = |row: &tokio_postgres::SimpleQueryRow| {
        Some(History {
            cluster: row.get(0)?.to_owned(),
            timeline: u32::from_str_radix(row.get(1)?, 16).ok()?,
        })
    };
    Ok(row.and_then(read))
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
