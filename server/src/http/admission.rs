//! The checks of a request, in the order of refusals: route, method, credential, limit, scope; then
//! in the handler: visibility, role, body, state.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, OnceLock};

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use axum::response::Response;
use uuid::Uuid;

use super::App;
use super::call::{Call, UnverifiedCaller};
use super::idempotency::{Refused, keep_refusal};
use super::operations::{Access, Operation, RouteMatch};
use super::problem;
use super::query::Query;
use super::rate_limit::RateLimitState;
use super::rate_limit_check::{count, too_many};
use super::response::ApiResponse;
use crate::auth::{Caller, Identity, Presented, identify};
use crate::refusal::{Code, Refusal};

/// The outcome of a request.
pub(super) struct Admission {
    pub(super) result: Result<Response, Refusal>,
    /// What is left of the caller's bucket.
    pub(super) rate_limit: Option<RateLimitState>,
    pub(super) caller: Option<Uuid>,
}

impl Admission {
    pub(super) fn refused(problem: Refusal) -> Admission {
        Admission::of(Err(problem))
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
) -> Admission {
    let (operation, parameters) = match found {
        RouteMatch::Operation(operation, parameters) => (operation, parameters),
        RouteMatch::OtherMethods(methods) => {
            let response = problem::method_not_allowed(&methods, parts.uri.path());
            return Admission::of(Ok(response));
        }
        RouteMatch::Nothing => return Admission::refused(Refusal::not_found()),
    };
    let credential = match credential(operation, &parts.headers) {
        Ok(credential) => credential.map(str::to_owned),
        Err(problem) => return Admission::refused(problem),
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
            Ok(caller) => Some(Arc::new(caller)),
            Err(problem) => return Admission::refused(problem),
        },
    };
    if let (Some(presented), Some(caller), None) = (&presented, &caller, &unsure) {
        app.remembered.remember(presented, caller);
    }
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
        && let Err(problem) = check_scopes(operation, caller)
    {
        return ended(Err(problem));
    }
    let path = parts.uri.path();
    let query = parts.uri.query().unwrap_or_default();
    let key = Arc::new(OnceLock::new());
    let scope = caller.as_deref().map(Caller::scope);
    let call = Call {
        app: app.clone(),
        operation,
        caller,
        parameters,
        query_text: Query::parse(parts.uri.query()),
        headers: parts.headers,
        body: Arc::new(Mutex::new(Some(body))),
        target: (path.to_owned(), query.to_owned()),
        key: key.clone(),
        unverified: unsure.map(UnverifiedCaller::new),
    };
    let sure = call.unverified.as_ref().map(UnverifiedCaller::flag);
    let copy = call.may_be_kept().then(|| call.copy());
    let mut result = operation.call(call).await;
    // Refused before anything was looked up: then at least the credential has to be good.
    if let (Some(sure), Some(credential)) = (sure, credential)
        && !sure.load(Ordering::Acquire)
        && let Err(problem) = authenticate(app, credential).await
    {
        result = Err(problem);
    }
    let kept = matches!(&result, Err(problem) if Refused::is_kept(problem));
    if let (true, Some(copy)) = (kept, copy) {
        copy.read_key_of_refused().await;
    }
    let result = match (result, key.get(), scope) {
        (Err(problem), Some(key), Some(scope)) if Refused::is_kept(&problem) => {
            let (key, path) = (key.clone(), path.to_owned());
            let refused = Refused { key, problem, path };
            let settled = app
                .store
                .write(&scope, refused, |tx, refused| {
                    Box::pin(keep_refusal(tx, refused))
                })
                .await;
            settled.map(ApiResponse::response)
        }
        (result, ..) => result,
    };
    if let Some(key) = key.get() {
        key.mark_responded();
    }
    ended(result)
}

/// What the caller presents; nothing on a public operation, whatever comes along.
fn credential<'h>(
    operation: &Operation,
    headers: &'h HeaderMap,
) -> Result<Option<&'h str>, Refusal> {
    if operation.access == Access::Public {
        return Ok(None);
    }
    let mut given = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(value), None) = (given.next(), given.next()) else {
        return Err(Refusal::unauthenticated());
    };
    let credential = value.to_str().ok().and_then(|value| {
        let (scheme, credential) = value.split_once(' ')?;
        scheme
            .eq_ignore_ascii_case("bearer")
            .then(|| credential.trim())
    });
    match credential.filter(|credential| !credential.is_empty()) {
        Some(credential) => Ok(Some(credential)),
        None => Err(Refusal::unauthenticated()),
    }
}

/// Who that is.
async fn authenticate(app: &App, credential: &str) -> Result<Caller, Refusal> {
    let caller = identify(&app.store, &app.context, credential).await?;
    caller.ok_or_else(Refusal::unauthenticated)
}

/// Whether what the caller presents is good for the operation.
pub(super) fn check_scopes(operation: &Operation, caller: &Caller) -> Result<(), Refusal> {
    let Identity::ApiKey { scopes } = &caller.identity else {
        return Ok(());
    };
    match operation.access {
        Access::Public => Ok(()),
        Access::Users => Err(Refusal::forbidden("This is not open to API keys.")),
        Access::Scopes(wanted) => match wanted.iter().find(|scope| !scopes.has(**scope)) {
            None => Ok(()),
            Some(missing) => {
                let reported = format!("The API key lacks the scope {}.", missing.as_str());
                Err(Refusal::new(Code::MissingScope, reported))
            }
        },
    }
}
