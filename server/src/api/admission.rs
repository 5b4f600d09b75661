//! The checks of a request, in the order of refusals: route, method, credential, limit, scope; then
//! in the handler: visibility, role, body, state.
//!
//! The credential becomes a session ([`OptimisticSession`]), and every statement of the request runs in it.

use std::sync::{Arc, Mutex, OnceLock};

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, header};
use axum::response::Response;
use uuid::Uuid;

use super::areas::Area;
use super::router::RouteMatch;
use crate::app::App;
use crate::auth::{Caller, OptimisticSession, Subject, TransactionScope};
use crate::call::operation::{Access, Operation};
use crate::call::rate_limit_check::{count, too_many};
use crate::call::{Call, RequestTarget};
use crate::edge::OwnPace;
use crate::http::kept_refusal::{KeptRefusal, keep_refusal};
use crate::http::problem;
use crate::http::query::Query;
use crate::http::rate_limit::RateLimitState;
use crate::http::response::ApiResponse;
use crate::refusal::Refusal;
use crate::store::TransactionMode;

/// The outcome of a request.
pub(super) struct Admission {
    pub(super) result: Result<Response, Refusal>,
    /// What is left of the caller's bucket, or of another one that refused the request.
    pub(super) rate_limit: Option<RateLimitState>,
    pub(super) caller: Option<Uuid>,
}

impl Admission {
    pub(super) fn refused(refusal: Refusal) -> Admission {
        Admission::of(Err(refusal))
    }

    /// Of a request of which nothing is known.
    fn of(result: Result<Response, Refusal>) -> Admission {
        Admission {
            result,
            rate_limit: None,
            caller: None,
        }
    }
}

/// Lets a request through to its operation, or refuses it.
pub(super) async fn admit(
    app: &Arc<App>,
    client: String,
    found: RouteMatch,
    parts: Parts,
    body: Body,
    area: &'static Area,
) -> Admission {
    let (operation, parameters) = match found {
        RouteMatch::Operation(operation, parameters) => (operation, parameters),
        RouteMatch::OtherMethods(methods) => {
            let path = parts.uri.path();
            let response = problem::method_not_allowed(&methods, area.refusals, path);
            return Admission::of(Ok(response));
        }
        RouteMatch::Nothing => return Admission::refused(Refusal::not_found()),
    };
    let session = match open(app, operation, &parts.headers).await {
        Ok(session) => session,
        Err(refusal) => return Admission::refused(refusal),
    };
    let caller = session.as_ref().map(OptimisticSession::caller);
    let id = caller.as_ref().map(|caller| caller.id);
    let left = count(app, operation, caller.as_deref(), &client);
    let ended = |result| Admission {
        result,
        rate_limit: left,
        caller: id,
    };
    if let Some(left) = left.filter(|left| !left.allowed) {
        return ended(Err(too_many(left)));
    }
    if let Some(caller) = &caller
        && let Err(refusal) = operation.admit(caller)
    {
        return ended(Err(refusal));
    }
    let query = parts.uri.query();
    let refused_by = Arc::new(OnceLock::new());
    let call = Call {
        app: app.clone(),
        operation,
        session,
        parameters,
        query_text: Query::parse(query),
        target: RequestTarget {
            path: parts.uri.path().to_owned(),
            query: query.unwrap_or_default().to_owned(),
        },
        is_head: parts.method == Method::HEAD,
        pace: parts.extensions.get::<OwnPace>().cloned(),
        headers: parts.headers,
        body: Arc::new(Mutex::new(Some(body))),
        received: None,
        key: Arc::new(OnceLock::new()),
        refused_by: refused_by.clone(),
    };
    let admission = ended(respond(call, area).await);
    Admission {
        rate_limit: refused_by.get().copied().or(left),
        ..admission
    }
}

/// The session of a request; none on a public operation, whatever comes along.
async fn open(
    app: &App,
    operation: &Operation,
    headers: &HeaderMap,
) -> Result<Option<OptimisticSession>, Refusal> {
    if operation.access == Access::Public {
        return Ok(None);
    }
    let credential = credential(headers).ok_or_else(Refusal::unauthenticated)?;
    let cache = operation.remembers_caller().then_some(&app.remembered);
    let now = app.context.now();
    let session = OptimisticSession::open(&app.store, cache, credential, now).await?;
    session.map(Some).ok_or_else(Refusal::unauthenticated)
}

/// What the caller presents: one bearer token. Nothing else reads the value of `Authorization`.
fn credential(headers: &HeaderMap) -> Option<&str> {
    let mut given = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(value), None) = (given.next(), given.next()) else {
        return None;
    };
    let (scheme, credential) = value.to_str().ok()?.split_once(' ')?;
    let credential = credential.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !credential.is_empty()).then_some(credential)
}

/// The response of the operation; a refusal is kept under the key of the request, if it has one.
async fn respond(call: Call, area: &Area) -> Result<Response, Refusal> {
    let (app, operation) = (call.app.clone(), call.operation);
    let (session, key) = (call.session.clone(), call.key.clone());
    let path = call.target.path.clone();
    let copy = call.may_be_kept().then(|| call.copy());
    let mut result = operation.call(call).await;
    if let Some(session) = &session
        && let Err(refusal) = session.confirm(&app.store, app.context.now()).await
    {
        result = Err(refusal);
    }
    let is_kept = matches!(&result, Err(refusal) if KeptRefusal::is_kept(refusal));
    if let (true, Some(copy)) = (is_kept, copy) {
        copy.read_key_of_refused().await;
    }
    let result = match (result, key.get(), session) {
        (Err(refusal), Some(key), Some(session)) if is_kept => {
            let refused = KeptRefusal {
                key: key.clone(),
                refusal,
                form: area.refusals,
                path,
            };
            let subject = Subject {
                mode: TransactionMode::Write,
                scope: TransactionScope::Visible,
            };
            let (store, cache) = (&app.store, &app.remembered);
            let prepare = |_: &mut KeptRefusal, _: &Arc<Caller>| Ok(());
            let kept = session.run(store, cache, subject, refused, prepare, |tx, refused| {
                Box::pin(keep_refusal(tx, refused))
            });
            kept.await.map(ApiResponse::response)
        }
        (result, ..) => result,
    };
    if let Some(key) = key.get() {
        key.mark_responded();
    }
    result
}
