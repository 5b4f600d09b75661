//! Sends one request and reads one response: redirects, bounds, transport errors.

use std::error::Error as _;
use std::io::{self, Read as _};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use reqwest::blocking::{self, Response};
use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Url};

use super::address::{BaseUrl, display_url};
use super::error::{Cause, Error};
use super::request::Request;
use super::response::ApiResponse;
use super::secret::Secret;
use super::upload::{Counted, LARGE};
use super::{Host, Options};

const MOST_REDIRECTS: u32 = 5;
const NO_TIME: &str = "no whole answer in time";
const NO_CONNECTION: &str = "no connection in time";
/// How much of a body is read at once.
const PART: usize = 64 << 10;

/// The connections.
pub(super) struct Transport {
    http: blocking::Client,
    largest: u64,
    whole: Duration,
    silence: Duration,
}

/// An answer that comes more slowly than this, once it has been silent or slow for long enough, is given up.
const SLOWEST: u64 = 1 << 10;

impl Transport {
    pub(super) fn new(options: &Options) -> Result<Transport, Error> {
        // Refused where the process has chosen already, which is as good.
        rustls::crypto::ring::default_provider()
            .install_default()
            .ok();
        let mut builder = blocking::Client::builder()
            .user_agent(concat!("tplkit/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(options.connect)
            .timeout(options.whole)
            // Ours know where the credential belongs, and what may be sent twice.
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never());
        if !options.environment_proxy {
            builder = builder.no_proxy();
        }
        let http = builder
            .build()
            .map_err(|error| Error::Setup(words(&error)))?;
        Ok(Transport {
            http,
            largest: options.largest,
            whole: options.whole,
            silence: options.silence,
        })
    }

    /// Sends a request, follows redirects within the server, and reads the answer.
    pub(super) fn exchange(
        &self,
        base: &BaseUrl,
        request: &Request,
        token: Option<&Secret>,
        host: &dyn Host,
    ) -> Result<ApiResponse, Error> {
        let began = host.now();
        let late = |read: u64| {
            let taken = host.now().duration_since(began).unsigned_abs();
            let slow = taken > self.silence && read < taken.as_secs().saturating_mul(SLOWEST);
            taken > self.whole || slow
        };
        let _asking = host.asking(&request.to_string(), self.most(request));
        let Some(mut url) = base.join(&request.path, &request.query) else {
            let path = request.path.escape_debug();
            return Err(Error::Invalid(format!("`{path}` is no path of the server")));
        };
        let headers = headers(request, token)?;
        for _ in 0..=MOST_REDIRECTS {
            let response = self.send(base, request, &url, headers.clone(), host)?;
            let Some(to) = redirect(&response, &url) else {
                return self.read(base, request, response, token, &late);
            };
            let kept = [307, 308].contains(&response.status().as_u16());
            let method_stays = kept || [Method::GET, Method::HEAD].contains(&request.method);
            if !base.leads_to(&to) || !method_stays {
                return Err(redirected(&url, &to));
            }
            url = to;
        }
        Err(redirected(&url, &url))
    }

    /// How long the server may say nothing: what it has to do first takes time.
    fn most(&self, request: &Request) -> Duration {
        if request.body.is_some() || request.method != Method::GET {
            self.whole
        } else {
            self.whole.min(self.silence)
        }
    }

    fn send(
        &self,
        base: &BaseUrl,
        request: &Request,
        url: &Url,
        headers: HeaderMap,
        host: &dyn Host,
    ) -> Result<Response, Error> {
        let mut sending = None;
        let mut builder = self.http.request(request.method.clone(), url.clone());
        builder = builder.headers(headers).timeout(self.most(request));
        if let Some(body) = &request.body {
            builder = if body.len() > LARGE {
                let (sent, total) = (Arc::new(AtomicU64::new(0)), body.len() as u64);
                sending = host.sending(&request.to_string(), total, Arc::clone(&sent));
                builder.body(blocking::Body::sized(
                    Counted::new(body.clone(), sent),
                    total,
                ))
            } else {
                builder.body(body.clone())
            };
        }
        let response = builder.send();
        drop(sending);
        response.map_err(|error| unreachable(base, &error))
    }

    fn read(
        &self,
        base: &BaseUrl,
        request: &Request,
        response: Response,
        token: Option<&Secret>,
        late: &dyn Fn(u64) -> bool,
    ) -> Result<ApiResponse, Error> {
        let status = response.status();
        let too_large = || Error::TooLarge {
            request: request.to_string(),
            largest: self.largest,
        };
        if response
            .content_length()
            .is_some_and(|length| length > self.largest)
        {
            return Err(too_large());
        }
        let headers = response.headers().iter();
        let headers = headers.map(|(name, value)| {
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            (name.as_str().to_owned(), value)
        });
        let mut result = ApiResponse {
            status: status.as_u16(),
            headers: headers.collect(),
            body: Vec::new(),
        };
        let mut response = response;
        let mut part = vec![0; PART];
        loop {
            let read = response.read(&mut part);
            let length = read.map_err(|error| broken(base, &error))?;
            if length == 0 {
                break;
            }
            result.body.extend_from_slice(&part[..length]);
            if result.body.len() as u64 > self.largest {
                return Err(too_large());
            }
            // The library below bounds each wait for more, not their sum.
            if late(result.body.len() as u64) {
                return Err(timed_out(base));
            }
        }
        if !status.is_success() {
            // Refusals are shown; a server that repeats what it was sent must not make us show it.
            if let Ok(mut text) = String::from_utf8(result.body.clone()) {
                let secrets = request.secrets.iter().chain(token);
                secrets.for_each(|secret| secret.hide_in(&mut text));
                result.body = text.into_bytes();
            }
        }
        Ok(result)
    }
}

fn headers(request: &Request, token: Option<&Secret>) -> Result<HeaderMap, Error> {
    let mut headers = HeaderMap::new();
    let media_types = "application/json, application/problem+json";
    headers.insert(header::ACCEPT, HeaderValue::from_static(media_types));
    if request.body.is_some() {
        let json = HeaderValue::from_static("application/json");
        headers.insert(header::CONTENT_TYPE, json);
    }
    let mut given = HeaderMap::new();
    for (name, value) in &request.headers {
        let invalid = || Error::Invalid(format!("`{}` is no header", name.escape_debug()));
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| invalid())?;
        let value = HeaderValue::from_str(value).map_err(|_| invalid())?;
        given.append(name, value);
    }
    // The first of a name replaces ours, further ones are next to it.
    headers.extend(given);
    if let Some(key) = &request.idempotency_key {
        let value = HeaderValue::from_str(key);
        let value = value.map_err(|_| Error::Invalid("the idempotency key is no header".into()))?;
        headers.insert(HeaderName::from_static("idempotency-key"), value);
    }
    if let Some(token) = token {
        let value = HeaderValue::from_str(&format!("Bearer {}", token.reveal()));
        let mut value = value.map_err(|_| Error::Invalid("the token is no header".into()))?;
        value.set_sensitive(true);
        headers.insert(header::AUTHORIZATION, value);
    }
    Ok(headers)
}

