//! The facts of an operation, as routing, authorization, limits and the OpenAPI document read them.

use std::pin::Pin;

use axum::response::Response;

use super::Call;
use crate::auth::{Caller, Identity, KeyScope, Role};
use crate::refusal::{Code, Refusal};

/// Users, and keys that may read.
pub const READ: Access = Access::Scopes(&[KeyScope::Read]);

/// Who may ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Everybody, without a credential.
    Public,
    /// Users, and keys with these scopes.
    Scopes(&'static [KeyScope]),
    /// Users only.
    Users,
}

/// How often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// As often as they like.
    None,
    /// The configured rate.
    Usual,
    /// Ten times a minute, for each client and each address.
    SignIn,
}

/// The description of an operation.
#[derive(Debug)]
pub struct OperationInfo {
    /// The operation id. Clients are generated from it: it stays.
    pub id: &'static str,
    /// One line.
    pub summary: &'static str,
    /// What it is about.
    pub tag: &'static str,
    /// Names of the query parameters.
    pub query: &'static [&'static str],
    /// The components of the document that describe them, in the same order.
    pub query_components: &'static [&'static str],
    /// The schema of the body.
    pub request: Option<&'static str>,
    /// The schema of the response.
    pub response: Option<&'static str>,
}

/// What few operations have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fact {
    /// Its bodies are packages or parts of packages, which may be much larger than others.
    PackageBody,
    /// A body may come with it and need not: what it says need not be said more closely.
    OptionalBody,
    /// Its body holds a password, of which nothing may be kept that could be guessed at.
    SecretBody,
    /// Its response holds a secret, which is not kept anywhere: so it cannot be sent again under a key.
    SecretResponse,
    /// Its body is a file, of any type, that goes through as it comes. The handler looks at it, and at the key of the
    /// request.
    FileBody,
    /// Its response is a file, in whole or in part.
    FileResponse,
    /// The caller may be taken from memory and be checked along with the first statement of [`Call::read`],
    /// [`Call::look_up`] and [`Call::write`]. Before that every other way to the store is an error
    /// ([`Call::confirmed_scope`]), and the handler admits nobody by what it knows of the caller.
    RememberedCaller,
    /// It leads a browser to a page: no part of the API, so the OpenAPI document leaves it out.
    PageAddress,
}

/// What a handler gives.
pub type ResponseFuture = Pin<Box<dyn Future<Output = Result<Response, Refusal>> + Send>>;

/// One operation.
pub struct Operation {
    /// `GET`, `POST`, …
    pub method: &'static str,
    /// Segments in braces are parameters.
    pub path: &'static str,
    /// Who may ask.
    pub access: Access,
    /// The least role in the organization concerned.
    pub role: Role,
    /// How often.
    pub limit: Limit,
    /// The statuses of its responses, beyond those of every operation of its access.
    pub statuses: &'static [u16],
    /// What it has that few have.
    pub facts: &'static [Fact],
    /// For the OpenAPI document.
    pub about: OperationInfo,
    /// What responds to it.
    pub handler: fn(Call) -> ResponseFuture,
}

impl std::fmt::Debug for Operation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.method, self.path)
    }
}

impl Operation {
    /// Responds to a call.
    pub fn call(&self, call: Call) -> ResponseFuture {
        (self.handler)(call)
    }

    /// Lets a caller through whose credential is good for it.
    ///
    /// # Errors
    /// 403 for a key that is not.
    pub fn admit(&self, caller: &Caller) -> Result<(), Refusal> {
        let Identity::ApiKey { scopes } = &caller.identity else {
            return Ok(());
        };
        match self.access {
            Access::Public => Ok(()),
            Access::Users => Err(Refusal::forbidden("This is not open to API keys.")),
            Access::Scopes(wanted) => match wanted.iter().find(|scope| !scopes.has(**scope)) {
                None => Ok(()),
                Some(missing) => {
                    let detail = format!("The API key lacks the scope {}.", missing.as_str());
                    Err(Refusal::new(Code::MissingScope, detail))
                }
            },
        }
    }

    /// Whether a body may come with it.
    pub fn has_body(&self) -> bool {
        matches!(self.method, "POST" | "PUT" | "PATCH")
    }

    /// Whether its bodies are packages or parts of packages.
    pub fn takes_package(&self) -> bool {
        self.has(Fact::PackageBody)
    }

    /// Whether a body has to come with it.
    pub fn takes_body(&self) -> bool {
        self.about.request.is_some() && !self.has(Fact::OptionalBody)
    }

    /// Whether it has a query parameter of that name.
    pub fn takes_query(&self, name: &str) -> bool {
        self.about.query.contains(&name)
    }

    fn has(&self, fact: Fact) -> bool {
        self.facts.contains(&fact)
    }

    /// All statuses of its responses, ascending.
    pub fn all_statuses(&self) -> Vec<u16> {
        let mut all = self.statuses.to_vec();
        // Also without a body: of a head that is too large.
        all.push(413);
        if self.access != Access::Public {
            all.extend([401, 403, 429, 503]);
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Whether it may be sent again under an `Idempotency-Key`.
    pub fn repeatable(&self) -> bool {
        self.method == "POST" && self.access != Access::Public && !self.has(Fact::SecretResponse)
    }

    /// Whether it only says something: a POST that needs no right but that to read. Sent again it says so
    /// again, so its responses are kept under no key.
    pub fn changes_nothing(&self) -> bool {
        self.access == READ
    }

    /// Whether its body is a file.
    pub fn takes_file(&self) -> bool {
        self.has(Fact::FileBody)
    }

    /// Whether its response is a file.
    pub fn gives_file(&self) -> bool {
        self.has(Fact::FileResponse)
    }

    /// Whether its body holds a password.
    pub fn takes_secret(&self) -> bool {
        self.has(Fact::SecretBody)
    }

    /// Whether the caller may be taken from memory.
    pub fn remembers_caller(&self) -> bool {
        self.has(Fact::RememberedCaller)
    }

    /// Whether the OpenAPI document describes it.
    pub fn is_documented(&self) -> bool {
        !self.has(Fact::PageAddress)
    }

    /// The names of the path's parameters, in order.
    pub fn parameters(&self) -> impl Iterator<Item = &'static str> {
        let segments = self.path.split('/');
        segments.filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
    }
}
