//! A body that goes through as it comes, and ends when it comes too slowly.

use std::time::Duration;

use axum::body::Body;
use axum::http::header;
use bytes::Bytes;
use http_body_util::BodyExt as _;
use tokio::time::{Instant, timeout};

use super::Call;
use crate::files::settings::UploadPace;
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
        })
    }
}

impl BodyStream {
    /// The next bytes; nothing at the end.
    ///
    /// # Errors
    /// 408 for a body that comes too slowly, 422 for one that ends too early.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Refusal> {
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
