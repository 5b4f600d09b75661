//! A body of a response of any form: the connection knows from when to when its bytes are sent.

use std::sync::Arc;

use axum::body::Body;
use axum::http::header;
use axum::response::Response;
use bytes::Bytes;
use http_body::{Body as _, Frame};
use http_body_util::BodyExt as _;

use super::connections::ConnectionState;

/// What of a body is still to come. It is dropped with the body.
struct BytesToCome {
    /// How many bytes, where the length is announced.
    left: Option<u64>,
    state: Arc<ConnectionState>,
}

/// The same response. Until its body has ended and is sent, no bytes are taken for those of the HTTP library.
pub(super) fn with_bytes(response: Response, state: Arc<ConnectionState>) -> Response {
    state.begin_bytes();
    let announced = response.headers().get(header::CONTENT_LENGTH);
    let announced = announced.and_then(|length| length.to_str().ok()?.parse().ok());
    let left = announced.or_else(|| response.body().size_hint().exact());
    let mut to_come = BytesToCome { left, state };
    response.map(|body| Body::new(body.inspect_frame(move |frame| to_come.count(frame))))
}

impl BytesToCome {
    fn count(&mut self, frame: &Frame<Bytes>) {
        let Some(left) = &mut self.left else { return };
        let bytes = frame.data_ref().map_or(0, Bytes::len);
        *left = left.saturating_sub(bytes as u64);
        if *left == 0 {
            // The library may send these, and read what the client sends next, before it drops the body.
            self.state.end_bytes();
        }
    }
}

impl Drop for BytesToCome {
    fn drop(&mut self) {
        self.state.end_bytes();
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use http_body_util::BodyExt as _;

    use super::{Body, Response, header, with_bytes};
    use crate::edge::connections::ConnectionRegistry;

    /// The response of a file that comes in two parts.
    fn response(announced: bool) -> Response {
        let parts = [&b"HTTP/1.1 "[..], b"400"].map(Ok::<_, Infallible>);
        let stream = futures_util::stream::iter(parts);
        let response = Response::builder();
        let response = if announced {
            response.header(header::CONTENT_LENGTH, 12)
        } else {
            response
        };
        response.body(Body::from_stream(stream)).expect("valid")
    }

    #[tokio::test]
    async fn the_last_announced_byte_ends_it() {
        let (_, state) = ConnectionRegistry::default().add();
        let mut response = with_bytes(response(true), state.clone());
        let mut ended = Vec::new();
        while let Some(frame) = response.body_mut().frame().await {
            assert!(frame.is_ok());
            state.flushed();
            ended.push(!state.sends_bytes());
            if ended.len() == 2 {
                break;
            }
        }
        assert_eq!(ended, [false, true]);
    }

    #[tokio::test]
    async fn without_a_length_the_end_of_the_body_ends_it() {
        let (_, state) = ConnectionRegistry::default().add();
        let mut response = with_bytes(response(false), state.clone());
        while response.body_mut().frame().await.is_some() {
            state.flushed();
            assert!(state.sends_bytes());
        }
        drop(response);
        assert!(state.sends_bytes(), "the end is still to be sent");
        state.flushed();
        assert!(!state.sends_bytes());
    }
}
