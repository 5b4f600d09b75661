//! The document of the health route: the process runs, and its version.

use serde::Serialize;

/// Body of `GET /v1/health`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Health {
    /// Always `ok`: a process that cannot answer says nothing.
    pub status: &'static str,
    /// Version of the server.
    pub version: &'static str,
}

/// Reports that this process is alive.
///
/// Takes nothing and looks nothing up, so that it answers while the store is down.
///
/// ```
/// let body = serde_json::to_string(&tplkit_server::health())?;
/// assert!(body.starts_with(r#"{"status":"ok","version":"#));
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn health() -> Health {
    Health {
        status: "ok",
        version: env!("CARGO_PKG_VERSION"),
    }
}
