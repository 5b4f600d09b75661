//! A body that goes through as it comes, and ends when it comes too slowly.
//!
//! A chunk of a body is a piece of it, however short. What has come of small ones is joined, so that whoever reads the
//! body has little to do for each.

use std::future::poll_fn;
use std::mem::replace;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use axum::body::Body;
use axum::http::header;
use bytes::{Bytes, BytesMut};
use http_body::{Body as _, Frame};
use http_body_util::BodyExt as _;
use tokio::time::{Instant, timeout};

use super::Call;
use crate::files::settings::UploadPace;
use crate::files::storage::{JOINED_PIECE, SMALL_PIECE};
use crate::refusal::{Code, Refusal};

/// The bytes of a body. Only the time that its client is waited for counts against it.
#[derive(Debug)]
pub struct BodyStream {
    body: Body,
    pace: UploadPace,
    /// How long its client was waited for, since the pace was last looked at,
    waited: Duration,
    /// and what came.
    received: u64,
    /// A large piece that came behind small ones.
    behind: Option<Bytes>,
}

impl Call {
    /// How many bytes the body is said to have.
    pub fn announced(&self) -> Option<u64> {
        let length = self.header(&header::CONTENT_LENGTH)?;
        length.to_str().ok()?.parse().ok()
    }

    /// Refuses a body in a coding.
    ///
    /// # Errors
    /// 415.
    pub fn plain_body(&self) -> Result<(), Refusal> {
        self.is_plain()
    }

    /// The body as it comes, nothing where it was taken before. Its client may wait for this before it sends anything.
    pub fn body_stream(&self, pace: UploadPace) -> Option<BodyStream> {
        if let Some(own) = &self.pace {
            own.take();
        }
        let body = self.take_body()?;
        Some(BodyStream {
            body,
            pace,
            waited: Duration::ZERO,
            received: 0,
            behind: None,
        })
    }
}

impl BodyStream {
    /// The next bytes; nothing at the end.
    ///
    /// # Errors
    /// 408 for a body that comes too slowly, 422 for one that ends too early.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Refusal> {
        if let Some(large) = self.behind.take() {
            return Ok(Some(large));
        }
        match self.wait().await? {
            Some(small) if small.len() < SMALL_PIECE => self.join(small).await.map(Some),
            piece => Ok(piece),
        }
    }

    /// A small piece, with those that have come behind it. No client is waited for.
    async fn join(&mut self, first: Bytes) -> Result<Bytes, Refusal> {
        let mut joined = BytesMut::new();
        while joined.len() <= JOINED_PIECE - SMALL_PIECE {
            let Poll::Ready(Some(frame)) = what_has_come(&mut self.body).await else {
                break;
            };
            let frame = frame.map_err(|_| broken())?;
            let Ok(piece) = frame.into_data() else {
                continue;
            };
            self.received += piece.len() as u64;
            if piece.len() >= SMALL_PIECE {
                self.behind = Some(piece);
                break;
            }
            if joined.is_empty() {
                joined.extend_from_slice(&first);
            }
            joined.extend_from_slice(&piece);
        }
        Ok(if joined.is_empty() {
            first
        } else {
            joined.freeze()
        })
    }

    /// Waits for a piece; nothing at the end.
    async fn wait(&mut self) -> Result<Option<Bytes>, Refusal> {
        let mut silent = Duration::ZERO;
        loop {
            let left = self.pace.window.saturating_sub(self.waited);
            let patience = left.min(self.pace.idle.saturating_sub(silent));
            let began = Instant::now();
            let frame = timeout(patience, self.body.frame()).await;
            let waited = began.elapsed();
            silent += waited;
            self.waited += waited;
            if self.waited >= self.pace.window {
                if self.received < self.pace.least {
                    return Err(stalled());
                }
                (self.waited, self.received) = (Duration::ZERO, 0);
            }
            match frame {
                Ok(None) => return Ok(None),
                Ok(Some(Ok(frame))) => {
                    if let Ok(bytes) = frame.into_data() {
                        self.received += bytes.len() as u64;
                        return Ok(Some(bytes));
                    }
                }
                Ok(Some(Err(_))) => return Err(broken()),
                Err(_) if silent >= self.pace.idle => return Err(stalled()),
                Err(_) => {}
            }
        }
    }
}

/// The next frame, or that none has come. The task that reads the connection is this one, and hands over one frame each
/// time it runs: so it runs once more.
async fn what_has_come(body: &mut Body) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
    let mut ran = false;
    poll_fn(|cx| {
        let frame = Pin::new(&mut *body).poll_frame(cx);
        if frame.is_ready() || replace(&mut ran, true) {
            return Poll::Ready(frame);
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await
}

fn stalled() -> Refusal {
    Refusal::new(
        Code::UploadStalled,
        "The upload brought nothing for too long, or too little; send the file again.",
    )
}

fn broken() -> Refusal {
    Refusal::fault(
        "",
        "the body is not framed as announced, or ended too early",
    )
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::time::Duration;

    use axum::body::Body;
    use bytes::Bytes;
    use futures_util::stream::{self, Stream, StreamExt as _};

    use super::BodyStream;
    use crate::files::settings::UploadPace;
    use crate::files::storage::{JOINED_PIECE, SMALL_PIECE};

    fn body(pieces: impl Stream<Item = Bytes> + Send + 'static) -> BodyStream {
        BodyStream {
            body: Body::from_stream(pieces.map(Ok::<Bytes, Infallible>)),
            pace: UploadPace::default(),
            waited: Duration::ZERO,
            received: 0,
            behind: None,
        }
    }

    async fn next(body: &mut BodyStream) -> Option<Bytes> {
        body.next().await.expect("comes in time")
    }

    #[tokio::test]
    async fn small_pieces_are_joined_and_large_ones_stay_where_they_are() {
        let large = Bytes::from(vec![b'l'; SMALL_PIECE]);
        let small = stream::iter(vec![Bytes::from_static(b"s"); 2 * JOINED_PIECE]);
        let last = stream::iter([large.clone(), Bytes::from_static(b"e")]);
        let mut body = body(small.chain(last));
        let (mut pieces, mut bytes) = (0, 0);
        let found = loop {
            let piece = next(&mut body).await.expect("a piece");
            if piece[0] == b'l' {
                break piece;
            }
            assert!(piece.len() <= JOINED_PIECE);
            (pieces, bytes) = (pieces + 1, bytes + piece.len());
        };
        assert_eq!(bytes, 2 * JOINED_PIECE);
        assert!(pieces <= 3, "{pieces} pieces");
        assert_eq!(found.as_ptr(), large.as_ptr());
        assert_eq!(next(&mut body).await.as_deref(), Some(&b"e"[..]));
        assert_eq!(next(&mut body).await, None);
    }

    #[tokio::test]
    async fn nothing_is_waited_for_once_a_piece_is_there() {
        let pieces = ["a", "b"].map(|piece| Bytes::from_static(piece.as_bytes()));
        let mut body = body(stream::iter(pieces).chain(stream::pending()));
        assert_eq!(next(&mut body).await.as_deref(), Some(&b"ab"[..]));
    }
}
