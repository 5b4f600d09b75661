//! One connection, from its first byte to its last.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, Version, header};
use axum::response::Response;
use http_body::Body as _;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{sleep_until, timeout};

use super::body::{BodyDeadline, OwnPace, UnreadBody};
use super::bytes_body::with_bytes;
use super::connections::ConnectionState;
use super::guarded_body::with_guard;
use super::stream::Stream;
use super::{Limits, Malformed, RequestHandler};

/// How long a client that got its last response may go on sending. Closing while bytes arrive would
/// destroy the response in flight.
const LINGER: Duration = Duration::from_secs(5);

/// At most the longest head and so many bytes are read at once: while a thread copies them, it serves nobody else. The
/// HTTP library takes no less.
const BYTES_PER_READ: usize = 8 << 10;

/// Where an edge stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    /// Open.
    Open,
    /// Requests are handled as before, and every response closes its connection.
    LastResponses,
    /// Nothing new is taken.
    Closing,
}

/// How a connection ended.
enum ConnectionEnd {
    /// Every request has its response.
    Done,
    /// Nobody wanted anything.
    Idle,
    /// There is nobody to talk to, or nothing to say.
    Broken,
    /// Something came that is not a request.
    Malformed(Malformed),
}

/// Serves a connection.
pub(super) async fn run<A: RequestHandler>(
    tcp: TcpStream,
    peer: SocketAddr,
    state: Arc<ConnectionState>,
    handler: Arc<A>,
    limits: Limits,
    mut phase: watch::Receiver<Phase>,
) {
    // Responses are whole when they leave.
    let _ = tcp.set_nodelay(true);
    let stream = Stream::new(tcp, state.clone(), limits.write_time);
    let service = {
        let (handler, state, phase) = (handler.clone(), state.clone(), phase.clone());
        hyper::service::service_fn(move |request: hyper::Request<Incoming>| {
            let busy = Busy::new(state.clone());
            let (handler, state, phase) = (handler.clone(), state.clone(), phase.clone());
            let (time, rate) = (limits.body_time, limits.body_rate);
            Box::pin(async move {
                let closing = asks_to_close(&request);
                let waits = waits_to_send(&request);
                // Most requests have no body, and nothing of one is left.
                let body = (!request.body().is_end_stream()).then(UnreadBody::default);
                let pace = OwnPace::default();
                let mut request = request.map(|incoming| match &body {
                    Some(unread) => {
                        let (pace, unread) = (pace.clone(), unread.clone());
                        Body::new(BodyDeadline::new(incoming, time, rate, pace, unread))
                    }
                    None => Body::new(incoming),
                });
                if body.is_some() {
                    request.extensions_mut().insert(pace);
                }
                let mut response = handler.handle(peer, request).await;
                let last = *phase.borrow() > Phase::Open;
                let keeps = match body {
                    _ if last => false,
                    // The client closes: what it sends until then is discarded with the connection.
                    Some(_) if closing => true,
                    Some(unread) => unread.skip(waits).await,
                    None => true,
                };
                if !keeps {
                    let close = HeaderValue::from_static("close");
                    response.headers_mut().insert(header::CONNECTION, close);
                }
                if !is_json(&response) && !response.body().is_end_stream() {
                    response = with_bytes(response, state.clone());
                }
                // What is there already leaves at once; what is made on the way keeps the connection busy.
                if response.body().size_hint().exact().is_none() {
                    response = response.map(|body| with_guard(body, busy));
                }
                Ok::<Response, Infallible>(response)
            })
        })
    };
    let mut connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_time)
        .max_header_size(limits.head)
        .max_buf_size(limits.head + BYTES_PER_READ)
        .max_headers(limits.headers)
        // Who has sent a request and closed that half still waits for the response.
        .half_close(true)
        .serve_connection(TokioIo::new(stream), service);
    let end = loop {
        let closing = *phase.borrow_and_update() == Phase::Closing;
        let silent = state.silent_at(limits.grace);
        tokio::select! {
            biased;
            result = poll_fn(|cx| connection.poll_without_shutdown(cx)) => break end(result),
            () = state.closing() => if state.is_idle() { break ConnectionEnd::Idle },
            // A sender that is gone ends the process; until then there is nothing to do about it.
            Ok(()) = phase.changed() => {}
            // Late enough for whoever was about to ask.
            () = sleep_until(silent), if closing && state.is_idle() => {
                if state.silent_at(limits.grace) <= silent { break ConnectionEnd::Idle }
            }
        }
    };
    let mut stream = connection.into_parts().io.into_inner();
    if let ConnectionEnd::Malformed(why) = end {
        let response = written(handler.refuse(peer, why)).await;
        if stream.write_all(&response).await.is_err() {
            return;
        }
    }
    if matches!(end, ConnectionEnd::Broken) || stream.shutdown().await.is_err() {
        return;
    }
    tokio::select! {
        () = state.closing() => {}
        _ = timeout(LINGER, discard(Pin::new(&mut stream))) => {}
    }
}

