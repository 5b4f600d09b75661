//! Bodies that are read while they are sent.
//!
//! A server may refuse such a body before it has all of it, and its response counts. What is bounded is not the time that an
//! upload takes, but the time in which nothing of it leaves.

use std::fmt;
use std::io::{self, Cursor, Read};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

/// Progress is reported for bodies of more bytes than this.
pub(super) const LARGE_BODY_BYTES: u64 = 1_000_000;
/// How much of a body is read at once.
const CHUNK_BYTES: usize = 64 << 10;
/// How often the progress of an upload is checked.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(5);

type Open = dyn Fn() -> io::Result<Box<dyn Read + Send>> + Send + Sync;

/// A body that is read while it is sent, from its beginning for each try.
#[derive(Clone)]
pub struct Upload {
    size: u64,
    open: Arc<Open>,
}

impl Upload {
    /// So many bytes of what `open` gives.
    pub fn new(
        size: u64,
        open: impl Fn() -> io::Result<Box<dyn Read + Send>> + Send + Sync + 'static,
    ) -> Upload {
        Upload {
            size,
            open: Arc::new(open),
        }
    }

    /// A body that is in memory.
    pub(super) fn of_bytes(bytes: &[u8]) -> Upload {
        let bytes = Bytes::copy_from_slice(bytes);
        let size = bytes.len() as u64;
        Upload::new(size, move || Ok(Box::new(Cursor::new(bytes.clone()))))
    }

    /// How many bytes it has.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// It from the beginning, and what becomes of it.
    pub(super) fn begin(&self) -> io::Result<(Parts, Sent)> {
        let sent = Sent::default();
        let parts = Parts {
            source: Mutex::new((self.open)()?),
            left: self.size,
            sent: sent.clone(),
        };
        Ok((parts, sent))
    }
}

impl fmt::Debug for Upload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Upload({} bytes)", self.size)
    }
}

/// How much of a body has left, and why it did not go on.
#[derive(Debug, Clone, Default)]
pub(super) struct Sent {
    pub(super) bytes: Arc<AtomicU64>,
    fault: Arc<Mutex<Option<io::Error>>>,
}

impl Sent {
    /// Why the body could not be read, if it could not.
    pub(super) fn fault(&self) -> Option<io::Error> {
        let mut fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        fault.take()
    }
}

/// The parts of a body that is in flight.
pub(super) struct Parts {
    source: Mutex<Box<dyn Read + Send>>,
    left: u64,
    sent: Sent,
}

impl Parts {
    fn part(&mut self) -> io::Result<Bytes> {
        let most = CHUNK_BYTES.min(usize::try_from(self.left).unwrap_or(CHUNK_BYTES));
        let mut part = vec![0; most];
        let source = self
            .source
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        let read = loop {
            match source.read(&mut part) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        if read == 0 {
            let why = "it has become shorter";
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, why));
        }
        part.truncate(read);
        self.left -= read as u64;
        self.sent.bytes.fetch_add(read as u64, Ordering::Relaxed);
        Ok(part.into())
    }
}

impl Body for Parts {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let parts = self.get_mut();
        if parts.left == 0 {
            return Poll::Ready(None);
        }
        Poll::Ready(Some(match parts.part() {
            Ok(part) => Ok(Frame::data(part)),
            Err(error) => {
                // What is said of it during the upload has no words for this.
                let kind = error.kind();
                let mut fault = parts.sent.fault.lock();
                let fault = fault.as_deref_mut();
                if let Ok(fault) = fault {
                    *fault = Some(error);
                }
                Err(kind.into())
            }
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

/// Waits for the response to a body for as long as the body goes on, and then for as long as a response may take.
pub(super) struct Patience {
    /// How long nothing of the body may leave.
    pub(super) silence: Duration,
    /// How long the response may take once all has left.
    pub(super) whole: Duration,
}

impl Patience {
    /// Nothing where that lasted too long. `stalls` is called with the longest wait whenever one begins; what it gives
    /// is dropped when the wait is over.
    pub(super) async fn wait<T, G>(
        &self,
        size: u64,
        sent: &Sent,
        response: impl Future<Output = T>,
        mut stalls: impl FnMut(Duration) -> G,
    ) -> Option<T> {
        let mut response = std::pin::pin!(response);
        let look = PROGRESS_INTERVAL.min(self.silence).min(self.whole);
        let (mut before, mut idle, mut stalled) = (0, Duration::ZERO, None);
        loop {
            if let Ok(response) = tokio::time::timeout(look, response.as_mut()).await {
                return Some(response);
            }
            let now = sent.bytes.load(Ordering::Relaxed);
            let most = if now < size { self.silence } else { self.whole };
            if now == before {
                idle += look;
                stalled.get_or_insert_with(|| stalls(most));
            } else {
                (before, idle, stalled) = (now, Duration::ZERO, None);
            }
            if idle >= most {
                return None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Cursor};
    use std::pin::Pin;
    use std::sync::atomic::Ordering;
    use std::task::{Context, Poll, Waker};

    use http_body::Body as _;

    use super::{Parts, Upload};

    fn next(parts: &mut Parts) -> Option<Result<usize, io::ErrorKind>> {
        match Pin::new(parts).poll_frame(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(next) => next.map(|frame| match frame {
                Ok(frame) => Ok(frame.data_ref().map_or(0, bytes::Bytes::len)),
                Err(error) => Err(error.kind()),
            }),
            Poll::Pending => panic!("it never waits"),
        }
    }

    #[test]
    fn what_has_left_is_counted_and_no_more_leaves_than_was_announced() {
        let upload = Upload::new(70_000, || Ok(Box::new(Cursor::new(vec![7; 80_000]))));
        for _ in 0..2 {
            let (mut parts, sent) = upload.begin().expect("opens");
            assert_eq!(parts.size_hint().exact(), Some(70_000));
            assert_eq!(next(&mut parts), Some(Ok(65_536)));
            assert_eq!(sent.bytes.load(Ordering::Relaxed), 65_536);
            assert_eq!(next(&mut parts), Some(Ok(4464)));
            assert!(parts.is_end_stream());
            assert_eq!(next(&mut parts), None);
            assert!(sent.fault().is_none());
        }
    }

    #[test]
    fn a_source_that_ends_early_is_a_fault() {
        let upload = Upload::new(10, || Ok(Box::new(Cursor::new(vec![7; 4]))));
        let (mut parts, sent) = upload.begin().expect("opens");
        assert_eq!(next(&mut parts), Some(Ok(4)));
        assert_eq!(next(&mut parts), Some(Err(io::ErrorKind::UnexpectedEof)));
        let fault = sent.fault().map(|fault| fault.to_string());
        assert_eq!(fault.as_deref(), Some("it has become shorter"));
    }
}
