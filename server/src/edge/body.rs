//! A body that has to come at a pace.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::time::{Instant, Sleep, sleep_until};

/// The client took too long over a body.
#[derive(Debug, thiserror::Error)]
#[error("the body did not come in time")]
pub struct BodyTooSlow;

/// A body with a deadline that moves on as bytes come, so that no trickle keeps it open.
pub(super) struct Paced {
    body: Incoming,
    time: Duration,
    rate: u64,
    received: u64,
    /// When it began to be waited for, and until when.
    waiting: Option<(Instant, Pin<Box<Sleep>>)>,
}

impl Paced {
    pub(super) fn new(body: Incoming, time: Duration, rate: u64) -> Paced {
        Paced {
            body,
            time,
            rate: rate.max(1),
            received: 0,
            waiting: None,
        }
    }
}

impl Body for Paced {
    type Data = Bytes;
    type Error = axum::BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::BoxError>>> {
        let this = &mut *self;
        if let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(cx) {
            if let Some(Ok(frame)) = &frame {
                let length = frame.data_ref().map_or(0, Bytes::len);
                this.received += u64::try_from(length).unwrap_or(u64::MAX);
            }
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
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
            Poll::Ready(()) => Poll::Ready(Some(Err(BodyTooSlow.into()))),
            Poll::Pending => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
