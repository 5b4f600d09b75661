//! The body of a request, with a minimum pace, and the handling of unread bodies.
//!
//! A refusal can be decided before the body arrives. The rest of the body would then be read as the
//! next request, so the edge keeps it ([`UnreadBody`]) and reads it to its end when it is short.
//! Otherwise the response closes the connection.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use tokio::time::{Instant, Sleep, sleep_until, timeout};

/// How many bytes of a body that nobody wants are read to keep its connection.
const MAX_SKIPPED_BYTES: u64 = 64 << 10;
/// How long they may take.
const SKIP_TIMEOUT: Duration = Duration::from_secs(5);

/// The client took too long over a body.
#[derive(Debug, thiserror::Error)]
#[error("the body did not come in time")]
pub struct BodyTooSlow;

/// Lets whoever reads a body say how slowly it may come, in place of the edge. Stands among the extensions of a request
/// with a body.
#[derive(Debug, Clone, Default)]
pub struct OwnPace(Arc<AtomicBool>);

impl OwnPace {
    /// From now on the reader alone gives up waiting.
    pub fn take(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_taken(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A body with a deadline that moves on as bytes come, so that no trickle keeps it open.
pub(super) struct BodyDeadline {
    /// Gone once it is dropped.
    body: Option<Incoming>,
    time: Duration,
    rate: u64,
    received: u64,
    /// It is framed as nobody can read it, or came too slowly.
    failed: bool,
    /// When it began to be waited for, and until when.
    waiting: Option<(Instant, Pin<Box<Sleep>>)>,
    pace: OwnPace,
    unread: UnreadBody,
}

/// What the handler of a request left of its body.
#[derive(Debug, Clone, Default)]
pub(super) struct UnreadBody(Arc<Mutex<Remainder>>);

#[derive(Debug, Default)]
enum Remainder {
    /// Somebody may still read it.
    #[default]
    Held,
    /// Nothing.
    Nothing,
    /// The rest, and how much came before it.
    Rest(Incoming, u64),
    /// Where it ends cannot be known any more.
    Lost,
}

impl UnreadBody {
    fn set(&self, left: Remainder) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = left;
    }

    /// Reads what is left, where that is little and comes soon. Says whether the connection is at the
    /// beginning of the next request then. A client that `waits` for leave to send its body has not got
    /// it, so nobody knows whether it will: that connection ends.
    pub(super) async fn skip(self, waits: bool) -> bool {
        let left = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        match left {
            Remainder::Nothing => true,
            Remainder::Held | Remainder::Lost => false,
            Remainder::Rest(_, 0) if waits => false,
            Remainder::Rest(body, received) => {
                let room = MAX_SKIPPED_BYTES.saturating_sub(received);
                let whole = timeout(SKIP_TIMEOUT, skip(body, room)).await;
                whole.unwrap_or(false)
            }
        }
    }
}

/// Reads a body to its end, if it ends within so many bytes.
async fn skip(mut body: Incoming, mut room: u64) -> bool {
    // What is announced to be too long is not waited for.
    if body.size_hint().lower() > room {
        return false;
    }
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return false };
        let length = frame.data_ref().map_or(0, Bytes::len);
        match room.checked_sub(u64::try_from(length).unwrap_or(u64::MAX)) {
            Some(less) => room = less,
            None => return false,
        }
    }
    true
}

impl BodyDeadline {
    pub(super) fn new(
        body: Incoming,
        time: Duration,
        rate: u64,
        pace: OwnPace,
        unread: UnreadBody,
    ) -> BodyDeadline {
        BodyDeadline {
            body: Some(body),
            time,
            rate: rate.max(1),
            received: 0,
            failed: false,
            waiting: None,
            pace,
            unread,
        }
    }
}

impl Body for BodyDeadline {
    type Data = Bytes;
    type Error = axum::BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::BoxError>>> {
        let this = &mut *self;
        let Some(body) = &mut this.body else {
            return Poll::Ready(None);
        };
        if let Poll::Ready(frame) = Pin::new(body).poll_frame(cx) {
            match &frame {
                Some(Ok(frame)) => {
                    let length = frame.data_ref().map_or(0, Bytes::len);
                    this.received += u64::try_from(length).unwrap_or(u64::MAX);
                }
                Some(Err(_)) => this.failed = true,
                None => {
                    this.body = None;
                    this.unread.set(Remainder::Nothing);
                }
            }
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        if this.pace.is_taken() {
            return Poll::Pending;
        }
        let (began, sleep) = this.waiting.get_or_insert_with(|| {
            let now = Instant::now();
            (now, Box::pin(sleep_until(now + this.time)))
        });
        let deadline = *began + this.time + Duration::from_secs(this.received / this.rate);
        if sleep.deadline() != deadline {
            sleep.as_mut().reset(deadline);
        }
        match sleep.as_mut().poll(cx) {
            Poll::Ready(()) => {
                this.failed = true;
                Poll::Ready(Some(Err(BodyTooSlow.into())))
            }
            Poll::Pending => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        let body = self.body.as_ref();
        body.map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}

impl Drop for BodyDeadline {
    fn drop(&mut self) {
        let Some(body) = self.body.take() else { return };
        self.unread.set(if self.failed {
            Remainder::Lost
        } else if body.is_end_stream() {
            Remainder::Nothing
        } else {
            Remainder::Rest(body, self.received)
        });
    }
}
