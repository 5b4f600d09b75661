//! A request: method, path, query, body.

use std::fmt;

use percent_encoding::percent_decode_str;
use reqwest::{Method, Url};

use super::secret::Secret;
use super::upload::Upload;

/// Routes whose responses carry credentials: servers keep none of them, so a key protects nothing.
const NEVER_REPEATED: [&str; 2] = ["/v1/auth/", "/v1/api-keys"];

/// A request to a path of the server.
#[derive(Clone)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// The path, `/v1` included; it may bring a query.
    pub path: String,
    /// Parameters; a name may be more than once.
    pub query: Vec<(String, String)>,
    /// Headers next to those that the client sets itself.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Option<Vec<u8>>,
    /// A body that is not a document, in place of the other.
    pub(super) upload: Option<Upload>,
    /// By which the server knows a repetition.
    pub idempotency_key: Option<String>,
    /// Whether a response that is not a refusal comes as a stream.
    pub(super) streamed: bool,
    /// Whether it changes nothing whatever its method says, so that it may be sent again without a key.
    pub(super) harmless: bool,
    /// What the body holds and no text may repeat.
    pub(super) secrets: Vec<Secret>,
}

impl Request {
    /// A request without a body.
    pub fn new(method: Method, path: impl Into<String>) -> Request {
        Request {
            method,
            path: path.into(),
            query: Vec::new(),
            headers: Vec::new(),
            body: None,
            upload: None,
            idempotency_key: None,
            streamed: false,
            harmless: false,
            secrets: Vec::new(),
        }
    }

    /// A `GET`.
    pub fn get(path: impl Into<String>) -> Request {
        Request::new(Method::GET, path)
    }

    /// A `POST` of a JSON document.
    pub fn post(path: impl Into<String>, document: &serde_json::Value) -> Request {
        Request::post_text(path, document.to_string().into_bytes())
    }

    /// A `POST` of a JSON document as it is written.
    pub(super) fn post_text(path: impl Into<String>, document: Vec<u8>) -> Request {
        let mut request = Request::new(Method::POST, path);
        request.body = Some(document);
        request
    }

    /// With a parameter.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<String>) -> Request {
        self.query.push((name.to_owned(), value.into()));
        self
    }

    /// With an `Idempotency-Key`.
    #[must_use]
    pub fn key(mut self, key: impl Into<String>) -> Request {
        self.idempotency_key = Some(key.into());
        self
    }

    /// A read that is sent with `POST`.
    #[must_use]
    pub(super) fn harmless(mut self) -> Request {
        self.harmless = true;
        self
    }

    /// Makes parameters of the query that the path brings.
    pub(super) fn unfold(&mut self) {
        let Some((path, query)) = self.path.split_once('?') else {
            return;
        };
        // Any address will do to read it.
        if let Ok(mut url) = Url::parse("http://localhost") {
            url.set_query(Some(query));
            let pairs = url.query_pairs();
            let pairs = pairs.map(|(name, value)| (name.into_owned(), value.into_owned()));
            self.query.splice(0..0, pairs.collect::<Vec<_>>());
            self.path = path.to_owned();
        }
    }

    /// Whether a key makes it safe to send again.
    pub fn takes_key(&self) -> bool {
        let path = percent_decode_str(&self.path).decode_utf8_lossy();
        let kept = !NEVER_REPEATED.iter().any(|start| path.starts_with(start));
        self.method == Method::POST && kept
    }

    /// Whether it may be sent again when its outcome is unknown.
    pub(super) fn is_repeatable(&self) -> bool {
        let keyed = self.idempotency_key.is_some() && self.takes_key();
        keyed
            || self.harmless
            || [Method::GET, Method::HEAD, Method::PUT, Method::DELETE].contains(&self.method)
    }
}

/// Method and path, without the query: filters hold data.
impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self
            .path
            .split_once('?')
            .map_or(&*self.path, |(path, _)| path);
        write!(f, "{} {path}", self.method)
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::Request;
    use reqwest::Method;

    #[test]
    fn only_what_is_safe_is_repeated() {
        let post = |path: &str| Request::new(Method::POST, path);
        assert!(Request::get("/v1/me").is_repeatable());
        assert!(Request::new(Method::DELETE, "/v1/x").is_repeatable());
        assert!(
            !Request::new(Method::PATCH, "/v1/x")
                .key("k")
                .is_repeatable()
        );
        assert!(!post("/v1/workspaces").is_repeatable());
        assert!(post("/v1/workspaces").key("k").is_repeatable());
        assert!(post("/apply/templates/x").key("k").is_repeatable());
        for path in ["/v1/auth/refresh", "/v1/api-keys", "/v1/api%2Dkeys?x=1"] {
            assert!(!post(path).key("k").is_repeatable(), "{path}");
        }
    }
}
