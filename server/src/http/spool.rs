//! Large responses: written in parts, to memory while small and to an unnamed file when large. The
//! response is complete before its first byte is sent, so a failure gets its own status, and a slow
//! client holds no part of the store.

use std::io::{self, Read as _, Seek as _, SeekFrom, Write};

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use tempfile::SpooledTempFile;

use super::problem::Problem;

/// What is held in memory.
const MEMORY: usize = 1 << 20;
/// What is read at once when the response leaves.
const PIECE: usize = 64 << 10;

/// A response that is being written.
#[derive(Debug)]
pub struct Spool(SpooledTempFile);

impl Default for Spool {
    fn default() -> Spool {
        Spool(SpooledTempFile::new(MEMORY))
    }
}

impl Write for Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Spool {
    /// The response, with JSON in it.
    ///
    /// # Errors
    /// 503 when the file cannot be read.
    pub fn response(mut self) -> Result<Response, Problem> {
        let length = self.rewind().map_err(|error| no_room(&error))?;
        let pieces = stream::try_unfold(self.0, |file| async move {
            if !file.is_rolled() {
                return piece(file);
            }
            let read = tokio::task::spawn_blocking(move || piece(file)).await;
            read.map_err(io::Error::other).flatten()
        });
        let mut response = Response::new(Body::from_stream(pieces));
        *response.status_mut() = StatusCode::OK;
        let headers = response.headers_mut();
        let json = HeaderValue::from_static("application/json");
        headers.insert(header::CONTENT_TYPE, json);
        headers.insert(header::CONTENT_LENGTH, length.into());
        Ok(response)
    }

    /// Goes to the beginning, and says how much there is.
    fn rewind(&mut self) -> io::Result<u64> {
        let length = self.0.stream_position()?;
        self.0.seek(SeekFrom::Start(0))?;
        Ok(length)
    }
}

/// The next piece and what is left.
fn piece(mut file: SpooledTempFile) -> io::Result<Option<(Bytes, SpooledTempFile)>> {
    let mut bytes = vec![0; PIECE];
    let count = file.read(&mut bytes)?;
    bytes.truncate(count);
    Ok((count > 0).then(|| (bytes.into(), file)))
}

/// The refusal of a response that could not be written down.
pub fn no_room(error: &io::Error) -> Problem {
    tracing::warn!(%error, "an answer could not be written to a temporary file");
    Problem::unavailable("There is no room for the answer at the moment.")
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use futures_util::FutureExt as _;
    use http_body_util::BodyExt as _;

    use super::{MEMORY, Spool};

    #[tokio::test]
    async fn what_is_written_leaves_whole() {
        for length in [0, 10, MEMORY, MEMORY + 1, 3 * MEMORY + 5] {
            let text: Vec<u8> = (0..length)
                .map(|n| u8::try_from(n % 251).unwrap_or(0))
                .collect();
            let mut spool = Spool::default();
            for part in text.chunks(1000) {
                spool.write_all(part).expect("room");
            }
            let response = spool.response().expect("an answer");
            assert_eq!(response.headers()["content-length"], length.to_string());
            let body = response.into_body().collect().await.expect("a body");
            assert!(body.to_bytes() == text, "{length}");
        }
    }

    #[test]
    fn what_is_small_needs_nobody_to_wait_for() {
        let mut spool = Spool::default();
        spool.write_all(b"{}").expect("room");
        let body = spool.response().expect("an answer").into_body();
        let body = body.collect().now_or_never().expect("at once");
        assert_eq!(body.expect("a body").to_bytes(), "{}");
    }
}
