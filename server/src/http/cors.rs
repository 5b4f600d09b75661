//! Cross-origin requests (CORS): which other origins may read responses in a browser.
//!
//! Off by default. Credentials stay in the `Authorization` header, which a page has to set itself:
//! no response allows a browser to add cookies.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use url::Url;

/// What a page may send.
const REQUEST_HEADERS: HeaderValue = HeaderValue::from_static(
    "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, If-Range, Range, \
     X-Platform-Service-Key",
);
/// What a page may read, beyond what every page may.
const EXPOSED: HeaderValue = HeaderValue::from_static(
    "X-Request-Id, Retry-After, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, \
     X-Unknown-Columns, Idempotency-Replayed, ETag, Location",
);
/// For how long a browser may remember what a preflight said: two hours, the most that browsers take.
const REMEMBERED: HeaderValue = HeaderValue::from_static("7200");
const WANTED_METHOD: HeaderName = header::ACCESS_CONTROL_REQUEST_METHOD;

/// The origins whose pages may use the API.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Origins {
    /// None.
    #[default]
    None,
    /// All of them.
    Any,
    /// These, as browsers write them.
    Listed(Vec<String>),
}

impl Origins {
    /// Reads a list of origins, `scheme://host[:port]` each, or `*` for all.
    ///
    /// # Errors
    /// What is not an origin, and what one looks like.
    pub fn parse<'a>(words: impl IntoIterator<Item = &'a str>) -> Result<Origins, String> {
        let mut listed = Vec::new();
        let mut any = false;
        for word in words {
            if word == "*" {
                any = true;
            } else {
                listed.push(origin(word).ok_or_else(|| {
                    format!(
                        "{word:?} is not an origin: write scheme://host or scheme://host:port, \
                         such as https://app.example.org, or * for every origin"
                    )
                })?);
            }
        }
        Ok(if any {
            Origins::Any
        } else if listed.is_empty() {
            Origins::None
        } else {
            Origins::Listed(listed)
        })
    }

    /// What of this a request from somewhere concerns.
    pub(crate) fn headers_for(&self, headers: &HeaderMap) -> Cors {
        let mut given = headers.get_all(header::ORIGIN).iter();
        let given = match (given.next(), given.next()) {
            (Some(origin), None) => Some(origin),
            _ => None,
        };
        let allowed = match self {
            Origins::None => None,
            Origins::Any => given.map(|_| HeaderValue::from_static("*")),
            Origins::Listed(listed) => given
                .filter(|given| {
                    listed
                        .iter()
                        .any(|known| known.as_bytes() == given.as_bytes())
                })
                .cloned(),
        };
        Cors {
            varies: matches!(self, Origins::Listed(_)),
            preflight: headers.contains_key(WANTED_METHOD),
            allowed,
        }
    }
}

/// An origin in the form in which browsers send it.
fn origin(text: &str) -> Option<String> {
    let url = Url::parse(text).ok()?;
    // Anything behind the host, a slash too, does not belong to an origin.
    let behind = text.split_once("://")?.1;
    let bare = !behind.is_empty() && !behind.contains(['/', '?', '#', '@', '\\']);
    let spaced = text.contains(|c: char| c.is_whitespace() || c.is_control());
    if !bare || spaced {
        return None;
    }
    let host = url.host_str().filter(|host| !host.is_empty())?;
    // The port of the scheme is left out, as browsers do.
    let port = url.port().map(|port| format!(":{port}"));
    Some(format!(
        "{}://{host}{}",
        url.scheme(),
        port.unwrap_or_default()
    ))
}

/// The CORS headers of a response.
#[derive(Debug, Default)]
pub(crate) struct Cors {
    /// The origin that is allowed to read it.
    allowed: Option<HeaderValue>,
    /// Whether the response depends on the origin.
    varies: bool,
    /// Whether the browser asks before it asks.
    preflight: bool,
}

impl Cors {
    /// The response to a preflight of a route that has these methods.
    pub(crate) fn preflight(&self, methods: &str) -> Option<Response> {
        if !self.preflight || self.allowed.is_none() {
            return None;
        }
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NO_CONTENT;
        let headers = response.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods.parse().ok()?);
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, REQUEST_HEADERS);
        headers.insert(header::ACCESS_CONTROL_MAX_AGE, REMEMBERED);
        Some(response)
    }

    pub(crate) fn insert_into(self, headers: &mut HeaderMap) {
        if self.varies {
            headers.append(header::VARY, HeaderValue::from_static("Origin"));
        }
        if let Some(allowed) = self.allowed {
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, allowed);
            headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Origins, origin};

    #[test]
    fn an_origin_is_a_scheme_a_host_and_perhaps_a_port() {
        for (text, read) in [
            ("https://app.example.org", Some("https://app.example.org")),
            (
                "HTTPS://App.Example.org:443",
                Some("https://app.example.org"),
            ),
            ("http://localhost:5173", Some("http://localhost:5173")),
            ("http://[::1]:8080", Some("http://[::1]:8080")),
            (
                "https://bücher.example",
                Some("https://xn--bcher-kva.example"),
            ),
            ("https://app.example.org/", None),
            ("https://app.example.org/x", None),
            ("https://app.example.org?x", None),
            ("https://me@app.example.org", None),
            ("https://app.example.org:99999", None),
            ("https://", None),
            ("https:app.example.org", None),
            ("app.example.org", None),
            ("null", None),
            ("", None),
            ("https://a b", None),
        ] {
            assert_eq!(origin(text).as_deref(), read, "{text}");
        }
    }

    #[test]
    fn a_star_stands_for_all() {
        assert_eq!(Origins::parse([]), Ok(Origins::None));
        assert_eq!(Origins::parse(["https://a.b", "*"]), Ok(Origins::Any));
        let listed = Origins::Listed(vec!["https://a.b".to_owned()]);
        assert_eq!(Origins::parse(["https://A.b"]), Ok(listed));
        let refused = Origins::parse(["https://a.b", "a.b"]).expect_err("no origin");
        assert!(refused.contains("\"a.b\" is not an origin"), "{refused}");
    }
}
