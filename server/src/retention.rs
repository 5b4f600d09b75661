//! How long the store keeps records that expire.

/// How long a response is kept for a request that is sent again, in microseconds.
pub const KEPT_RESPONSES: i64 = 24 * 3600 * 1_000_000;
