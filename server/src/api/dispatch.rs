//! Wraps every request: gives it an id and a log line, and makes sure that it gets a response.
//!
//! [`admission`](super::admission) does the checks.

use std::net::SocketAddr;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Version, header};
use axum::response::Response;
use futures_util::FutureExt as _;
use tracing::Instrument as _;
use uuid::Uuid;

use super::admission::{Admission, admit};
use super::areas::Area;
use super::pages;
use super::router::{RouteMatch, find};
use crate::app::App;
use crate::call::operation::Operation;
use crate::call::rate_limit_check::write_headers;
use crate::context::{Stopwatch, micros};
use crate::edge::Malformed;
use crate::http::client;
use crate::http::problem::{self, RefusalForm};
use crate::http::response_headers::ResponseHeaders;
use crate::ids;
use crate::playground;
use crate::refusal::{Code, Refusal};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The word for what is none of the operations, in logs and metrics.
const NO_ROUTE: &str = "none";

/// Responds to a request, whatever it is.
pub(super) async fn handle(app: Arc<App>, peer: SocketAddr, request: Request) -> Response {
    let id = app.context.id().to_string();
    // An error's span is there at every level, and with it the id in every line.
    let span = tracing::error_span!("request", id);
    traced(app, peer, request, id).instrument(span).await
}

async fn traced(app: Arc<App>, peer: SocketAddr, request: Request, id: String) -> Response {
    let watch = Stopwatch::start();
    let _flying = app.metrics.in_flight();
    let (parts, body) = request.into_parts();
    let method = method(&parts.method);
    let path = parts.uri.path().to_owned();
    let area = Area::of(&path);
    let address = client::address(peer, &parts.headers, app.config.trust_proxy);
    let (credentials, linked) = (area.holds_credentials, area.is_linked);
    let headers = ResponseHeaders::of(&app.config.cors, &parts, credentials, linked);
    let mut trace = Trace::new(method, NO_ROUTE, address);
    let found = match fault_of_head(&parts) {
        None if playground::is_here(&path) => {
            if matches!(parts.method, Method::GET | Method::HEAD) {
                trace.route = playground::PATH;
                playground::PATH.clone_into(&mut trace.place);
                let response = app.config.playground.respond(&path, &parts.headers);
                return finish(&app, &id, response, headers, &trace, &watch);
            }
            RouteMatch::OtherMethods("GET, HEAD".to_owned())
        }
        None => match (find(parts.method.as_str(), &path), pages::find(&app, &path)) {
            (RouteMatch::Nothing, Some(page)) => {
                if matches!(parts.method, Method::GET | Method::HEAD) {
                    trace.route = page.path;
                    page.path.clone_into(&mut trace.place);
                    let response = page.respond(&parts.headers);
                    return finish(&app, &id, response, headers, &trace, &watch);
                }
                RouteMatch::OtherMethods("GET, HEAD".to_owned())
            }
            (found, _) => found,
        },
        Some(refusal) => {
            let response = problem::response(&refusal, area.refusals, &path);
            return finish(&app, &id, response, headers, &trace, &watch);
        }
    };
    if let RouteMatch::OtherMethods(methods) = &found
        && let Some(response) = headers.preflight(methods)
    {
        return finish(&app, &id, response, headers, &trace, &watch);
    }
    if let RouteMatch::Operation(operation, parameters) = &found {
        trace.route = operation.path;
        if tracing::enabled!(tracing::Level::INFO) {
            trace.place = route_of(operation, parameters);
        }
    }
    let client = trace.client.clone();
    let outcome = caught(admit(&app, client, found, parts, body, area)).await;
    trace.caller = outcome.caller;
    let mut response = outcome
        .result
        .unwrap_or_else(|refusal| problem::response(&refusal, area.refusals, &path));
    let status = response.status();
    if status.is_client_error() || status.is_server_error() {
        // Also of a refusal that was kept.
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, area.refusals.media_type());
    }
    if let Some(left) = outcome.rate_limit {
        write_headers(response.headers_mut(), left);
    }
    finish(&app, &id, response, headers, &trace, &watch)
}

