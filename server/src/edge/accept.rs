//! Accepting connections, and stopping to.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket, TcpStream, lookup_host};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{sleep, timeout};

use super::connection::{self, Phase};
use super::crowd::Crowd;
use super::{Answers, Limits, door};

/// How many connections the system may hold ready for us.
const BACKLOG: u32 = 4096;
/// How often a crowd is looked at again.
const GLANCE: Duration = Duration::from_millis(20);
/// How often a listener that is about to close is looked at: for as long as a connection across the
/// world takes to begin.
const LAST_GLANCES: usize = 10;
const SHORTEST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Listens on an address of the form `HOST:PORT`.
///
/// # Errors
/// When no such address can be listened on.
pub async fn listen(address: &str) -> io::Result<TcpListener> {
    let mut last = io::Error::new(io::ErrorKind::InvalidInput, "it is no address");
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
    answers: Arc<A>,
    limits: Limits,
    crowd: Arc<Crowd>,
    room: Arc<Semaphore>,
    phase: watch::Sender<Phase>,
}

/// Serves until `stop`, then lets open requests end. Gives how many connections were cut off.
pub async fn serve<A: Answers>(
    answers: Arc<A>,
    listener: TcpListener,
    limits: Limits,
    stop: impl Future<Output = ()>,
) -> usize {
    let edge = Edge {
        answers,
        crowd: Arc::default(),
        room: Arc::new(Semaphore::new(limits.connections)),
        phase: watch::Sender::new(Phase::Open),
        limits,
    };
    tokio::select! {
        () = edge.accept(&listener) => {}
        () = stop => {}
    }
    edge.answers.stopping();
    edge.phase.send_replace(Phase::LastAnswers);
    // Clients that keep connections open are about to ask: each gets an answer, and with it the word
    // that it is the last one. Where nobody is connected there is nothing to wait for.
    let crowded = async {
        while edge.crowd.len() > 0 {
            sleep(GLANCE).await;
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
    let _ = timeout(edge.limits.drain, edge.room.acquire_many(all)).await;
    edge.crowd.len()
}

impl<A: Answers> Edge<A> {
    /// Accepts for ever.
    async fn accept(&self, listener: &TcpListener) {
        let mut pause = SHORTEST_PAUSE;
        loop {
            let Some(place) = self.place().await else {
                return;
            };
            match listener.accept().await {
                Ok((tcp, peer)) => {
                    pause = SHORTEST_PAUSE;
                    self.welcome(tcp, peer, place);
                }
                Err(error) if is_of_one_connection(&error) => {}
                Err(error) => {
                    // Out of descriptors or memory: others have to go before anybody comes.
                    tracing::warn!(%error, open = self.crowd.len(), "no connection can be taken");
                    self.crowd.make_room(self.some());
                    sleep(pause).await;
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
            }
        }
    }

    /// Room for one more connection.
    async fn place(&self) -> Option<OwnedSemaphorePermit> {
        loop {
            if let Ok(place) = self.room.clone().try_acquire_owned() {
                return Some(place);
            }
            self.crowd.make_room(self.some());
            let wait = timeout(GLANCE, self.room.clone().acquire_owned());
            if let Ok(place) = wait.await {
                return place.ok();
            }
        }
    }

    /// How many are sent away at once when it is crowded.
    fn some(&self) -> usize {
        (self.limits.connections / 64).max(1)
    }

    fn welcome(&self, tcp: TcpStream, peer: SocketAddr, place: OwnedSemaphorePermit) {
        let (id, guest) = self.crowd.enter();
        self.answers.connections(self.crowd.len());
        let (answers, crowd) = (self.answers.clone(), self.crowd.clone());
        let connection = connection::run(
            tcp,
            peer,
            guest,
            answers.clone(),
            self.limits.clone(),
            self.phase.subscribe(),
        );
        // Also when the task panics.
        let leaving = Leaving { crowd, id, answers };
        tokio::spawn(async move {
            let (_place, _leaving) = (place, leaving);
            connection.await;
        });
    }

    /// Takes those who are in the door, and closes it.
    async fn accept_the_last(&self, listener: TcpListener) {
        door::close(&listener);
        let Ok(listener) = listener.into_std() else {
            return;
        };
        for _ in 0..LAST_GLANCES {
            // Asked directly: the runtime may not have heard of them yet.
            while let Ok((tcp, peer)) = listener.accept() {
                let tcp = tcp
                    .set_nonblocking(true)
                    .and_then(|()| TcpStream::from_std(tcp));
                let place = timeout(self.limits.grace, self.place());
                if let (Ok(tcp), Ok(Some(place))) = (tcp, place.await) {
                    self.welcome(tcp, peer, place);
                }
            }
            // For connections that are on their way in.
            sleep(GLANCE).await;
        }
    }
}

struct Leaving<A: Answers> {
    crowd: Arc<Crowd>,
    id: u64,
    answers: Arc<A>,
}

impl<A: Answers> Drop for Leaving<A> {
    fn drop(&mut self) {
        self.crowd.leave(self.id);
        self.answers.connections(self.crowd.len());
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
