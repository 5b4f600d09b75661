//! Responses as the transaction built them: they do not change afterwards, so they can be stored
//! and repeated byte for byte.

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use serde::Serialize;

use super::problem::MEDIA_TYPE;
use crate::refusal::Refusal;

/// A response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiResponse {
    pub(crate) status: StatusCode,
    pub(crate) body: Vec<u8>,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl ApiResponse {
    /// A response with a document.
    ///
    /// # Errors
    /// When the document has no JSON form, which is a bug.
    pub fn json(status: StatusCode, document: &impl Serialize) -> Result<ApiResponse, Refusal> {
        let body = serde_json::to_vec(document).map_err(|error| {
            tracing::error!(%error, "a document has no JSON form");
            Refusal::internal()
        })?;
        Ok(ApiResponse::written(status, body))
    }

    /// A response with a document that is written already.
    pub fn written(status: StatusCode, body: Vec<u8>) -> ApiResponse {
        ApiResponse {
            status,
            body,
            headers: Vec::new(),
        }
    }

    /// 204.
    pub fn nothing() -> ApiResponse {
        ApiResponse::written(StatusCode::NO_CONTENT, Vec::new())
    }

    /// With one more header.
    #[must_use]
    pub fn with(mut self, name: HeaderName, value: HeaderValue) -> ApiResponse {
        self.headers.push((name, value));
        self
    }

    /// As it goes over the wire. What is not a success is a problem.
    pub fn response(self) -> Response {
        let empty = self.body.is_empty();
        let mut response = Response::new(Body::from(self.body));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        if !empty {
            let media_type = if self.status.is_success() {
                HeaderValue::from_static("application/json")
            } else {
                MEDIA_TYPE
            };
            headers.insert(header::CONTENT_TYPE, media_type);
        }
        headers.extend(self.headers);
        response
    }
}
