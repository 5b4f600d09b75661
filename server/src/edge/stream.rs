//! A socket that records activity, gives up on clients that do not read, and replaces the empty
//! response that the HTTP library sends to invalid requests.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

use super::connections::ConnectionState;

/// Longer than any response that the HTTP library makes on its own.
const MAX_OWN_RESPONSE_BYTES: usize = 200;

pub(super) struct Stream {
    tcp: TcpStream,
    state: Arc<ConnectionState>,
    write_time: Duration,
    stalled: Option<Pin<Box<Sleep>>>,
}

impl Stream {
    pub(super) fn new(tcp: TcpStream, state: Arc<ConnectionState>, write_time: Duration) -> Stream {
        Stream {
            tcp,
            state,
            write_time,
            stalled: None,
        }
    }

    /// An attempt to write, and what to make of it when the client takes nothing.
    fn attempt<T>(
        &mut self,
        cx: &mut Context<'_>,
        write: impl FnOnce(Pin<&mut TcpStream>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        let written = write(Pin::new(&mut self.tcp), cx);
        if written.is_ready() {
            self.stalled = None;
            self.state.writing(false);
            return written;
        }
        self.state.writing(true);
        let time = self.write_time;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(time)));
        match stalled.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

/// Where the library's own response begins, when these bytes end with it. Nothing of ours has these
/// statuses (a refusal is never 400), and no JSON ends like this. A file may: while one is sent, nobody asks.
fn own_response(bytes: &[u8]) -> Option<usize> {
    if !bytes.ends_with(b"\r\n\r\n") {
        return None;
    }
    let from = bytes.len().saturating_sub(MAX_OWN_RESPONSE_BYTES);
    let at = from + bytes[from..].windows(7).rposition(|w| w == b"HTTP/1.")?;
    let status = bytes.get(at + 9..at + 12)?;
    let ours = ![&b"400"[..], b"414", b"431"].contains(&status);
    let empty = bytes[at..]
        .windows(21)
        .any(|w| w == b"\r\ncontent-length: 0\r\n");
    (!ours && empty).then_some(at)
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.tcp).poll_read(cx, buffer);
        if buffer.filled().len() > before {
            self.state.received();
        }
        read
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let own = (!self.state.sends_bytes()).then(|| own_response(bytes));
        match own.flatten() {
            Some(0) => Poll::Ready(Ok(bytes.len())),
            Some(end) => self.attempt(cx, |tcp, cx| tcp.poll_write(cx, &bytes[..end])),
            None => self.attempt(cx, |tcp, cx| tcp.poll_write(cx, bytes)),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut full = slices.iter().filter(|slice| !slice.is_empty());
        match (full.next_back(), full.next()) {
            (Some(last), first) if !self.state.sends_bytes() && own_response(last).is_some() => {
                self.poll_write(cx, first.unwrap_or(last))
            }
            _ => self.attempt(cx, |tcp, cx| tcp.poll_write_vectored(cx, slices)),
        }
    }

    fn is_write_vectored(&self) -> bool {
        self.tcp.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.tcp).poll_flush(cx);
        if flushed.is_ready() {
            self.state.flushed();
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::own_response;

    #[test]
    fn only_the_librarys_own_response_is_kept_back() {
        let own = b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\
            date: Sun, 22 Nov 2026 09:00:00 GMT\r\n\r\n";
        assert_eq!(own_response(own), Some(0));
        let behind = [&b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"[..], own].concat();
        assert_eq!(own_response(&behind), Some(behind.len() - own.len()));
        for ours in [
            &b"HTTP/1.1 204 No Content\r\nx-request-id: 1\r\n\r\n"[..],
            b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n",
            b"HTTP/1.1 400 Bad Request\r\ncontent-length: 2\r\n\r\n{}",
            b"\r\n\r\n",
            b"HTTP/1.",
            b"",
        ] {
            assert_eq!(own_response(ours), None);
        }
    }
}
