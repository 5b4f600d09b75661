//! A body of a response with what has to last as long as it does.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Body;
use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};

struct GuardedBody<G> {
    body: Body,
    _guard: G,
}

/// The same body, with which the guard is dropped.
pub(super) fn with_guard(body: Body, guard: impl Send + Unpin + 'static) -> Body {
    Body::new(GuardedBody {
        body,
        _guard: guard,
    })
}

impl<G: Unpin> HttpBody for GuardedBody<G> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
