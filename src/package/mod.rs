//! The package format: its shapes, refs and uids.

pub mod canonical;
pub mod format;
pub mod model;
pub mod reference;
pub mod schema;
mod tool;
pub mod uid;

pub use tool::{Phase, Tool};

/// stub
pub fn text_of(bytes: &[u8]) -> Result<&str, crate::json::SyntaxError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|e| crate::json::SyntaxError {
        offset: e.valid_up_to(),
        kind: crate::json::SyntaxKind::InvalidUtf8,
    })
}
