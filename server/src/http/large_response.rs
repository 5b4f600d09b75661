//! Responses that were written part by part.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;

use crate::refusal::Refusal;
use crate::spool::Spool;

/// The response with the JSON that was written.
///
/// # Errors
/// 503 when it cannot be read.
pub fn large_response(spool: Spool) -> Result<Response, Refusal> {
    let (length, pieces) = spool.read()?;
    let mut response = Response::new(Body::from_stream(pieces));
    *response.status_mut() = StatusCode::OK;
    let headers = response.headers_mut();
    let json = HeaderValue::from_static("application/json");
    headers.insert(header::CONTENT_TYPE, json);
    headers.insert(header::CONTENT_LENGTH, length.into());
    Ok(response)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use futures_util::FutureExt as _;
    use http_body_util::BodyExt as _;

    use super::large_response;
    use crate::spool::{MAX_BYTES_IN_MEMORY, Spool};

    #[tokio::test]
    async fn what_is_written_leaves_whole() {
        for length in [
            0,
            10,
            MAX_BYTES_IN_MEMORY,
            MAX_BYTES_IN_MEMORY + 1,
            3 * MAX_BYTES_IN_MEMORY + 5,
        ] {
            let text: Vec<u8> = (0..length)
                .map(|n| u8::try_from(n % 251).unwrap_or(0))
                .collect();
            let mut spool = Spool::default();
            for part in text.chunks(1000) {
                spool.write_all(part).expect("room");
            }
            let response = large_response(spool).expect("a response");
            assert_eq!(response.headers()["content-length"], length.to_string());
            let body = response.into_body().collect().await.expect("a body");
            assert!(body.to_bytes() == text, "{length}");
        }
    }

    #[test]
    fn what_is_small_needs_nobody_to_wait_for() {
        let mut spool = Spool::default();
        spool.write_all(b"{}").expect("room");
        let body = large_response(spool).expect("a response").into_body();
        let body = body.collect().now_or_never().expect("at once");
        assert_eq!(body.expect("a body").to_bytes(), "{}");
    }
}