/// Responds to what is not a request.
pub(super) fn refuse(app: &App, peer: SocketAddr, why: Malformed) -> Response {
    let limits = &app.config.edge;
    let refusal = match why {
        Malformed::TooLarge => Refusal::new(
            Code::PayloadTooLarge,
            format!(
                "The head of a request may have {} bytes and {} lines, its target 65534 bytes.",
                limits.head, limits.headers
            ),
        ),
        Malformed::Syntax(why) => Refusal::new(
            Code::ValidationFailed,
            format!("This is not an HTTP request: {why}."),
        ),
    };
    let id = app.context.id().to_string();
    let _span = tracing::error_span!("request", id).entered();
    let trace = Trace::new(
        "none",
        NO_ROUTE,
        client::address(peer, &HeaderMap::new(), app.config.trust_proxy),
    );
    let response = problem::response(&refusal, RefusalForm::Problem, "");
    let headers = ResponseHeaders::default();
    finish(app, &id, response, headers, &trace, &Stopwatch::start())
}

/// What is reported of a request: nothing that its sender wrote, but ids.
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
    headers: ResponseHeaders,
    trace: &Trace,
    watch: &Stopwatch,
) -> Response {
    headers.insert_into(response.headers_mut());
    if let Ok(id) = HeaderValue::from_str(id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    let status = response.status();
    let took = watch.elapsed();
    app.metrics
        .responded(trace.method, trace.route, status, took);
    tracing::info!(
        method = trace.method,
        path = trace.place,
        status = status.as_u16(),
        micros = micros(took),
        client = trace.client,
        caller = trace.caller.map(tracing::field::display),
        "responded"
    );
    response
}

/// A method in our own words.
fn method(method: &Method) -> &'static str {
    let known = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
    let known = known.iter().find(|known| **known == method.as_str());
    known.copied().unwrap_or("other")
}

/// The path as it may be reported: ids are, anything else that a client put there is not.
fn route_of(operation: &Operation, parameters: &[String]) -> String {
    let mut parameters = parameters.iter();
    let segments = operation.path.split('/').map(|segment| {
        if !segment.starts_with('{') {
            return segment;
        }
        let given = parameters.next().map_or("", String::as_str);
        ids::uuid(given).map_or(segment, |_| given)
    });
    segments.collect::<Vec<_>>().join("/")
}

/// What is wrong with a head that HTTP/1.1 as such lets through.
fn fault_of_head(parts: &Parts) -> Option<Refusal> {
    let hosts = parts.headers.get_all(header::HOST).iter().count();
    let expected = parts.version >= Version::HTTP_11;
    (hosts > 1 || expected && hosts == 0)
        .then(|| Refusal::fault("header.host", "has to be there, once"))
}

/// A bug in one request is that request's misfortune alone.
async fn caught(outcome: impl Future<Output = Admission>) -> Admission {
    AssertUnwindSafe(outcome)
        .catch_unwind()
        .await
        .unwrap_or_else(|_| Admission::refused(Refusal::internal()))
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::{Admission, caught, route_of};
    use crate::api::router::{RouteMatch, find};
    use crate::http::problem::{self, RefusalForm};

    #[test]
    fn a_panic_is_a_problem_like_any_other() {
        let panics = async || -> Admission { panic!("a bug") };
        let outcome = caught(panics()).now_or_never().expect("ready");
        let refusal = outcome.result.expect_err("refused");
        let response = problem::response(&refusal, RefusalForm::Problem, "/v1/me");
        assert_eq!(response.status(), 500);
        assert_eq!(
            response.headers()["content-type"],
            "application/problem+json"
        );
    }

    #[test]
    fn of_a_path_only_ids_are_reported() {
        let label = |path: &str| match find("GET", path) {
            RouteMatch::Operation(operation, parameters) => route_of(operation, &parameters),
            _ => "nothing".to_owned(),
        };
        let id = "0198a5ba-0000-7000-8000-000000000001";
        let path = format!("/v1/organizations/{id}/members");
        assert_eq!(label(&path), path);
        let hidden = "/v1/organizations/{organization_id}/members";
        assert_eq!(label("/v1/organizations/a%20secret/members"), hidden);
        assert_eq!(label("/v1/me"), "/v1/me");
    }
}
