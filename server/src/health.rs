//! The document of the health route: the process runs, and its version.

use schemars::JsonSchema;
use serde::Serialize;

/// The state of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Health {
    /// Always `ok`: a process that cannot respond says nothing.
    #[schemars(extend("const" = "ok"))]
    pub status: &'static str,
    /// Version of the server.
    pub version: &'static str,
}

/// Reports that this process is alive.
///
/// Takes nothing and looks nothing up, so that it responds while the store is down.
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