/// Where a redirect leads.
fn redirect(response: &Response, from: &Url) -> Option<Url> {
    if ![301, 302, 303, 307, 308].contains(&response.status().as_u16()) {
        return None;
    }
    let to = response.headers().get(header::LOCATION)?.to_str().ok()?;
    from.join(to).ok()
}

fn redirected(from: &Url, to: &Url) -> Error {
    Error::Redirected {
        from: display_url(from),
        to: display_url(to),
    }
}

fn unreachable(base: &BaseUrl, error: &reqwest::Error) -> Error {
    let cause = if is_tls(error) {
        Cause::Tls
    } else if error.is_timeout() {
        Cause::Timeout
    } else {
        Cause::Connection
    };
    let why = match cause {
        Cause::Timeout if error.is_connect() => NO_CONNECTION.to_owned(),
        Cause::Timeout => NO_TIME.to_owned(),
        Cause::Tls | Cause::Connection => words(error),
    };
    Error::Unreachable {
        address: base.to_string(),
        cause,
        why,
        tries: 1,
    }
}

fn timed_out(base: &BaseUrl) -> Error {
    Error::Unreachable {
        address: base.to_string(),
        cause: Cause::Timeout,
        why: NO_TIME.to_owned(),
        tries: 1,
    }
}

/// An answer that broke off.
fn broken(base: &BaseUrl, error: &io::Error) -> Error {
    if let Some(error) = error.get_ref().and_then(|error| error.downcast_ref()) {
        return unreachable(base, error);
    }
    Error::Unreachable {
        address: base.to_string(),
        cause: Cause::Connection,
        why: format!("the answer broke off: {error}"),
        tries: 1,
    }
}

/// Everything that led to an error, the outermost first.
fn causes<'a>(
    error: &'a (dyn std::error::Error + 'static),
) -> impl Iterator<Item = &'a (dyn std::error::Error + 'static)> {
    std::iter::successors(Some(error), below)
}

fn below<'a>(
    error: &&'a (dyn std::error::Error + 'static),
) -> Option<&'a (dyn std::error::Error + 'static)> {
    let error: &'a (dyn std::error::Error + 'static) = *error;
    // An I/O error passes over what it wraps.
    match error
        .downcast_ref::<io::Error>()
        .and_then(io::Error::get_ref)
    {
        Some(inner) => Some(inner),
        None => error.source(),
    }
}

fn is_tls(error: &reqwest::Error) -> bool {
    causes(error).any(<dyn std::error::Error>::is::<rustls::Error>)
}

/// The cause at the bottom: what is above it only says that a request failed.
fn words(error: &reqwest::Error) -> String {
    let texts: Vec<String> = error
        .source()
        .into_iter()
        .flat_map(causes)
        .map(ToString::to_string)
        .collect();
    let last = texts.last().cloned();
    last.unwrap_or_else(|| "the request could not be sent".to_owned())
        .replace(char::is_control, " ")
}
