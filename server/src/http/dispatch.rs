//! The way of every request, in the order in which refusals are told: route, method, credential,
//! limit, scope; then the handler: visibility, role, body, state.

use std::net::{IpAddr, SocketAddr};
use std::panic::AssertUnwindSafe;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::Response;
use futures_util::FutureExt as _;

use super::App;
use super::call::{Call, Unsure};
use super::idempotency::{Refused, settle};
use super::limits::{Left, Rate};
use super::operations::{Access, Found, Limit, Operation, find};
use super::problem::{Code, Problem};
use super::query::Query;
use super::reply::Reply;
use crate::auth::{Caller, Identity, Presented, identify};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Answers a request, whatever it is.
pub(super) async fn answer(app: Arc<App>, peer: SocketAddr, request: Request) -> Response {
    let id = app.context.id().to_string();
    let method = request.method().as_str().to_owned();
    let path = request.uri().path().to_owned();
    let began = app.context.now();
    let (result, left) = caught(pass(&app, peer, request)).await;
    let mut response = result.unwrap_or_else(|problem| problem.response(&path));
    if let Some(left) = left {
        tell_limit(response.headers_mut(), left);
    }
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    // The path alone: queries can hold what nobody should read in a log.
    tracing::info!(
        request = id,
        method,
        path,
        status = response.status().as_u16(),
        micros = app.context.now() - began,
        "answered"
    );
    response
}

/// An answer or a refusal, and what is left of the caller's bucket.
type Outcome = (Result<Response, Problem>, Option<Left>);

/// A bug in one request is that request's misfortune alone.
async fn caught(outcome: impl Future<Output = Outcome>) -> Outcome {
    AssertUnwindSafe(outcome)
        .catch_unwind()
        .await
        .unwrap_or_else(|_| {
            tracing::error!("a handler panicked");
            let told = "Something went wrong here; it has been recorded.";
            (Err(Problem::new(Code::Internal, told)), None)
        })
}

async fn pass(app: &Arc<App>, peer: SocketAddr, request: Request) -> Outcome {
    let (parts, body) = request.into_parts();
    let (operation, parameters) = match find(parts.method.as_str(), parts.uri.path()) {
        Found::Operation(operation, parameters) => (operation, parameters),
        Found::OtherMethods(methods) => {
            let told = format!("This route knows {methods}.");
            let mut problem = Problem::new(Code::MethodNotAllowed, told);
            problem.allow = Some(methods);
            return (Err(problem), None);
        }
        Found::Nothing => return (Err(Problem::not_found()), None),
    };
    let credential = match credential(operation, &parts.headers) {
        Ok(credential) => credential.map(str::to_owned),
        Err(problem) => return (Err(problem), None),
    };
    let credential = credential.as_deref();
    let presented = credential.and_then(|credential| {
        let presented = Presented::read(credential, app.context.now());
        presented.filter(|_| operation.is_hot())
    });
    let remembered = presented
        .as_ref()
        .and_then(|presented| app.remembered.find(presented));
    let unsure = presented.clone().filter(|_| remembered.is_some());
    let caller = match (remembered, credential) {
        (Some(caller), _) => Some(caller),
        (None, None) => None,
        (None, Some(credential)) => match authenticate(app, credential).await {
            Ok(caller) => Some(caller),
            Err(problem) => return (Err(problem), None),
        },
    };
    if let (Some(presented), Some(caller), None) = (&presented, &caller, &unsure) {
        app.remembered.remember(presented, caller);
    }
    let address = address(app, peer, &parts.headers);
    let left = limit(app, operation, caller.as_ref(), &address);
    if let Some(left) = left.filter(|left| !left.allowed) {
        return (Err(too_many(left)), Some(left));
    }
    if let Some(caller) = &caller
        && let Err(problem) = check_scopes(operation, caller)
    {
        return (Err(problem), left);
    }
    let path = parts.uri.path();
    let query = parts.uri.query().unwrap_or_default();
    let key = Arc::new(OnceLock::new());
    let scope = caller.as_ref().map(Caller::scope);
    let call = Call {
        app: app.clone(),
        operation,
        caller,
        parameters,
        query: Query::parse(parts.uri.query()),
        headers: parts.headers,
        body: Some(body),
        target: (path.to_owned(), query.to_owned()),
        key: key.clone(),
        unsure: unsure.map(Unsure::new),
    };
    let sure = call.unsure.as_ref().map(Unsure::flag);
    let mut result = operation.answer(call).await;
    // Refused before anything was looked up: then at least the credential has to be good.
    if let (Some(sure), Some(credential)) = (sure, credential)
        && !sure.load(Ordering::Acquire)
        && let Err(problem) = authenticate(app, credential).await
    {
        result = Err(problem);
    }
    let result = match (result, key.get(), scope) {
        (Err(problem), Some(key), Some(scope)) if Refused::is_kept(&problem) => {
            let (key, path) = (key.clone(), path.to_owned());
            let refused = Refused { key, problem, path };
            let settled = app
                .store
                .write(&scope, refused, |tx, refused| Box::pin(settle(tx, refused)))
                .await;
            settled.map(Reply::response)
        }
        (result, ..) => result,
    };
    (result, left)
}

