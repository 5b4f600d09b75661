//! One request in a handler: its operation, its caller, and ways to respond. `store_access` has what it asks of the store.

mod body_stream;
pub mod lane;
pub mod operation;
mod operation_context;
pub(crate) mod rate_limit_check;
mod request_body;
mod reserved_key;
mod store_access;
mod streamed_key;

use std::sync::{Arc, Mutex, OnceLock};

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use serde::Serialize;
use tplkit::json::Value;
use uuid::Uuid;

pub use self::body_stream::BodyStream;
pub use self::operation_context::OperationContext;
pub use self::reserved_key::Reservation;
pub use self::streamed_key::StreamedKey;

use self::operation::Operation;
use crate::app::App;
use crate::auth::{Caller, OptimisticSession, Role};
use crate::cpu_threads::{MAX_INLINE_BYTES, offload};
use crate::edge::OwnPace;
use crate::http::idempotency::IdempotencyKey;
use crate::http::query::Query;
use crate::http::rate_limit::RateLimitState;
use crate::http::response::ApiResponse;
use crate::ids;
use crate::json_body::{self, Fields};
use crate::paging::{self, PageRequest};
use crate::refusal::Refusal;
use crate::store::Scope;

/// A request that found its operation and passed what can be said without looking at it closely.
#[derive(Debug)]
pub struct Call {
    /// The server.
    pub app: Arc<App>,
    /// What is asked for.
    pub operation: &'static Operation,
    /// Who asks; nothing on a public operation.
    pub(crate) session: Option<OptimisticSession>,
    /// Those of the path.
    pub(crate) parameters: Vec<String>,
    /// What is behind the question mark.
    pub query_text: Query,
    pub(crate) headers: HeaderMap,
    /// Until somebody reads it.
    pub(crate) body: Arc<Mutex<Option<Body>>>,
    /// What came of the body, until the handler takes it. Boxed, for a call is moved around.
    pub(crate) received: Option<Box<Result<Vec<u8>, Refusal>>>,
    /// What the request names.
    pub(crate) target: RequestTarget,
    /// The key under which the response is to be kept, once the body is there.
    pub(crate) key: Arc<OnceLock<IdempotencyKey>>,
    /// The bucket that refused the request in the handler: of an address of e-mail, not of who asks.
    pub(crate) refused_by: Arc<OnceLock<RateLimitState>>,
    /// Nobody wants more than the head of the response.
    pub(crate) is_head: bool,
    /// How slowly the body may come, where the handler decides.
    pub(crate) pace: Option<OwnPace>,
}

/// The target of a request, as it came.
#[derive(Debug, Clone)]
pub(crate) struct RequestTarget {
    /// The path.
    pub(crate) path: String,
    /// What is behind the question mark.
    pub(crate) query: String,
}

impl Call {
    /// The same request once more, for what is to be known of it when it was refused.
    pub(crate) fn copy(&self) -> Call {
        Call {
            app: self.app.clone(),
            operation: self.operation,
            session: self.session.clone(),
            parameters: Vec::new(),
            query_text: Query::default(),
            headers: self.headers.clone(),
            body: self.body.clone(),
            received: None,
            target: self.target.clone(),
            key: self.key.clone(),
            refused_by: self.refused_by.clone(),
            is_head: self.is_head,
            pace: self.pace.clone(),
        }
    }

    /// Whether nobody wants more than the head of the response.
    pub fn is_head(&self) -> bool {
        self.is_head
    }

    /// All headers.
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// The path as it came.
    pub fn path(&self) -> &str {
        &self.target.path
    }

    /// From now on the caller counts as remembered, and is checked along with the next statement: what takes long is not
    /// done for somebody who may not do it any more.
    ///
    /// # Errors
    /// 401 on a public operation that nobody is signed in for.
    pub fn doubt_session(&mut self) -> Result<(), Refusal> {
        let now = self.app.context.now();
        self.session = Some(self.session()?.doubted(now));
        Ok(())
    }

    /// Whether a header is there.
    pub fn has_header(&self, name: &HeaderName) -> bool {
        self.headers.contains_key(name)
    }

    /// A header that stands there once.
    pub fn header(&self, name: &HeaderName) -> Option<&HeaderValue> {
        let mut values = self.headers.get_all(name).iter();
        values.next().filter(|_| values.next().is_none())
    }

