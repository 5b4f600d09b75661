//! HTTP: parts of requests and responses, the one form of refusal, limits, and repeated requests.
//!
//! Knows no route, no operation, and nothing of the domain.

pub mod client;
pub mod conditions;
pub mod content_disposition;
pub mod cors;
pub mod idempotency;
pub(crate) mod in_flight;
pub(crate) mod kept_refusal;
mod large_response;
pub mod multipart;
pub mod problem;
pub mod query;
pub mod range;
pub mod rate_limit;
pub mod response;
pub(crate) mod response_headers;

pub use large_response::large_response;
