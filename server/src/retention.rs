//! How long the store keeps what is of use for a while only.

/// How long a response is kept for a request that is sent again, in microseconds.
pub const KEPT_RESPONSES: i64 = 24 * 3600 * 1_000_000;