    /// Who asks.
    ///
    /// # Errors
    /// 401 on a public operation that nobody is signed in for.
    pub fn caller(&self) -> Result<Arc<Caller>, Refusal> {
        Ok(self.session()?.caller())
    }

    /// As whom the store is asked outside of [`read`](Call::read) and [`write`](Call::write).
    ///
    /// # Errors
    /// 401 on a public operation that nobody is signed in for, 500 for a caller who has not been checked.
    pub fn confirmed_scope(&self) -> Result<Scope, Refusal> {
        self.session()?.confirmed_scope()
    }

    /// The hash by which the store knows the credential of the request.
    ///
    /// # Errors
    /// 401 on a public operation that nobody is signed in for.
    pub fn credential_hash(&self) -> Result<[u8; 32], Refusal> {
        Ok(self.session()?.credential_hash())
    }

    fn session(&self) -> Result<&OptimisticSession, Refusal> {
        self.session.as_ref().ok_or_else(Refusal::unauthenticated)
    }

    /// An id of the path, by position. A bad one is reported after what is wrong with the body.
    ///
    /// # Errors
    /// 422 when it is not a UUID.
    pub async fn path_id(&mut self, position: usize) -> Result<Uuid, Refusal> {
        let text = self.parameters.get(position).map_or("", String::as_str);
        if let Some(id) = ids::uuid(text) {
            return Ok(id);
        }
        if self.operation.has_body() {
            self.bytes().await?;
        }
        let name = self
            .operation
            .parameters()
            .nth(position)
            .unwrap_or_default();
        Err(Refusal::fault(format!("path.{name}"), "is not a UUID"))
    }

    /// A text of the path, by position.
    pub fn path_text(&self, position: usize) -> &str {
        self.parameters.get(position).map_or("", String::as_str)
    }

    /// The organization, when the caller belongs to it and has the operation's role there. What is asked before the body
    /// is asked again behind a slow one ([`body_was_slow`](Call::body_was_slow)).
    ///
    /// # Errors
    /// 404 for strangers, 403 for a role that does not suffice.
    pub fn enter(&self, organization: Uuid) -> Result<Role, Refusal> {
        self.caller()?.enter(self.operation.role, organization)
    }

    /// The page that is asked for. `of` says of what, beyond the route.
    ///
    /// # Errors
    /// 422 for parameters that make no sense.
    pub fn page(&mut self, of: &str) -> Result<PageRequest, Refusal> {
        let caller = self.caller()?.id;
        let query = format!("{} {caller} {of}", self.operation.path);
        let limit = self.query_text.integer("limit", 1, paging::MAX_LIMIT);
        let cursor = self.query_text.text("cursor");
        let page = PageRequest::new(limit, cursor.as_deref(), query);
        self.query_text.finish()?;
        page
    }

    /// The fields of the body.
    ///
    /// # Errors
    /// 415, 413, 422.
    pub async fn fields(&mut self) -> Result<Fields, Refusal> {
        let bytes = self.bytes().await?;
        self.query_text.finish()?;
        Fields::of(parse(bytes).await?)
    }

    /// The fields of the body; none when there is no body.
    ///
    /// # Errors
    /// 415, 413, 422.
    pub async fn fields_or_none(&mut self) -> Result<Fields, Refusal> {
        let bytes = self.bytes().await?;
        self.query_text.finish()?;
        if bytes.is_empty() {
            return Fields::of(tplkit::json::Value::Object(tplkit::json::Object::new()));
        }
        Fields::of(parse(bytes).await?)
    }

    /// The fields of the body, whatever the query is.
    ///
    /// # Errors
    /// 415, 413, 422.
    pub async fn body_alone(&mut self) -> Result<Fields, Refusal> {
        let bytes = self.bytes().await?;
        Fields::of(parse(bytes).await?)
    }
}

/// Reads a body: a long one where no request waits for the thread.
async fn parse(bytes: Vec<u8>) -> Result<Value, Refusal> {
    if bytes.len() <= MAX_INLINE_BYTES {
        return json_body::parse(&bytes);
    }
    offload(move || json_body::parse(&bytes)).await
}

/// A response with a document.
///
/// # Errors
/// When the document has no JSON form, which is a bug.
pub fn json(status: StatusCode, document: &impl Serialize) -> Result<Response, Refusal> {
    ApiResponse::json(status, document).map(ApiResponse::response)
}

/// 204.
pub fn nothing() -> Response {
    ApiResponse::nothing().response()
}
