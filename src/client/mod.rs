//! A typed client of the `/v1` API, for this server and for any other that has the routes of the
//! specification.
//!
//! In: an address, a credential and a [`Host`]. Out: records, pages and raw responses, or an
//! [`Error`] to branch on. It retries where that is safe, renews an expired session, and follows no
//! redirect to another host. It blocks: it must not be called from inside an asynchronous runtime.
//! It reads neither clock nor environment, except with [`Options::environment_proxy`].
//!
//! A credential is sent only in the `Authorization` header, only to the client's own origin; no
//! text of this module contains it.

mod address;
mod applied;
mod automations;
mod calls;
mod content;
mod credential;
mod error;
mod files;
mod jobs;
mod page;
mod problem;
mod records;
mod request;
mod response;
mod retry;
mod rows;
mod secret;
mod session;
mod session_error;
mod templates;
mod transport;
mod upload;
mod with_document;
mod workspace;

use std::any::Any;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;

pub use address::{AddressError, BaseUrl};
pub use automations::{
    AutomationRun, AutomationVerdict, AutomationVersion, RunFailure, RunStep, VerdictIssue,
};
pub use content::Content;
pub use credential::{Credential, Sessions, Tokens};
pub use error::{Cause, Error};
pub use files::{FileRecord, NewFile};
pub use jobs::{BodyPackages, Job, JobOutcome, JobProgress, Started};
pub use page::{Page, Pages};
pub use problem::{Fault, Problem, ProblemCode};
pub use records::{
    Channel, Column, Connection, Feature, Health, Me, Membership, Organization, Workspace,
};
pub use request::Request;
pub use reqwest::Method;
pub use response::{ApiResponse, instant};
pub use rows::RowQuery;
pub use secret::Secret;
pub use session_error::SessionError;
pub use templates::Template;
pub use upload::Upload;
pub use with_document::WithDocument;
pub use workspace::RemoteWorkspace;

use transport::{Exchange, Transport};

/// What the client cannot know or do by itself.
pub trait Host: Send + Sync {
    /// Now.
    fn now(&self) -> Timestamp;
    /// A version 4 UUID: for the keys of requests, and for how long to wait.
    fn uuid(&self) -> String;
    /// Lets that much time pass.
    fn wait(&self, time: Duration);
    /// Called before a retry, with its reason and its delay.
    fn retrying(&self, why: &str, after: Duration) {
        let _ = (why, after);
    }
    /// Is notified that a large body is sent: how much of how many bytes has left so far stands in `sent`. What it
    /// gives is dropped once there is a response, or none.
    fn sending(&self, request: &str, total: u64, sent: Arc<AtomicU64>) -> Option<Box<dyn Any>> {
        let _ = (request, total, sent);
        None
    }
    /// Is notified that a large response comes: how much of how many bytes is here stands in `received`. What it gives is
    /// dropped once there is all of it, or nothing more.
    fn receiving(
        &self,
        request: &str,
        total: u64,
        received: Arc<AtomicU64>,
    ) -> Option<Box<dyn Any>> {
        let _ = (request, total, received);
        None
    }
    /// Is notified that a request leaves, and after which time it is given up. What it gives is dropped once
    /// there is a response, or none.
    fn asking(&self, request: &str, most: Duration) -> Option<Box<dyn Any>> {
        let _ = (request, most);
        None
    }
}

/// Bounds of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// How long a connection may take.
    pub connect: Duration,
    /// How long one request may take, response included.
    pub whole: Duration,
    /// How long a request that only reads may go without a response, and any response without a further part.
    pub silence: Duration,
    /// How large a response may be, in bytes.
    pub largest: u64,
    /// How often a request is tried again.
    pub retries: u32,
    /// The longest wait that a server may ask for with `Retry-After`; when it asks for more, its
    /// refusal stands.
    pub patience: Duration,
    /// Whether `HTTPS_PROXY` and its relatives count.
    pub environment_proxy: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            connect: Duration::from_secs(10),
            whole: Duration::from_secs(120),
            silence: Duration::from_secs(30),
            largest: 512 << 20,
            retries: 4,
            patience: Duration::from_secs(30),
            environment_proxy: false,
        }
    }
}

/// A client of one server, as one caller.
pub struct Client {
    base: BaseUrl,
    credential: Credential,
    /// The tokens of a session, once they have been read.
    tokens: Mutex<Option<Tokens>>,
    transport: Transport,
    options: Options,
    host: Box<dyn Host>,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client")
            .field("base", &self.base)
            .field("credential", &self.credential)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl Client {
    /// Makes a client. Nothing is sent yet.
    ///
    /// When no cryptography has been chosen for `rustls` in this process, `ring` is.
    pub fn new(
        base: BaseUrl,
        credential: Credential,
        options: Options,
        host: Box<dyn Host>,
    ) -> Result<Client, Error> {
        Ok(Client {
            transport: Transport::new(&options)?,
            tokens: Mutex::new(None),
            base,
            credential,
            options,
            host,
        })
    }

    /// Where requests go.
    pub fn base(&self) -> &BaseUrl {
        &self.base
    }

    /// Sends a request and gives the response whatever its status, after renewing the session and
    /// trying again as far as both are of use.
    pub fn send(&self, request: &Request) -> Result<ApiResponse, Error> {
        Ok(self.exchange(request)?.response)
    }

    /// The same, with what is left of a body that comes as a stream.
    fn exchange(&self, request: &Request) -> Result<Exchange, Error> {
        let token = self.token_now()?;
        let result = self.attempts(request, token.as_ref())?;
        let (401, Some(used), Credential::Session(sessions)) =
            (result.response.status, token, &self.credential)
        else {
            return Ok(result);
        };
        let renewed = self.renew(sessions.as_ref(), &used)?;
        self.attempts(request, Some(&renewed))
    }

    /// Sends a request; a refusal is an error.
    pub fn call(&self, request: &Request) -> Result<ApiResponse, Error> {
        refuse(request, self.send(request)?)
    }

    /// Sends a request without any credential; a refusal is an error.
    fn call_openly(&self, request: &Request) -> Result<ApiResponse, Error> {
        refuse(request, self.attempts(request, None)?.response)
    }

    /// A request that must not be done twice, with a key by which the server knows it again.
    pub fn keyed(&self, request: Request) -> Request {
        request.key(self.host.uuid())
    }

    fn attempts(&self, request: &Request, token: Option<&Secret>) -> Result<Exchange, Error> {
        let mut tries = 0;
        loop {
            tries += 1;
            let host = self.host.as_ref();
            let outcome = self.transport.exchange(&self.base, request, token, host);
            let seen = outcome.as_ref().map(|done| &done.response);
            let again = retry::retry(seen, request, tries, &self.options, host);
            let Some(again) = again else {
                return outcome.map_err(|error| error.after(tries));
            };
            host.retrying(&again.why, again.after);
            host.wait(again.after);
        }
    }
}

fn refuse(request: &Request, result: ApiResponse) -> Result<ApiResponse, Error> {
    match result.problem(request) {
        None => Ok(result),
        Some(problem) => Err(Error::Refused(Box::new(problem))),
    }
}