/// Whether this is the last request of its connection, by what the client says.
fn asks_to_close(request: &hyper::Request<Incoming>) -> bool {
    let says = |wanted: &str| {
        let values = request.headers().get_all(header::CONNECTION).iter();
        let values = values.filter_map(|value| value.to_str().ok());
        values
            .flat_map(|value| value.split(','))
            .any(|option| option.trim().eq_ignore_ascii_case(wanted))
    };
    says("close") || request.version() < Version::HTTP_11 && !says("keep-alive")
}

/// Whether the client waits for `100 Continue` before it sends its body.
fn waits_to_send(request: &hyper::Request<Incoming>) -> bool {
    request.headers().contains_key(header::EXPECT)
}

/// A request is in progress for as long as this lives.
struct Busy(Arc<ConnectionState>);

impl Busy {
    fn new(state: Arc<ConnectionState>) -> Busy {
        state.request();
        Busy(state)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.responded();
    }
}

/// Whether the body of a response is JSON, which no response of the HTTP library reads like.
fn is_json(response: &Response) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE);
    kind.is_some_and(|kind| {
        let kind = kind.as_bytes();
        kind.starts_with(b"application/json") || kind.starts_with(b"application/problem+json")
    })
}

/// Reads until the other side closes, too.
async fn discard(mut stream: Pin<&mut Stream>) {
    let mut buffer = [0; 8 << 10];
    while let Ok(1..) = stream.read(&mut buffer).await {}
}

fn end(result: hyper::Result<()>) -> ConnectionEnd {
    let Err(error) = result else {
        return ConnectionEnd::Done;
    };
    if error.is_parse_too_large() {
        return ConnectionEnd::Malformed(Malformed::TooLarge);
    }
    if !error.is_parse() {
        tracing::debug!(%error, "a connection broke");
        return ConnectionEnd::Broken;
    }
    let words = error.to_string();
    let known = [
        ("method", "its method is not valid"),
        ("version", "only HTTP/1.0 and HTTP/1.1 are spoken here"),
        ("URI", "its target is not valid"),
        ("header", "a line of its head is not valid"),
    ];
    let known = known.iter().find(|(word, _)| words.contains(word));
    ConnectionEnd::Malformed(Malformed::Syntax(
        known.map_or("its head is not valid", |(_, message)| message),
    ))
}

/// The bytes of a response, outside of what the HTTP library writes.
async fn written(response: Response) -> Vec<u8> {
    let (parts, body) = response.into_parts();
    let body = body
        .collect()
        .await
        .map(http_body_util::Collected::to_bytes);
    let body = body.unwrap_or_default();
    let reason = parts.status.canonical_reason().unwrap_or_default();
    let mut head = format!("HTTP/1.1 {} {reason}\r\n", parts.status.as_u16());
    for (name, value) in &parts.headers {
        if let Ok(value) = value.to_str() {
            // Writing to a string does not fail.
            let _ = write!(head, "{name}: {value}\r\n");
        }
    }
    let _ = write!(
        head,
        "connection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), &body].concat()
}
