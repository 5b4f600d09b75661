//! Headers of every response, for browsers and caches.

use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use axum::response::Response;

use super::cors::{Cors, Origins};

/// A browser may keep it for its user, and asks each time whether it is still the same.
pub(crate) const OWN_COPY: HeaderValue = HeaderValue::from_static("private, no-cache");

const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// The headers of a response that follow from its request alone.
#[derive(Debug, Default)]
pub(crate) struct ResponseHeaders {
    /// It belongs to one caller, or holds a credential.
    private: bool,
    /// Its path is a link that is given away.
    is_linked: bool,
    is_options: bool,
    cors: Cors,
}

impl ResponseHeaders {
    /// Those of the response to a request; of one that may hold credentials whoever asks, and of one whose path is a link
    /// that is given away.
    pub(crate) fn of(
        origins: &Origins,
        parts: &Parts,
        holds_credentials: bool,
        is_linked: bool,
    ) -> ResponseHeaders {
        ResponseHeaders {
            private: parts.headers.contains_key(header::AUTHORIZATION) || holds_credentials,
            is_linked,
            is_options: parts.method == Method::OPTIONS,
            cors: origins.headers_for(&parts.headers),
        }
    }

    /// The response to the preflight of a page that may use the API, on a route with these methods.
    pub(crate) fn preflight(&self, methods: &str) -> Option<Response> {
        self.is_options.then(|| self.cors.preflight(methods))?
    }

    pub(crate) fn insert_into(self, headers: &mut HeaderMap) {
        headers.insert(
            header::X_CONTENT_TYPE_OPTIONS,
            HeaderValue::from_static("nosniff"),
        );
        // A file says itself how it may be kept.
        let own = headers.get(header::CACHE_CONTROL) == Some(&OWN_COPY);
        if self.private && !own {
            let no_store = HeaderValue::from_static("no-store");
            headers.insert(header::CACHE_CONTROL, no_store);
        }
        if self.is_linked {
            // Where a page leads on to learns nothing of the link, and other pages may show what it leads to.
            let no_referrer = HeaderValue::from_static("no-referrer");
            headers.insert(header::REFERRER_POLICY, no_referrer);
            headers.insert(RESOURCE_POLICY, HeaderValue::from_static("cross-origin"));
        }
        self.cors.insert_into(headers);
    }
}
