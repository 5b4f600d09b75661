//! The way of every request, in the order in which refusals are told: route, method, credential,
//! limit, scope; then the handler: visibility, role, body, state.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::panic::AssertUnwindSafe;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

use axum::body::Body;
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Version, header};
use axum::response::Response;
use futures_util::FutureExt as _;
use tracing::Instrument as _;
use uuid::Uuid;

use super::App;
use super::call::{Call, Unsure};
use super::idempotency::{Refused, settle};
use super::limits::{Left, Rate};
use super::operations::{Access, Found, Limit, Operation, find};
use super::problem::{Code, Problem, media_type};
use super::query::{self, Query};
use super::reply::Reply;
use crate::auth::{Caller, Identity, Presented, identify};
use crate::context::{Stopwatch, micros};
use crate::edge::Malformed;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The word for what is none of the operations, in logs and metrics.
const NO_ROUTE: &str = "none";

/// Answers a request, whatever it is.
pub(super) async fn answer(app: Arc<App>, peer: SocketAddr, request: Request) -> Response {
    let id = app.context.id().to_string();
    // An error's span is there at every level, and with it the id in every line.
    let span = tracing::error_span!("request", id);
    traced(app, peer, request, id).instrument(span).await
}

async fn traced(app: Arc<App>, peer: SocketAddr, request: Request, id: String) -> Response {
    let watch = Stopwatch::start();
    let _flying = app.metrics.flying();
    let (parts, body) = request.into_parts();
    let method = method(&parts.method);
    let path = parts.uri.path().to_owned();
    let address = address(&app, peer, &parts.headers);
    let found = match fault_of_head(&parts) {
        None => find(parts.method.as_str(), &path),
        Some(problem) => {
            let trace = Trace::new(method, NO_ROUTE, address);
            return finish(&app, &id, problem.response(&path), &trace, &watch);
        }
    };
    let mut trace = Trace::new(method, NO_ROUTE, address);
    if let Found::Operation(operation, parameters) = &found {
        trace.route = operation.path;
        trace.place = place(operation, parameters);
    }
    let client = trace.client.clone();
    let outcome = caught(pass(&app, client, found, parts, body)).await;
    trace.caller = outcome.caller;
    let mut response = outcome
        .result
        .unwrap_or_else(|problem| problem.response(&path));
    let status = response.status();
    if status.is_client_error() || status.is_server_error() {
        // Also of a refusal that was kept.
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, media_type(&path));
    }
    if let Some(left) = outcome.left {
        tell_limit(response.headers_mut(), left);
    }
    finish(&app, &id, response, &trace, &watch)
}

/// Answers what is no request.
pub(super) fn refuse(app: &App, peer: SocketAddr, why: Malformed) -> Response {
    let limits = &app.config.edge;
    let problem = match why {
        Malformed::TooLarge => Problem::new(
            Code::PayloadTooLarge,
            format!(
                "The head of a request may have {} bytes and {} lines, its target 65534 bytes.",
                limits.head, limits.headers
            ),
        ),
        Malformed::Syntax(why) => Problem::new(
            Code::ValidationFailed,
            format!("This is not an HTTP request: {why}."),
        ),
    };
    let id = app.context.id().to_string();
    let _span = tracing::error_span!("request", id).entered();
    let trace = Trace::new("none", NO_ROUTE, address(app, peer, &HeaderMap::new()));
    finish(app, &id, problem.response(""), &trace, &Stopwatch::start())
}

/// What is told of a request: nothing that its sender wrote, but ids.
struct Trace {
    method: &'static str,
    route: &'static str,
    /// The route with the ids of the request.
    place: String,
    client: String,
    caller: Option<Uuid>,
}

impl Trace {
    fn new(method: &'static str, route: &'static str, client: String) -> Trace {
        Trace {
            method,
            route,
            place: NO_ROUTE.to_owned(),
            client,
            caller: None,
        }
    }
}

fn finish(
    app: &App,
    id: &str,
    mut response: Response,
    trace: &Trace,
    watch: &Stopwatch,
) -> Response {
    if let Ok(id) = HeaderValue::from_str(id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    let status = response.status();
    let took = watch.elapsed();
    app.metrics
        .answered(trace.method, trace.route, status, took);
    tracing::info!(
        method = trace.method,
        path = trace.place,
        status = status.as_u16(),
        micros = micros(took),
        client = trace.client,
        caller = trace.caller.map(tracing::field::display),
        "answered"
    );
    response
}

/// A method in our own words.
fn method(method: &Method) -> &'static str {
    let known = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
    let known = known.iter().find(|known| **known == method.as_str());
    known.copied().unwrap_or("other")
}

/// The path as it may be told: ids are, anything else that a client put there is not.
fn place(operation: &Operation, parameters: &[String]) -> String {
    let mut parameters = parameters.iter();
    let segments = operation.path.split('/').map(|segment| {
        if !segment.starts_with('{') {
            return segment;
        }
        let given = parameters.next().map_or("", String::as_str);
        query::uuid(given).map_or(segment, |_| given)
    });
    segments.collect::<Vec<_>>().join("/")
}

/// What is wrong with a head that HTTP/1.1 as such lets through.
fn fault_of_head(parts: &Parts) -> Option<Problem> {
    let hosts = parts.headers.get_all(header::HOST).iter().count();
    let owed = parts.version >= Version::HTTP_11;
    (hosts > 1 || owed && hosts == 0)
        .then(|| Problem::fault("header.host", "has to be there, once"))
}

/// What became of a request on its way through an operation.
struct Outcome {
    result: Result<Response, Problem>,
    /// What is left of the caller's bucket.
    left: Option<Left>,
    caller: Option<Uuid>,
}

