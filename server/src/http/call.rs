//! One request on its way through a handler: what it asks, who asks, and how to answer.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde::Serialize;
use uuid::Uuid;

use super::App;
use super::body::{self, Fields};
use super::operations::Operation;
use super::page::PageRequest;
use super::problem::{Code, Problem};
use super::query::{self, Query};
use crate::auth::{Caller, Role};
use crate::edge::BodyTooSlow;

/// A request that found its operation and passed what can be said without looking at it closely.
#[derive(Debug)]
pub struct Call {
    /// The server.
    pub app: Arc<App>,
    /// What is asked for.
    pub operation: &'static Operation,
    pub(super) caller: Option<Caller>,
    pub(super) parameters: Vec<String>,
    /// What stands behind the question mark.
    pub query: Query,
    pub(super) headers: HeaderMap,
    pub(super) body: Option<Body>,
}

impl Call {
    /// Who asks.
    ///
    /// # Errors
    /// 401 on a public operation that nobody is signed in for.
    pub fn caller(&self) -> Result<&Caller, Problem> {
        self.caller.as_ref().ok_or_else(Problem::unauthenticated)
    }

    /// An id of the path, by position. A bad one is told after what is wrong with the body.
    ///
    /// # Errors
    /// 422 when it is no UUID.
    pub async fn path_id(&mut self, position: usize) -> Result<Uuid, Problem> {
        let text = self.parameters.get(position).map_or("", String::as_str);
        if let Some(id) = query::uuid(text) {
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
        Err(Problem::fault(format!("path.{name}"), "is no UUID"))
    }

    /// The organization, when the caller belongs to it and has the operation's role there.
    ///
    /// # Errors
    /// 404 for strangers, 403 for a role that does not suffice.
    pub fn enter(&self, organization: Uuid) -> Result<Role, Problem> {
        let role = self
            .caller()?
            .role_in(organization)
            .ok_or_else(Problem::not_found)?;
        if role < self.operation.role {
            return Err(Problem::forbidden(format!(
                "This takes the role {} or more.",
                self.operation.role.as_str()
            )));
        }
        Ok(role)
    }

    /// The page that is asked for. `of` says of what, beyond the route.
    ///
    /// # Errors
    /// 422 for parameters that make no sense.
    pub fn page(&mut self, of: &str) -> Result<PageRequest, Problem> {
        let caller = self.caller()?.id;
        let question = format!("{} {caller} {of}", self.operation.path);
        let page = PageRequest::read(&mut self.query, question);
        self.query.finish()?;
        page
    }

    /// The fields of the body.
    ///
    /// # Errors
    /// 415, 413, 422.
    pub async fn fields(&mut self) -> Result<Fields, Problem> {
        let bytes = self.bytes().await?;
        self.query.finish()?;
        Fields::of(body::parse(&bytes)?)
    }

    async fn bytes(&mut self) -> Result<Vec<u8>, Problem> {
        let Some(body) = self.body.take() else {
            return Ok(Vec::new());
        };
        let media_type = self.headers.get(header::CONTENT_TYPE);
        let empty = axum::body::HttpBody::is_end_stream(&body);
        if !media_type.map_or(empty, is_json) {
            let told = if media_type.is_some() {
                "Bodies of this type are not accepted; use application/json."
            } else {
                "The body has to be JSON, and to say so: Content-Type: application/json."
            };
            return Err(Problem::new(Code::UnsupportedMediaType, told));
        }
        let limit = self.app.config.max_body;
        let too_large = || {
            Problem::new(
                Code::PayloadTooLarge,
                format!("A body may have {limit} bytes."),
            )
        };
        // Told before the bytes come, where the client says how many.
        let announced = self.headers.get(header::CONTENT_LENGTH);
        let announced = announced.and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
        if announced.is_some_and(|length| length > limit) {
            return Err(too_large());
        }
        match Limited::new(body, limit).collect().await {
            Ok(collected) => Ok(collected.to_bytes().to_vec()),
            Err(error) if error.is::<LengthLimitError>() => Err(too_large()),
            Err(error) if is_slow(&*error) => Err(Problem::new(
                Code::InvalidJson,
                "The body did not come in time.",
            )),
            Err(_) => Err(Problem::new(
                Code::InvalidJson,
                "The body is not framed as announced, or ended too early.",
            )),
        }
    }
}

/// Whether the edge gave up waiting for the body.
fn is_slow(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut error = Some(error);
    while let Some(cause) = error {
        if cause.is::<BodyTooSlow>() {
            return true;
        }
        error = cause.source();
    }
    false
}

fn is_json(media_type: &HeaderValue) -> bool {
    let text = media_type.to_str().unwrap_or_default();
    let essence = text
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    let suffix = essence.strip_prefix("application/");
    suffix.is_some_and(|subtype| {
        subtype == "json" || (subtype.len() > 5 && subtype.ends_with("+json"))
    })
}

/// An answer with a document.
///
/// # Errors
/// When the document has no JSON form, which is a bug.
pub fn json(status: StatusCode, document: &impl Serialize) -> Result<Response, Problem> {
    let body = serde_json::to_vec(document).map_err(|error| {
        tracing::error!(%error, "a document has no JSON form");
        Problem::new(
            Code::Internal,
            "Something went wrong here; it has been recorded.",
        )
    })?;
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let media_type = HeaderValue::from_static("application/json");
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, media_type);
    Ok(response)
}

/// 204.
pub fn nothing() -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::is_json;

    #[test]
    fn json_goes_by_several_names() {
        for (name, fine) in [
            ("application/json", true),
            ("Application/JSON; charset=utf-8", true),
            ("application/merge-patch+json", true),
            ("application/+json", false),
            ("text/json", false),
            ("application/xml", false),
            ("", false),
        ] {
            assert_eq!(is_json(&HeaderValue::from_static(name)), fine, "{name}");
        }
    }
}
