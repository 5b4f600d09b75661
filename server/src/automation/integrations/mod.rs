//! External effects of steps: mails, requests, model calls.
//!
//! They use only the connections that administrators set. The result is an output, or a failure
//! that a person can act on; neither contains a secret.

mod addresses;
mod agent;
mod attachment_name;
mod echo;
mod http;
mod mail;

use std::time::Duration;

pub(super) use addresses::client;
pub(super) use agent::request_completion;
pub(super) use http::{below, request};
pub(super) use mail::{recipients, send, transport_fault};

/// How long anything outside may take.
pub(super) const TIMEOUT: Duration = Duration::from_secs(30);

/// How much of a response is read.
pub(super) const MOST_BYTES: usize = 1 << 20;

/// What is wrong with a server that is not the one that it says it is, as far as this machine knows. It names no host:
/// addresses are for administrators, and everybody reads runs.
const BAD_CERTIFICATE: &str = "its certificate has expired, is for another host, or is of an authority that this \
     machine does not trust";

/// Which step of which run does something: the same whenever it is tried.
#[derive(Debug, Clone)]
pub(super) struct Stamp {
    pub(super) run: uuid::Uuid,
    pub(super) step: String,
}
