//! Headers of every response, for browsers and caches.

use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, header};
use axum::response::Response;

use super::cors::{Cors, Origins};

/// The headers of a response that follow from its request alone.
#[derive(Debug, Default)]
pub(super) struct ResponseHeaders {
    /// It belongs to one caller, or holds a credential.
    private: bool,
    is_options: bool,
    cors: Cors,
}

impl ResponseHeaders {
    /// Those of the response to a request.
    pub(super) fn of(origins: &Origins, parts: &Parts) -> ResponseHeaders {
        ResponseHeaders {
            private: parts.headers.contains_key(header::AUTHORIZATION)
                || parts.uri.path().starts_with("/v1/auth/"),
            is_options: parts.method == Method::OPTIONS,
            cors: origins.headers_for(&parts.headers),
        }
    }

    /// The response to the preflight of a page that may use the API, on a route with these methods.
    pub(super) fn preflight(&self, methods: &str) -> Option<Response> {
        self.is_options.then(|| self.cors.preflight(methods))?
    }

    pub(super) fn put_into(self, headers: &mut HeaderMap) {
        headers.insert(
            header::X_CONTENT_TYPE_OPTIONS,
            HeaderValue::from_static("nosniff"),
        );
        if self.private {
            let no_store = HeaderValue::from_static("no-store");
            headers.insert(header::CACHE_CONTROL, no_store);
        }
        self.cors.put_into(headers);
    }
}
