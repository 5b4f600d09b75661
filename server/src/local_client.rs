//! Requests to a server in the same process, without a network.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::http::Method;
use http_body_util::BodyExt as _;

use crate::app::App;
use crate::edge::RequestHandler as _;
use crate::store::StoreError;

/// Somebody who is signed in.
pub(crate) struct LocalClient<'a> {
    pub(crate) app: &'a Arc<App>,
    pub(crate) token: String,
}

/// The response to a request.
pub(crate) struct LocalResponse {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

impl LocalClient<'_> {
    /// Sends a body of JSON.
    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        body: String,
    ) -> Result<LocalResponse, StoreError> {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", "localhost")
            .header("content-type", "application/json")
            .header("authorization", format!("Bearer {}", self.token))
            .body(Body::from(body))
            .map_err(|error| StoreError::Internal(error.to_string()))?;
        let peer = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let response = self.app.clone().handle(peer, request).await;
        let status = response.status().as_u16();
        let collected = response.into_body().collect().await;
        let bytes = collected.map(http_body_util::Collected::to_bytes);
        Ok(LocalResponse {
            status,
            body: bytes.unwrap_or_default().to_vec(),
        })
    }
}