impl Outcome {
    fn refused(problem: Problem) -> Outcome {
        Outcome {
            result: Err(problem),
            left: None,
            caller: None,
        }
    }
}

/// A bug in one request is that request's misfortune alone.
async fn caught(outcome: impl Future<Output = Outcome>) -> Outcome {
    AssertUnwindSafe(outcome)
        .catch_unwind()
        .await
        .unwrap_or_else(|_| {
            let told = "Something went wrong here; it has been recorded.";
            Outcome::refused(Problem::new(Code::Internal, told))
        })
}

async fn pass(app: &Arc<App>, client: String, found: Found, parts: Parts, body: Body) -> Outcome {
    let (operation, parameters) = match found {
        Found::Operation(operation, parameters) => (operation, parameters),
        Found::OtherMethods(methods) => {
            let told = format!("This route knows {methods}.");
            let mut problem = Problem::new(Code::MethodNotAllowed, told);
            problem.allow = Some(methods.into());
            return Outcome::refused(problem);
        }
        Found::Nothing => return Outcome::refused(Problem::not_found()),
    };
    let credential = match credential(operation, &parts.headers) {
        Ok(credential) => credential.map(str::to_owned),
        Err(problem) => return Outcome::refused(problem),
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
            Err(problem) => return Outcome::refused(problem),
        },
    };
    if let (Some(presented), Some(caller), None) = (&presented, &caller, &unsure) {
        app.remembered.remember(presented, caller);
    }
    let id = caller.as_ref().map(|caller| caller.id);
    let left = limit(app, operation, caller.as_ref(), &client);
    let ended = |result| Outcome {
        result,
        left,
        caller: id,
    };
    if let Some(left) = left.filter(|left| !left.allowed) {
        return ended(Err(too_many(left)));
    }
    if let Some(caller) = &caller
        && let Err(problem) = check_scopes(operation, caller)
    {
        return ended(Err(problem));
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
    ended(result)
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
        // The nearest proxy appends; what stands before it is what the client claims.
        .and_then(|value| ip(value.to_str().ok()?.rsplit(',').next()?.trim()));
    forwarded
        .unwrap_or_else(|| peer.ip())
        .to_canonical()
        .to_string()
}

/// An address as proxies write it: alone, in brackets, or with a port.
fn ip(text: &str) -> Option<IpAddr> {
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    let bare = bare.parse::<IpAddr>().ok();
    bare.or_else(|| Some(text.parse::<SocketAddr>().ok()?.ip()))
}

/// Whose bucket it is: of IPv6, everybody has as many addresses as they like in one network.
fn neighbourhood(client: &str) -> String {
    match client.parse() {
        Ok(IpAddr::V6(address)) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).to_string()
        }
        _ => client.to_owned(),
    }
}

/// Counts a request: for the user of a session, else for the address, and for the key if there is
/// one. Tells of the bucket that has less left.
fn limit(app: &App, operation: &Operation, caller: Option<&Caller>, client: &str) -> Option<Left> {
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
        return Some(take("address", &neighbourhood(client)));
    };
    let own = take("caller", &caller.id.to_string());
    if !caller.is_key() || !own.allowed {
        return Some(own);
    }
    let shared = take("address", &neighbourhood(client));
    let less = !shared.allowed || shared.remaining < own.remaining;
    Some(if less { shared } else { own })
}

/// The refusal of one request too many.
pub(super) fn too_many(left: Left) -> Problem {
    let mut problem = Problem::new(Code::RateLimited, "Too many requests; try again later.");
    problem.retry_after = Some(u32::try_from(left.retry_after).unwrap_or(u32::MAX));
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

    use super::{Outcome, caught, ip, neighbourhood, place};
    use crate::http::operations::{Found, find};

    #[test]
    fn a_panic_is_a_problem_like_any_other() {
        let panics = async || -> Outcome { panic!("a bug") };
        let outcome = caught(panics()).now_or_never().expect("ready");
        let response = outcome.result.expect_err("refused").response("/v1/me");
        assert_eq!(response.status(), 500);
        assert_eq!(
            response.headers()["content-type"],
            "application/problem+json"
        );
    }

    #[test]
    fn addresses_are_read_as_proxies_write_them() {
        for (text, address) in [
            ("10.0.0.1", Some("10.0.0.1")),
            ("10.0.0.1:4711", Some("10.0.0.1")),
            ("[2001:db8::1]:4711", Some("2001:db8::1")),
            ("[2001:db8::1]", Some("2001:db8::1")),
            ("2001:db8::1", Some("2001:db8::1")),
            ("unknown", None),
            ("", None),
        ] {
            assert_eq!(
                ip(text).map(|ip| ip.to_string()).as_deref(),
                address,
                "{text}"
            );
        }
        assert_eq!(neighbourhood("2001:db8:0:1:2:3:4:5"), "2001:db8:0:1::");
        assert_eq!(neighbourhood("10.0.0.1"), "10.0.0.1");
    }

    #[test]
    fn of_a_path_only_ids_are_told() {
        let told = |path: &str| match find("GET", path) {
            Found::Operation(operation, parameters) => place(operation, &parameters),
            _ => "nothing".to_owned(),
        };
        let id = "0198a5ba-0000-7000-8000-000000000001";
        let path = format!("/v1/organizations/{id}/members");
        assert_eq!(told(&path), path);
        let hidden = "/v1/organizations/{organization_id}/members";
        assert_eq!(told("/v1/organizations/a%20secret/members"), hidden);
        assert_eq!(told("/v1/me"), "/v1/me");
    }
}
