//! A file that is served as it is: its bytes, its media type, and a tag that names its content.
//!
//! In: a name and bytes; the head of a request. Out: a response, 304 where the client has the very bytes. All of it is in
//! memory. Must not know where a file is shown.

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use sha2::{Digest as _, Sha256};

/// A page.
pub const HTML: &str = "text/html; charset=utf-8";

/// One file.
#[derive(Debug)]
pub struct StaticFile {
    media_type: &'static str,
    bytes: Bytes,
    /// Names the content.
    tag: String,
}

impl StaticFile {
    /// A file; its name says what it is.
    pub fn new(name: &str, bytes: Bytes) -> StaticFile {
        let digest = Sha256::digest(&bytes);
        let mut start = [0; 16];
        start.copy_from_slice(&digest[..16]);
        StaticFile {
            media_type: media_type(name),
            bytes,
            tag: format!("\"{:032x}\"", u128::from_be_bytes(start)),
        }
    }

    /// The response to a GET or HEAD, under a content security policy.
    pub fn respond(&self, headers: &HeaderMap, policy: &'static str) -> Response<Body> {
        let fresh = headers
            .get_all(header::IF_NONE_MATCH)
            .iter()
            .any(|value| value.to_str().is_ok_and(|tags| names(tags, &self.tag)));
        let (status, body) = if fresh {
            (StatusCode::NOT_MODIFIED, Body::empty())
        } else {
            (StatusCode::OK, Body::from(self.bytes.clone()))
        };
        let mut response = page(status, body, self.media_type, policy);
        if let Ok(tag) = HeaderValue::from_str(&self.tag) {
            response.headers_mut().insert(header::ETAG, tag);
        }
        response
    }
}

/// A file under its path.
#[derive(Debug)]
pub struct Page {
    /// The path, for logs and metrics, too.
    pub path: &'static str,
    /// What is there.
    pub file: StaticFile,
    /// Its content security policy.
    pub policy: &'static str,
    /// It shows what belongs to somebody.
    pub private: bool,
}

impl Page {
    /// The response to a GET or HEAD.
    pub fn respond(&self, headers: &HeaderMap) -> Response<Body> {
        let mut response = self.file.respond(headers, self.policy);
        if self.private {
            let no_store = HeaderValue::from_static("no-store");
            response
                .headers_mut()
                .insert(header::CACHE_CONTROL, no_store);
        }
        response
    }
}

/// A response that a browser shows under a content security policy.
pub fn page(
    status: StatusCode,
    body: Body,
    media_type: &'static str,
    policy: &'static str,
) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers: [(HeaderName, &str); 3] = [
        (header::CONTENT_TYPE, media_type),
        (header::CONTENT_SECURITY_POLICY, policy),
        // A newer program has newer files under the same names.
        (header::CACHE_CONTROL, "no-cache"),
    ];
    for (name, value) in headers {
        let value = HeaderValue::from_static(value);
        response.headers_mut().insert(name, value);
    }
    response
}

/// Whether a list of tags names this one.
fn names(tags: &str, tag: &str) -> bool {
    let mut tags = tags.split(',').map(str::trim);
    tags.any(|known| known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag)
}

fn media_type(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => HTML,
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("md") => "text/markdown; charset=utf-8",
        Some("txt") => "text/plain; charset=utf-8",
        Some("json") => "application/json",
        Some("svg") => "image/svg+xml",
        Some("wasm") => "application/wasm",
        _ => "application/octet-stream",
    }
}
