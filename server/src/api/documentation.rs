//! `/v1/openapi.json` and `/docs`: the API reference, for programs and for people.

use std::sync::OnceLock;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use tplkit::definitions::Definitions;

use super::{docs_page, document};
use crate::call::Call;
use crate::refusal::Refusal;

/// `GET /v1/openapi.json`
///
/// # Errors
/// 422 for parameters, of which there are none.
pub(super) async fn openapi(mut call: Call) -> Result<Response, Refusal> {
    static DOCUMENT: OnceLock<Bytes> = OnceLock::new();
    call.query_text.finish()?;
    let text = DOCUMENT.get_or_init(|| Bytes::from(document(Definitions::embedded()).to_string()));
    Ok(cached_response(text, "application/json"))
}

/// `GET /`: where somebody begins who knows the address alone.
///
/// # Errors
/// 422 for parameters, of which there are none.
pub(super) async fn root(mut call: Call) -> Result<Response, Refusal> {
    call.query_text.finish()?;
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::TEMPORARY_REDIRECT;
    let to = HeaderValue::from_static("/docs");
    response.headers_mut().insert(header::LOCATION, to);
    Ok(response)
}

/// `GET /docs`
///
/// # Errors
/// 422 for parameters, of which there are none.
pub(super) async fn page(mut call: Call) -> Result<Response, Refusal> {
    static PAGE: OnceLock<Bytes> = OnceLock::new();
    call.query_text.finish()?;
    let page =
        PAGE.get_or_init(|| Bytes::from(docs_page::page(&document(Definitions::embedded()))));
    let mut response = cached_response(page, "text/html; charset=utf-8");
    // It needs nothing from anywhere, and says so to the browser.
    let policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";
    response.headers_mut().insert(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(policy),
    );
    Ok(response)
}

fn cached_response(document: &Bytes, media_type: &'static str) -> Response {
    let mut response = Response::new(Body::from(document.clone()));
    *response.status_mut() = StatusCode::OK;
    let media_type = HeaderValue::from_static(media_type);
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, media_type);
    response
}
