//! The edge: sockets on one side, requests and responses on the other.
//!
//! Accepts connections, speaks HTTP/1, and enforces limits: the number of connections, the time for
//! a head, a body or a response, and the size of a head.
//!
//! The longest-idle connections are closed first. It knows no routes and no problem documents;
//! [`RequestHandler`] does. Stopping ([`serve`]) loses no request: for a moment requests are
//! handled with `Connection: close`, then new ones are refused and open ones finish.

mod accept;
mod body;
mod bytes_body;
mod connection;
mod connections;
mod guarded_body;
mod refuse_new;
mod stream;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::Request;
use axum::response::Response;

pub use accept::{listen, serve};
pub use body::{BodyTooSlow, OwnPace};

/// What is behind an edge.
pub trait RequestHandler: Send + Sync + 'static {
    /// Responds to a request.
    fn handle(
        self: Arc<Self>,
        peer: SocketAddr,
        request: Request,
    ) -> impl Future<Output = Response> + Send;

    /// Responds to what is not a request. It is the last response of its connection.
    fn refuse(&self, peer: SocketAddr, why: Malformed) -> Response;

    /// Called when the edge is about to stop.
    fn stopping(&self) {}

    /// Called with the number of connections.
    fn connections(&self, _open: usize) {}
}

/// Why something that came over a connection is not a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Malformed {
    /// The head is larger than [`Limits::head`], or has more lines than [`Limits::headers`].
    TooLarge,
    /// It is not HTTP/1, in words without anything of it.
    Syntax(&'static str),
}

/// What a client may take.
#[derive(Debug, Clone)]
pub struct Limits {
    /// How many connections there may be.
    pub connections: usize,
    /// How long a connection may do nothing, and how long the head of a request may take.
    pub head_time: Duration,
    /// Bytes of a head.
    pub head: usize,
    /// Lines of a head.
    pub headers: usize,
    /// How long a body may take, besides a second for each [`Limits::body_rate`] bytes of it.
    pub body_time: Duration,
    /// Bytes of a body that take a second at the slowest.
    pub body_rate: u64,
    /// How long a client may take nothing of a response.
    pub write_time: Duration,
    /// How long requests are handled as before after the signal to stop.
    pub grace: Duration,
    /// How long open requests may take from then on.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connections: 10_000,
            head_time: Duration::from_secs(60),
            head: 64 << 10,
            headers: 100,
            body_time: Duration::from_secs(30),
            body_rate: 16 << 10,
            write_time: Duration::from_secs(30),
            grace: Duration::from_secs(1),
            drain: Duration::from_secs(30),
        }
    }
}