/// What the caller presents; nothing on a public operation, whatever comes along.
fn credential<'h>(
    operation: &Operation,
    headers: &'h HeaderMap,
) -> Result<Option<&'h str>, Problem> {
    if operation.access == Access::Public {
        return Ok(None);
    }
    let mut given = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(value), None) = (given.next(), given.next()) else {
        return Err(Problem::unauthenticated());
    };
    let credential = value.to_str().ok().and_then(|value| {
        let (scheme, credential) = value.split_once(' ')?;
        scheme
            .eq_ignore_ascii_case("bearer")
            .then(|| credential.trim())
    });
    match credential.filter(|credential| !credential.is_empty()) {
        Some(credential) => Ok(Some(credential)),
        None => Err(Problem::unauthenticated()),
    }
}

/// Who that is.
async fn authenticate(app: &App, credential: &str) -> Result<Caller, Problem> {
    let caller = identify(&app.store, &app.context, credential).await?;
    caller.ok_or_else(Problem::unauthenticated)
}

/// Where the request comes from.
fn address(app: &App, peer: SocketAddr, headers: &HeaderMap) -> String {
    let forwarded = headers.get_all("x-forwarded-for").iter().next_back();
    let forwarded = forwarded
        .filter(|_| app.config.trust_proxy)
        .and_then(|value| {
            // The nearest proxy appends; what stands before it is what the client claims.
            value
                .to_str()
                .ok()?
                .rsplit(',')
                .next()?
                .trim()
                .parse::<IpAddr>()
                .ok()
        });
    forwarded.unwrap_or_else(|| peer.ip()).to_string()
}

/// Counts a request: for the user of a session, else for the address, and for the key if there is
/// one. Tells of the bucket that has less left.
fn limit(app: &App, operation: &Operation, caller: Option<&Caller>, address: &str) -> Option<Left> {
    let usual = app.config.rate?;
    let rate = match operation.limit {
        Limit::None => return None,
        Limit::Usual => usual,
        Limit::SignIn => Rate::per_minute(10),
    };
    let now = app.context.now();
    let take = |kind: &str, who: &str| {
        let key = (operation.method, operation.path, kind, who);
        app.buckets.take(&key, rate, now)
    };
    let Some(caller) = caller else {
        return Some(take("address", address));
    };
    let own = take("caller", &caller.id.to_string());
    if !caller.is_key() || !own.allowed {
        return Some(own);
    }
    let shared = take("address", address);
    let less = !shared.allowed || shared.remaining < own.remaining;
    Some(if less { shared } else { own })
}

/// The refusal of one request too many.
pub(super) fn too_many(left: Left) -> Problem {
    let mut problem = Problem::new(Code::RateLimited, "Too many requests; try again later.");
    problem.retry_after = Some(left.retry_after);
    problem
}

pub(super) fn check_scopes(operation: &Operation, caller: &Caller) -> Result<(), Problem> {
    let Identity::ApiKey { scopes } = &caller.identity else {
        return Ok(());
    };
    match operation.access {
        Access::Public => Ok(()),
        Access::Users => Err(Problem::forbidden("This is not open to API keys.")),
        Access::Scopes(wanted) => match wanted.iter().find(|scope| !scopes.has(**scope)) {
            None => Ok(()),
            Some(missing) => {
                let told = format!("The API key lacks the scope {}.", missing.as_str());
                Err(Problem::new(Code::MissingScope, told))
            }
        },
    }
}

fn tell_limit(headers: &mut HeaderMap, left: Left) {
    headers.insert("ratelimit-limit", left.limit.into());
    headers.insert("ratelimit-remaining", left.remaining.into());
    headers.insert("ratelimit-reset", left.reset.into());
}

impl Call {
    /// Counts one more sign-in against an address.
    ///
    /// # Errors
    /// 429.
    pub fn count_sign_in(&self, email: &str) -> Result<(), Problem> {
        if self.app.config.rate.is_none() {
            return Ok(());
        }
        let key = (self.operation.path, "email", email);
        let left = self
            .app
            .buckets
            .take(&key, Rate::per_minute(10), self.app.context.now());
        if left.allowed {
            Ok(())
        } else {
            Err(too_many(left))
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::{Outcome, caught};

    #[test]
    fn a_panic_is_a_problem_like_any_other() {
        let panics = async || -> Outcome { panic!("a bug") };
        let (result, _) = caught(panics()).now_or_never().expect("ready");
        let response = result.expect_err("refused").response("/v1/me");
        assert_eq!(response.status(), 500);
        assert_eq!(
            response.headers()["content-type"],
            "application/problem+json"
        );
    }
}
