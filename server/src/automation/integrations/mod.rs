//! External effects of steps: mails, requests, model calls.
//!
//! They use only the connections that administrators set. The result is an output, or a failure
//! that a person can act on; neither contains a secret.

mod addresses;
mod agent;
mod attachment_name;
mod http;
mod mail;

use std::time::Duration;

pub(super) use addresses::client;
pub(super) use agent::request_completion;
pub(super) use http::request;
pub(super) use mail::{send, transport_fault};

/// How long anything outside may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// How much of a response is read.
pub(super) const MOST_BYTES: usize = 1 << 20;

/// Which step of which run does something: the same whenever it is tried.
#[derive(Debug, Clone)]
pub(super) struct Stamp {
    pub(super) run: uuid::Uuid,
    pub(super) step: String,
}
