//! Accepts connections, until the server stops.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket, TcpStream, lookup_host};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{sleep, timeout};

use super::connection::{self, Phase};
use super::connections::ConnectionRegistry;
use super::{Limits, RequestHandler, refuse_new};

/// How many connections the system may hold ready for us.
const BACKLOG: u32 = 4096;
/// How often the number of connections is checked again.
const CHECK_EVERY: Duration = Duration::from_millis(20);
/// How often a listener that is about to close is looked at: for as long as a connection across the
/// world takes to begin.
const LAST_CHECKS: usize = 10;
const SHORTEST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Listens on an address of the form `HOST:PORT`.
///
/// # Errors
/// When no such address can be listened on.
pub async fn listen(address: &str) -> io::Result<TcpListener> {
    let mut last = io::Error::new(io::ErrorKind::InvalidInput, "it is not an address");
    for address in lookup_host(address).await? {
        match listen_on(address) {
            Ok(listener) => return Ok(listener),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn listen_on(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // A restart need not wait for the connections of before to be forgotten.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

struct Edge<A> {
    handler: Arc<A>,
    limits: Limits,
    connections: Arc<ConnectionRegistry>,
    permits: Arc<Semaphore>,
    phase: watch::Sender<Phase>,
}

/// Serves until `stop`, then lets open requests end. Gives how many connections were cut off.
pub async fn serve<A: RequestHandler>(
    handler: Arc<A>,
    listener: TcpListener,
    limits: Limits,
    stop: impl Future<Output = ()>,
) -> usize {
    let edge = Edge {
        handler,
        connections: Arc::default(),
        permits: Arc::new(Semaphore::new(limits.connections)),
        phase: watch::Sender::new(Phase::Open),
        limits,
    };
    tokio::select! {
        () = edge.accept(&listener) => {}
        () = stop => {}
    }
    edge.handler.stopping();
    edge.phase.send_replace(Phase::LastResponses);
    // Clients that keep connections open are about to ask: each gets a response, and with it the word
    // that it is the last one. Where nobody is connected there is nothing to wait for.
    let crowded = async {
        while edge.connections.len() > 0 {
            sleep(CHECK_EVERY).await;
        }
    };
    tokio::select! {
        () = edge.accept(&listener) => {}
        () = crowded => {}
        () = sleep(edge.limits.grace) => {}
    }
    edge.accept_the_last(listener).await;
    edge.phase.send_replace(Phase::Closing);
    let all = u32::try_from(edge.limits.connections).unwrap_or(u32::MAX);
    let _ = timeout(edge.limits.drain, edge.permits.acquire_many(all)).await;
    edge.connections.len()
}

impl<A: RequestHandler> Edge<A> {
    /// Accepts for ever.
    async fn accept(&self, listener: &TcpListener) {
        let mut pause = SHORTEST_PAUSE;
        loop {
            let Some(place) = self.free_connection().await else {
                return;
            };
            match listener.accept().await {
                Ok((tcp, peer)) => {
                    pause = SHORTEST_PAUSE;
                    self.start(tcp, peer, place);
                }
                Err(error) if is_of_one_connection(&error) => {}
                Err(error) => {
                    // Out of descriptors or memory: others have to go before anybody comes.
                    tracing::warn!(%error, open = self.connections.len(), "no connection can be taken");
                    self.connections.make_room(self.accept_some());
                    sleep(pause).await;
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
            }
        }
    }

    /// Room for one more connection.
    async fn free_connection(&self) -> Option<OwnedSemaphorePermit> {
        loop {
            if let Ok(place) = self.permits.clone().try_acquire_owned() {
                return Some(place);
            }
            self.connections.make_room(self.accept_some());
            let wait = timeout(CHECK_EVERY, self.permits.clone().acquire_owned());
            if let Ok(place) = wait.await {
                return place.ok();
            }
        }
    }

    /// How many are sent away at once when it is crowded.
    fn accept_some(&self) -> usize {
        (self.limits.connections / 64).max(1)
    }

    fn start(&self, tcp: TcpStream, peer: SocketAddr, place: OwnedSemaphorePermit) {
        let (id, state) = self.connections.add();
        self.handler.connections(self.connections.len());
        let (handler, connections) = (self.handler.clone(), self.connections.clone());
        let connection = connection::run(
            tcp,
            peer,
            state,
            handler.clone(),
            self.limits.clone(),
            self.phase.subscribe(),
        );
        // Also when the task panics.
        let leaving = Registration {
            connections,
            id,
            handler,
        };
        tokio::spawn(async move {
            let (_place, _leaving) = (place, leaving);
            connection.await;
        });
    }

    /// Takes the connections that wait at the listener already, and closes it.
    async fn accept_the_last(&self, listener: TcpListener) {
        refuse_new::close(&listener);
        let Ok(listener) = listener.into_std() else {
            return;
        };
        for _ in 0..LAST_CHECKS {
            // Asked directly: the runtime may not have heard of them yet.
            while let Ok((tcp, peer)) = listener.accept() {
                let tcp = tcp
                    .set_nonblocking(true)
                    .and_then(|()| TcpStream::from_std(tcp));
                let place = timeout(self.limits.grace, self.free_connection());
                if let (Ok(tcp), Ok(Some(place))) = (tcp, place.await) {
                    self.start(tcp, peer, place);
                }
            }
            // For connections that are on their way in.
            sleep(CHECK_EVERY).await;
        }
    }
}

struct Registration<A: RequestHandler> {
    connections: Arc<ConnectionRegistry>,
    id: u64,
    handler: Arc<A>,
}

impl<A: RequestHandler> Drop for Registration<A> {
    fn drop(&mut self) {
        self.connections.remove(self.id);
        self.handler.connections(self.connections.len());
    }
}

fn is_of_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionReset
    )
}
