//! The API: one table of operations, one path for every request, and the documents about both.
//!
//! Goes in: a request. Comes out: a response in any case, and a line in the log. A request goes through
//! `dispatch` (id, route, response), `admission` (credential, limit, scope) and the handler of its
//! [operation](operations). Knows every route; no route knows it.

mod admission;
mod areas;
mod dispatch;
pub mod documentation;
pub mod openapi;
pub mod operations;
pub mod pages;
mod path_segments;
pub mod router;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::Request;
use axum::response::Response;
use serde_json::Value;
use tokio::net::TcpListener;
use tplkit::definitions::Definitions;

use crate::app::App;
use crate::edge::{self, Malformed, RequestHandler};

impl RequestHandler for App {
    async fn handle(self: Arc<Self>, peer: SocketAddr, request: Request) -> Response {
        dispatch::handle(self, peer, request).await
    }

    fn refuse(&self, peer: SocketAddr, why: Malformed) -> Response {
        dispatch::refuse(self, peer, why)
    }

    fn stopping(&self) {
        self.stop();
    }

    fn connections(&self, open: usize) {
        self.metrics.connections(open);
    }
}

/// The OpenAPI document of this server.
pub fn document(definitions: &Definitions) -> Value {
    openapi::document(&operations::OPERATIONS, definitions)
}

/// Serves until a stop signal, then finishes open requests.
///
/// # Errors
/// None; callers may add their own.
pub async fn serve(
    app: Arc<App>,
    listener: TcpListener,
    stop: impl Future<Output = ()>,
) -> std::io::Result<()> {
    let limits = app.config.edge.clone();
    let cut = edge::serve(app, listener, limits, stop).await;
    if cut > 0 {
        tracing::warn!(
            connections = cut,
            "the time to stop is over, and some had not ended"
        );
    }
    Ok(())
}
