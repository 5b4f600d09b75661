//! Serves `/metrics` on its own address, for the operator and not for users.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::Response;

use super::Metrics;
use crate::edge::{Malformed, RequestHandler};

/// Responds to `GET /metrics`, and to nothing else.
#[derive(Debug)]
pub struct Page(pub Arc<Metrics>);

fn plain(status: StatusCode, media_type: &'static str, text: String) -> Response {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    let media_type = HeaderValue::from_static(media_type);
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, media_type);
    response
}

impl RequestHandler for Page {
    async fn handle(self: Arc<Self>, _: SocketAddr, request: Request) -> Response {
        let reads = [Method::GET, Method::HEAD].contains(request.method());
        match (request.uri().path(), reads) {
            ("/metrics", true) => plain(
                StatusCode::OK,
                "application/openmetrics-text; version=1.0.0; charset=utf-8",
                self.0.text(),
            ),
            ("/metrics", false) => {
                plain(StatusCode::METHOD_NOT_ALLOWED, "text/plain", String::new())
            }
            _ => plain(StatusCode::NOT_FOUND, "text/plain", String::new()),
        }
    }

    fn refuse(&self, _: SocketAddr, _: Malformed) -> Response {
        plain(
            StatusCode::UNPROCESSABLE_ENTITY,
            "text/plain",
            String::new(),
        )
    }
}
