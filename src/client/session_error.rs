//! Why a session has no tokens.

/// Why there are no tokens, in words that hold no secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SessionError {
    /// Nobody is signed in any more.
    #[error("{0}")]
    Over(String),
    /// They cannot be read or kept.
    #[error("{0}")]
    Unusable(String),
}
